"""Previews: how a file begins, whatever it is."""

from __future__ import annotations

import gzip
import json

import pytest

import setveil as sv
from setveil.errors import FileFormatError
from setveil.pipeline.preview import ROWS, PreviewJob, run

LONG = "record,item\n" + "".join(f"{row},item {row}\n" for row in range(20))
LOG = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(
    f"{user}\tred wine\t2006-03-01 10:00:0{user}\t\t\n" for user in range(9)
)


def seen(folder, name, content, **reading):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return run(PreviewJob(data=path, reading=reading))


@pytest.mark.parametrize(
    ("name", "content", "format", "columns", "first"),
    [
        ("a.csv", LONG, "csv", ("record", "item"), ("0", "item 0")),
        ("a.csv.gz", gzip.compress(LONG.encode()), "csv", ("record", "item"), ("0", "item 0")),
        ("a.csv", LONG.replace(",", ";"), "csv", ("record", "item"), ("0", "item 0")),
        ("a.csv", LONG.encode("utf-16"), "csv", ("record", "item"), ("0", "item 0")),
        (
            "a.csv",
            LONG.replace("item 0", "caf\xe9").encode("cp1252"),
            "csv",
            ("record", "item"),
            ("0", "caf\xe9"),
        ),
        ("a.dat", "1 2 3\n4 5\n", "fimi", (), ("1", "2", "3")),
        ("a.jsonl", json.dumps({"items": ["a", "b"]}) + "\n", "jsonl", ("items",), ("a, b",)),
        ("a.baskets", "milk,tea\nwine\n", "baskets", (), ("milk", "tea")),
    ],
)
def test_the_first_rows_and_the_format_of_a_file(tmp_path, name, content, format, columns, first):
    found = seen(tmp_path, name, content)
    assert (found.format, found.columns, found.rows[0]) == (format, columns, first)
    assert len(found.rows) <= ROWS
    assert not found.is_log


def test_a_parquet_file(tmp_path):
    sv.write(sv.Transactions.of([["a", "b"], ["c"]]), tmp_path / "a.parquet")
    found = run(PreviewJob(data=tmp_path / "a.parquet"))
    assert (found.format, found.columns, found.rows) == ("parquet", ("items",), (("a, b",), ("c",)))


def test_a_query_log_is_recognized_with_and_without_a_header(tmp_path):
    found = seen(tmp_path, "log.tsv", LOG)
    assert found.is_log
    assert found.columns[0] == "AnonID"
    bare = seen(tmp_path, "bare.tsv", LOG.split("\n", 1)[1])
    assert bare.is_log
    assert bare.columns == ()
    assert bare.rows[0][1] == "red wine"


def test_a_file_whose_format_is_in_doubt_is_shown_with_the_reason(tmp_path):
    found = seen(tmp_path, "a.csv", "milk,tea\nwine,milk\ntea,wine\n")
    assert found.format == ""
    assert "is each line a whole basket" in str(found.doubt)
    assert found.rows


def test_an_empty_file_is_shown_as_empty(tmp_path):
    found = seen(tmp_path, "a.csv", "")
    assert found.rows == ()


@pytest.mark.parametrize("content", [b"\0\1\2" * 20, b"PK\x03\x04nonsense"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, content):
    with pytest.raises(FileFormatError):
        seen(tmp_path, "a.bin", content)


@pytest.mark.parametrize(
    "content",
    [
        b"\0\1\2" * 20,
        bytes(range(256)) * 40,
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        b"1,\xff\xfe\x81\n",
    ],
)
def test_a_bad_file_gets_the_line_that_reading_gives(tmp_path, content):
    with pytest.raises(FileFormatError) as shown:
        seen(tmp_path, "a.csv", content)
    with pytest.raises(FileFormatError) as read:
        sv.read(tmp_path / "a.csv")
    assert str(shown.value) == str(read.value)


def test_long_cells_are_cut(tmp_path):
    found = seen(tmp_path, "a.csv", f"record,item\n1,{'x' * 5_000}\n")
    assert len(found.rows[0][1]) <= 120

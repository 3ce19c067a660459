"""The compiled loops for large releases of records write and read what plain Python and DuckDB
do."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.io.compiled import rowtext
from setveil.io.compiled.rowtext import read_rows, write_rows
from setveil.io.formats.csvlines import write_release_rows
from setveil.io.releases.form import PartFile
from setveil.io.releases.records import _read_table
from setveil.io.writing import write_lines

PLAIN = ["a", "b", "ab", "B", "1", "10", "2", "a b", "ä", "日本", "*1.2", "sevenxx", "eightxxx"]
LONG = ["a name of many letters", "a name of many letters more", "back\\slash", "\U0001f600" * 5]
ODD = ["a,b", '"', " a", "tab\t", "line\nend", "\x01", "\x7f", "a;b", "\\"]


def random_records(seed: int, labels: list[str]) -> Transactions:
    chance = random.Random(seed)
    longest = chance.choice([1, 3, 8])
    return Transactions.of(
        [
            chance.sample(labels, min(chance.randint(0, longest), len(labels)))
            for _ in range(chance.choice([1, 5, 40, 150]))
        ]
    )


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(rowtext, "_BLOCK", 50)
    monkeypatch.setattr(rowtext, "_ROWS_AT_ONCE", 7)
    monkeypatch.setattr(rowtext, "_WORDS", 2)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("before", [0, 7, 98, 999_999])
def test_both_write_the_same_text(tmp_path, before):
    for seed in range(30):
        data = random_records(seed, PLAIN + LONG + ODD * (seed % 2))
        write_lines(write_release_rows(data, before), tmp_path / "plain")
        assert write_rows(data, tmp_path / "compiled", before, many=0)
        assert (tmp_path / "compiled").read_bytes() == (tmp_path / "plain").read_bytes()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("before", [0, 98])
def test_both_read_the_same_records(tmp_path, before):
    accepted = 0
    for seed in range(20):
        data = random_records(seed, PLAIN + LONG[:2] + ODD * (seed % 4 == 1))
        part = PartFile(tmp_path / "data.csv", before, len(data))
        write_rows(data, part.path, before, many=0)
        found = read_rows(part, large=0)
        if found is not None:
            accepted += 1
            assert found == _read_table(part, False)
            assert found.items.dtype == np.int32
    assert accepted > 10


def test_a_text_that_was_changed_is_left_to_duckdb_or_read_as_it_does(tmp_path, small_blocks):
    """Whatever one byte becomes, the text is refused, or both read the same."""
    chance, accepted = random.Random(1), 0
    for seed in range(8):
        data = random_records(seed, PLAIN[:6])
        part = PartFile(tmp_path / "data.csv", 0, len(data))
        write_rows(data, part.path, 0, many=0)
        text = part.path.read_bytes()
        for _ in range(25):
            at, byte = chance.randrange(len(text)), chance.choice(b'",\\ 0129a\n\r\t\xff\x00')
            kind = chance.randrange(3)
            part.path.write_bytes(text[:at] + bytes([byte] * (kind < 2)) + text[at + (kind > 0) :])
            found = read_rows(part, large=0)
            if found is not None:
                accepted += 1
                assert found == _read_table(part, False)
    assert accepted


@pytest.mark.parametrize(
    "text",
    [
        "record,item\n2,a\n1,b\n",
        "record,item\n1,a\n1,a\n",
        "record,item\n1,a\n3,b\n",
        "record,item\n1,a\n2,b",
        "record,item\n1,a\n02,b\n",
        "record,item\n1,a\n0,b\n",
        "record,item\n1,a\n2,\n",
        'record,item\n1,a\n2,"b"\n',
        "record,item\n1,a\n\n2,b\n",
        "record,item\n1,a\n2,b\r\n",
        "\ufeffrecord,item\n1,a\n",
        "record,item,count\n1,a,1\n",
        "record,item\n",
        "",
    ],
)
def test_what_setveil_does_not_write_is_left_to_duckdb(make, text):
    assert read_rows(PartFile(make("data.csv", text), 0, 2), large=0) is None


def test_a_record_that_is_too_long_for_a_block_is_left_to_duckdb(tmp_path, monkeypatch):
    data = Transactions.of([[f"i{n}" for n in range(100)]])
    part = PartFile(tmp_path / "data.csv", 0, 1)
    write_rows(data, part.path, 0, many=0)
    monkeypatch.setattr(rowtext, "_BLOCK", 20)
    assert read_rows(part, large=0) == data
    monkeypatch.setattr(rowtext, "_LONGEST_RECORD", 100)
    assert read_rows(part, large=0) is None


def test_what_cannot_be_written_quickly_is_left_to_plain_python(tmp_path):
    target = tmp_path / "data.csv"
    assert not write_rows(Transactions.of([["\ud800"]]), target, 0, many=0)
    assert not write_rows(Bags.of([["a", "a"]]), target, 0, many=0)
    assert not write_rows(Transactions.of([["a"]]), target, 0)
    with pytest.raises(DataError, match="empty text"):
        write_rows(Transactions.of([[""]]), target, 0, many=0)
    assert not target.exists()

"""Files that once hid their records, took very long, or ended in a message that nobody can read."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import threading
from io import BytesIO

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import setveil
from setveil.cli import answer
from setveil.cli.complain import explain
from setveil.data.transactions import Bags
from setveil.errors import FileFormatError, ReleaseError, SetveilError
from setveil.io import read
from setveil.io.formats import fimi
from setveil.io.querylog.read import read_querylog
from setveil.io.querylog.tables import narrow_lines
from setveil.io.source import database as databases
from setveil.io.source.database import database, run
from setveil.io.source.source import open_source
from setveil.promises import VocabularyKAnonymity
from setveil.published.typical_bags import TypicalBags

LOG = b"user,query,time\nu1,x,2006-01-01 00:00:00\n"


@pytest.mark.parametrize("mark", [",", "\t"])
@pytest.mark.parametrize("name", ['"item', '"it"em', '"item\n1', '"item\n1' + "x" * 100_000])
def test_a_header_with_a_broken_quote_is_refused(make, mark, name):
    path = make("a.csv" if mark == "," else "a.tsv", f"record{mark}{name}\n1{mark}beer\n")
    with pytest.raises(FileFormatError, match="a quote in the first line is not closed"):
        read(path)


@pytest.mark.parametrize("start", ["\r", "\n\r", "\r\n\n"])
def test_blank_lines_before_the_header_that_end_otherwise_hide_nothing(make, start):
    with pytest.raises(FileFormatError, match="mixes Windows and Unix line ends"):
        read(make("a.tsv", f"{start}record\titem\n1\tbeer\n2\twine\n"), format="tsv")


@pytest.mark.parametrize("first", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("second", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["sep=;", "sep=;{0}Orders of March", "sep=;{0}{0}", "{0}sep=;"])
def test_a_line_that_names_the_delimiter_hides_no_rows_whatever_its_end(make, start, first, second):
    """All rows were once skipped, and nothing was said."""
    path = make(
        "a.csv", start.format(first) + first + second.join(["record;item", "1;a", "2;b", ""])
    )
    if first == second:
        assert list(read(path)) == [("a",), ("b",)]
    else:
        with pytest.raises(FileFormatError, match="mixes Windows and Unix line ends"):
            read(path)


@pytest.mark.parametrize(("name", "content"), [("a.csv", "record,item\n"), ("a.dat", "\n")])
def test_a_file_without_records_is_refused_by_the_verbs(make, capsys, name, content):
    path = make(name, content)
    release = str(path.with_name("release"))
    for command in (
        ["inspect"],
        ["anonymize", "-k", "2", "--hierarchy", "balanced", "-o", release],
    ):
        assert answer([command[0], str(path), *command[1:]]) == 3
        assert capsys.readouterr().err == f"setveil: {path}: the file has no records\n"
    with pytest.raises(FileFormatError, match="no records"):
        setveil.inspect(path)
    assert not path.with_name("release").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"items": {"a": 9223372036854775808}}', "the count of 'a' is 9223372036854775808"),
        ('{"items": {"a": ' + "9" * 4000 + "}}", "at most 4.6e\\+18"),
        ('["a"]\n' + "[" * 100_000, "nested too deeply"),
        ('["a"]\n' + "[" * 900 + "]" * 900, "an item is a list"),
        ('["' + "\\ud800" + '"]', "half of a surrogate pair"),
        ('{"items": {"\\ud800": 1}}', "half of a surrogate pair"),
        ('{"record": 1, "item\\udfff": "a"}', "half of a surrogate pair"),
        ('["a"]\n[{"' + "x" * 100_000 + '": 1}]', "an item is an object"),
        ('{"items": ["a"]}\n{"id": 1}', "row 2 has no list of items"),
    ],
)
def test_odd_json_gets_one_short_line(make, line, message):
    with pytest.raises(FileFormatError, match=message) as raised:
        read(make("a.jsonl", line + "\n"), item="items" if "items" in line else None)
    assert len(str(raised.value)) < 500


def test_both_halves_of_a_character_are_one_item(make):
    assert list(read(make("a.jsonl", '["\\ud83d\\ude00"]\n'))) == [("\U0001f600",)]


@pytest.mark.parametrize(
    "content",
    [
        b"u2" + b",a" * 62_000 + b"\n",
        b'u2,"z\nk"' + b",a" * 62_000 + b"\n",
        b"u2" + b",a" * 62_000 + b',"x\ny",z\n',
        b'u2,x"' + b",a" * 62_000 + b"\n",
    ],
)
def test_a_log_row_with_very_many_cells_is_one_bad_row(make, monkeypatch, content):
    """DuckDB would describe each surplus cell with the whole row: never give it such a row."""
    path = make("log.csv", LOG + content + b"u3,y,2006-01-02\n")
    with open_source(path) as source:
        narrow = narrow_lines(source.path, ",", 3, source.work / "narrow")
        assert max(map(len, narrow.read_bytes().split(b"\n"))) < 100
    data, report = read_querylog(path, lemma=str)
    assert sorted(data) == [("x",), ("y",)]
    assert [(bad.line, bad.reason) for bad in report.bad_lines] == [
        (3, "the number of columns is wrong")
    ]


@pytest.mark.parametrize("text", [b'"z' + b", w" * 5_000 + b'"', b'"z\n' + b", w" * 5_000 + b'\n"'])
def test_delimiters_within_quotes_are_not_cells(make, text):
    path = make("log.csv", LOG + b"u2," + text + b",2006-01-01\n")
    data, report = read_querylog(path, lemma=str)
    assert report.bad_rows == 0
    assert sorted(data) == [("w", "z"), ("x",)]


@pytest.mark.parametrize("mark", [b"\t", b","])
def test_a_log_without_a_header_is_refused_without_quoting_a_row(make, mark):
    path = make("log.txt", mark.join([b"joe", b"my secret", b"soon"]) + b"\n")
    with pytest.raises(FileFormatError, match="does not name the columns of a log") as raised:
        read_querylog(path)
    assert "secret" not in str(raised.value)
    assert "joe" not in str(raised.value)


def test_a_log_with_thousands_of_columns_is_refused(make):
    with pytest.raises(FileFormatError, match="1,000 are allowed"):
        read_querylog(make("log.csv", b"user,query,time" + b",a" * 2_000 + b"\n1,x,2006-01-01\n"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "tree.csv", "log.csv"])
def test_a_message_never_quotes_a_long_value_whole(make, name):
    long, more = "x" * 50_000, "y" * 50_000
    contents = {
        "a.csv": f"{long},{more}\n1,2\n",
        "a.jsonl": f'{{"{long}": ["a"], "{more}": ["b"]}}\n',
        "tree.csv": f"{long};A;ALL\n{long};B;ALL\n{more};A;ALL\n",
        "log.csv": f"user,{long},{more}\n1,x,2006-01-01\n",
    }
    path = make(name, contents[name])
    ways = {"tree.csv": setveil.Hierarchy.read, "log.csv": read_querylog}
    with pytest.raises(SetveilError) as raised:
        ways.get(name, lambda path: read(path, format=path.suffix[1:]))(path)
    assert len(str(raised.value)) < 500


def test_a_long_fimi_line_is_read_in_blocks_that_are_copied_once(monkeypatch):
    """The work is the length of all blocks, which must not grow with the length of the line."""
    monkeypatch.setattr(fimi, "_BLOCK", 1 << 10)
    line = b" ".join(b"%d" % number for number in range(100_000))
    blocks = list(fimi._blocks(BytesIO(line), None))
    assert b"".join(blocks) == line
    assert max(map(len, blocks)) <= 2 << 10


@given(
    st.lists(st.sampled_from([b"1", b"x", b" ", b"\n", b"\r", b"\r\n", b"\t", b"12"])),
    st.integers(1, 9),
)
def test_blocks_that_end_anywhere_give_the_records_of_the_lines(parts, size):
    content = b"".join(parts)
    whole = read(BytesIO(content), format="fimi", bags=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fimi, "_BLOCK", size)
        assert read(BytesIO(content), format="fimi", bags=True) == whole


def test_a_fimi_item_of_many_megabytes_is_refused(make, monkeypatch):
    monkeypatch.setattr(fimi, "_BLOCK", 1 << 10)
    monkeypatch.setattr(fimi, "_LONGEST_ITEM", 1 << 20)
    with pytest.raises(FileFormatError, match="an item is longer than 1 megabytes"):
        read(make("a.dat", b"1 " + b"x" * (3 << 20)))


@pytest.mark.parametrize("line", [";b;c", "a;b\n;b", "x;y\n;;\n;a", "item,g\n,b\nx,b", ";;b"])
def test_an_empty_first_cell_of_a_hierarchy_is_one_clear_line(make, line):
    with pytest.raises(SetveilError, match=r"tree.csv: .*empty"):
        setveil.Hierarchy.read(make("tree.csv", line + "\n"))


@pytest.mark.parametrize("name", ["a.dat.gz", "a.dat.zst"])
def test_an_empty_file_is_not_a_compressed_one(make, name):
    with pytest.raises(FileFormatError, match="the content is not compressed"):
        read(make(name, b""))


@given(st.binary(max_size=60), st.sampled_from([b"record,item\n", b"record,item,count\n", b""]))
def test_the_kept_database_reads_as_a_private_one(content, header):
    """One instance for many small files gives the records and the errors of one for each file."""

    def outcome():
        try:
            return read(BytesIO(header + content), format="csv")
        except SetveilError as error:
            return str(error)

    kept = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(databases, "_SMALL", -1)
        assert outcome() == kept


def test_databases_of_one_process_do_not_see_each_other(tmp_path):
    def use(number, failures):
        for _ in range(5):
            with database(tmp_path, small=True) as connection:
                run(connection, f"CREATE TABLE long AS SELECT {number} AS number")
                if connection.execute("SELECT number FROM long").fetchall() != [(number,)]:
                    failures.append(number)

    failures: list[int] = []
    threads = [threading.Thread(target=use, args=(number, failures)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with database(tmp_path, small=True) as connection, database(tmp_path, small=True) as other:
        run(connection, "CREATE TABLE long AS SELECT 1 AS number")
        run(other, "CREATE TABLE long AS SELECT 2 AS number")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_reads_files_of_its_own_and_ends_well(make):
    path = make("a.csv", "record,item\n1,a\n")
    assert len(read(path)) == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if len(read(path)) == 1 and _closes() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(read(path)) == 1


def _closes() -> bool:
    databases._instance.cache_clear()
    return True


@pytest.mark.parametrize("room", [1 << 20, 1 << 29])
def test_a_limited_address_space_limits_the_database_too(make, monkeypatch, capsys, room):
    """DuckDB crashes where the system refuses it memory, so it must not ask for more."""
    path = make("a.csv", "record,item\n1,a\n1,b\n")
    monkeypatch.setattr(databases, "_room", lambda: room)
    databases._instance.cache_clear()
    if room < databases._LEAST_ROOM:
        assert answer(["inspect", str(path)]) == 3
        assert capsys.readouterr().err == "setveil: there is not enough memory for this data\n"
    else:
        assert list(read(path)) == [("a", "b")]
        for given, limit in ((None, "170"), ("3GB", "170"), ("100MB", "95.3")):
            with database(path.parent, given, threads=4) as connection:
                chosen = connection.execute(
                    "SELECT current_setting('memory_limit'), current_setting('threads')"
                ).fetchall()
            assert chosen[0][0].startswith(limit)
            assert chosen[0][1] == 1
    databases._instance.cache_clear()


@pytest.mark.parametrize(
    "error",
    [
        ImportError("duckdb.so: failed to map segment from shared object"),
        OSError("Could not find/load shared object file 'libllvmlite.so' from resource location"),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        RuntimeError("can't start new thread"),
    ],
)
def test_a_library_or_thread_that_does_not_fit_in_memory_is_not_a_bug(error):
    assert explain(error, []) == ("setveil: there is not enough memory for this data\n", 3)


def test_a_release_with_a_very_long_slot_is_refused_in_a_short_line(tmp_path):
    slots = TypicalBags.of_rows(
        Bags.of([["1"], ["1"]]), VocabularyKAnonymity(k=2), {}, slots=Bags.of([["beer", "wine"]])
    )
    folder = tmp_path / "release"
    setveil.write(slots, folder)
    data = (folder / "data.csv").read_text().replace(",1,", f",{'x' * 5_000},")
    (folder / "data.csv").write_text(data)
    about = json.loads((folder / "release.json").read_text())
    about["files"]["data.csv"] = hashlib.sha256(data.encode()).hexdigest()
    (folder / "release.json").write_text(json.dumps(about))
    with pytest.raises(ReleaseError, match="does not say what slot 'x") as raised:
        setveil.read_release(folder)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("pack", [None, gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_header_far_longer_than_usual_is_read_whole(make, pack):
    names = [f"a product with a rather long name, number {number}" for number in range(3_000)]
    lines = [",".join(["id", *(f'"{name}"' for name in names)])]
    for person in range(3):
        lines.append(",".join([f"p{person}", *("01"[at % 700 == person] for at in range(3_000))]))
    content = "\n".join(lines).encode()
    suffix = {None: "", gzip.compress: ".gz"}.get(pack, ".zst")
    path = make(f"wide.csv{suffix}", pack(content) if pack else content)
    found = [len(record) for record in read(path, record="id", onehot=True)]
    assert found == [5, 5, 5]

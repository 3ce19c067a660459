"""A format is its own module and one line in the table: nothing else has to change."""

from __future__ import annotations

import io
import sys
from types import ModuleType

import pytest

from setveil.data.transactions import Transactions
from setveil.errors import DataError, OutputError
from setveil.io import FORMATS, Format, read, write
from setveil.io.formats.guess import CERTAIN, NO

BASKETS = "#toy\nbeer+wine\nmilk\n"
EXPECTED = [("beer", "wine"), ("milk",)]


def recognize_toy(sample):
    return CERTAIN if sample.text.startswith("#toy") else NO


def read_toy(source, reading):
    with source.stream() as stream:
        lines = stream.read().decode().splitlines()
    return Transactions.of(line.split("+") for line in lines if not line.startswith("#"))


def write_toy(data):
    yield "#toy"
    yield from ("+".join(record) for record in data)


def write_binary_toy(data, target):
    target.write_bytes("\0".join("+".join(record) for record in data).encode())


@pytest.fixture
def toy(monkeypatch):
    """The table with one more line, whose functions are in a module of their own."""
    module = ModuleType("toy_format")
    module.__dict__.update(read=read_toy, write=write_toy, recognize=recognize_toy)
    monkeypatch.setitem(sys.modules, "toy_format", module)
    functions = {
        "reader": "toy_format:read",
        "writer": "toy_format:write",
        "recognizer": "toy_format:recognize",
    }
    monkeypatch.setitem(FORMATS, "toy", Format(name="toy", suffixes=(".toy",), **functions))


def test_a_new_format_is_read_by_suffix_by_content_and_by_option(make, toy):
    bare = BASKETS.removeprefix("#toy\n")
    assert list(read(make("a.toy", bare))) == EXPECTED
    assert list(read(make("a.csv", BASKETS))) == EXPECTED
    assert list(read(io.BytesIO(BASKETS.encode()))) == EXPECTED
    assert list(read(make("a.dat", bare), format="toy")) == EXPECTED


def test_a_new_format_is_written_by_suffix_and_by_option(tmp_path, toy):
    data = Transactions.of(EXPECTED)
    for name, options in (("a.toy", {}), ("a", {"format": "toy"}), ("a.toy.gz", {})):
        write(data, tmp_path / name, **options)
        assert read(tmp_path / name) == data
    assert (tmp_path / "a.toy").read_text() == BASKETS


def test_a_new_format_is_in_the_help(toy):
    from click.testing import CliRunner

    from setveil.cli.root import root

    shown = "".join(CliRunner().invoke(root, ["inspect", "--help"]).output.split())
    assert "|".join(FORMATS) in shown


def test_a_format_without_a_recognizer_is_known_by_its_suffix(make, monkeypatch):
    line = Format(name="toy", suffixes=(".toy",), reader=read_toy, writer=write_toy)
    monkeypatch.setitem(FORMATS, "toy", line)
    assert list(read(make("a.toy", BASKETS))) == EXPECTED
    with pytest.raises(DataError, match="is each line a whole basket"):
        read(make("a.csv", "a,b\n1,2\n"))


def test_a_binary_format_writes_its_own_file_and_only_files(tmp_path, monkeypatch):
    line = Format(
        name="toy", suffixes=(".toy",), reader=read_toy, writer=write_binary_toy, is_text=False
    )
    monkeypatch.setitem(FORMATS, "toy", line)
    data = Transactions.of(EXPECTED)
    write(data, tmp_path / "a.toy")
    assert (tmp_path / "a.toy").read_bytes() == b"beer+wine\0milk"
    with pytest.raises(OutputError, match="a toy file cannot go to standard output"):
        write(data, "-", format="toy")
    with pytest.raises(OutputError, match=r"leave out \.gz or \.zst"):
        write(data, tmp_path / "b.toy.gz")


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.baskets", b"PAR1\x15", "parquet"),
        ("a.parquet", b"record,item\n1,a\n", "parquet"),
        ("a.baskets", b"record,item\n1,a\n", "baskets"),
        ("a.jsonl", b"record,item\n1,a\n", "jsonl"),
        ("a.csv", b"record\titem\n1\ta\n", "tsv"),
        ("a.tsv", b"record,item\n1,a\n", "csv"),
        ("a.dat", b"record,item\n1,a\n", "csv"),
        ("a.dat", b"a,b\nc\n", "fimi"),
        ("a.dat", b"", "fimi"),
        ("a", b'["a", "b"]\n', "jsonl"),
        ("a", b"1 2\n3 4\n", "fimi"),
        ("a.csv", b"1\n2\n", "baskets"),
        ("a.csv", b"", "csv"),
    ],
)
def test_content_and_suffix_decide_together(make, name, content, format):
    from setveil.io.formats.guess import guess_format
    from setveil.io.formats.reading import Reading
    from setveil.io.source.source import open_source

    with open_source(make(name, content)) as source:
        assert guess_format(source, Reading()) == format

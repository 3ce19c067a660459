"""Reading from and writing to any place, packed or not, and nothing half-written."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, FileFormatError, OutputError, ParameterError
from setveil.io import FORMATS, read, write

LONG = b"record,item\n1,wine\n1,beer\n2,milk\n"
EXPECTED = [("beer", "wine"), ("milk",)]
PACKERS = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=6)
AWKWARD = st.sampled_from(
    [
        "007",
        "7",
        "NULL",
        "a,b",
        'q"r',
        '"',
        "x y",
        "a\nb",
        "a\r\nb",
        "\t",
        ";",
        " ",
        "é",
        "日本",
        "\ufeff",
        "|",
        "#",
        "'",
        "\\",
        "{",
        "[",
        "null",
    ]
)
WORDS = st.sampled_from(
    ["\ufeff", "007", "7", "12", "wine", 'q"r', "a,b", "é", "日本", "\xa0", "'", "-5", "\u2028"]
)


def any_data(items):
    """Transactions or bags over some items, empty records among them."""
    sets = st.lists(st.lists(items, max_size=5), max_size=8).map(Transactions.of)
    return sets | st.lists(st.dictionaries(items, st.integers(1, 4), max_size=5), max_size=8).map(
        Bags.of
    )


def written_and_read(data, format, end=""):
    """What comes back from a file in a folder that holds nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{FORMATS[format].suffixes[0]}{end}"
        write(data, path)
        assert [file.name for file in Path(folder).iterdir()] == [path.name]
        return read(path, format=format, bags=isinstance(data, Bags) or None)


@pytest.mark.parametrize("format", ["csv", "tsv", "baskets", "jsonl"])
@given(data=any_data((TEXTS | AWKWARD).filter(lambda item: "\0" not in item)))
def test_what_is_written_is_read_again(format, data):
    assert written_and_read(data, format) == data


@settings(max_examples=settings.default.max_examples // 3)
@given(data=any_data(TEXTS | AWKWARD))
def test_what_is_written_as_parquet_is_read_again(data):
    assert written_and_read(data, "parquet") == data


@given(data=any_data(WORDS))
def test_what_is_written_as_fimi_is_read_again(data):
    assert written_and_read(data, "fimi") == data


@pytest.mark.parametrize("end", [".gz", ".zst"])
@pytest.mark.parametrize("format", ["fimi", "csv", "baskets", "jsonl"])
def test_packed_files_are_written_and_read_again(format, end):
    for data in (
        Transactions.of([["a", "é,1"], [], ['q"', "7"], []]),
        Bags.of([["x", "x"], [], ["y"]]),
        Transactions.of([]),
    ):
        assert written_and_read(data, format, end) == data


@pytest.mark.long
@pytest.mark.parametrize("format", ["csv", "tsv"])
@given(data=any_data(TEXTS | AWKWARD))
def test_long_tables_in_zstd_are_read_again(format, data):
    assert written_and_read(data, format, ".zst") == data


@pytest.mark.long
@pytest.mark.parametrize("format", ["baskets", "jsonl"])
@given(data=any_data(LINES))
def test_lines_in_zstd_are_read_again(format, data):
    assert written_and_read(data, format, ".zst") == data


@pytest.mark.parametrize("end", PACKERS)
def test_packed_files_are_read(make, end):
    assert list(read(make(f"a.csv{end}", PACKERS[end](LONG)))) == EXPECTED


@pytest.mark.parametrize("end", PACKERS)
def test_a_packed_file_is_known_by_its_content(make, end):
    assert list(read(make("a.csv", PACKERS[end](LONG)))) == EXPECTED


def test_several_packed_parts_in_a_row_are_one_file(make):
    for end in (".gz", ".zst"):
        assert list(read(make(f"a.dat{end}", PACKERS[end](b"1 2\n") + PACKERS[end](b"3\n")))) == [
            ("1", "2"),
            ("3",),
        ]


@pytest.mark.parametrize("name", ["a.csv", "a.dat"])
@pytest.mark.parametrize(("end", "word"), [(".gz", "gzip"), (".zst", "zstd")])
def test_a_packed_file_that_is_cut_off_is_refused(make, name, end, word):
    rows = b"".join(b"%d,i%d\n" % (number, number * 7919 % 1009) for number in range(20_000))
    packed = PACKERS[end](b"record,item\n" + rows)
    for cut in (len(packed) // 2, len(packed) - 1):
        path = make(name + end, packed[:cut])
        with pytest.raises(FileFormatError) as error:
            read(path)
        assert (
            str(error.value) == f"{path}: the {word} data is cut off or damaged; get the file again"
        )


@pytest.mark.parametrize(
    "options", [{}, {"write_checksum": True}, {"write_content_size": False}, {"level": 19}], ids=str
)
def test_every_way_of_writing_zstd_frames_is_followed(make, options):
    noise = b" ".join(b"%d" % number for number in os.urandom(60_000)) + b"\n"
    packer = zstandard.ZstdCompressor(**options)
    for text in (b"1 2\n3\n" * 50_000, noise, b"1\n", b"7 " * 150_000):
        stream = io.BytesIO()
        with packer.stream_writer(stream, closefd=False) as target:
            target.write(text)
        skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
        assert read(make("a.dat.zst", stream.getvalue() + skippable)) == read(make("b.dat", text))


def test_a_name_that_promises_packing_is_held_to_it(make):
    for end, word in ((".gz", "gzip"), (".zst", "zstd")):
        path = make(f"a.dat{end}", b"1 2\n")
        with pytest.raises(FileFormatError) as error:
            read(path)
        assert (
            str(error.value) == f"{path}: the name says {word}, but the content is not compressed"
        )


def test_standard_input_is_read(monkeypatch):
    for content, expected in (
        (LONG, EXPECTED),
        (gzip.compress(LONG), EXPECTED),
        (b"1 2\n\n3\n", [("1", "2"), (), ("3",)]),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert list(read("-")) == expected


def test_an_open_stream_is_read(make):
    assert list(read(io.BytesIO(LONG))) == EXPECTED
    with make("a.dat", b"1 2\n").open("rb") as stream:
        assert list(read(stream)) == [("1", "2")]


def test_a_stream_of_text_is_refused():
    with pytest.raises(FileFormatError) as error:
        read(io.StringIO("1 2\n"))
    assert (
        str(error.value) == "the stream: this stream gives text, not bytes; open it in binary mode"
    )


def test_a_named_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"printf 'record,item\\n1,a\\n' > {pipe}"]):
        assert list(read(pipe)) == [("a",)]


@pytest.mark.parametrize("name", ["a[1]*?.csv", "it's.csv", 'q"x.csv', "é 日.csv", "a.b.CSV"])
def test_the_name_of_a_file_may_be_anything(make, name):
    assert list(read(make(name, LONG))) == EXPECTED


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(FileFormatError) as error:
        read(tmp_path / "a.csv")
    assert str(error.value) == f"{tmp_path / 'a.csv'}: there is no such file"


def test_a_folder_without_data_files_and_a_release_are_no_data(tmp_path):
    with pytest.raises(FileFormatError) as error:
        read(tmp_path)
    assert str(error.value) == f"{tmp_path}: there are no data files"
    (tmp_path / "release.json").write_text("{}")
    with pytest.raises(
        FileFormatError,
        match=r"this is a folder, not a data file; setveil\.read_release reads a release",
    ):
        read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_said(make):
    path = make("a.dat", b"1\n")
    path.chmod(0)
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert str(error.value) == f"{path}: you do not have permission to read this file"


def test_an_unknown_format_is_refused(tmp_path):
    message = (
        "format = 'xls' is not allowed: choose one of fimi, csv, tsv, baskets, arff, parquet, jsonl"
    )
    with pytest.raises(ParameterError) as error:
        read(tmp_path / "a", format="xls")
    assert str(error.value) == message
    with pytest.raises(ParameterError) as error:
        write(Transactions.of([]), tmp_path / "a", format="xls")
    assert str(error.value) == message


def test_a_format_overrides_the_name(make):
    assert list(read(make("a.csv", "1 2\n"), format="fimi")) == [("1", "2")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.dat",
            b"\xff\xfe1\x00\x00",
            "the text is not utf-16 (near line 1); name another encoding=...",
        ),
        ("a.xlsx", b"PK\x03\x04abc", "the spreadsheet is damaged; save it again"),
        (
            "a.zip",
            b"PK\x03\x04abc",
            "the zip file is damaged; get it again",
        ),
        (
            "a.csv",
            b"a\0b",
            "this is a binary file of an unknown format; export it as CSV or Parquet first",
        ),
        ("data", b"", "the file is empty"),
    ],
)
def test_what_is_no_data_file_gets_one_clear_line(make, name, content, message):
    path = make(name, content)
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert str(error.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("data", b"1 2\n3\n", [("1", "2"), ("3",)]),
        ("data.txt", b"a,b\nc\n", [("a", "b"), ("c",)]),
        ("data.dat", LONG, EXPECTED),
        ("data.dat", b"wine beer\n", [("beer", "wine")]),
        ("data.tsv", b"a\tb\nc\n", [("a", "b"), ("c",)]),
        ("data.csv", b"[x],y\nz\n", [("[x]", "y"), ("z",)]),
    ],
)
def test_the_format_is_guessed_from_name_and_content(make, name, content, expected):
    assert list(read(make(name, content))) == expected


def test_a_file_is_not_overwritten_unasked(make):
    path = make("a.dat", b"precious")
    with pytest.raises(OutputError) as error:
        write(Transactions.of([["1"]]), path)
    assert (
        str(error.value)
        == f"cannot write {path}: it exists already; choose another name or allow overwriting "
        "with force=True"
    )
    assert path.read_bytes() == b"precious"
    write(Transactions.of([["1"]]), path, force=True)
    assert path.read_bytes() == b"1\n"


def test_a_failed_write_leaves_the_old_file(make, tmp_path):
    path = make("a.dat", b"precious")
    with pytest.raises(DataError):
        write(Transactions.of([["1"]] * 100_000 + [["a b"]]), path, force=True)
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_or_a_device_is_never_replaced(tmp_path):
    pipe = tmp_path / "pipe.dat"
    os.mkfifo(pipe)
    for force in (False, True):
        with pytest.raises(OutputError) as error:
            write(Transactions.of([["1"]]), pipe, force=force)
        assert (
            str(error.value)
            == f"cannot write {pipe}: it is a device or a pipe; give the name of a file"
        )
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_stays_one_and_what_it_points_to_is_replaced(make, tmp_path):
    path, link = make("a.dat", b"old"), tmp_path / "link.dat"
    link.symlink_to(path)
    write(Transactions.of([["1"]]), link, force=True)
    assert link.is_symlink()
    assert path.read_bytes() == b"1\n"


def test_places_that_cannot_be_written_to_are_said(tmp_path):
    data = Transactions.of([["1"]])
    with pytest.raises(OutputError) as error:
        write(data, tmp_path / "no" / "a.dat")
    assert (
        str(error.value)
        == f"cannot write {tmp_path / 'no' / 'a.dat'}: the folder {tmp_path / 'no'} does not exist"
    )
    with pytest.raises(OutputError) as error:
        write(data, tmp_path, format="fimi")
    assert str(error.value) == f"cannot write {tmp_path}: it is a folder; give the name of a file"
    with pytest.raises(
        OutputError,
        match=r"its name does not show the format; end the name with one of \.dat, \.fimi, \.csv, ",
    ):
        write(data, tmp_path / "a")


def test_half_a_character_is_not_written(tmp_path):
    with pytest.raises(DataError) as error:
        write(Transactions.of([["a\ud800"]]), tmp_path / "a.csv")
    assert (
        str(error.value)
        == "an item contains '\\ud800', which is not Unicode text and cannot be written"
    )
    assert list(tmp_path.iterdir()) == []


def test_data_goes_to_standard_output(capfdbinary):
    write(Transactions.of([["b", "a"]]), "-", format="csv")
    assert capfdbinary.readouterr().out == b"record,item\n1,a\n1,b\n"
    with pytest.raises(OutputError, match="a parquet file cannot go to standard output"):
        write(Transactions.of([["a"]]), "-", format="parquet")


def test_packed_files_reveal_neither_name_nor_time(tmp_path):
    for name in ("one.dat.gz", "two.dat.gz"):
        write(Transactions.of([["1"]]), tmp_path / name)
    packed = (tmp_path / "one.dat.gz").read_bytes()
    assert packed == (tmp_path / "two.dat.gz").read_bytes()
    assert packed[3:8] == bytes(5)


INTERRUPTED = """
import os, pathlib, signal, sys, threading, time
import setveil.io

def interrupt():
    while not list(pathlib.Path(os.environ["TMPDIR"]).rglob("*.duckdb")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
setveil.io.read(sys.argv[1])
"""


def test_an_interruption_leaves_no_temporary_file(tmp_path):
    """The reader interrupts itself once its database exists, however slow the machine is."""
    rows = "".join(f"{number},i{number % 977}\n" for number in range(2_000_000))
    (tmp_path / "a.csv").write_text("record,item\n" + rows)
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "a.csv")],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        timeout=600,
    )
    assert b"KeyboardInterrupt" in done.stderr
    assert list(folder.iterdir()) == []


def test_reading_and_writing_are_imported_without_duckdb():
    heavy = "('duckdb', 'numpy', 'numba', 'pandas')"
    code = f"import setveil.io, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

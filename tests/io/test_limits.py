"""Compressed input may unpack to a stated size, and no more; what is damaged names its file."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest

import setveil as sv
from setveil.disk import limits
from setveil.disk.limits import unpacked_limit, whole_limit
from setveil.errors import FileFormatError
from setveil.hierarchy.files import read_hierarchy
from setveil.io import read, write
from setveil.io.namelists import read_items
from setveil.io.querylog.read import read_querylog
from setveil.io.source.source import open_source
from setveil.pipeline import Job
from setveil.pipeline.preview import PreviewJob
from setveil.pipeline.preview import run as preview

ROWS = b"record,item\n" + b"".join(b"%d,beer\n" % number for number in range(30_000))
"""About 300 kB."""
LITTLE = "20kB"
"""Then data may unpack to 200 kB."""


def zipped(content: bytes, name: str = "a.csv", kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", kind) as file:
        file.writestr(name, content)
    return packed.getvalue()


def sheet(rows: int) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book, kept = openpyxl.Workbook(write_only=True), io.BytesIO()
    page = book.create_sheet("a")
    for number in range(rows):
        page.append([f"r{number}", "beer"] if number else ["record", "item"])
    book.save(kept)
    return kept.getvalue()


def zstandard(folder: Path) -> bytes:
    write([["beer", f"wine{number}"] for number in range(30_000)], folder / "z.csv.zst")
    return (folder / "z.csv.zst").read_bytes()


@pytest.mark.parametrize("end", ["csv.gz", "zip", "xlsx", "csv.zst"])
def test_data_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, end):
    content = {
        "csv.gz": lambda: gzip.compress(ROWS),
        "zip": lambda: zipped(ROWS),
        "xlsx": lambda: sheet(3_000),
        "csv.zst": lambda: zstandard(tmp_path),
    }[end]()
    path = tmp_path / f"data.{end}"
    path.write_bytes(content)
    assert len(content) < 200_000
    for door in (
        lambda: read(path, memory=LITTLE),
        lambda: sv.inspect(path, memory=LITTLE),
        lambda: sv.inspect(path, memory_limit=LITTLE),
        lambda: sv.anonymize(path, k=2, hierarchy="balanced", memory=LITTLE),
        lambda: read_querylog(path, memory=LITTLE),
    ):
        with pytest.raises(FileFormatError) as refused:
            door()
        said = f"{path}: it unpacks to more than 0.2 MB; if it is the right file, unpack it"
        assert str(refused.value).startswith(said)
        assert "memory=..." in str(refused.value)
    assert len(read(path)) >= 2_999


def test_several_compressed_files_share_one_limit(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(ROWS[:150_008]))
    with pytest.raises(FileFormatError, match=r"b\.csv\.gz: it unpacks to more than"):
        read(tmp_path, memory=LITTLE)
    with open_source(tmp_path / "a.csv.gz", most=200_000) as source:
        assert source.plain().stat().st_size == 150_008


def test_a_bomb_takes_no_more_memory_and_disk_than_the_limit(tmp_path, monkeypatch):
    """A tree, a list and a job file are held in memory, so they may be a twentieth of it."""
    bomb = gzip.compress(b"beer;drink;ALL\n" * 20_000)
    for name in ("tree.csv.gz", "items.txt.gz", "job.toml.gz"):
        (tmp_path / name).write_bytes(bomb)
    with pytest.raises(FileFormatError, match=r"more than 0\.05 MB of text.*allow more memory="):
        read_hierarchy(tmp_path / "tree.csv.gz", memory="1MB")
    how = {"hierarchy": tmp_path / "tree.csv.gz", "k": 2, "memory": "1MB"}
    with pytest.raises(FileFormatError, match=r"tree\.csv\.gz: it has more than 0\.05 MB of text"):
        sv.anonymize([["beer"]] * 4, **how)
    monkeypatch.setattr("setveil.disk.texts.whole_limit", lambda memory: 10_000)
    for reader in (read_items, Job.read):
        name = "items.txt.gz" if reader is read_items else "job.toml.gz"
        with pytest.raises(FileFormatError, match=rf"{name}: it has more than 0\.01 MB of text"):
            reader(tmp_path / name)


def test_the_page_previews_within_the_same_limit(tmp_path, monkeypatch):
    (tmp_path / "a.zip").write_bytes(zipped(ROWS))
    monkeypatch.setattr("setveil.io.source.source.unpacked_limit", lambda: 200_000)
    with pytest.raises(FileFormatError, match=r"it unpacks to more than 0\.2 MB"):
        preview(PreviewJob(data=str(tmp_path / "a.zip")))


def test_the_limits_follow_from_the_memory():
    assert (unpacked_limit(), whole_limit()) == (30 * 10**9, 150 * 10**6)
    assert (unpacked_limit("1GB"), whole_limit("1GB")) == (10**10, 5 * 10**7)


def test_a_source_is_unpacked_up_to_its_limit(tmp_path):
    (tmp_path / "a.dat.gz").write_bytes(gzip.compress(b"1 2\n" * 1_000))
    with open_source(tmp_path / "a.dat.gz", most=4_000) as source:
        assert source.plain().stat().st_size == 4_000
    with (
        open_source(tmp_path / "a.dat.gz", most=3_999) as source,
        pytest.raises(FileFormatError, match="unpacks to more than"),
    ):
        source.plain()


KINDS = {
    "stored": zipfile.ZIP_STORED,
    "deflated": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_damage_inside_a_zip_file_names_it(tmp_path, kind):
    whole, path = zipped(ROWS[:2_000], kind=KINDS[kind]), tmp_path / "a.zip"
    for place in range(0, len(whole), 23):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        said = f"{path}: nothing"
        try:
            read(path)
        except FileFormatError as error:
            said = str(error)
        assert said.startswith(f"{path}")
        assert "\n" not in said


def test_a_row_with_a_number_that_no_sheet_has_is_refused(tmp_path):
    from tests.oracle.xlsx import sheet_xml, write_xlsx

    sheet = sheet_xml([["record", "item"], [1, "a"], [2, "b"]])
    (tmp_path / "a.xlsx").write_bytes(write_xlsx(sheet))
    assert list(read(tmp_path / "a.xlsx")) == [("a",), ("b",)]
    far = sheet.replace(b'<row r="3">', b'<row r="3333333333333333333333">')
    (tmp_path / "b.xlsx").write_bytes(write_xlsx(far))
    with pytest.raises(FileFormatError, match="the spreadsheet is damaged"):
        read(tmp_path / "b.xlsx")


def test_a_zstd_file_that_is_cut_off_within_a_skipped_frame_is_refused(tmp_path):
    skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    write([["a"]], tmp_path / "a.dat.zst")
    content = skipped + (tmp_path / "a.dat.zst").read_bytes()
    (tmp_path / "a.dat.zst").write_bytes(content)
    assert list(read(tmp_path / "a.dat.zst")) == [("a",)]
    for size in range(4, len(skipped)):
        (tmp_path / "b.dat.zst").write_bytes(skipped[:size])
        with pytest.raises(FileFormatError, match="cut off or damaged"):
            read(tmp_path / "b.dat.zst")


@pytest.mark.parametrize(
    ("format", "start", "end"),
    [
        ("baskets", b"", b""),
        ("csv", b"id,a b\n1,", b"\n"),
        ("jsonl", b'["', b'"]'),
        ("arff", b"@relation x\n@attribute a {b}\n@data\n", b""),
    ],
)
def test_a_line_that_is_too_long_to_hold_is_refused_before_it_is_held(
    tmp_path, monkeypatch, format, start, end
):
    monkeypatch.setattr(limits, "USUAL_MEMORY", "2MB")
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(start + b"b" * 200_000 + end))
    how = {"item": "a b", "split": " "} if format == "csv" else {}
    with pytest.raises(FileFormatError, match=r"longer than 0\.1 MB, too much to hold in memory"):
        read(path, format=format, **how)

"""Text in other encodings and zip files are read as what they are, or refused with what to do."""

from __future__ import annotations

import zipfile

import pytest

from setveil import read
from setveil.errors import FileFormatError, ParameterError

TEXT = "record,item\n1,Crème brûlée\n1,Käse\n2,Käse\n"
RECORDS = [("Crème brûlée", "Käse"), ("Käse",)]


@pytest.mark.parametrize(
    "encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-8", "utf-8-sig"]
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_text_is_read_in_the_encoding_that_is_named(tmp_path, encoding, suffix):
    import gzip

    path = tmp_path / f"a{suffix}"
    content = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    assert list(read(path, encoding=encoding)) == RECORDS


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.dat"])
def test_utf_16_is_recognized_by_its_mark(tmp_path, name):
    texts = {
        "a.csv": TEXT,
        "a.tsv": TEXT.replace(",", "\t"),
        "a.jsonl": '{"items": ["Crème brûlée", "Käse"]}\n{"items": ["Käse"]}\n',
        "a.dat": "é è\nè\n",
    }
    (tmp_path / name).write_bytes(texts[name].encode("utf-16"))
    found = list(read(tmp_path / name))
    assert found == ([("è", "é"), ("è",)] if name == "a.dat" else RECORDS)


def test_text_in_another_encoding_is_refused_with_how_to_name_it(tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXT.encode("cp1252").replace(b"K", b"\x81"))
    with pytest.raises(
        FileFormatError,
        match=r"line 2: byte 5 of the line \(0xE8\) is not UTF-8; name its encoding, such as "
        "encoding='latin-1', which can read all of it",
    ):
        read(tmp_path / "a.csv")
    with pytest.raises(
        FileFormatError,
        match=r"line 2: byte 5 of the line \(0xE8\) is not ascii; name another encoding, such as "
        "encoding='latin-1'",
    ):
        read(tmp_path / "a.csv", encoding="ascii")
    with pytest.raises(ParameterError, match="it must be an encoding such as utf-8"):
        read(tmp_path / "a.csv", encoding="klingon")


def zipped(path, *names):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            packed.writestr(name, TEXT.encode("cp1252" if name.startswith("old") else "utf-8"))
    return path


def test_a_zip_file_with_one_member_is_read_as_that_member(tmp_path):
    assert list(read(zipped(tmp_path / "a.zip", "inner/a.csv"))) == RECORDS
    assert list(read(zipped(tmp_path / "b.zip", "old.csv"), encoding="cp1252")) == RECORDS


def test_a_zip_file_with_several_members_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="the zip file has 2 files, not one; unpack it"):
        read(zipped(tmp_path / "a.zip", "a.csv", "b.csv"))

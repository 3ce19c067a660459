"""Files that are surely no data are named, whatever they are called."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile

import pytest

from setveil.errors import FileFormatError
from setveil.hierarchy.files import read_hierarchy
from setveil.io import read, write
from setveil.io.namelists import read_items
from setveil.io.querylog.read import read_querylog
from setveil.pipeline.preview import PreviewJob
from setveil.pipeline.preview import run as preview

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
STARTS = {
    b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n": "a PDF document",
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR": "a picture",
    b"\xff\xd8\xff\xe0\0\x10JFIF": "a picture",
    b"GIF89a\x01\0\x01\0": "a picture",
    b'<svg viewBox="0 0 9 9">\n<g>a, b</g>\n': "a picture",
    b"SQLite format 3\0\x10\0": "an SQLite database",
    OLE + bytes(600): "an Office file",
    b"7z\xbc\xaf\x27\x1c\0\x04": "a 7z archive",
    b"Rar!\x1a\x07\x01\0": "a RAR archive",
    b"\xfd7zXZ\0\0\x04": "an xz file",
    b"BZh91AY&SY\0": "a bzip2 file",
    b"ARROW1\0\0\xff\xff": "an Arrow file",
    b"Obj\x01\x04\x14avro.codec": "an Avro file",
    b"\x89HDF\r\n\x1a\n\0": "an HDF5 file",
    b"\x93NUMPY\x01\0": "a NumPy file",
    b"\x80\x04\x95\x0b\0\0": "a Python pickle",
    b"<!DOCTYPE html>\n<html><body>": "an HTML page",
    b"\n <HTML lang=en>\n": "an HTML page",
    b'<?xml version="1.0"?>\n<a/>\n': "an XML file",
    b"{\\rtf1\\ansi": "an RTF document",
    b"%!PS-Adobe-3.0\n": "a PostScript document",
}
NAMES = ("a.csv", "a.dat", "a.baskets", "a.jsonl", "a.txt", "a")


@pytest.mark.parametrize("start", STARTS, ids=lambda start: STARTS[start])
def test_a_file_that_is_no_data_is_named(make, start):
    for name in NAMES:
        path = make(name, start)
        with pytest.raises(FileFormatError) as refused:
            read(path)
        assert f"{path}: this is {STARTS[start]}" in str(refused.value)
        for other in (
            lambda path=path: read_querylog(path),
            lambda path=path: preview(PreviewJob(data=str(path))),
            lambda path=path: read_hierarchy(path),
            lambda path=path: read_items(path),
            lambda path=path: read(make("a.zip", zipped(path.name, path.read_bytes()))),
            lambda path=path: read(make("a.csv.gz", gzip.compress(path.read_bytes()))),
        ):
            with pytest.raises(FileFormatError, match=f"this is {STARTS[start]}"):
                other()


def zipped(*files: str | bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in zip(files[::2], files[1::2], strict=True):
            file.writestr(str(name), content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        (("word/document.xml", "x", "a", "b"), "this is a Word document, not a data file"),
        (("mimetype", "x", "content.xml", "b"), "this is an OpenDocument file, not a data file"),
        (("xl/workbook.bin", "x"), "this is a binary spreadsheet"),
        (("a.csv", "x", "b.csv", "y"), "the zip file has 2 files, not one"),
        ((), "the zip file has 0 files, not one"),
    ],
)
def test_documents_that_are_zip_files_are_named(make, members, problem):
    for name in ("a.zip", "a.docx", "a.csv"):
        with pytest.raises(FileFormatError, match=problem):
            read(make(name, zipped(*members)))


@pytest.mark.parametrize("name", ["a.zip", "a.xlsx", "a.xlsm"])
@pytest.mark.parametrize("content", [b"record,item\n1,a\n2,b\n", b"", b"1 2 3\n4\n"])
def test_what_is_no_zip_file_is_not_read_as_one(make, name, content):
    with pytest.raises(FileFormatError, match=f"the name ends in {name[1:]}, but this is no such"):
        read(make(name, content))


def test_a_real_database_is_named(tmp_path):
    connection = sqlite3.connect(tmp_path / "a.csv")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    with pytest.raises(FileFormatError, match=r"this is an SQLite database.*export the table"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "value",
    [[["a", "b"], ["c"]], [{"items": ["a"]}, {"items": ["b"]}], {"records": [["a"], ["b"]]}],
)
def test_one_json_value_is_not_json_lines(make, value, indent):
    if indent is None and isinstance(value, dict):
        value = [value]
    for name in ("a.json", "a.jsonl", "a.txt", "a.csv"):
        with pytest.raises(FileFormatError, match=r"one JSON value, not JSON lines; .*jq -c"):
            read(make(name, json.dumps(value, indent=indent)))


def test_parquet_is_read_under_every_name_but_not_as_text(tmp_path):
    write([["a", "b"], ["a"]], tmp_path / "a.parquet")
    for name in ("a.csv", "a.txt", "a.dat", "a"):
        (tmp_path / name).write_bytes((tmp_path / "a.parquet").read_bytes())
        assert list(read(tmp_path / name)) == [("a", "b"), ("a",)]
        with pytest.raises(FileFormatError, match=r"this is a Parquet file, not baskets; read it"):
            read(tmp_path / name, format="baskets")


@pytest.mark.parametrize(
    "text",
    ["ORCID,item\n1,a\n2,b\n", "BMW,Audi\nBMW\n", "RDX2\nRDX3\n", "MZ,x\ny\n", "PAR1,b\nc\n"],
)
def test_text_that_only_looks_a_little_like_it_is_read(make, text):
    assert len(read(make("a.baskets", text))) > 1


def test_a_basket_of_a_brace_is_read_if_the_format_is_named(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("{\n[{,a\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="one JSON value"):
        read(path)
    assert list(read(path, format="baskets")) == [("{",), ("[{", "a")]


MAIL = """Received: from mx.example.org
\tby mail.example.com with ESMTP
From: Bob <bob@example.org>
Subject: Data, as you asked

Dear Ann, here is the list
wine, beer, milk
"""
TEXTS = {
    MAIL: "a mail",
    f"From bob@example.org Tue Apr  2 09:00:00 2024\n{MAIL}": "a mail",
    "---\nwine, beer\nmilk\n": "a YAML file",
    "%YAML 1.2\nwine, beer\nmilk\n": "a YAML file",
    "# orders\n- id: 1001\n  items:\n    - wine\n    - beer\n": "a YAML file",
    "orders:\n  - wine\n  - beer, milk\n": "a YAML file",
    "- [wine, beer]\n- [milk]\n- [wine]\n": "a YAML file",
    "P1000: [wine, beer]\nP1001: [milk]\n": "a YAML file",
    "- wine, beer\n- milk\n- wine\n": "a list with dashes",
    "| id | item |\n|----|:----|\n| 1 | wine |\n| 2 | beer |\n": "a table drawn with lines",
    "id | item\n---|---\n1 | wine\n2 | beer\n": "a table drawn with lines",
    "+----+------+\n| id | item |\n+----+------+\n| 1  | wine |\n": "a table drawn with lines",
    "{wine,beer}\n{milk}\n{}\n": "a list of sets in brackets",
    "[wine, beer]\n[milk]\n[]\n": "a list of sets in brackets",
    "BEGIN:VCARD\nN:Bob;Ann\nEND:VCARD\n": "an address book or a calendar",
    "-- dump\n/* all, of it */;\nCREATE TABLE t (a, b);\nINSERT INTO t\n": "an SQL script",
    "<orders>\n<order>wine, beer</order>\n</orders>\n": "an XML file",
    'TABLE\n0,1\n"EXCEL"\nDATA\n0,0\n': "a spreadsheet in an old format (.dif, .slk)",
    'ID;PWXL;N;E\nP;PGeneral\nC;X1;Y1;K"P7"\nC;X2;K"wine"\n': "a spreadsheet in an old format (.dif, .slk)",
    "MSH|^~\\&|LAB|H|||20240301||ADT^A01|1\nPID|1||P7||Bob^Ann\n": "a file of messages (HL7, EDIFACT, X12)",
    "UNA:+.? '\nUNB+UNOA:1'\nNAD+BY+P7'\n": "a file of messages (HL7, EDIFACT, X12)",
    "ISA*00*P7*wine\nGS*HC\n": "a file of messages (HL7, EDIFACT, X12)",
}


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{TEXTS[text]}, {text[:9]!r}")
def test_texts_that_are_no_data_are_asked_about(make, text):
    """Their lines were read as baskets: a record of one part of a mail, with its addresses."""
    for name in ("a.csv", "a.txt", "a.dat", "a"):
        for given in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
            path = make(name, given)
            with pytest.raises(FileFormatError) as refused:
                read(path)
            assert f"{path}: this seems to be {TEXTS[text]}, not a data file" in str(refused.value)
            with pytest.raises(FileFormatError, match="this seems to be"):
                preview(PreviewJob(data=str(path)))
            assert len(read(path, format="baskets")) > 1
            preview(PreviewJob(data=str(path), reading={"format": "baskets"}))


@pytest.mark.parametrize("name", ["a.yaml", "a.yml", "a.eml", "a.yaml.gz"])
def test_names_of_such_files_are_asked_about(make, name):
    text = b"wine,beer\nmilk\n"
    path = make(name, gzip.compress(text) if name.endswith(".gz") else text)
    with pytest.raises(FileFormatError, match=r"this seems to be a (YAML file|mail)"):
        read(path)
    assert list(read(path, format="baskets")) == [("beer", "wine"), ("milk",)]


@pytest.mark.parametrize(
    "text",
    [
        "From: 2024-03-01\nTo: 2024-03-31\ncustomer,item\n1,wine\n2,beer\n1,beer\n",
        "Date: 2024-03-01\nitem,customer\nwine,1\nbeer,2\nbeer,1\n",
        "- wine\nmilk,beer\n-,beer,wine\n",
        "wine: red,beer: pale\nbeer: pale\n",
        "[wine],[beer]\n[milk]\n",
        "<b>,<c>\n<b>\n",
        '["wine", "beer"]\n["milk"]\n',
        "[1, 2]\n[2]\n",
        "---,milk\n-\n",
        "insert,into\ncreate\n",
        "ID;Product\n7;wine\n8;beer\n",
    ],
)
def test_data_that_only_looks_a_little_like_such_a_text_is_read(make, text):
    name = "a.jsonl" if text[:2] in ('["', "[1") else "a.csv"
    assert len(read(make(name, text))) == 2 + text.startswith("- ")

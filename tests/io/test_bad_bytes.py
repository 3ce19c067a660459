"""Text with a byte that is not UTF-8: the line and the byte are named, with what works."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.disk.texts import bad_byte
from setveil.errors import FileFormatError
from setveil.io import read

ROWS = [b"%d,item %d" % (number // 3, number) for number in range(50)]
READERS = {
    "a.csv": (b"record,item", {}, b"\n"),
    "a.tsv": (b"record\titem", {}, b"\n"),
    "b.csv": (b"record,item", {"format": "baskets"}, b"\n"),
    "a.dat": (b"1 2 3", {}, b"\n"),
    "c.csv": (b"record,item", {"split": "|", "record": "record"}, b"\r\n"),
    "a.jsonl": (b'["a"]', {}, b"\n"),
}


@pytest.mark.parametrize("name", READERS)
def test_the_line_and_the_byte_are_named_and_what_is_proposed_works(tmp_path, name):
    header, options, end = READERS[name]
    rows = [row.replace(b",", b"\t") if name == "a.tsv" else row for row in ROWS]
    rows = [b'["x%s"]' % row if name == "a.jsonl" else row for row in rows]
    lines = [header, *rows]
    lines[31] = lines[31][:5] + b"\x9d" + lines[31][5:]
    path = tmp_path / name
    path.write_bytes(end.join(lines) + end)
    with pytest.raises(FileFormatError) as refused:
        read(path, **options)
    said = str(refused.value)
    assert said.startswith(f"{path}, line 32: byte 6 of the line (0x9D) is not UTF-8; ")
    found = re.search(r"encoding='([\w-]+)'", said)
    assert found is not None
    assert len(read(path, **options, encoding=found[1])) > 10


def test_a_text_that_is_utf8_but_for_one_byte_is_to_be_corrected(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("record,item\n1,Käse\n".encode() + b"2,br\xfbl\xe9e\n")
    with pytest.raises(FileFormatError) as refused:
        read(path)
    assert str(refused.value) == (
        f"{path}, line 3: byte 5 of the line (0xFB) is not UTF-8; the other letters are, so "
        "correct this one; encoding='cp1252' can read it, but changes them"
    )


def test_a_named_encoding_that_does_not_fit_is_answered_with_one_that_does(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"record,item\n1,a\x81\n")
    with pytest.raises(FileFormatError) as refused:
        read(path, encoding="cp1252")
    assert str(refused.value).startswith(f"{path}, line 2: byte 4 of the line (0x81) is not cp1252")
    assert "encoding='latin-1'" in str(refused.value)
    assert list(read(path, encoding="latin-1")) == [("a\x81",)]


@given(st.binary(max_size=60))
def test_the_first_bad_byte_is_where_python_says(content):
    found = bad_byte(content.split(b"\n"))
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        assert found is not None
        before = content[: error.start]
        assert found.line == before.count(b"\n") + 1
        assert found.byte == len(before) - (before.rfind(b"\n") + 1) + 1
        content.decode(found.works)
    else:
        assert found is None

"""FIMI files: one record per line, items separated by blanks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, FileFormatError
from setveil.io import read, write
from setveil.io.formats import fimi
from setveil.io.formats.fimi import parse
from tests.oracle.kernels import parse_numbers

TOKENS = (
    "1",
    "2",
    "07",
    "0",
    "10",
    "123456",
    "4194304",
    "9" * 18,
    "1" * 19,
    "+1",
    "x",
    "é",
    "\ufeff",
)
BLANKS = (" ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "\v", "\f", "\0", "1 1 2\n", "3 2\n")
PIECES = st.sampled_from([*TOKENS, *BLANKS])
TEXTS = st.lists(PIECES, max_size=30).map("".join)
NUMBERS = st.lists(st.sampled_from(["1", "27", " ", "\n", "\t", "300 5 5\n"]), max_size=30)


def test_whole_numbers_are_items_in_numeric_order(make):
    data = read(make("a.dat", "10 9 2\n2\n"))
    assert list(data.vocabulary) == ["2", "9", "10"]
    assert list(data) == [("2", "9", "10"), ("2",)]


def test_any_texts_without_blanks_are_items(make):
    assert list(read(make("a.dat", "wine beer\nBier\tvin,blanc\n"))) == [
        ("beer", "wine"),
        ("Bier", "vin,blanc"),
    ]


def test_zeros_in_front_are_kept(make):
    assert list(read(make("a.dat", "007 7\n07\n"))) == [("007", "7"), ("07",)]


def test_numbers_of_any_length_are_kept(make):
    long = "12345678901234567890123"
    assert list(read(make("a.dat", f"{long} 5\n"))) == [("5", long)]


def test_large_numbers_are_items_too(make):
    rows = [("3", "99999999"), ("4194303", "4194304"), ("999999999999999999",)]
    assert list(read(make("a.dat", "\n".join(" ".join(row[::-1]) for row in rows)))) == rows


def test_a_blank_line_is_an_empty_record(make):
    assert list(read(make("a.dat", "1 2\n\n3\n"))) == [("1", "2"), (), ("3",)]


def test_blank_lines_at_the_end_are_no_records(make):
    assert list(read(make("a.dat", "1 2\n3\n\n\n"))) == [("1", "2"), ("3",)]


def test_a_line_of_one_blank_at_the_end_is_an_empty_record(make):
    assert list(read(make("a.dat", "1\n \n"))) == [("1",), ()]


@pytest.mark.parametrize(
    "content",
    ["1 2\n3", "1 2\r\n3\r\n", "1 2\r3\r", "\ufeff1 2\n3\n", " 1  2 \n3\t\n", "1 2\r\n3\n"],
)
def test_line_ends_blanks_and_byte_order_marks_do_not_matter(make, content):
    assert list(read(make("a.dat", content))) == [("1", "2"), ("3",)]


def test_repeats_collapse_in_sets_and_count_in_bags(make):
    path = make("a.dat", "1 1 2\n")
    assert list(read(path)) == [("1", "2")]
    assert read(path, bags=True).counts.tolist() == [2, 1]


def test_an_empty_file_holds_no_records(make):
    assert len(read(make("a.dat", ""))) == 0


@pytest.mark.parametrize("content", ["1 2\n3 x\n", "x\n1 2\n", "1 2\n\n\n3 4\n\n", "007\n1\n 2 \n"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_blocks_of_any_size_give_the_same_records(make, monkeypatch, content, size):
    path = make("a.dat", content)
    whole = read(path)
    monkeypatch.setattr(fimi, "_BLOCK", size)
    assert read(path) == whole


@given(text=TEXTS | NUMBERS.map("".join), block=st.sampled_from([1, 3, 8]))
@settings(max_examples=40)
def test_blocks_of_any_text_give_the_same_records(tmp_path_factory, text, block):
    path = tmp_path_factory.getbasetemp() / "lines.dat"
    path.write_bytes(text.encode())
    whole = read(path, format="fimi", bags=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fimi, "_BLOCK", block)
        assert read(path, format="fimi", bags=True) == whole


@given(st.text("0123456789 \t\n\v\f-x", max_size=30))
@example("9" * 18)
@example("9" * 19)
@example("0")
@example("00")
@example("01")
def test_lines_of_numbers_are_parsed(text):
    found, expected = parse(text.encode()), parse_numbers(text)
    assert (found.values is None) == (expected is None)
    if found.values is not None and expected is not None:
        bounds = np.concatenate(([0], np.cumsum(found.per_line)))
        lines = [found.values[a:b].tolist() for a, b in pairwise(bounds)]
        assert (lines, found.last) == expected
        assert found.distinct.tolist() == sorted({n for line in lines for n in line})


def test_text_that_is_not_utf8_is_refused_with_its_line(make):
    path = make("a.dat", b"1 2\nw\x81in\n")
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert (
        str(error.value)
        == f"{path}, line 2: byte 2 of the line (0x81) is not UTF-8; name its encoding, such as "
        "encoding='latin-1', which can read all of it"
    )


def test_an_item_with_a_blank_is_not_written(tmp_path):
    with pytest.raises(DataError) as error:
        write(Transactions.of([["red wine"]]), tmp_path / "a.dat")
    assert (
        str(error.value)
        == "the item 'red wine' does not fit in a FIMI file, where blanks separate items; "
        "choose a format such as csv"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_lines_written_are_as_documented(tmp_path):
    write(Bags.of([["a", "a", "b"], []]), tmp_path / "a.dat")
    assert (tmp_path / "a.dat").read_bytes() == b"a a b\n \n"


def test_real_data_is_read_in_full(shared_data):
    data = read(shared_data / "retail.dat.gz")
    assert (len(data), len(data.vocabulary), int(data.lengths.max())) == (88_162, 16_470, 76)

"""Blank lines between baskets: a pattern that separates them, or empty records."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.tables.headers import Squeezed, are_separators
from setveil.io.files import read_with_account
from tests.oracle import readers

BASKETS = [("beer", "milk"), ("bread",), ("beer",), ("bread", "milk", "wine"), ("wine",)]


def _text(mark: str, gap: str) -> str:
    return gap.join(mark.join(basket) for basket in BASKETS) + "\n"


@pytest.mark.parametrize("name", ["a.csv", "a.baskets", "a.dat", "a.csv.gz", "a.dat.gz"])
@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n\n\n"])
def test_blank_lines_between_all_baskets_are_skipped_and_counted(tmp_path, name, gap):
    text = _text(" " if ".dat" in name else ",", gap).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    data, account = read_with_account(path)
    blank = 4 * (gap.count("\n") - 1)
    assert list(data) == BASKETS
    assert account.notes == [f"{blank} blank lines were skipped: they only separate the records."]


@pytest.mark.parametrize("name", ["a.csv", "a.baskets"])
@pytest.mark.parametrize("gap", ["\n \n", "\n   \n", "\r\n  \r\n"])
def test_lines_of_blanks_are_blank_lines(make, name, gap):
    text = _text(",", gap)
    data, account = read_with_account(make(name, text))
    assert list(data) == BASKETS
    assert account.notes == ["4 blank lines were skipped: they only separate the records."]
    one = make(name, text.replace(gap, "\n").replace("\n", gap, 1))
    assert sv.read(one).lengths.tolist() == [2, 0, 1, 1, 3, 1]


def test_a_blank_in_quotes_is_an_item(tmp_path):
    records = [("a",), (" ",)] * 5
    sv.write(records, tmp_path / "a.baskets")
    assert list(sv.read(tmp_path / "a.baskets")) == records


def test_rows_of_empty_cells_between_baskets_are_blank_lines_too(make):
    text = "beer,milk,\n,,\nbread,,\n,,\nbeer,,\n,,\nbread,milk,wine\n,,\nwine,,\n"
    data, account = read_with_account(make("a.csv", text), format="baskets")
    assert list(data) == BASKETS
    assert account.left_out == ["4 blank lines were skipped: they only separate the records."]


def test_blank_lines_after_every_third_basket_are_skipped(make):
    text = "\n".join("a b\nc\nd e f\n" for _ in range(7))
    assert len(sv.read(make("a.dat", text))) == 21


def test_some_blank_lines_are_empty_records_and_exposure_does_not_count_them(make):
    path = make("a.csv", "beer,milk\n\nbread\nbeer\nbread\n\n\nwine,beer,milk\n")
    assert sv.read(path).lengths.tolist() == [2, 0, 1, 1, 1, 0, 0, 3]
    found = sv.inspect(path)
    assert found.summary.empty_records == 3
    assert str(found).startswith(
        "60.0 % of 5 records with items are unique. 3 empty records are not counted."
    )


def test_empty_records_that_setveil_wrote_are_never_skipped(tmp_path):
    records = [["a"], [], ["b"], [], ["a", "c"], [], ["b"], [], ["c"]]
    for name in ("a.dat", "a.baskets"):
        sv.write(records, tmp_path / name)
        assert list(sv.read(tmp_path / name)) == [tuple(record) for record in records]


@given(st.lists(st.booleans(), max_size=30))
def test_the_pattern_is_what_the_documentation_says(blank):
    assert are_separators(blank) == readers.separate(blank)


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\n\n", b" ", b"b c"]), max_size=20), st.integers(1, 9)
)
def test_blank_lines_are_taken_away_wherever_blocks_end(parts, size):
    text = b"".join(parts)
    squeezed = Squeezed()
    blocks = [squeezed(text[at : at + size]) for at in range(0, len(text), size)]
    lines = text.split(b"\n")
    assert [line for line in b"".join(blocks).split(b"\n") if line] == [*filter(None, lines)]
    while lines and not lines[-1]:
        lines.pop()
    assert squeezed.removed == lines.count(b"")

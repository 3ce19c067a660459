"""A blank before a cell in quotes is not part of it, and does not tear it apart."""

import random

import pytest

from setveil.data.tables.headers import CsvRows
from setveil.io import read


def test_items_in_quotes_after_a_blank_stay_whole(tmp_path):
    (tmp_path / "a.baskets").write_text('milk, "butter, salted"\nmilk,  "cheese, hard",bread\n')
    assert list(read(tmp_path / "a.baskets")) == [
        ("butter, salted", "milk"),
        ("bread", "cheese, hard", "milk"),
    ]


@pytest.mark.parametrize("cell", ["red wine|beer", "['red wine', 'beer']"])
def test_a_set_in_quotes_after_a_blank_is_split(tmp_path, cell):
    (tmp_path / "a.csv").write_text(f'id;products\n1;"{cell}"\n2; "{cell}"\n3;"{cell}"\n')
    assert set(read(tmp_path / "a.csv")) == {("beer", "red wine")}


def test_a_column_name_in_quotes_after_a_blank_has_none(tmp_path):
    (tmp_path / "a.csv").write_text('id, "the products"\n1, "a|b"\n2, "c"\n')
    assert list(read(tmp_path / "a.csv", item="the products", split="|")) == [("a", "b"), ("c",)]


def test_rows_are_those_that_were_written():
    """Cells in quotes with anything in them, with blanks before them or not, over several lines."""
    chance = random.Random(0)
    for _ in range(2_000):
        rows, text = [], ""
        for _ in range(chance.randint(1, 4)):
            cells = ["".join(chance.choices('a," \n', k=chance.randint(1, 6))) for _ in range(3)]
            rows.append(cells)
            quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
            text += ",".join(" " * chance.randint(0, 2) + cell for cell in quoted) + "\n"
        assert list(CsvRows(text.splitlines(keepends=True), ",", strict=True)) == rows

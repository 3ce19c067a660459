"""Columns beside sets, and tables of people."""

import pickle

import numpy as np
import pytest

from setveil import Column, Table, Transactions
from setveil.errors import DataError, ParameterError

BORN = Column("born", "number", ("1931", "1940", ""), [1, 0, 2])
SEX = Column("sex", "word", ("F", "M"), [0, 1, 1])
PEOPLE = Table.beside(Transactions.of([["flu"], ["cold", "flu"], []]), [BORN, SEX])


def test_a_table_keeps_its_columns_when_rows_are_taken():
    taken = PEOPLE.take([2, 0])
    assert taken.columns[0].texts == ["", "1940"]
    assert list(taken) == [(), ("flu",)]
    assert list(PEOPLE[np.array([True, False, False])]) == [("flu",)]


def test_a_table_keeps_its_columns_when_items_are_left_out():
    assert PEOPLE.without_rare(2).columns == PEOPLE.columns
    assert list(PEOPLE.without_rare(2)) == [("flu",), ("flu",), ()]


def test_a_table_survives_pickling_and_compares_its_columns():
    assert pickle.loads(pickle.dumps(PEOPLE)) == PEOPLE
    assert Table.beside(PEOPLE, [BORN]) != PEOPLE
    assert type(PEOPLE.sets()) is Transactions


def test_dates_and_numbers_are_in_order_with_the_missing_value_last():
    days = Column("day", "date", ("1969-12-31", "1970-01-02", ""), [0])
    assert days.numbers.tolist()[:2] == [-1, 1]
    assert days.has_missing
    assert not SEX.has_missing
    assert BORN.counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", ("9", "10", "2")),
        ("number", ("", "1")),
        ("number", ("1", "1.0")),
        ("number", ("nan",)),
        ("number", ("1e999",)),
        ("date", ("1931", "1931-02-30")),
        ("word", ("b", "a")),
    ],
)
def test_values_out_of_order_or_of_another_type_are_refused(kind, values):
    with pytest.raises(DataError):
        Column("x", kind, values, [0])


def test_a_column_must_fit_its_rows_and_have_a_name_of_its_own():
    with pytest.raises(DataError, match="2 rows, but there are 3 records"):
        Table.beside(PEOPLE, [SEX.take(np.array([0, 1]))])
    with pytest.raises(DataError, match="two columns have the name 'sex'"):
        Table.beside(PEOPLE, [SEX, SEX])
    with pytest.raises(DataError, match="0 to 1"):
        Column("sex", "word", ("F", "M"), [2])
    with pytest.raises(ParameterError, match="one of number, date, word"):
        Column("sex", "text", ("F", "M"), [1])

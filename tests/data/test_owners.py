"""Which record a row of a table belongs to: ambiguous tables are refused, not guessed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError

BOUGHT = {"buyer": ["p", "p", "q"], "product": ["a", "b", "a"]}
LISTS = {"customer": ["p", "q", "p"], "items": [["a"], ["a"], ["b"]]}
COUNTS = {"customer": [7, 8, 7], "a": [1, 1, 0], "b": [0, 0, 2]}
SETS = Transactions.of([["a", "b"], ["a"]])
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


def test_an_index_that_numbers_the_rows_is_nobodys():
    numbered = pd.DataFrame(BOUGHT, index=pd.RangeIndex(3, name="id"))
    assert as_transactions(numbered) == SETS
    with pytest.raises(DataError, match="no column is obviously the record"):
        as_transactions(numbered.assign(price=[1, 2, 3]))
    assert as_transactions(numbered, record="id") == Transactions.of([["a"], ["b"], ["a"]])


def test_an_index_of_people_goes_before_other_columns():
    table = pd.DataFrame(
        {"product": ["a", "b", "a"], "price": [1, 2, 3]},
        index=pd.Index(["p", "p", "q"], name="customer"),
    )
    assert as_transactions(table) == SETS


@every_library
def test_a_column_that_numbers_the_rows_is_asked_about(make):
    table = make({"id": [1, 2, 3], **BOUGHT})
    with pytest.raises(
        DataError,
        match=r"every row has a different 'id', .*; use record='id' .* example record='buyer'",
    ):
        as_transactions(table)
    assert as_transactions(table, record="buyer") == SETS
    assert len(as_transactions(table, record="id")) == 3


@every_library
def test_one_row_or_no_other_column_is_not_ambiguous(make):
    assert as_transactions(make({"id": [1], "buyer": ["p"], "product": ["a"]})) == Transactions.of(
        [["a"]]
    )
    assert as_transactions(make({"id": [1, 2], "product": ["a", "b"], "count": [1, 1]})) == Bags.of(
        [["a"], ["b"]]
    )


@every_library
def test_lists_of_one_person_are_joined_when_that_is_said(make):
    table = make(LISTS)
    assert (
        as_transactions(table, record="customer")
        == as_transactions(table, record="Customer ")
        == SETS
    )
    assert as_transactions(table, record="customer", bags=True) == Bags.of([["a", "b"], ["a"]])
    with pytest.raises(
        DataError,
        match="'customer' repeats, so a record may span several rows; join them with record=",
    ):
        as_transactions(table)
    with pytest.raises(DataError, match="there is no column 'person' for the record"):
        as_transactions(table, record="person")


@every_library
def test_lists_with_counts_of_one_person_add_up(make):
    table = make({**LISTS, "items": [["a", "a"], ["a"], ["b"]], "counts": [[1, 2], [1], [4]]})
    assert as_transactions(table, record="customer") == Bags.of([{"a": 3, "b": 4}, {"a": 1}])


@every_library
def test_lists_whose_people_are_distinct_are_records(make):
    table = make({"customer": ["p", "q"], "items": [["a", "b"], ["a"]]})
    assert as_transactions(table) == as_transactions(table, record="customer") == SETS


def test_lists_may_have_their_people_in_the_index():
    table = pd.DataFrame(LISTS).set_index("customer")
    assert (
        as_transactions(table, record="customer")
        == as_transactions(table["items"], record="customer")
        == SETS
    )
    for lists in (table, table["items"]):
        with pytest.raises(DataError, match="the index 'customer' repeats"):
            as_transactions(lists)


@every_library
def test_a_row_of_a_list_that_is_nobodys_is_refused(make):
    with pytest.raises(DataError, match="every row must name its record"):
        as_transactions(make({**LISTS, "customer": ["p", None, "p"]}), record="customer")


@every_library
def test_lists_next_to_a_column_of_items_are_ambiguous(make):
    table = make({**BOUGHT, "notes": [["x"], ["y"], ["x"]]})
    with pytest.raises(
        DataError,
        match="the columns 'product', 'notes' could each be the items; choose one with item=",
    ):
        as_transactions(table)
    assert as_transactions(table, record="buyer", item="product") == SETS
    assert as_transactions(table, item="notes") == Transactions.of([["x"], ["y"], ["x"]])


@every_library
def test_numbers_of_people_are_not_counts_of_an_item(make):
    table = make(COUNTS)
    with pytest.raises(
        DataError, match=r"the column 'customer' may not be an item; name the columns with record="
    ):
        as_transactions(table, bags=True)
    assert as_transactions(table, record="customer", bags=True) == Bags.of(
        [{"a": 1, "b": 2}, {"a": 1}]
    )


@every_library
def test_a_long_table_of_codes_is_not_one_hot(make):
    table = make({"customer": [7, 7, 8], "code_of_it": [5, 6, 5], "quantity": [1, 2, 1]})
    with pytest.raises(DataError, match="no column is obviously the item"):
        as_transactions(table, record="customer", bags=True)
    with pytest.raises(DataError, match="the column 'customer' may not be an item"):
        as_transactions(table, bags=True)
    assert as_transactions(table, record="customer", item="code_of_it") == Bags.of(
        [{"5": 1, "6": 2}, {"5": 1}]
    )


def test_a_matrix_may_have_items_of_any_name():
    assert as_transactions(np.array([[7, 1]]), labels=["customer", "a"], bags=True) == Bags.of(
        [{"customer": 7, "a": 1}]
    )


def test_one_hot_rows_of_one_person_are_joined_when_that_is_said():
    people = pd.MultiIndex.from_tuples([("p", 1), ("q", 1), ("p", 2)], names=["customer", "visit"])
    table = pd.DataFrame({"a": [True, True, False], "b": [False, False, True]}, index=people)
    for visits in (table, table.droplevel("visit"), table.astype(int)):
        with pytest.raises(
            DataError, match="the index 'customer' repeats, so a record may span several rows"
        ):
            as_transactions(visits)
        assert as_transactions(visits, record="customer") == SETS


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, lambda rows, columns: pa.table(list(zip(*rows, strict=True)), names=columns)],
)
def test_two_columns_of_people_under_one_name_are_refused(make):
    table = make([[7, 1, 1, 0], [7, 2, 0, 1]], columns=["customer", "customer", "a", "b"])
    with pytest.raises(DataError, match="there are several columns 'customer' for the record"):
        as_transactions(table, record="customer")


def test_a_mapping_of_columns_is_not_a_mapping_of_records():
    with pytest.raises(
        DataError,
        match="a mapping with the keys 'customer', 'product' may be the columns of a table",
    ):
        as_transactions({"customer": ["p", "p"], "product": ["a", "b"]})
    assert as_transactions({"p": ["a", "b"], "q": ["a"]}) == SETS

"""Real-life tables and matrices: indexes, categories, gaps, counts of any type, and bad ones."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
import scipy.sparse

from setveil.data.tables.exchange import as_transactions, convert
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, ParameterError


class Streamed:
    """A table of some other library that can be read as a stream of Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


LONG = pd.DataFrame({"customer": [1, 1, 2], "item": ["a", "b", "a"]})
SETS = Transactions.of([["a", "b"], ["a"]])
COUNTED = Bags.of([["a", "b"], ["a"]])
CODES = pd.DataFrame({"customer": [1, 1, 2], "item": [5, 6, 7]})


@pytest.mark.parametrize(
    "table",
    [
        LONG.astype({"item": "category", "customer": "category"}),
        LONG.astype({"item": "string"}),
        LONG.convert_dtypes(dtype_backend="pyarrow"),
        LONG.astype({"item": pd.CategoricalDtype(["z", "b", "a"], ordered=True)}),
        pl.from_pandas(LONG).with_columns(pl.col("item").cast(pl.Categorical)),
        pl.from_pandas(LONG).with_columns(pl.col("item").cast(pl.Enum(["z", "b", "a"]))),
        pa.Table.from_pandas(LONG).set_column(
            1, "item", pa.array(["a", "b", "a"]).dictionary_encode()
        ),
        pa.table(
            {
                "customer": pa.chunked_array([[1], [1, 2]]),
                "item": pa.chunked_array([["a", "b"], ["a"]]),
            }
        ),
        pa.table({"customer": [1, 1, 2], "item": pa.array([b"a", b"b", b"a"])}),
        pa.table({"customer": [1, 1, 2], "item": pa.array(["a", "b", "a"], pa.large_string())}),
        pa.Table.from_pandas(LONG).to_reader(),
        pyarrow.dataset.dataset(pa.Table.from_pandas(LONG)),
        Streamed(pa.Table.from_pandas(LONG)),
        LONG.set_index("customer"),
        LONG.set_index(["customer", "item"]),
        LONG.set_index("customer")["item"],
        LONG.groupby("customer")["item"].agg(list),
        LONG.groupby("customer")["item"].agg(set),
        pd.crosstab(LONG.customer, LONG.item),
        pa.array([["a", "b"], ["a"]]),
        pa.chunked_array([[["a", "b"]], [["a"]]]),
        [np.array(["a", "b"]), np.array(["a"])],
        np.array([["a", "b"], ["a", "a"]]),
        np.array([["a", "b"], ["a", None]], dtype=object),
        np.array([["a", "b"], ["a"]], dtype=object),
        LONG.pivot(index="customer", columns="item", values="item").to_numpy(),
    ],
    ids=lambda table: type(table).__name__,
)
def test_the_same_records_in_many_tables(table):
    assert as_transactions(table) == SETS


@pytest.mark.parametrize(
    "table",
    [
        LONG.groupby(["customer", "item"]).size(),
        LONG.value_counts(sort=False),
        LONG.assign(count=1.0),
        LONG.assign(Quantity=["1", "1", "1"]),
        LONG.assign(count=[Decimal(1)] * 3),
        pd.DataFrame({"items": [["a", "b"], ["a"]], "counts": [[1.0, 1.0], np.array([1])]}),
        pa.table(
            {
                "items": pa.array(
                    [[("a", 1), ("b", 1)], [("a", 1)]], pa.map_(pa.string(), pa.int64())
                )
            }
        ),
    ],
    ids=lambda table: type(table).__name__,
)
def test_the_same_bags_in_many_tables(table):
    assert as_transactions(table) == COUNTED


def test_whole_numbers_next_to_missing_ones_stay_whole():
    expected = Transactions.of([["5", "6"], [], ["7"]])
    table = {"customer": [1, 1, 2, 3], "item": [5.0, 6.0, float("nan"), 7.0]}
    assert (
        as_transactions(pd.DataFrame(table))
        == as_transactions(pl.DataFrame(table))
        == as_transactions(pa.table(table))
        == expected
    )
    assert as_transactions(pd.DataFrame(table).astype({"item": "Int64"})) == expected
    assert list(as_transactions(pd.DataFrame({"customer": [1, 1], "item": [5.0, 6.5]}))) == [
        ("5.0", "6.5")
    ]


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"items": pl.Series([None, None], dtype=pl.List(pl.String))}),
        pa.table({"items": pa.array([None, None], pa.list_(pa.string()))}),
        pa.table({"items": pa.array([None, []], pa.large_list(pa.string()))}),
    ],
)
def test_lists_that_are_all_missing_are_empty_records(table):
    assert list(as_transactions(table)) == [(), ()]


def test_a_series_may_have_the_name_of_its_index():
    assert (
        as_transactions(
            pd.Series(["a", "b", "a"], index=pd.Index([1, 1, 2], name="customer"), name="customer")
        )
        == SETS
    )


def test_an_index_of_people_makes_a_column_of_numbers_long():
    expected = Transactions.of([["5", "6"], ["7"]])
    assert (
        as_transactions(CODES.set_index("customer"))
        == as_transactions(CODES.set_index("customer")["item"])
        == expected
    )


def test_column_names_need_not_be_text():
    assert (
        as_transactions(pd.DataFrame({0: [1, 1, 2], 1: ["a", "b", "a"]}), record=0, item=1) == SETS
    )


def test_a_one_hot_table_may_have_a_column_of_people():
    table = pd.DataFrame({"id": [7, 8, 7], "a": [1, 1, 0], "b": [0, 0, 1], "c": [0, 0, 0]})
    assert as_transactions(table, record="id") == SETS
    assert as_transactions(table.astype({"a": bool, "b": bool, "c": bool}), record="id") == SETS
    with pytest.raises(
        DataError,
        match=r"'id' contains 7, but only 0 and 1 are allowed; .* record='id' if it is the record",
    ):
        as_transactions(table)
    with pytest.raises(DataError, match="every row must name its record"):
        as_transactions(table.astype({"id": "Int64"}).replace({"id": {8: pd.NA}}), record="id")


def test_a_one_hot_table_whose_index_repeats_is_ambiguous():
    with pytest.raises(DataError, match="the index 'customer' repeats"):
        as_transactions(pd.get_dummies(LONG.set_index("customer")["item"]))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1.0, None], "b": [1.0, 1.0]}),
        pd.DataFrame({"a": [True, None], "b": [True, True]}, dtype="boolean"),
        pl.DataFrame({"a": [True, None], "b": [True, True]}),
        pa.table({"a": [True, None], "b": [True, True]}),
        np.array([[1.0, 1.0], [np.nan, 1.0]]),
    ],
    ids=lambda table: type(table).__name__,
)
def test_a_cell_without_a_value_is_refused(table):
    with pytest.raises(
        DataError, match="has an empty cell; fill it, with 0 if the record does not have the item"
    ):
        as_transactions(table)


def test_matrices_of_objects_hold_numbers_or_items():
    assert list(as_transactions(np.array([[0, 1], [1, 1]], dtype=object))) == [("1",), ("0", "1")]
    assert list(as_transactions(np.array([["0", "1"], ["1", "1"]], dtype=object))) == [
        ("0", "1"),
        ("1",),
    ]


@pytest.mark.parametrize(
    ("thing", "options", "problem"),
    [
        (
            pd.DataFrame({"product": ["a"], "quantity": [1]}),
            {},
            "no column is obviously the record",
        ),
        (pd.Series(["a", "b"]), {}, "a pandas Series of single values does not hold records"),
        (
            pd.DataFrame({"items": [["a"], "bc"]}),
            {},
            "a row of the table has 'bc' where others have a list of items",
        ),
        (
            pd.DataFrame({"record": [1, 2], "item": ["a", ["b"]]}),
            {},
            "the column 'item' has lists in some rows",
        ),
        (
            pd.DataFrame({"items": [["a", "b"]], "counts": [[1]]}),
            {},
            "has 2 items but 1 count",
        ),
        (LONG.assign(count=["1", "2", "x"]), {}, "the count 'x' is not allowed"),
        (LONG.assign(count=[1, float("inf"), 1]), {}, "the count inf is not allowed"),
        (LONG.assign(count=[1, 2**60, 1]), {}, f"the count {2**60} is not allowed"),
        (
            LONG.assign(count=[1, 2**53 + 1, 1]),
            {},
            f"the count {2**53 + 1} is not allowed: .* of 1 or more, below 9e",
        ),
        (pd.DataFrame({"a": pd.interval_range(0, 2)}), {}, "no column is obviously the record"),
        (LONG.assign(count=[1, [2], 1]), {}, r"the count \[2\] is not allowed"),
        (
            pl.DataFrame({"items": [[{"item": "a"}]]}),
            {},
            "an item must be a single value, not the dict",
        ),
        (scipy.sparse.coo_array(np.array([1, 0])), {}, "a sparse array of 1 dimensions"),
        (np.zeros((2, 2, 2)), {}, "an item must be a single value"),
        (np.array(3), {}, "an object of type ndarray does not hold records"),
        (pd.DataFrame, {}, "an object of type type does not hold records"),
        (pl.col("x"), {}, "a polars Expr does not hold records"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_table_that_cannot_be_understood_gets_one_clear_line(thing, options, problem):
    with pytest.raises(DataError, match=problem):
        as_transactions(thing, **options)


@pytest.mark.parametrize("labels", ["ab", 5], ids=repr)
def test_labels_are_a_list(labels):
    with pytest.raises(ParameterError, match="it must be a list of items, one for each column"):
        as_transactions(np.eye(2), labels=labels)


def test_labels_may_be_any_iterable_and_are_for_matrices_alone():
    assert list(as_transactions(np.eye(2), labels=(name for name in "ab"))) == [("a",), ("b",)]
    with pytest.raises(ParameterError, match="only the columns of a matrix need labels"):
        as_transactions([["a"]], labels=["a"])


def test_whether_repeats_count_is_true_or_false():
    with pytest.raises(ParameterError, match="it must be True, False or None"):
        as_transactions([["a"]], bags="yes")


def test_the_same_kind_comes_back():
    assert convert(SETS, [("x",)]) == [("a", "b"), ("a",)]
    assert convert(SETS, [frozenset("x")]) == [frozenset("ab"), frozenset("a")]
    assert convert(Bags.of([["a", "a"]]), [("x",)]) == [("a", "a")]
    assert convert([["a", "b"], ["a"]], SETS) == SETS
    assert convert([["a", "b"], ["a"]], COUNTED) == COUNTED
    assert convert(SETS, pd.Series([["x"]], name="basket")).tolist() == [["a", "b"], ["a"]]
    assert convert(SETS, pl.Series("basket", [["x"]])).to_list() == [["a", "b"], ["a"]]
    assert as_transactions(convert(SETS, pl.LazyFrame({"items": [["x"]]})).collect()) == SETS
    assert convert(SETS, pd.DataFrame({"x": [1, 0]})).dtypes.tolist() == [np.int64, np.int64]
    assert convert(SETS, np.array([[1.0]])).dtype == np.float64
    assert list(convert(SETS, LONG.set_index("customer")).columns) == ["customer", "item"]


@pytest.mark.parametrize("kind", [None, pd.DataFrame, list, pd, 5], ids=repr)
def test_an_unknown_kind_is_refused(kind):
    with pytest.raises(
        ParameterError, match="give an object of the wanted kind, or one of lists, sets"
    ):
        convert(SETS, kind)


def test_a_dense_table_that_would_fill_memory_is_refused():
    width = 1_000_000
    wide = Transactions.from_pairs(
        np.arange(width), np.arange(width), as_transactions([range(width)]).vocabulary
    )
    with pytest.raises(DataError, match="does not fit into memory; use a sparse matrix"):
        convert(wide, "numpy")

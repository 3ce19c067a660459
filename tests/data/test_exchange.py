"""From and to Python objects: every kind there and back, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.tables.exchange import as_transactions, convert
from setveil.data.tables.kinds import KINDS
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, MissingExtraError, ParameterError

ITEMS = st.sampled_from(["a", "b", "7", "007", "é", "a b", "record", "item"])
SETS = st.lists(st.lists(ITEMS, max_size=5), max_size=6).map(Transactions.of)
BAGS = st.lists(st.dictionaries(ITEMS, st.integers(1, 4), max_size=5), max_size=6).map(Bags.of)
BASKETS = Transactions.of([["wine", "beer"], [], ["milk"]])
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def back(thing, data, **options):
    if isinstance(thing, np.ndarray) or scipy.sparse.issparse(thing):
        options["labels"] = data.vocabulary.labels
    return as_transactions(thing, bags=isinstance(data, Bags), **options)


def fits(kind, data):
    """Whether this kind can hold this data.

    A one-hot table needs a column for each item, and its counts no column name of a long table.
    """
    without_columns = len(data) > 0 and len(data.vocabulary) == 0
    in_doubt = isinstance(data, Bags) and {"record", "item"}.intersection(data.vocabulary)
    return "onehot" not in kind or not (without_columns or in_doubt)


@pytest.mark.parametrize("kind", KINDS)
@given(data=SETS | BAGS)
def test_records_go_to_every_kind_and_back(kind, data):
    if not fits(kind, data):
        return
    thing = convert(data, kind)
    expected = Bags.of(list(data)) if kind == "sets" and isinstance(data, Bags) else data
    options = {"record": "record"} if kind in ("pandas", "polars", "arrow") else {}
    assert back(thing, expected, **options) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_gives_its_kind(kind):
    given_thing = convert(BASKETS, kind)
    again = convert(Transactions.of([["x"], []]), given_thing)
    assert type(again) is type(given_thing)
    assert str(again) == str(convert(Transactions.of([["x"], []]), kind))


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_a_long_table_keeps_its_column_names(make):
    table = make({"Customer": ["x", "x", "y"], "Product": ["wine", "beer", "milk"]})
    assert list(as_transactions(table)) == [("beer", "wine"), ("milk",)]
    again = convert(BASKETS, table)
    assert type(again) is type(table)
    columns = again.column_names if isinstance(again, pa.Table) else list(again.columns)
    assert columns == ["Customer", "Product"]
    assert as_transactions(again) == BASKETS


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_a_list_column_keeps_its_name(make):
    table = make({"id": [5, 6, 7], "terms": [["wine", "beer"], [], ["milk"]]})
    assert as_transactions(table) == BASKETS
    again = convert(BASKETS, table)
    assert (again.column_names if isinstance(again, pa.Table) else list(again.columns)) == ["terms"]
    assert as_transactions(again) == BASKETS


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("kind", [bool, int, float])
def test_a_one_hot_table_is_known_by_its_values(make, kind):
    table = make(
        {
            "beer": [kind(1), kind(0), kind(0)],
            "milk": [kind(0), kind(0), kind(1)],
            "wine": [kind(1), kind(0), kind(0)],
        }
    )
    assert as_transactions(table) == BASKETS


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_counts_make_bags(make):
    long = make({"record": [1, 1], "item": ["a", "b"], "count": [2, 1]})
    assert as_transactions(long) == Bags.of([["a", "a", "b"]])
    assert as_transactions(long, bags=False) == Transactions.of([["a", "b"]])
    onehot = make({"a": [2], "b": [1]})
    assert as_transactions(onehot, bags=True) == Bags.of([["a", "a", "b"]])
    with pytest.raises(
        DataError,
        match=r"'a' contains 2, but only 0 and 1 are allowed; use bags=True if .* or record='a'",
    ):
        as_transactions(onehot)


def test_missing_items_say_that_the_record_exists():
    for table in (
        pd.DataFrame({"record": [1, 2, 3], "item": ["a", None, np.nan]}),
        pd.DataFrame({"record": [1, 2, 3], "item": pd.array(["a", pd.NA, None], dtype="string")}),
        pl.DataFrame({"record": [1, 2, 3], "item": ["a", None, None]}),
        pa.table({"record": [1, 2, 3], "item": ["a", None, None]}),
    ):
        assert list(as_transactions(table)) == [("a",), (), ()]


def test_a_row_without_a_record_is_refused():
    with pytest.raises(DataError) as error:
        as_transactions(pd.DataFrame({"record": [1, None], "item": ["a", "b"]}))
    assert (
        str(error.value) == "the column 'record' has an empty cell: every row must name its record"
    )


@pytest.mark.parametrize("count", [0, -1, 1.5, None])
def test_a_count_that_is_none_is_refused(count):
    with pytest.raises(DataError, match="it must be a whole number of 1 or more"):
        as_transactions(pl.DataFrame({"record": [1], "item": ["a"], "count": [count]}))


def test_columns_may_be_named():
    table = pd.DataFrame({"a": [1, 1], "b": ["x", "y"], "c": [1, 2]})
    assert as_transactions(table, record="a", item="b", count="c") == Bags.of([["x", "y", "y"]])
    with pytest.raises(DataError) as error:
        as_transactions(table, record="z")
    assert (
        str(error.value) == "there is no column 'z' for the record: the columns are 'a', 'b', 'c'"
    )
    with pytest.raises(DataError, match="no column is obviously the record"):
        as_transactions(table)


def test_series_lazy_frames_and_batches_are_tables_too():
    rows = [["wine", "beer"], [], ["milk"]]
    long = {"record": [1, 1], "item": ["a", "b"]}
    assert as_transactions(pd.Series(rows)) == as_transactions(pl.Series("x", rows)) == BASKETS
    assert (
        list(as_transactions(pl.LazyFrame(long)))
        == list(as_transactions(pa.RecordBatch.from_pydict(long)))
        == [("a", "b")]
    )
    with pytest.raises(DataError, match="a pandas Timestamp does not hold records; give a table"):
        as_transactions(pd.Timestamp(0))


def test_matrices_have_column_numbers_or_labels():
    matrix = scipy.sparse.csr_matrix(np.array([[0, 1, 1], [0, 0, 0]]))
    matrix[0, 1] = 0
    assert list(as_transactions(matrix)) == list(as_transactions(matrix.toarray())) == [("2",), ()]
    assert list(as_transactions(matrix.tocoo(), labels=["a", "b", "c"])) == [("c",), ()]
    assert as_transactions(3 * matrix, bags=True).counts.tolist() == [3]
    with pytest.raises(DataError, match="there are 2 labels for 3 columns"):
        as_transactions(matrix, labels=["a", "b"])
    for wrong in (3 * matrix, matrix * 0.5, -matrix):
        with pytest.raises(DataError, match="but only 0 and 1 are allowed"):
            as_transactions(wrong)


def test_plain_objects_are_accepted():
    assert list(as_transactions(({1, 2}, (), iter("ab")))) == [("1", "2"), (), ("a", "b")]
    assert list(as_transactions({"alice": ["b"], "bob": ["a"]})) == [("b",), ("a",)]
    assert (
        as_transactions([{"a": 2}])
        == as_transactions([["a", "a"]], bags=True)
        == Bags.of([["a", "a"]])
    )
    assert type(as_transactions([{"a": 2}], bags=False)) is Transactions
    assert as_transactions(BASKETS) is BASKETS


def test_a_published_form_gives_its_records():
    class Form:
        def records(self, seed=None):
            return BASKETS

    assert as_transactions(Form()) is BASKETS
    assert convert(Form(), "sets") == [{"wine", "beer"}, set(), {"milk"}]


@pytest.mark.parametrize(
    ("thing", "options", "message"),
    [
        (
            5,
            {},
            "an object of type int does not hold records; "
            "give an iterable of records, a matrix or a table",
        ),
        (
            "abc",
            {},
            "records must be an iterable of records, not one text; read files with setveil.read",
        ),
        ([1, 2], {}, "a record must be an iterable of items, not 1"),
        ([["a"], None], {}, "a record must be an iterable of items, not None"),
        (
            ["wine"],
            {},
            "a record must be an iterable of items, not the text 'wine'; "
            "write ['wine'] for one item",
        ),
        (
            [["a"]],
            {"item": "x"},
            "only tables have columns, and this object is an iterable of records",
        ),
    ],
)
def test_an_object_without_records_gets_one_clear_line(thing, options, message):
    with pytest.raises(DataError) as error:
        as_transactions(thing, **options)
    assert str(error.value) == message


def test_records_without_items_have_no_columns():
    with pytest.raises(DataError, match="2 records without items cannot be a one-hot table"):
        convert([[], []], "onehot")


def test_an_unknown_kind_is_refused():
    with pytest.raises(
        ParameterError, match="to = 'excel' is not allowed: choose one of lists, sets, dicts, "
    ):
        convert(BASKETS, "excel")


@pytest.mark.parametrize(
    ("kind", "library"),
    [("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow"), ("scipy", "scipy")],
)
def test_a_missing_library_is_named(monkeypatch, kind, library):
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        MissingExtraError, match=f"needs the library {library}: pip install {library}"
    ):
        convert(BASKETS, kind)

"""Items as text: how each becomes text, which are missing, and which are refused."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError

MISSING = [
    None,
    float("nan"),
    np.float32("nan"),
    np.datetime64("NaT"),
    pd.NA,
    pd.NaT,
    Decimal("NaN"),
    Decimal("sNaN"),
]


@pytest.mark.parametrize("nothing", MISSING[:-1], ids=repr)
def test_a_missing_value_is_not_an_item(nothing):
    assert list(Transactions.of([["a", nothing], [nothing]])) == [("a",), ()]
    assert (
        Bags.of([["a", nothing, "a"]]) == Bags.of([{"a": 2, nothing: 3}]) == Bags.of([["a", "a"]])
    )


def test_a_value_that_cannot_be_compared_is_there():
    assert list(Transactions.of([[Decimal("sNaN")]])) == [("sNaN",)]


@pytest.mark.parametrize(
    ("items", "texts"),
    [
        ([3, 20, 100], ("3", "20", "100")),
        ([np.int64(7), 2**70], ("7", str(2**70))),
        ([1, "1", 1.0], ("1", "1.0")),
        ([True, 1], ("1", "True")),
        ([b"milk", "é".encode()], ("milk", "é")),
        ([("aisle", 3)], ("('aisle', 3)",)),
        (["", " ", "a\nb"], ("", " ", "a\nb")),
        (np.array(["b", "a"]), ("a", "b")),
        (np.array([b"b", b"a"]), ("a", "b")),
        (np.array([20, 3]), ("3", "20")),
        (np.array([0.1], dtype=np.float32), ("0.1",)),
        (np.array(["2024-05-01", "NaT"], dtype="datetime64[D]"), ("2024-05-01",)),
        (
            np.array(["2024-05-01", "NaT"], dtype="datetime64[ns]"),
            ("2024-05-01T00:00:00.000000000",),
        ),
        (pd.Series(["b", "a"]), ("a", "b")),
        (range(2), ("0", "1")),
        (iter("ba"), ("a", "b")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_items_become_text(items, texts):
    assert list(Transactions.of([items])) == [texts]


@pytest.mark.parametrize(
    "item", [["a"], {"a": 1}, {"a"}, frozenset("a"), np.array(["a"])], ids=repr
)
def test_a_record_within_a_record_is_refused(item):
    with pytest.raises(DataError, match="an item must be a single value, not the"):
        Transactions.of([["b", item]])


def test_bytes_that_are_not_text_are_refused():
    with pytest.raises(DataError, match="is not UTF-8 text"):
        Transactions.of([[b"\xff"]])


@pytest.mark.parametrize("record", [5, None, 2.5, np.array(5)], ids=repr)
@pytest.mark.parametrize("of", [Transactions.of, Bags.of, as_transactions])
def test_a_value_that_is_not_a_record_is_refused(of, record):
    with pytest.raises(DataError, match="a record must be an iterable of items, not"):
        of([["a"], record])


@pytest.mark.parametrize("records", [5, None, {"p": ["a"]}], ids=repr)
@pytest.mark.parametrize("of", [Transactions.of, Bags.of])
def test_a_value_that_is_not_an_iterable_of_records_is_refused(of, records):
    with pytest.raises(
        DataError,
        match=r"is not an iterable of records; setveil\.as_transactions also takes tables",
    ):
        of(records)


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(DataError) as error:
        Transactions.of([[["x"] * 1000]])
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "count", [0, -1, 1.5, float("inf"), float("nan"), 2**70, "2", None], ids=repr
)
def test_a_count_that_is_none_is_refused(count):
    with pytest.raises(DataError, match="it must be a whole number of 1 or more"):
        Bags.of([{"a": count}])


@pytest.mark.parametrize("count", [2, 2.0, np.int32(2), np.float64(2)], ids=repr)
def test_a_whole_count_of_any_type_counts(count):
    assert Bags.of([{"a": count}]) == Bags.of([["a", "a"]])


def test_bags_of_bags_keep_their_counts():
    bags = Bags.of([["a", "a"], []])
    assert Bags.of(bags) == bags

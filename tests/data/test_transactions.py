"""Transactions and bags: what they hold, keep and refuse."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data import transactions
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError, ParameterError

ITEMS = st.sampled_from(["a", "b", "7", "07", "10", "é", "a b", ""])
ROWS = st.lists(st.lists(ITEMS, max_size=6), max_size=8)


@given(ROWS)
def test_transactions_hold_the_distinct_items_of_each_record(rows):
    data = Transactions.of(rows)
    everything = sort_labels({item for row in rows for item in row})
    assert list(data.vocabulary) == everything
    assert list(data) == [tuple(item for item in everything if item in row) for row in rows]
    assert data.lengths.tolist() == [len(set(row)) for row in rows]
    assert data.occurrences == sum(len(set(row)) for row in rows)
    assert data.supports().tolist() == [sum(item in row for row in rows) for item in everything]


@given(ROWS)
def test_bags_count_what_repeats(rows):
    data = Bags.of(rows)
    counts = data.counts.tolist()
    found = [
        dict(zip(record, counts[start:], strict=False))
        for record, start in zip(data, data.indptr.tolist(), strict=False)
    ]
    assert found == [dict(Counter(row)) for row in rows]
    assert data.occurrences == sum(map(len, rows))
    assert data.sets() == Transactions.of(rows)
    assert data == Bags.of([Counter(row) for row in rows])


@given(ROWS, st.randoms(use_true_random=False))
def test_pairs_may_come_in_any_order(rows, random):
    data = Bags.of(rows)
    pairs = [
        (number, data.vocabulary.number(item)) for number, row in enumerate(rows) for item in row
    ]
    random.shuffle(pairs)
    records, items = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    assert Bags.from_pairs(records, items, data.vocabulary, size=len(rows)) == data
    assert Transactions.from_pairs(records, items, data.vocabulary, size=len(rows)) == data.sets()
    assert records.tolist() == [pair[0] for pair in pairs]


@given(ROWS, st.data())
def test_taking_gives_these_records_in_this_order(rows, drawn):
    numbers = drawn.draw(st.lists(st.integers(0, len(rows) - 1), max_size=10)) if rows else []
    for kind in (Transactions, Bags):
        data = kind.of(rows)
        taken = data.take(numbers)
        assert type(taken) is kind
        assert list(taken) == [data.record(number) for number in numbers]
    assert Bags.of(rows).take(numbers).occurrences == sum(len(rows[number]) for number in numbers)


def test_the_totals_of_bags_include_empty_ones():
    assert Bags.of([{"a": 2, "b": 3}, {}, {"a": 1}]).totals.tolist() == [5, 0, 1]
    assert Bags.of([]).totals.tolist() == []


def test_counts_of_items_that_become_the_same_text_add_up():
    assert Bags.of([{1: 2, "1": 3}]).counts.tolist() == [5]


def test_any_mapping_has_counts():
    assert Bags.of([MappingProxyType({"a": 2})]).counts.tolist() == [2]


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", None])
def test_a_count_is_a_whole_number(count):
    with pytest.raises(DataError) as error:
        Bags.of([{"a": count}])
    assert (
        str(error.value)
        == f"the count of item 'a' is {count!r}: it must be a whole number of 1 or more"
    )


def test_texts_are_not_records():
    with pytest.raises(DataError, match="records must be an iterable of records, not one text"):
        Transactions.of("abc")
    for kind in (Transactions, Bags):
        with pytest.raises(
            DataError,
            match=r"iterable of items, not the text 'wine'; write \['wine'\] for one item",
        ):
            kind.of(["wine"])


@pytest.mark.parametrize(("records", "items"), [([0], [2]), ([0], [-1]), ([3], [0]), ([-1], [0])])
def test_pairs_outside_are_refused_instead_of_joining_another_record(records, items):
    with pytest.raises(DataError) as error:
        Transactions.from_pairs(np.array(records), np.array(items), Vocabulary.of("ab"), size=3)
    assert (
        str(error.value)
        == "pairs must have record numbers from 0 to 2 and item numbers from 0 to 1"
    )


@pytest.mark.parametrize(
    ("indptr", "items", "problem"),
    [
        ([1, 1], [], "indptr must start at 0"),
        ([0, 2, 1], [0], "indptr must start at 0"),
        ([0, 1], [0, 1], "indptr must start at 0"),
        ([], [], "indptr must start at 0"),
        ([0, 1], [5], "items must be numbers of the vocabulary, 0 to 1"),
        ([0, 2], [1, 0], "ascending and distinct"),
        ([0, 2], [1, 1], "ascending and distinct"),
    ],
)
def test_arrays_that_are_not_records_are_refused(indptr, items, problem):
    with pytest.raises(DataError, match=problem):
        Transactions(
            np.array(indptr, dtype=np.int64), np.array(items, dtype=np.int32), Vocabulary.of("ab")
        )


def test_items_may_fall_from_one_record_to_the_next():
    data = Transactions(np.array([0, 0, 1, 1, 2, 2]), np.array([1, 0]), Vocabulary.of("ab"))
    assert list(data) == [(), ("b",), (), ("a",), ()]


def test_bags_need_a_count_for_each_item():
    for counts in ([], [0], [1, 1]):
        with pytest.raises(DataError, match="a bag needs a count of 1 or more for each item"):
            Bags(np.array([0, 1]), np.array([0]), Vocabulary.of("a"), np.array(counts))


def test_arrays_are_read_only():
    data = Bags.of([["a"]])
    for array in (data.indptr, data.items, data.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_sets_and_bags_differ_even_when_they_look_alike():
    assert Transactions.of([["a"]]) != Bags.of([["a"]])
    assert Bags.of([["a"]]) != Bags.of([["a", "a"]])
    assert Transactions.of([["a"], []]) != Transactions.of([["a"]])
    assert repr(Bags.of([["a", "a"]])) == "Bags(1 records, 1 items, 2 occurrences)"


FOUR = Transactions.of([["a", "b"], [], ["b"], ["a", "c"]])
FOUR_BAGS = Bags.of([["a", "b", "b"], [], ["b"], ["a", "c", "c"]])


def test_records_are_accessed_by_number():
    assert FOUR[0] == FOUR.record(0) == FOUR.record(np.int64(-4)) == ("a", "b")
    assert FOUR[-1] == ("a", "c")
    assert list(FOUR[1:3]) == [(), ("b",)]
    assert FOUR_BAGS[::-1].counts.tolist() == [1, 2, 1, 1, 2]
    assert FOUR[[3, 3]] == FOUR.take([-1, 3])
    assert (
        FOUR[FOUR.lengths == 2]
        == FOUR.take(np.array([True, False, False, True]))
        == FOUR.take([0, 3])
    )
    assert FOUR.take(np.array([-1, 3], dtype=np.int8)) == FOUR.take(
        np.array([3, 3], dtype=np.uint8)
    )
    assert FOUR.take([]) == FOUR[:0] == FOUR.take(range(0))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint64])
def test_numbers_may_be_of_a_type_that_cannot_count_all_records(kind):
    many = Transactions.of([[number] for number in range(300)])
    assert list(many.take(np.array([2, 1], dtype=kind))) == [("2",), ("1",)]
    assert many[kind(7)] == ("7",)


@pytest.mark.parametrize("number", [4, -5])
def test_a_record_number_out_of_range_is_refused(number):
    for ask in (FOUR.record, FOUR.__getitem__, lambda number: FOUR.take([0, number])):
        with pytest.raises(
            ParameterError,
            match=f"record = {number} is not allowed: there are 4 records, numbered from 0",
        ):
            ask(number)


@pytest.mark.parametrize(
    "numbers", [[1.5], 3, ["a"], np.array([True, False]), [[0]], None], ids=repr
)
def test_bad_record_numbers_are_refused(numbers):
    with pytest.raises(
        ParameterError,
        match="give record numbers, or true or false for each of 4 records",
    ):
        FOUR.take(numbers)


def test_the_support_of_items_is_counted():
    assert [
        FOUR.support(items) for items in (["a"], ["a", "b"], {"b"}, ["z"], [], ["a", None])
    ] == [2, 1, 2, 0, 4, 2]
    assert FOUR_BAGS.support(["b"]) == 2
    with pytest.raises(DataError, match="write \\['ab'\\] for one item"):
        FOUR.support("ab")


@pytest.mark.parametrize("data", [FOUR, FOUR_BAGS, Transactions.of([])], ids=repr)
def test_data_comes_read_only_out_of_another_process(data):
    for twin in (pickle.loads(pickle.dumps(data)), copy.copy(data), copy.deepcopy(data)):
        assert twin == data
        assert type(twin) is type(data)
        assert not twin.items.flags.writeable
        assert not twin.indptr.flags.writeable


def test_what_was_looked_up_before_is_not_sent_along():
    words = Vocabulary.of(range(1000))
    before = len(pickle.dumps(words))
    assert words.number(7) == 7
    assert len(pickle.dumps(words)) == before


@pytest.mark.parametrize(
    ("indptr", "items", "vocabulary", "problem"),
    [
        ([0, 1], [0], ["a"], "the vocabulary must be a Vocabulary, not a list"),
        (
            [0, 1],
            [0.5],
            Vocabulary(["a"]),
            "items must be a one-dimensional array of whole numbers",
        ),
        ([0, 1], [2**40], Vocabulary(["a"]), "items must be whole numbers of at most 2147483647"),
        (
            [0, 1],
            np.array([2**32]),
            Vocabulary(["a"]),
            "items must be whole numbers of at most 2147483647",
        ),
        (
            [[0, 1]],
            [0],
            Vocabulary(["a"]),
            "indptr must be a one-dimensional array of whole numbers",
        ),
        ("ab", [0], Vocabulary(["a"]), "indptr must be a one-dimensional array of whole numbers"),
    ],
)
def test_arrays_of_something_else_are_refused(indptr, items, vocabulary, problem):
    with pytest.raises(DataError, match=problem):
        Transactions(indptr, items, vocabulary)


def test_pairs_may_be_lists():
    words = Vocabulary(["a", "b"])
    assert Transactions.from_pairs([1, 0], [0, 1], words) == Transactions.of([["b"], ["a"]])
    assert Bags.from_pairs([1, 0], [0, 1], words, counts=[2, 1]) == Bags.of([["b"], ["a", "a"]])
    assert Transactions.from_pairs([], [], words, size=1) == Transactions([0, 0], [], words)


@pytest.mark.parametrize(
    ("pairs", "counts", "problem"),
    [
        (([0, 1], [0]), None, "not 2 record numbers, 1 item numbers"),
        (([0.5], [0]), None, "records must be a one-dimensional array of whole numbers"),
        (([1, 0], [0, 0]), [1], "each pair needs a count: 2 pairs, 1 counts"),
        (([0], [0]), [1.5], "counts must be a one-dimensional array of whole numbers"),
    ],
)
def test_pairs_of_something_else_are_refused(pairs, counts, problem):
    with pytest.raises(DataError, match=problem):
        Bags.from_pairs(*pairs, Vocabulary(["a"]), counts=counts)


def test_records_are_read_some_at_a_time(monkeypatch):
    monkeypatch.setattr(transactions, "_RECORDS_AT_ONCE", 2)
    given = [["a"], [], ["b", "c"], ["a", "c"], []]
    assert list(Transactions.of(given)) == [("a",), (), ("b", "c"), ("a", "c"), ()]
    assert list(Transactions.of([])) == []

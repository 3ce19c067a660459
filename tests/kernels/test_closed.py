"""Closed itemsets against the plain oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.transactions import Bags, Transactions
from setveil.errors import ParameterError
from setveil.metrics import itemsets
from setveil.metrics.itemsets import closed_itemsets
from tests.oracle import itemsets as oracle
from tests.strategies import transactions

SHOP = Transactions.of([["beer", "wine"], ["beer", "wine", "milk"], ["beer", "milk"], ["bread"], []])


def check(data: Transactions, count: int, least_size: int = 1, weights: list[int] | None = None) -> None:
    found = closed_itemsets(data, count, least_size=least_size, weights=None if weights is None else np.array(weights, dtype=np.int64))
    truth = oracle.closed(list(data), weights, least_size)
    certain, ties = oracle.top(truth, count)
    rows = [(tuple(sorted(itemset)), support) for itemset, support in found]
    assert {itemset for itemset, _ in rows[: found.certain]} == certain
    assert {itemset for itemset, _ in rows} == certain | ties
    assert len(rows) == len(certain | ties)
    assert all(truth[itemset] == support for itemset, support in rows)
    assert [support for _, support in rows] == sorted((support for _, support in rows), reverse=True)
    assert found.complete


@given(transactions(max_records=14, max_items=7), st.integers(1, 40), st.integers(1, 4))
def test_the_closed_itemsets_are_those_of_the_oracle(data, count, least_size):
    check(data, count, least_size)


@given(transactions(max_records=10, max_items=6), st.integers(1, 30), st.integers(1, 3), st.data())
def test_weights_count_as_repeated_records(data, count, least_size, draw):
    weights = draw.draw(st.lists(st.integers(1, 300), min_size=len(data), max_size=len(data)))
    check(data, count, least_size, weights)


@pytest.mark.parametrize("seed", range(4))
def test_many_rows_and_dense_ones(seed):
    chance = random.Random(seed)
    records = [[str(item) for item in range(9) if chance.random() < 0.9 - item / 12] for _ in range(300)]
    check(Transactions.of(records), 60)
    check(Transactions.of(records), 25, least_size=3)
    check(Transactions.of(records), 25, weights=[chance.randrange(1, 9) for _ in records])


def test_what_stands_in_every_record_is_closed_first():
    data = Transactions.of([["a", "b"], ["a", "b", "c"], ["a", "b", "d"]])
    assert list(closed_itemsets(data, 1)) == [(("a", "b"), 3)]


def test_items_that_never_stand_alone_are_not_closed():
    assert list(closed_itemsets(SHOP, 10)) == [
        (("beer",), 3),
        (("beer", "milk"), 2),
        (("beer", "wine"), 2),
        (("bread",), 1),
        (("beer", "milk", "wine"), 1),
    ]


@given(transactions(max_records=12, max_items=7), st.randoms(use_true_random=False), st.integers(1, 20))
def test_the_order_of_the_records_does_not_matter(data, chance, count):
    order = list(range(len(data)))
    chance.shuffle(order)
    assert list(closed_itemsets(data, count)) == list(closed_itemsets(data.take(order), count))


def test_of_bags_the_counts_are_left_aside():
    bags = Bags.of([["a", "a"], ["a", "b"]])
    assert list(closed_itemsets(bags, 5)) == list(closed_itemsets(bags.sets(), 5)) == [(("a",), 2), (("a", "b"), 1)]


def test_data_without_items_has_none():
    assert list(closed_itemsets(Transactions.of([]), 5)) == []
    assert list(closed_itemsets(Transactions.of([[], []]), 5)) == []


def test_too_many_ties_are_cut_and_told(monkeypatch):
    monkeypatch.setattr(itemsets, "MOST_TIES", 3)
    found = closed_itemsets(Transactions.of([[str(item)] for item in range(20)]), 2)
    assert (len(found), found.complete, found.certain) == (5, False, 0)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 1, "least_size": 0}])
def test_numbers_below_one_are_refused(wrong):
    with pytest.raises(ParameterError):
        closed_itemsets(SHOP, **wrong)

"""Closed itemsets; `test_itemsets` compares them with the oracle."""

from __future__ import annotations

import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.errors import ParameterError
from setveil.metrics import itemsets
from setveil.metrics.itemsets import closed_itemsets

SHOP = Transactions.of(
    [["beer", "wine"], ["beer", "wine", "milk"], ["beer", "milk"], ["bread"], []]
)


def test_what_is_in_every_record_is_closed_first():
    data = Transactions.of([["a", "b"], ["a", "b", "c"], ["a", "b", "d"]])
    assert list(closed_itemsets(data, 1)) == [(("a", "b"), 3)]


def test_items_that_never_occur_alone_are_not_closed():
    assert list(closed_itemsets(SHOP, 10)) == [
        (("beer",), 3),
        (("beer", "milk"), 2),
        (("beer", "wine"), 2),
        (("bread",), 1),
        (("beer", "milk", "wine"), 1),
    ]


def test_of_bags_the_counts_are_left_aside():
    bags = Bags.of([["a", "a"], ["a", "b"]])
    assert (
        list(closed_itemsets(bags, 5))
        == list(closed_itemsets(bags.sets(), 5))
        == [(("a",), 2), (("a", "b"), 1)]
    )


def test_data_without_items_has_none():
    assert list(closed_itemsets(Transactions.of([]), 5)) == []
    assert list(closed_itemsets(Transactions.of([[], []]), 5)) == []


def test_too_many_ties_are_cut_and_reported(monkeypatch):
    monkeypatch.setattr(itemsets, "MOST_TIES", 3)
    found = closed_itemsets(Transactions.of([[str(item)] for item in range(20)]), 2)
    assert (len(found), found.complete, found.certain) == (5, False, 0)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 1, "least_size": 0}])
def test_numbers_below_one_are_refused(wrong):
    with pytest.raises(ParameterError):
        closed_itemsets(SHOP, **wrong)

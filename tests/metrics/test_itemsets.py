"""Frequent itemsets: what they may be counted over, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.metrics.itemsets import Remembering, closed_itemsets, top_itemsets

BASKETS = [["beer", "wine"], ["beer"]]
both = pytest.mark.parametrize("find", [top_itemsets, closed_itemsets])


@both
def test_records_may_occur_several_times(find):
    assert list(find(BASKETS, 1, weights=[2, 3])) == [(("beer",), 5)]
    assert list(find(BASKETS, 1, weights=np.array([2**52, 1], dtype=np.uint64))) == [
        (("beer",), 2**52 + 1)
    ]


@both
@pytest.mark.parametrize(
    ("weights", "allowed"),
    [
        ([1.0, 1.0], "it must have a whole number of 0 or more for each of the 2 records"),
        ([1], "it must have a whole number of 0 or more for each of the 2 records"),
        ([1, -1], "it must have a whole number of 0 or more for each of the 2 records"),
        ([2**52, 2**52], "together they must be below"),
        (np.array([2**64 - 1, 1], dtype=np.uint64), "together they must be below"),
    ],
)
def test_weights_that_cannot_be_added_up_are_refused(find, weights, allowed):
    with pytest.raises(ParameterError, match=allowed):
        find(BASKETS, 1, weights=weights)


@both
@pytest.mark.parametrize(
    ("count", "allowed"),
    [
        (0, "a whole number of 1 or more"),
        (1.5, "a whole number of 1 or more"),
        (10**9, "at most 100,000,000 itemsets are found at once"),
    ],
)
def test_a_number_of_itemsets_that_cannot_be_found_is_refused(find, count, allowed):
    with pytest.raises(ParameterError, match=allowed):
        find(BASKETS, count)


@given(
    st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), max_size=12),
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 3)), min_size=2, max_size=5),
)
def test_a_remembered_list_is_the_one_that_would_be_found_anew(records, asked):
    data, find = Transactions.of(records), Remembering()
    for count, least_size in asked:
        again = find(data, count, least_size=least_size)
        anew = top_itemsets(data, count, least_size=least_size)
        assert (list(again), again.wanted, again.certain) == (list(anew), count, anew.certain)


@given(
    st.lists(
        st.tuples(st.frozensets(st.sampled_from("abcdef"), max_size=5), st.integers(0, 4)),
        max_size=12,
    ),
    st.integers(1, 30),
)
def test_a_remembered_list_of_weighted_records_is_the_one_that_would_be_found_anew(rows, count):
    data, weights = Transactions.of([record for record, _ in rows]), [each for _, each in rows]
    again = Remembering()(data, count, weights=weights)
    anew = top_itemsets(data, count, weights=weights)
    assert (list(again), again.certain, again.complete) == (list(anew), anew.certain, True)


def test_a_list_is_not_cut_where_some_ties_may_be_missing():
    data = Transactions.of([["a", "b", "c", "d"]])
    whole = top_itemsets(data, 2)
    cut = replace(whole, complete=False)
    assert whole.first(1) is not None
    assert cut.first(1) is None
    assert whole.first(3) is None

"""What numpy lacks for arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data import arrays
from setveil.data.arrays import gathered, numbered, order_of, ranges, sorted_pairs, sums


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
def test_gathering_in_parts_is_gathering_at_once(monkeypatch, at_once):
    monkeypatch.setattr(arrays, "_AT_ONCE", at_once)
    random = np.random.default_rng(1)
    values = random.integers(0, 100, 50)
    for _ in range(100):
        lengths = random.integers(0, 6, random.integers(0, 9))
        starts = random.integers(0, 45, len(lengths))
        assert (
            gathered(values, starts, lengths).tolist() == values[ranges(starts, lengths)].tolist()
        )


def test_sums_are_exact_however_large_the_values_are():
    random = np.random.default_rng(2)
    for most in (1, 1000, 1 << 40, 1 << 55):
        for _ in range(30):
            groups = random.integers(0, 5, random.integers(0, 20))
            values = random.integers(-most, most, len(groups))
            expected = [sum(values[groups == group].tolist()) for group in range(5)]
            assert sums(groups, values, 5).tolist() == expected
    assert sums(np.array([0, 2, 2]), 7, 3).tolist() == [7, 0, 14]
    assert sums(np.array([0, 1]), np.array([True, False]), 2).tolist() == [1, 0]


def test_a_group_beyond_the_last_one_is_an_error():
    with pytest.raises(IndexError):
        sums(np.array([3]), 1, 3)


keys = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)
any_shift = pytest.mark.parametrize("shift", [0, 40, 59])


@any_shift
@given(pairs=keys)
def test_pairs_are_sorted_whether_or_not_they_fit_into_one_number(shift, pairs):
    first = np.array([one << shift for one, _ in pairs], dtype=np.int64)
    found = sorted_pairs(first, np.array([other for _, other in pairs], dtype=np.int64))
    assert [*zip(*(each.tolist() for each in found), strict=True)] == sorted(
        (one << shift, other) for one, other in pairs
    )


@any_shift
@given(pairs=keys)
def test_the_order_of_keys_is_that_of_a_stable_sort(shift, pairs):
    values = np.array([one << shift for one, _ in pairs], dtype=np.int64)
    assert order_of(values).tolist() == np.argsort(values, kind="stable").tolist()


@any_shift
@given(pairs=keys)
def test_equal_values_have_equal_numbers(shift, pairs):
    values = np.array([one << shift for one, _ in pairs], dtype=np.int64)
    known, numbers = numbered(values)
    assert known.tolist() == sorted(set(values.tolist()))
    assert known[numbers].tolist() == values.tolist()

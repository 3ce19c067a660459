"""The assignment of greatest gain: against SciPy, and against the oracle's Hungarian method."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.kernels.retrieval import BagRows, NearItems, nearest_distances, pair_records
from tests.oracle.ssc import hungarian


def random_table(random, rows, columns, density, most):
    return random.integers(1, most, size=(rows, columns), endpoint=True) * (
        random.random((rows, columns)) < density
    )


def matched(gains, supply, demand):
    """How often each row of a table is matched with each column: a published bag and a record."""
    (rows, columns), omega = gains.shape, gains.max(initial=1)
    pairs = np.argwhere(gains > 0)
    starts = np.searchsorted(pairs[:, 0], np.arange(rows + 1))
    distances = 2 * omega - gains[gains > 0]
    found = pair_records(
        BagRows(np.array([0, rows]), np.arange(rows, dtype=np.int32), supply),
        np.zeros(1, np.int64),
        BagRows(np.array([0, columns]), np.arange(columns, dtype=np.int32), demand),
        NearItems(starts, pairs[:, 1].astype(np.int32), distances),
        omega,
    ).reshape(-1, 3)
    times = np.zeros((rows, columns), np.int64)
    times[found[:, 0], found[:, 1]] = found[:, 2]
    return times


def total_gain(gains):
    """The greatest gain if each row and column may be matched once: two itemsets."""
    (rows, columns), omega = gains.shape, gains.max(initial=1)
    some, others = (
        BagRows(np.array([0, size]), np.arange(size, dtype=np.int32), np.ones(size, np.int64))
        for size in (rows, columns)
    )
    table = np.where(gains > 0, 2 * omega - gains, -1)
    return omega * (rows + columns) - nearest_distances(some, others, table, omega)[0]


def check(gains, supply, demand, expected):
    gains = gains.astype(np.int64)
    times = matched(gains, supply, demand)
    assert (times * gains).sum() == expected
    if supply.max(initial=1) == demand.max(initial=1) == 1:
        assert total_gain(gains) == expected
    assert (times >= 0).all()
    assert (times[gains <= 0] == 0).all()
    assert (times.sum(axis=1) <= supply).all()
    assert (times.sum(axis=0) <= demand).all()


def by_scipy(gains, supply, demand):
    optimize = pytest.importorskip("scipy.optimize")
    table = np.repeat(np.repeat(np.maximum(gains, 0), supply, axis=0), demand, axis=1)
    rows, columns = optimize.linear_sum_assignment(table, maximize=True)
    return table[rows, columns].sum()


@pytest.mark.parametrize("density", [0.02, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("most", [3, 20, 100_000])
def test_a_thousand_small_tables_are_matched_as_by_scipy(density, most):
    random = np.random.default_rng([round(100 * density), most])
    for _ in range(300):
        rows, columns = random.integers(1, 25, size=2)
        gains = random_table(random, rows, columns, density, most)
        ones = np.ones(rows, np.int64), np.ones(columns, np.int64)
        check(gains, *ones, by_scipy(gains, *ones))


@pytest.mark.parametrize("density", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("shape", [(200, 200), (200, 60), (7, 200), (1, 200), (200, 1)])
def test_tables_of_up_to_200_by_200_are_matched_as_by_scipy(shape, density):
    random = np.random.default_rng([*shape, round(100 * density)])
    for most in (4, 30, 10**9):
        gains = random_table(random, *shape, density, most)
        ones = np.ones(shape[0], np.int64), np.ones(shape[1], np.int64)
        check(gains, *ones, by_scipy(gains, *ones))


def test_what_may_be_matched_several_times_is_as_good_as_so_many_of_it():
    random = np.random.default_rng(7)
    for _ in range(300):
        rows, columns = random.integers(1, 10, size=2)
        gains = random_table(
            random, rows, columns, random.choice([0.2, 0.6, 1.0]), random.choice([3, 50])
        )
        supply, demand = random.integers(1, 6, size=rows), random.integers(1, 6, size=columns)
        check(gains, supply, demand, by_scipy(gains, supply, demand))


@given(st.lists(st.lists(st.integers(-3, 12), min_size=4, max_size=4), min_size=1, max_size=4))
def test_pairs_that_gain_nothing_are_never_matched(table):
    gains = np.array(table)
    padded = [[-max(gain, 0) for gain in row] for row in table]
    check(gains, np.ones(len(table), np.int64), np.ones(4, np.int64), -hungarian(padded))


def test_a_table_without_rows_gains_nothing():
    check(np.empty((0, 3), np.int64), np.empty(0, np.int64), np.ones(3, np.int64), 0)

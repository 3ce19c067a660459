"""What numpy lacks for arrays."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.data import arrays
from setveil.data.arrays import gathered, ranges, sums


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

"""Noise has exactly the distribution that the promise rests on."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from setveil.errors import MissingExtraError
from setveil.methods import noise as module
from setveil.methods.noise import SystemNoise, Uniform, gap_before, geometric
from tests.methods.quicknoise import QuickNoise
from tests.oracle.privacy import binomial_cdf, geometric_cdf, laplace_cdf, looks_like

SOURCES = {"system": SystemNoise, "quick": QuickNoise}
each_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


@each_source
@pytest.mark.parametrize("scale", [0.3, 1.0, 33.3])
def test_laplace_noise_has_its_distribution(source, scale):
    drawn = source().laplace(np.full(6000, 7), scale) - 7
    assert looks_like(drawn.tolist(), lambda value: laplace_cdf(value, scale))


@each_source
def test_half_the_noise_would_be_noticed(source):
    drawn = source().laplace(np.zeros(6000, dtype=np.int64), 5.0)
    assert not looks_like(drawn.tolist(), lambda value: laplace_cdf(value, 10.0))


@each_source
def test_each_count_gets_noise_of_its_own(source):
    drawn = source().laplace(np.arange(100) * 1000, 3.0) - np.arange(100) * 1000
    assert len(set(drawn.tolist())) > 3
    assert len(source().laplace(np.zeros(0, dtype=np.int64), 3.0)) == 0


@each_source
@pytest.mark.parametrize(
    ("zeros", "threshold", "scale"), [(40, 3, 2.0), (1000, 12, 2.0), (5, 1, 0.7)]
)
def test_as_many_empty_counts_pass_as_if_all_were_drawn(source, zeros, threshold, scale):
    chance = 1 - laplace_cdf(threshold - 1, scale)
    found = [source().passing(zeros, threshold, scale) for _ in range(600)]
    numbers = [len(values) for values in found]
    assert looks_like(
        numbers, lambda value: binomial_cdf(value, zeros, chance) if value >= 0 else 0
    )
    values = [value - threshold for values in found for value in values]
    assert min(values) == 0
    assert looks_like(values, lambda value: geometric_cdf(value, 1 / scale) if value >= 0 else 0)


def test_very_many_and_very_unlikely_counts_are_quick():
    noise = SystemNoise()
    assert noise.passing(10**12, 10**6, 3.0) == []
    assert noise.passing(0, 1, 3.0) == []
    assert gap_before(10, 10**9, 0.5) == 10


@pytest.mark.parametrize("rate", [0.01, 0.7, 5.0])
def test_geometric_numbers_have_their_distribution(rate):
    drawn = [geometric(lambda digits: module._one_over(1 / rate, digits)) for _ in range(1500)]
    assert looks_like(drawn, lambda value: geometric_cdf(value, rate) if value >= 0 else 0)


def test_more_bits_are_drawn_until_there_is_no_doubt(monkeypatch):
    uniform = Uniform()
    uniform.value = (1 << uniform.bits) - 1  # the largest: its logarithm has no bound yet
    assert geometric(lambda digits: module._one_over(3.0, digits), uniform) > 200
    least, most = uniform.minus_log(50)
    assert least < most
    assert math.isfinite(float(least))


def test_nothing_takes_a_seed():
    np.random.seed(1)
    one = SystemNoise().laplace(np.zeros(50, dtype=np.int64), 9.0).tolist()
    np.random.seed(1)
    assert SystemNoise().laplace(np.zeros(50, dtype=np.int64), 9.0).tolist() != one
    assert SystemNoise().keys(3).tolist() != SystemNoise().keys(3).tolist()


def test_a_missing_library_names_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(
        MissingExtraError, match=r"needs the library opendp \(the extra dp of setveil\)"
    ):
        SystemNoise()

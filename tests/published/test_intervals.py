"""Intervals around noisy supports contain the truth as often as they say."""

from __future__ import annotations

from random import Random
from statistics import mean, median

import numpy as np
import pytest

from benchmarks.coverage import SHAPES, SHORT, coverage, shape
from setveil import read_release, verify
from setveil.published.ledger import least, margin
from tests.methods.quicknoise import QuickNoise
from tests.oracle.privacy import laplace_cdf
from tests.releases.make import HERE

LEAST_COVERED = 0.93


def covers(name, runs, share):
    """Whether items and pairs of a shape are covered, and short records by narrow intervals."""
    found = coverage(shape(name, 1, share), 1, runs, QuickNoise())
    for part in found.values():
        assert mean(part.original) >= LEAST_COVERED
        assert mean(part.cut) >= LEAST_COVERED
        assert name not in SHORT or median(part.widths) <= 2


@pytest.mark.parametrize(("name", "share"), [(SHORT[1], 0.6), (tuple(SHAPES)[3], 0.3)])
def test_intervals_cover_items_and_pairs(name, share):
    covers(name, 3, share)


@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
def test_intervals_cover_items_and_pairs_of_five_shapes(name):
    covers(name, 20, 1)


@pytest.mark.parametrize("noises", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", [1.0, 12.5])
def test_sums_of_noise_exceed_their_margin_no_more_often_than_said(noises, scale):
    drawn = QuickNoise().laplace(np.zeros(noises * 40_000, dtype=np.int64), scale)
    sums = drawn.reshape(noises, -1).sum(axis=0)
    for chance in (0.1, 0.025):
        share = float((sums > np.ceil(scale * margin(noises, chance))).mean())
        assert share <= chance * 1.15
        assert scale < 2 or share >= chance * 0.8


def test_published_counts_are_at_least_what_is_said_also_near_the_threshold():
    """By the exact distribution of the noise, among the counts that reach the threshold."""
    chance = Random(2)
    for _ in range(60):
        scale, limit = chance.choice([3.0, 10.0, 40.0]), chance.choice([0.025, 0.1])
        threshold = int(scale * chance.choice([1, 3, 6])) + 1
        true = int(chance.choice([0, 0.5, 1, 1.5, 3]) * threshold)
        wrong = published = 0.0
        for value in range(threshold, int(true + threshold + 25 * scale)):
            likely = laplace_cdf(value - true, scale) - laplace_cdf(value - true - 1, scale)
            published += likely
            wrong += likely * (least(value, threshold, scale, limit) > true)
        assert wrong / published <= limit * 1.02


def test_old_supports_are_read_and_have_no_upper_end():
    """Before version 9 of the format, only raised supports were published, not what was counted."""
    for age in ("7-8352a97", "8-0.2.0"):
        release = read_release(HERE / age / "synthetic-frequent")
        assert verify(release).holds
        for one in release.supports:
            found = release.support(one.items)
            assert found.lower <= found.guess <= found.upper
            assert found.lower <= one.support
            assert found.upper >= release.people
            assert "How many lost" in release.support_note(one.items)

"""Epsilon from the outside: neighbouring data, thousands of runs, and variants that are broken.

A bound on epsilon that is wrong with a chance of 1e-6 must stay below the promise, and must exceed
it for each broken variant. Thresholds are set low here, so that rare events are not that rare; they
are public numbers, and no part of the proof."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import DiffPart, Frequent
from setveil.methods.frequent import method as frequent
from setveil.methods.private import Budget
from setveil.promises import DifferentialPrivacy
from tests.methods.quicknoise import QuickNoise
from tests.oracle.privacy import least_epsilon

EPSILON = 2
PROMISE = DifferentialPrivacy(epsilon=EPSILON)
TREE = Hierarchy.from_paths([("a", "ALL"), ("b", "ALL")])
FEW = [["b"]] * 50
FRAME = [[]] * 200


@pytest.fixture(autouse=True)
def low_thresholds(monkeypatch):
    monkeypatch.setattr("setveil.methods.diffpart.STEADY", 0.0)
    monkeypatch.setattr(frequent, "SPURIOUS", 1e9)


def bound(run, outcome, more, less, tries):
    """At least how large epsilon is, from one outcome on data with and without a record."""
    both = (Transactions.of(more), Transactions.of(less))
    hits, other_hits = (sum(outcome(run(data)) for _ in range(tries)) for data in both)
    return least_epsilon(hits, other_hits, tries)


def of_frequent(noise):
    method = Frequent(max_items=2, max_paired=2, paired=2)
    return lambda data: method.anonymize(data, PROMISE, domain=["a", "b"], noise=noise)


def of_diffpart(noise):
    return lambda data: DiffPart().anonymize(data, PROMISE, TREE, noise=noise)


def shows_both(release):
    return len(release.supports) == 3


def shows_a(release):
    return ("a",) in set(release.classes)


def test_what_frequent_publishes_depends_on_a_record_no_more_than_promised():
    run = of_frequent(QuickNoise())
    found = bound(run, shows_both, [*FRAME, ["a", "b"]], FRAME, 1000)
    assert 0.5 < found < EPSILON  # the outcome depends on 88 of 100 parts of the budget


def test_what_diffpart_publishes_depends_on_a_record_no_more_than_promised():
    found = bound(of_diffpart(QuickNoise()), shows_a, [*FEW, ["a"]], FEW, 2000)
    assert 0.3 < found < EPSILON


def test_what_is_published_depends_on_a_person_of_six_records_no_more_than_promised(monkeypatch):
    method = Frequent(max_items=2, max_paired=2, paired=2)

    def run(data):
        promise = PROMISE.for_people(6)
        return method.anonymize(data, promise, domain=["a", "b"], noise=QuickNoise())

    person = [*FRAME, *[["a", "b"]] * 6]
    assert 0.5 < bound(run, shows_both, person, FRAME, 600) < EPSILON
    monkeypatch.setattr(Budget, "most", property(lambda _: 1, lambda _, most: None), raising=False)
    assert bound(run, shows_both, person, FRAME, 600) > EPSILON


@pytest.mark.long
def test_half_the_noise_is_caught():
    run = of_frequent(QuickNoise(0.5))
    assert bound(run, shows_both, [*FRAME, ["a", "b"]], FRAME, 1200) > EPSILON


@pytest.mark.long
def test_half_the_noise_is_caught_in_diffpart_too():
    run = of_diffpart(QuickNoise(0.5))
    assert bound(run, shows_a, [*FEW, ["a"]], FEW, 15_000) > EPSILON


def test_skipping_empty_parts_is_caught():
    class Skipping(QuickNoise):
        def passing(self, zeros, threshold, scale):
            return []

    assert bound(of_diffpart(Skipping()), shows_a, [*FEW, ["a"]], FEW, 1500) > EPSILON


@pytest.mark.parametrize("of_method", [of_frequent, of_diffpart])
def test_an_exact_number_of_records_is_caught(of_method):
    class Exact(QuickNoise):
        def laplace(self, counts, scale):
            return (
                np.array(counts)
                if len(counts) == 1 and scale > 40
                else super().laplace(counts, scale)
            )

    run = of_method(Exact())
    assert bound(run, lambda made: made.people == 51, [*FEW, ["a"]], FEW, 300) > EPSILON


def test_records_that_are_not_cut_are_caught(monkeypatch):
    """One record with 200 items, of which only one may count."""
    items = [f"{number:03}" for number in range(200)]

    def run(data):
        method = Frequent(max_items=1, max_paired=2, paired=2)
        return method.anonymize(data, PROMISE, domain=items, noise=QuickNoise())

    def many(release):
        return sum(one.support for one in release.supports if len(one.items) == 1) > 300

    tries = 200
    assert bound(run, many, [*FRAME, items], FRAME, tries) < EPSILON
    whole = frequent.shortened
    monkeypatch.setattr(frequent, "shortened", lambda data, order, most: whole(data, order, 200))
    assert bound(run, many, [*FRAME, items], FRAME, tries) > EPSILON


def test_finding_items_privately_publishes_the_item_of_one_record_hardly_ever():
    promise = DifferentialPrivacy(epsilon=EPSILON, delta=0.01)
    method = Frequent(max_items=1, max_paired=2, paired=2)

    def run(data):
        return method.anonymize(data, promise, noise=QuickNoise())

    frame, tries = [["b"]] * 300, 600
    data = Transactions.of([*frame, ["a"]])
    hits = sum("a" in run(data).items for _ in range(tries))
    assert least_epsilon(hits, 0, tries, delta=0.01) < EPSILON

"""The accuracy that a support states is true of every original that fits the release."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.errors import InfeasibleError
from setveil.published.countable import Support
from tests.strategies import data_with_tree

METHODS = (
    (sv.Disassociation(), sv.KmAnonymity(k=2, m=2)),
    (sv.Disassociation(arrangement="safe"), sv.KmAnonymity(k=2, m=2)),
    (sv.Partition(), sv.KAnonymity(k=2)),
    (sv.MHgHs(), sv.KmAnonymity(k=2, m=2)),
    (sv.Suppression(), sv.KmAnonymity(k=2, m=2)),
)


@pytest.mark.parametrize(("method", "promise"), METHODS, ids=lambda each: str(each)[:24])
@given(pair=data_with_tree(), data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_truth_is_as_near_as_the_accuracy_says(method, promise, pair, data):
    records, tree = sv.Transactions.of(pair[0]), pair[1]
    try:
        release = method.anonymize(records, promise, tree if method.needs_hierarchy else None)
    except InfeasibleError:
        return
    items = [*records.vocabulary]
    if not items:
        return
    for _ in range(8):
        asked = data.draw(st.sets(st.sampled_from(items), min_size=1, max_size=3))
        truth = sum(asked <= set(record) for record in records)
        check(release.support(asked), truth)


def check(found: Support, truth: int) -> None:
    assert found.lower <= truth <= found.upper
    if found.accuracy == "exact":
        assert found.expected == found.lower == found.upper == truth
    elif found.accuracy == "not determined":
        assert found.expected is None
    else:
        share = float(found.accuracy.removeprefix("within ").removesuffix(" %")) / 100
        assert 0 < share <= 1
        assert abs(truth - found.expected) <= share * found.expected + 1e-9


@pytest.mark.parametrize(
    ("lower", "upper", "guess", "accuracy"),
    [
        (5, 5, 5.0, "exact"),
        (0, 0, 0.0, "exact"),
        (80, 110, 100.0, "within 20 %"),
        (99, 100, 99.9, "within 1 %"),  # rounded up: 0.9009
        (1, 3, 2.0, "within 50 %"),
        (0, 3, 2.0, "not determined"),  # perhaps nobody
        (1, 4, 2.0, "not determined"),  # perhaps twice as many
        (0, 3, 0.0, "not determined"),
    ],
)
def test_the_accuracy_is_what_the_bounds_leave(lower, upper, guess, accuracy):
    found = Support(lower, upper, guess)
    assert found.accuracy == accuracy
    assert (found.expected is None) == (accuracy == "not determined")
    assert found.to_dict()["accuracy"] == accuracy

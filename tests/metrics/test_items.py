"""The error of item supports, against the oracle and for every form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from setveil import METHODS, DifferentialPrivacy, KmAnonymity, Suppressed, Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics import METRICS, measure
from setveil.metrics.queries import expected_supports, item_error
from tests.audit.releases import bags_of, parents_of, published_of, releases
from tests.oracle import losses as oracle
from tests.strategies import transactions

RECORDS = [["a", "b"], ["a"], ["b", "c"], ["a", "c"], ["a", "b", "c"], ["c"], ["a"], ["b"]]
TREE = Hierarchy.from_paths([("a", "A or B", "ALL"), ("b", "A or B", "ALL"), ("c", "ALL")])


def promise_for(kind):
    if kind.draws_noise:
        return DifferentialPrivacy(epsilon=20.0)
    return kind.trial or KmAnonymity(k=2, m=2)


@given(releases())
def test_the_error_of_generalized_items_is_that_of_the_oracle(pair):
    release, original = pair
    parents, items = parents_of(release.hierarchy), list(original.vocabulary)
    expected = oracle.item_error(bags_of(original), published_of(release), parents, items)
    assert item_error(release, original) == pytest.approx(float(expected))


@given(transactions(max_records=8))
def test_the_error_of_suppressed_items_is_the_share_that_is_missing(data):
    shown = [[item for item in record if item != "a"] for record in data]
    release = Suppressed.of(shown, KmAnonymity(k=2, m=2))
    gone = sum("a" in record for record in data)
    total = sum(len(record) for record in data)
    assert item_error(release, data) == pytest.approx(gone / total if total else 0)


OF_SETS = [name for name, kind in METHODS.items() if kind.reads != "tables"]


@pytest.mark.parametrize("name", OF_SETS)
def test_supports_of_all_items_at_once_are_those_of_one_at_a_time(name):
    data = Transactions.of(RECORDS * 3)
    kind = METHODS[name]
    release = kind().anonymize(data, promise_for(kind), TREE)
    one_by_one = [release.guess([item]) for item in data.vocabulary]
    assert np.allclose(expected_supports(release, data), one_by_one)


def test_a_measure_that_every_form_has_can_be_asked_for_in_every_form():
    common = [name for name, row in METRICS.items() if row.on_request]
    assert {"are", "item_error", "tkd", "re", "re_top", "pair_error"} <= set(common)
    data = Transactions.of(RECORDS * 3)
    for kind in map(METHODS.__getitem__, OF_SETS):
        release = kind().anonymize(data, promise_for(kind), TREE)
        assert list(measure(release, data, common)) == common

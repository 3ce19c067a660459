"""Verification and losses at the size of real data; skipped where that is absent."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.audit import exposure, verify
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read
from setveil.methods import Partition
from setveil.metrics import measure
from setveil.promises import KAnonymity, KmAnonymity

BALANCED = [
    "bms-webview-1.dat.gz",
    pytest.param("bms-webview-2.dat.gz", marks=pytest.mark.long),
    pytest.param("retail.dat.gz", marks=pytest.mark.long),
]
TAXONOMY = [
    ("groceries.csv.gz", "groceries.hierarchy.csv"),
    ("foodmart1997-customers.csv.gz", "foodmart1997.hierarchy.csv"),
]


def assert_verifies_from_disk(data, tree) -> None:
    """A release without its alignment holds, and its losses are near the exact ones."""
    release = Partition().anonymize(data, KAnonymity(k=10), tree)
    bare = release.without_alignment()
    assert verify(release, data).holds
    assert verify(bare, data, promise=KmAnonymity(k=10, m=5)).holds
    exact, matched = (measure(one, data, ["ncp"])["ncp"] for one in (release, bare))
    assert matched == pytest.approx(exact, abs=0.001)


@pytest.mark.parametrize("name", BALANCED)
def test_releases_over_balanced_trees_are_matched_with_their_originals(shared_data, name):
    data = read(shared_data / name)
    assert_verifies_from_disk(data, Hierarchy.balanced(data.vocabulary, 5))


@pytest.mark.parametrize(("name", "tree"), TAXONOMY)
def test_releases_over_natural_taxonomies_are_matched_with_their_originals(shared_data, name, tree):
    assert_verifies_from_disk(read(shared_data / name), Hierarchy.read(shared_data / tree))


def test_a_release_of_other_data_does_not_verify(shared_data):
    data, tree = (
        read(shared_data / "groceries.csv.gz"),
        Hierarchy.read(shared_data / "groceries.hierarchy.csv"),
    )
    release = Partition().anonymize(data, KAnonymity(k=10), tree).without_alignment()
    assert verify(release, data.take(np.arange(len(data))[::-1])).holds
    halves = data.take(np.arange(len(data)) // 2)
    verdict = verify(release, halves)
    assert [check.name for check in verdict.failed] == ["containment"]
    assert verdict.witness is not None


def test_raw_data_is_found_exposed(shared_data):
    data = read(shared_data / "groceries.csv.gz")
    found = exposure(data)
    assert found.whole == pytest.approx(0.666, abs=0.001)
    assert [one.exact for one in found.known] == [True, True, True]
    verdict = verify(data, promise=KmAnonymity(k=5, m=2))
    item = verdict.witness.items[0]
    assert verdict.witness.count == int(data.supports()[data.vocabulary.number(item)]) < 5

"""Estimates on a release agree with adding up chances record by record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.hierarchy.tree import Hierarchy
from setveil.promises import KAnonymity
from setveil.published import generalized
from setveil.published.generalized import Generalized
from tests.audit.releases import parents_of, published_of, releases
from tests.oracle.losses import estimate

WAYS = [{"_MOST_CELLS": 1}, {"_MOST_CELLS": 8_000_000}]


@given(st.one_of(releases(), releases(multiset=True)), st.data(), st.sampled_from(WAYS))
def test_estimates_are_those_of_the_oracle_however_the_classes_are_cut_into_blocks(pair, data, way):
    release, _ = pair
    tree = release.hierarchy
    items = data.draw(
        st.lists(
            st.sampled_from(tree.labels[: tree.leaf_count]), min_size=1, max_size=3, unique=True
        )
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(generalized, name, value)
        rows = np.array([[*range(len(items)), -1]])
        found = generalized.estimate_supports(release, items, rows)
    assert found[0] == pytest.approx(
        float(estimate(published_of(release), items, parents_of(tree)))
    )


def test_an_item_that_the_tree_does_not_have_is_held_by_nobody():
    tree = Hierarchy.from_parents(["ALL", "a", "b"], [-1, 0, 0])
    release = Generalized.of([["ALL"], ["a"]], tree, KAnonymity(k=2))
    assert generalized.estimate_supports(
        release, ["zebra", "a"], np.array([[0], [1]])
    ).tolist() == [
        0.0,
        1.5,
    ]


def test_a_node_that_occurs_twice_in_a_bag_has_two_chances_to_be_an_item():
    tree = Hierarchy.from_parents(["ALL", "a", "b"], [-1, 0, 0])
    release = Generalized.of([{"ALL": 2}, {"ALL": 1}], tree, KAnonymity(k=2), counted=True)
    assert generalized.estimate_supports(
        release, ["a", "b"], np.array([[0, -1], [0, 1]])
    ).tolist() == [
        0.75 + 0.5,
        0.75**2 + 0.5**2,
    ]

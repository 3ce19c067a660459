"""Typical bags that show all that their people share: the upper bound of supports is sound."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest

import setveil as sv

TREE = sv.Hierarchy.from_paths(
    [("a", "ab", "all"), ("b", "ab", "all"), ("c", "cd", "all"), ("d", "cd", "all")]
)
TYPICAL = ("majority", "mixed", "slots", "generalized")


def random_bags(seed: int) -> sv.Bags:
    choose = Random(seed)
    bags = [
        Counter(choose.choices("abcd", k=choose.choice((0, 1, 2, 2, 3, 4))))
        for _ in range(choose.randint(2, 9))
    ]
    return sv.Bags.of(bags)


@pytest.mark.parametrize("typical", TYPICAL)
def test_no_itemset_is_in_more_bags_than_the_upper_bound_says(typical):
    """For every itemset and node of random data; some bounds are reached, so none could be less."""
    reached = better = 0
    for seed in range(150):
        data = random_bags(seed)
        release = sv.SSC(typical=typical).anonymize(data, sv.VocabularyKAnonymity(k=2), TREE)
        assert release.complete
        rows = [set(record) for record in data]
        if seed < 20:
            verdict = sv.verify(release, data, hierarchy=TREE)
            assert "complete" in [check.name for check in verdict.checks]
            assert verdict.holds
        for size in (1, 2):
            for asked in combinations("abcd", size):
                truth = sum(row >= {*asked} for row in rows)
                found = release.support(asked)
                assert found.lower <= truth <= found.upper, (seed, asked)
                reached += truth == found.upper < len(data)
                better += found.upper < len(data)
        if release.tree is not None:
            below = sum(bool(row & {"a", "b"}) for row in rows)
            assert release.support(["ab"]).upper >= below, seed
    assert better > 500
    assert reached > 20


@pytest.mark.parametrize("aligned", [True, False])
def test_a_false_claim_that_bags_are_complete_is_found(aligned):
    data = sv.Bags.of([["a", "c"], ["a", "c"], ["a", "b"], ["a"]])
    shown = sv.Bags.of([["c"], ["a"]])
    release = sv.TypicalBags.of_rows(
        shown,
        sv.VocabularyKAnonymity(k=2),
        {},
        alignment=np.array([0, 0, 1, 1]),
        weights=np.array([2, 2]),
        complete=True,
    )
    release = release if aligned else release.without_alignment()
    verdict = sv.verify(release, data)
    assert [check.name for check in verdict.failed] == ["complete"]
    assert sv.verify(replace(release, complete=False), data).holds
    assert (release.support(["a"]).upper, release.support(["b"]).upper) == (3, 2)


def test_the_papers_variant_does_not_say_that_its_bags_are_complete():
    release = sv.SSC(variant="paper").anonymize(random_bags(1), sv.VocabularyKAnonymity(k=2), TREE)
    assert not release.complete
    assert release.support(["a"]).upper == len(release)

"""The losses of vocabularies: blm, recall, sdist and the counts of items, against plain oracles
and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil import measure
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read_release, write
from setveil.methods.partition import Partition
from setveil.metrics.generalization import blm as blm_of_nodes
from setveil.metrics.generalization import guess_alignment, of_slots
from setveil.metrics.itemsets import closed_itemsets
from setveil.metrics.retrieval import recall, sdist, term_counts
from setveil.metrics.state import Measure
from setveil.promises import VocabularyKAnonymity
from setveil.published.generalized import Generalized
from setveil.published.typical_bags import TypicalBags
from tests.oracle import retrieval as oracle
from tests.published.groups import GROUPS, ORIGINAL, TREE, publish

PROMISE = VocabularyKAnonymity(k=2)
blm = Measure(of_slots, blm_of_nodes.figure)
TYPICAL = ("majority", "mixed", "slots", "generalized")
PATHS = {label: TREE.path(label) for label in TREE.labels}
LEAVES = TREE.labels[: TREE.leaf_count]
bags = st.lists(
    st.dictionaries(st.sampled_from(LEAVES), st.integers(1, 3), max_size=5), min_size=1, max_size=8
)


def between(one: str, other: str) -> int:
    return oracle.edges(PATHS, one, other)


def itemsets(data: Transactions, count: int) -> list[frozenset[str]]:
    found = closed_itemsets(data, count).itemsets
    return [frozenset(itemset) for itemset in found][:count]


@pytest.mark.parametrize("typical", TYPICAL)
def test_blm_of_the_running_example_is_that_of_its_slots(typical):
    slots = [slot.split() for _, columns in GROUPS for slot in columns]
    truth = oracle.slot_loss(slots, ORIGINAL.occurrences, PATHS, LEAVES)
    assert truth == pytest.approx((4 + 11 / 7) / 22)
    assert blm(publish(typical=typical), ORIGINAL, hierarchy=TREE) == pytest.approx(truth)


@pytest.mark.parametrize("typical", ["slots", "generalized"])
def test_slots_and_nodes_give_blm_without_anything_private(typical):
    release = publish(typical=typical)
    assert blm(release.without_alignment(), ORIGINAL, hierarchy=TREE) == pytest.approx(
        blm(release, ORIGINAL, hierarchy=TREE)
    )


def test_blm_is_found_again_by_matching_when_the_alignment_is_known():
    release = publish()
    assert blm(replace(release, matches=None), ORIGINAL, hierarchy=TREE) == pytest.approx(
        blm(release, ORIGINAL, hierarchy=TREE)
    )


def test_blm_without_the_alignment_is_an_estimate_that_uses_every_bag_as_often_as_it_stands():
    release = publish().without_alignment()
    near = TREE.neighbours(ORIGINAL.vocabulary, 4)
    alignment = guess_alignment(release, ORIGINAL, near)
    assert np.bincount(alignment).tolist() == release.sizes.tolist()
    assert 0 < blm(release, ORIGINAL, hierarchy=TREE) <= 1


@given(bags, st.randoms(use_true_random=False))
def test_the_estimate_is_a_share_and_0_only_when_all_is_as_it_was(rows, chance):
    original = Bags.of(rows)
    assert blm(TypicalBags.of(rows, PROMISE), original, hierarchy=TREE) == pytest.approx(0)
    alone = TypicalBags.of(rows, PROMISE).without_alignment()
    assert 0 <= blm(alone, original, hierarchy=TREE) <= 1


def test_everything_is_lost_when_all_bags_are_empty():
    release = TypicalBags.of([[]] * 5, PROMISE)
    assert measure(release, ORIGINAL, hierarchy=TREE) == {
        "blm": 1.0,
        "distortion": 1.0,
        "recall": 0.0,
        "sdist": 10.0,
        "term_counts": 0.0,
        "class_sizes": {"min": 5.0, "median": 5.0, "mean": 5.0, "max": 5.0},
    }


def test_nothing_is_lost_when_the_bags_are_the_originals():
    release = TypicalBags.of(([ORIGINAL.record(row) for row in range(3)]), PROMISE)
    original = Bags.of([ORIGINAL.record(row) for row in range(3)])
    losses = measure(release, original, hierarchy=TREE)
    assert losses["blm"] == losses["distortion"] == losses["sdist"] == 0
    assert losses["recall"] == losses["term_counts"] == 1


@given(bags, st.data(), st.integers(1, 12))
def test_recall_and_sdist_are_those_of_the_oracle(rows, data, count):
    original = Bags.of(rows)
    published = data.draw(
        st.lists(
            st.dictionaries(st.sampled_from(LEAVES), st.integers(1, 3), max_size=3),
            min_size=len(rows),
            max_size=len(rows),
        )
    )
    epsilon, omega = data.draw(st.integers(0, 6)), data.draw(st.sampled_from([6.5, 7, 10, 100]))
    release = replace(TypicalBags.of(published, PROMISE), epsilon=epsilon, omega=omega)
    here, there = itemsets(original, count), itemsets(release.records(seed=1), count)
    assert recall(release, original, count=count) == pytest.approx(oracle.recall(here, there))
    truth = oracle.sdist(here, there, between, epsilon, omega)
    assert sdist(release, original, hierarchy=TREE, count=count) == pytest.approx(truth)


@given(bags, st.data(), st.integers(1, 10))
def test_nodes_are_compared_by_the_edges_between_them_and_items(rows, data, count):
    original = Bags.of(rows)
    nodes = st.dictionaries(st.sampled_from(TREE.labels), st.integers(1, 2), max_size=3)
    published = data.draw(st.lists(nodes, min_size=len(rows), max_size=len(rows)))
    release = Generalized.of(published, TREE, PROMISE, counted=True)
    here, there = itemsets(original, count), itemsets(release.records(seed=1), count)
    assert recall(release, original, count=count) == pytest.approx(oracle.recall(here, there))
    assert sdist(release, original, count=count) == pytest.approx(
        oracle.sdist(here, there, between, 4, 10)
    )


def test_larger_itemsets_can_be_asked_for_alone():
    original = Transactions.of([["Wine", "Vino"], ["Wine", "Vino"], ["Boots"]])
    release = TypicalBags.of([["Wine"], ["Wine"], ["Boots"]], PROMISE)
    assert recall(release, original, least_size=2) == 0
    assert recall(release, original) == pytest.approx(2 / 3)


def test_a_slot_counts_as_the_item_that_it_holds_most_often():
    release = publish(typical="slots")
    terms = release.with_terms()
    assert set(terms.items) <= set(ORIGINAL.vocabulary)
    assert recall(release, ORIGINAL) == recall(terms, ORIGINAL)
    assert sdist(release, ORIGINAL, hierarchy=TREE) == sdist(terms, ORIGINAL, hierarchy=TREE)


def test_counts_of_items_are_kept_as_far_as_they_are_published():
    assert term_counts(publish(), ORIGINAL) == pytest.approx((3 + 3 + 3 + 2 + 4 + 2) / 22)
    assert term_counts(publish(typical="slots"), ORIGINAL) == pytest.approx(18 / 22)
    nodes = term_counts(publish(typical="generalized"), ORIGINAL)
    assert nodes == pytest.approx((3 + 2 + 2) / 22)


def test_distortion_is_what_is_not_published():
    for typical in TYPICAL:
        assert measure(publish(typical=typical), ORIGINAL, ["distortion"])[
            "distortion"
        ] == pytest.approx(4 / 22)


def test_without_a_tree_what_needs_one_is_left_out_or_refused():
    assert list(measure(publish(), ORIGINAL)) == [
        "distortion",
        "class_sizes",
        "recall",
        "term_counts",
    ]
    with pytest.raises(ParameterError, match="hierarchy"):
        measure(publish(), ORIGINAL, ["blm"])
    with pytest.raises(ParameterError, match="hierarchy"):
        sdist(publish(), ORIGINAL)
    assert list(measure(publish(typical="generalized"), ORIGINAL))[:2] == ["blm", "distortion"]


@pytest.mark.parametrize("name", ["blm", "distortion", "recall", "sdist", "term_counts"])
def test_another_number_of_records_is_refused(name):
    with pytest.raises(MisfitError, match="5 records"):
        measure(publish(), ORIGINAL.take([0, 1]), [name], hierarchy=TREE)


def test_an_original_with_other_items_is_refused():
    other = Bags.of([{"Boots": 9}] * 5)
    with pytest.raises(MisfitError, match="items that the original does not have"):
        measure(publish().without_alignment(), other, ["blm"], hierarchy=TREE)


def test_generalized_sets_have_these_measures_by_name_only():
    release = Partition().anonymize(ORIGINAL.sets(), PROMISE, TREE)
    assert list(measure(release, ORIGINAL.sets())) == [
        "ncp",
        "lm",
        "blm",
        "distortion",
        "are",
        "class_sizes",
    ]
    assert set(measure(release, ORIGINAL.sets(), ["recall", "sdist", "term_counts"])) == {
        "recall",
        "sdist",
        "term_counts",
    }


def test_generalized_bags_have_them_as_they_are():
    release = Partition().anonymize(ORIGINAL, PROMISE, TREE)
    losses = measure(release, ORIGINAL)
    assert {"recall", "sdist", "term_counts"} <= set(losses)
    assert losses["blm"] == losses["lm"]


def test_a_pruned_tree_is_built_again_from_the_original(tmp_path):
    tree = Hierarchy.balanced(ORIGINAL.vocabulary, fanout=2)
    release = TypicalBags.of_rows(
        Bags.of([{tree.labels[tree.root]: 2}]), PROMISE, {}, weights=np.array([5]), hierarchy=tree
    )
    write(release, tmp_path / "release")
    back = read_release(tmp_path / "release")
    assert back.hierarchy.origin.pruned
    assert measure(back, ORIGINAL, ["blm", "sdist"]) == measure(release, ORIGINAL, ["blm", "sdist"])

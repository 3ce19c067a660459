"""The running example of [Liu2010b], by the plain oracle and by the method."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.transactions import Bags
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.ssc import SSC
from setveil.promises import VocabularyKAnonymity
from tests.oracle import ssc as oracle

GROUPS = {
    "Alcohol": "Wine Vino",
    "Milk": "Raw-milk Homo-milk",
    "Clothes": "Jackets Pants",
    "Footwear": "Boots Shoes",
}
ABOVE = {"Alcohol": "Edibles", "Milk": "Edibles", "Clothes": "Wearables", "Footwear": "Wearables"}
PATHS = [
    (term, group, ABOVE[group], "Goods")
    for group, terms in GROUPS.items()
    for term in terms.split()
]
TABLE = [
    "Wine Wine Jackets Boots",
    "Vino Vino Jackets Shoes",
    "Wine Vino Raw-milk Jackets Shoes",
    "Vino Raw-milk Raw-milk Homo-milk",
    "Raw-milk Homo-milk Homo-milk Jackets Pants",
]
TERMS = [text.split() for text in TABLE]
TYPICAL = [Counter({"Wine": 1, "Vino": 1, "Jackets": 1, "Shoes": 1})] * 3 + [
    Counter({"Raw-milk": 2, "Homo-milk": 1})
] * 2

distance = oracle.tree_distance(PATHS)


def space(omega=10, model="nil"):
    return oracle.Space(distance, 4, omega, model)


def of(bag):
    """A bag as a centre of one member."""
    return [(term,) for term in bag]


def published(release):
    """The published bag of each original record."""
    classes = release.classes
    bags = [
        Counter(dict(zip(bag, counts.tolist(), strict=True)))
        for bag, counts in zip(classes, _counts(classes), strict=True)
    ]
    return [bags[number] for number in release.alignment]


def _counts(bags):
    return np.split(bags.counts, bags.indptr[1:-1])


@pytest.fixture
def example():
    return Bags.of(TERMS), Hierarchy.from_paths(PATHS)


def test_the_distances_of_the_paper():
    assert distance("Wine", "Vino") == 2
    assert distance("Wine", "Jackets") == 6
    assert oracle.raw_weight(TERMS[0], TERMS[1], distance, 4) == 6
    assert space().distance_to(of(TERMS[0]), TERMS[1]) == 6


def test_the_tree_gives_the_same_distances(example):
    data, tree = example
    near, number = tree.neighbours(data.vocabulary, 4), data.vocabulary.number
    assert near.distance(number("Wine"), number("Vino")) == 2
    assert near.distance(number("Wine"), number("Jackets")) is None


def test_t2_is_nearest_to_t1_only_when_what_is_unmatched_costs():
    first, second, third = TERMS[:3]
    assert oracle.raw_weight(first, third, distance, 4) == 4
    assert space().distance_to(of(first), third) == 14
    assert space().distance_to(of(first), second) < space().distance_to(of(first), third)


@pytest.mark.parametrize("one", range(5))
@pytest.mark.parametrize("other", range(5))
def test_for_large_omega_model_2_is_model_1_and_omega_for_each_unmatched_occurrence(one, other):
    omega, left, right = 1000, TERMS[one], TERMS[other]
    weight = oracle.raw_weight(left, right, distance, 4)
    total, centres = space(omega).matchings(of(left), right)
    unmatched = len(left) + len(right) - 2 * len(centres[0])
    assert total == weight + omega * unmatched
    assert space(omega, "maximum").distance_to(of(left), right) == total


@pytest.mark.parametrize("model", ["nil", "maximum"])
def test_the_oracle_finds_the_clusters_and_centres_of_the_paper(model):
    clusters = oracle.ssc(TERMS, 2, space(model=model))
    assert clusters == [[0, 1, 2], [3, 4]]
    first, second = (oracle.successive(TERMS, members, space(model=model)) for members in clusters)
    assert sorted(map(sorted, first)) == sorted(
        map(
            sorted,
            [
                ("Wine", "Vino", "Wine"),
                ("Wine", "Vino", "Vino"),
                ("Jackets",) * 3,
                ("Boots", "Shoes", "Shoes"),
            ],
        )
    )
    frequency = Counter(term for bag in TERMS for term in bag)
    assert oracle.majority(first, distance, frequency) == TYPICAL[0]
    assert oracle.majority(second, distance, frequency) == TYPICAL[3]


@pytest.mark.parametrize("model", ["nil", "maximum"])
def test_the_method_publishes_both_typical_bags(example, model):
    data, tree = example
    release = SSC(model=model, variant="paper").anonymize(data, VocabularyKAnonymity(k=2), tree)
    assert published(release) == TYPICAL
    assert verify(release, data, hierarchy=tree).holds


def test_in_canonical_order_the_first_bag_as_the_seed_gives_the_example_too(example):
    """In the order of the paper's table it does not: there t3 would begin the second cluster."""
    data, tree = example
    assert oracle.ssc(TERMS, 2, space(), "first") == [[0, 1, 2], [3, 4]]
    release = SSC(seed_rule="first", variant="paper").anonymize(
        data, VocabularyKAnonymity(k=2), tree
    )
    assert published(release) == TYPICAL


def test_the_slots_and_the_nodes_of_the_example(example):
    data, tree = example
    promise = VocabularyKAnonymity(k=2)
    nodes = published(SSC(typical="generalized", variant="paper").anonymize(data, promise, tree))
    assert nodes[0] == Counter({"Alcohol": 2, "Jackets": 1, "Footwear": 1})
    assert nodes[3] == Counter({"Raw-milk": 1, "Homo-milk": 1, "Milk": 1})
    slots = SSC(typical="slots", variant="paper").anonymize(data, promise, tree)
    held = [
        Counter(dict(zip(bag, counts.tolist(), strict=True)))
        for bag, counts in zip(slots.slots, _counts(slots.slots), strict=True)
    ]
    assert Counter({"Boots": 1, "Shoes": 2}) in held
    assert Counter({"Wine": 2, "Vino": 1}) in held
    assert Counter({"Raw-milk": 1, "Homo-milk": 1}) in held

"""The neighbour index of trees, against a plain search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.vocabulary import Vocabulary
from setveil.errors import InfeasibleError, ParameterError, UnknownItemError
from setveil.hierarchy import neighbours
from setveil.hierarchy.tree import Hierarchy
from tests.oracle.semantics import near, tree_distance
from tests.strategies import trees

GOODS = Hierarchy.from_paths(
    [
        *((drink, "Alcohol", "Edibles", "Goods") for drink in ("Wine", "Vino")),
        *((milk, "Milk", "Edibles", "Goods") for milk in ("Raw-milk", "Homo-milk")),
        *((piece, "Clothes", "Wearables", "Goods") for piece in ("Jackets", "Pants")),
        *((shoe, "Footwear", "Wearables", "Goods") for shoe in ("Boots", "Shoes")),
    ]
)
"""The running example of [Liu2010b]."""


def test_the_running_example_of_the_paper_has_its_distances():
    words = Vocabulary(["Jackets", "Vino", "Wine", "Raw-milk"])
    index = GOODS.neighbours(words, 6)
    assert index.distance(2, 1) == 2
    assert index.distance(2, 3) == 4
    assert index.distance(2, 0) == 6
    assert GOODS.neighbours(words, 4).distance(2, 0) is None


@given(trees(), st.integers(0, 9), st.randoms(use_true_random=False))
def test_the_neighbours_in_a_tree_are_those_of_a_plain_search(tree, epsilon, random):
    labels = list(tree.labels[: tree.leaf_count])
    random.shuffle(labels)
    words = Vocabulary(labels[: random.randint(0, len(labels))])
    parent = {
        tree.labels[node]: tree.labels[upper]
        for node, upper in enumerate(tree.parent.tolist())
        if upper >= 0
    }
    found = tree.neighbours(words, epsilon)
    distances = [
        [0 if one == other else tree_distance(parent, one, other) for other in words]
        for one in words
    ]
    assert [found.row(item) for item in range(len(words))] == near(distances, epsilon)


@given(trees(), st.integers(0, 6))
def test_small_blocks_give_the_same(tree, epsilon):
    words = Vocabulary(tree.labels[: tree.leaf_count])
    whole = neighbours.tree_neighbours(tree, words, epsilon)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_BLOCK", 3)
        parts = neighbours.tree_neighbours(tree, words, epsilon)
    for name in ("indptr", "items", "distances"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))
    assert (parts.indptr.dtype, parts.items.dtype, parts.distances.dtype) == (
        np.int64,
        np.int32,
        np.int32,
    )


def test_any_epsilon_is_understood():
    words = Vocabulary(GOODS.labels[: GOODS.leaf_count])
    far = GOODS.neighbours(words, 10**15)
    assert far.epsilon == 10**15
    assert np.array_equal(far.distances, GOODS.neighbours(words, 6).distances)
    assert len(far.items) == len(words) ** 2


def test_an_index_is_made_once():
    words = Vocabulary(GOODS.labels[: GOODS.leaf_count])
    assert GOODS.neighbours(words, 3) is GOODS.neighbours(Vocabulary(words.labels), 3)
    assert GOODS.neighbours(words, 3) is not GOODS.neighbours(words, 2)


def test_only_the_last_few_indexes_are_kept():
    words = Vocabulary(GOODS.labels[: GOODS.leaf_count])
    first = GOODS.neighbours(words, 0)
    for epsilon in range(1, 9):
        GOODS.neighbours(words, epsilon)
    assert GOODS.neighbours(words, 0) is not first


@pytest.mark.parametrize("epsilon", [-1, 1.5, "4", True, None])
def test_a_bad_number_of_steps_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon = "):
        GOODS.neighbours(Vocabulary(["Wine"]), epsilon)


def test_an_item_without_a_leaf_is_named():
    with pytest.raises(UnknownItemError, match="'Gin'"):
        GOODS.neighbours(Vocabulary(["Wine", "Gin"]), 4)


def test_without_items_there_are_no_neighbours():
    assert len(GOODS.neighbours(Vocabulary([]), 4)) == 0


def test_more_pairs_than_can_be_held_are_refused(monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_PAIRS", 10)
    with pytest.raises(InfeasibleError, match="choose a smaller epsilon"):
        neighbours.tree_neighbours(GOODS, Vocabulary(GOODS.labels[: GOODS.leaf_count]), 6)


def test_an_index_shows_its_size():
    assert (
        repr(GOODS.neighbours(Vocabulary(["Wine", "Vino"]), 2))
        == "Neighbours(2 items, 4 pairs, epsilon 2)"
    )

"""The tree type: intervals, paths, pruning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.vocabulary import Vocabulary
from setveil.errors import HierarchyError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy, Origin
from tests.strategies import trees

SHOP = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]


def leaves_below(tree: Hierarchy, node: int) -> set[int]:
    """By walking up from every leaf."""
    found = set()
    for leaf in range(tree.leaf_count):
        above = leaf
        while above >= 0:
            if above == node:
                found.add(leaf)
            above = int(tree.parent[above])
    return found


@given(trees())
def test_every_node_covers_one_interval_of_leaves(tree: Hierarchy) -> None:
    for node in range(len(tree)):
        assert set(range(tree.first[node], tree.stop[node])) == leaves_below(tree, node)


@given(trees())
def test_leaves_come_first_and_parents_before_children(tree: Hierarchy) -> None:
    has_children = set(tree.parent.tolist()) - {-1}
    assert has_children == set(range(tree.leaf_count, len(tree)))
    inner = range(tree.leaf_count, len(tree))
    assert all(tree.parent[node] < node for node in inner)
    assert tree.parent[tree.root] == -1
    assert (tree.parent == -1).sum() == 1


@given(trees())
def test_depth_and_ancestors_agree_with_the_parents(tree: Hierarchy) -> None:
    for leaf in range(tree.leaf_count):
        path = [tree.nodes.number(label) for label in tree.path(tree.labels[leaf])]
        assert tree.depth[leaf] == len(path) - 1
        assert [node for node in tree.ancestors[leaf].tolist() if node >= 0] == path[::-1]


@given(trees())
def test_the_tree_of_its_paths_is_the_same_tree(tree: Hierarchy) -> None:
    assert Hierarchy.from_paths(tree.paths()) == tree
    assert list(tree.paths()) == [tree.path(label) for label in tree.labels[: tree.leaf_count]]


@given(trees())
def test_children_are_in_the_order_of_the_tree(tree: Hierarchy) -> None:
    for node in range(tree.leaf_count, len(tree)):
        children = tree.children(node).tolist()
        assert sorted(children) == sorted(np.flatnonzero(tree.parent == node).tolist())
        assert [tree.first[child] for child in children] == sorted(
            tree.first[child] for child in children
        )


@given(trees(), st.data())
def test_pruning_keeps_exactly_the_nodes_and_what_is_above_them(
    tree: Hierarchy, data: st.DataObject
) -> None:
    nodes = data.draw(st.sets(st.integers(0, len(tree) - 1)))
    expected = {label for node in nodes for label in tree.path(tree.labels[node])} | {
        tree.labels[tree.root]
    }
    pruned = tree.pruned(nodes)
    assert set(pruned.labels) == expected
    assert all(pruned.path(label) == tree.path(label) for label in expected)
    assert pruned.origin.pruned


def test_the_arrays_are_read_only() -> None:
    tree = Hierarchy.from_paths(SHOP)
    with pytest.raises(ValueError, match="read-only"):
        tree.parent[0] = 1


def test_a_single_leaf_is_its_own_root() -> None:
    tree = Hierarchy.from_paths([("milk",)])
    assert (tree.root, tree.leaf_count, tree.height, list(tree.paths())) == (0, 1, 0, [("milk",)])


def test_leaf_numbers_name_the_items_without_a_leaf() -> None:
    tree = Hierarchy.from_paths(SHOP)
    assert tree.leaf_numbers(Vocabulary(["wine", "milk"])).tolist() == [1, 2]
    with pytest.raises(
        UnknownItemError, match=r"the hierarchy has no leaf for 'Alcohol', 'tea'$"
    ) as caught:
        tree.leaf_numbers(Vocabulary(["Alcohol", "beer", "tea"]))
    assert caught.value.items == ("Alcohol", "tea")


def test_leaf_numbers_of_the_leaves_themselves_are_their_own() -> None:
    tree = Hierarchy.from_paths(SHOP)
    assert tree.leaf_numbers(Vocabulary(tree.labels[:3])).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("labels", "parents", "message"),
    [
        (["a", "b"], [-1, -1], "there must be one root, not 2"),
        ([], [], "there must be one root, not 0"),
        (["r", "a", "b"], [-1, 2, 1], "a cycle"),
        (["r", "a", "a"], [-1, 0, 0], "two nodes have the label 'a'"),
    ],
)
def test_parents_that_are_not_a_tree_are_refused(
    labels: list[str], parents: list[int], message: str
) -> None:
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_parents(labels, parents)


def test_a_very_deep_tree_is_no_problem() -> None:
    depth = 3_000
    tree = Hierarchy.from_parents(
        [f"n{number}" for number in range(depth)], [-1, *range(depth - 1)]
    )
    assert (tree.height, tree.leaf_count) == (depth - 1, 1)


def test_only_a_given_tree_is_public() -> None:
    assert Origin().is_public
    assert not Origin("balanced", {"fanout": 5}).is_public

"""Trees from lists, arrays, mappings, tables and data; trees as objects; and clear refusals."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, HierarchyError, ParameterError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.wordnet.network import WordNet
from tests.wndb import write_tiny

PATHS = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
FILLED = [path if len(path) == 3 else (*path, None) for path in PATHS]
SHOP = Hierarchy.from_paths(PATHS)
EDGES = [("beer", "Alcohol"), ("wine", "Alcohol"), ("Alcohol", "ALL"), ("milk", "ALL")]


@pytest.mark.parametrize(
    "paths",
    [
        [list(path) for path in PATHS],
        (iter(path) for path in PATHS),
        pd.DataFrame(FILLED),
        pd.DataFrame(FILLED).to_numpy(),
        pd.DataFrame(FILLED).values.tolist(),
        pl.DataFrame(
            [["beer", "wine", "milk"], ["Alcohol", "Alcohol", "ALL"], ["ALL", "ALL", None]],
            schema=["leaf", "group", "root"],
        ),
        [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL", float("nan"))],
    ],
    ids=lambda paths: type(paths).__name__,
)
def test_paths_come_in_many_shapes(paths):
    assert Hierarchy.from_paths(paths) == SHOP


@pytest.mark.parametrize(
    "edges",
    [
        dict(EDGES),
        dict(EDGES).items(),
        pd.DataFrame(EDGES, columns=["child", "parent"]),
        np.array(EDGES),
        [*EDGES, ("ALL", None)],
        pd.DataFrame([*EDGES, ("ALL", None)]),
    ],
    ids=lambda edges: type(edges).__name__,
)
def test_edges_come_in_many_shapes(edges):
    assert Hierarchy.from_edges(edges) == Hierarchy.from_edges(EDGES)


def test_labels_become_text_as_items_do():
    data = Transactions.of([[1, 2], [3]])
    for tree in (
        Hierarchy.from_paths([(1, 10, 100), (2, 10, 100), (3, 100)]),
        Hierarchy.from_edges([(1, 10), (2, 10), (10, 100), (3, 100)]),
        Hierarchy.from_parents([1, 2, 3, 10, 100], np.array([3, 3, 4, 4, -1])),
    ):
        assert sorted(tree.leaf_numbers(data).tolist()) == [0, 1, 2]
        assert tree.path(2) == ("2", "10", "100")


@pytest.mark.parametrize(
    "paths", [None, 5, "beer", {"beer": ("Alcohol", "ALL")}, ["beer"], [5]], ids=repr
)
def test_bad_paths_are_refused(paths):
    with pytest.raises(ParameterError, match=r"it must hold paths \(leaf, parent, \.\.\., root\)"):
        Hierarchy.from_paths(paths)


@pytest.mark.parametrize(
    ("edges", "problem"),
    [
        (None, "it must hold pairs"),
        (["ab", "cb"], "it must hold pairs"),
        ([1, 2], "it must hold pairs"),
        ([("a", "b", "c")], "each must be a pair"),
        (PATHS, "each must be a pair"),
    ],
    ids=repr,
)
def test_bad_edges_are_refused(edges, problem):
    with pytest.raises(ParameterError, match=problem):
        Hierarchy.from_edges(edges)


@pytest.mark.parametrize(
    ("labels", "parents", "problem"),
    [
        (["a", "b", "r"], [2, -1], "each label needs the number of its parent"),
        (["a", "r"], [5, -1], "there is no parent 5: nodes are numbered from 0 to 1"),
        (["a", "r"], [1, -2], "there is no parent -2"),
        (["a", "r"], ["r", None], "each label needs the number of its parent"),
        (["a", "r"], [1.0, -1.0], "each label needs the number of its parent"),
        (["a", "a"], [1, -1], "two nodes have the label 'a'"),
    ],
)
def test_bad_parents_are_refused(labels, parents, problem):
    with pytest.raises(HierarchyError, match=problem):
        Hierarchy.from_parents(labels, parents)


def test_trees_are_built_over_data_and_lists():
    data = Transactions.of([["A00.1", "B2"], ["A00"]])
    items = ["B2", "A00", "A00.1", "B2", None]
    for build in (Hierarchy.balanced, Hierarchy.prefix):
        expected = build(data.vocabulary)
        assert (
            build(data)
            == build(items)
            == build(np.array(["B2", "A00", "A00.1"]))
            == build(pd.Series(items))
            == expected
        )
        assert build(Bags.of([["A00.1", "B2"], ["A00"]])) == expected
    assert Hierarchy.balanced([3, 1, 20], 2) == Hierarchy.balanced(Vocabulary(["1", "3", "20"]), 2)
    assert Hierarchy.balanced(range(9), np.int64(3)).height == 2


@pytest.mark.parametrize(
    "items",
    [None, 5, "abc", pd.DataFrame({"item": ["a"]}), pl.DataFrame({"item": ["a"]})],
    ids=repr,
)
def test_bad_items_are_refused(items):
    for use in (
        Hierarchy.balanced,
        Hierarchy.prefix,
        SHOP.leaf_numbers,
        lambda items: SHOP.neighbours(items, 2),
    ):
        with pytest.raises(
            ParameterError, match="it must be a vocabulary, data that has one, or a list of items"
        ):
            use(items)


def test_records_are_not_items():
    with pytest.raises(DataError, match="an item must be a single value, not the list"):
        Hierarchy.balanced([["a", "b"], ["c"]])


@pytest.mark.parametrize("lengths", [3, [], [2, 1], [1.5], ["1"], [0, 1]], ids=repr)
def test_lengths_of_prefixes_are_ascending_whole_numbers(lengths):
    with pytest.raises(ParameterError, match="they must be ascending whole numbers from 1 on"):
        Hierarchy.prefix(["A10BA02"], lengths)


def test_lengths_of_numpy_are_written_as_plain_numbers():
    tree = Hierarchy.prefix(["A10BA02"], np.array([1, 3]))
    assert json.loads(json.dumps(dict(tree.origin.parameters)))["lengths"] == [1, 3]


def test_a_tree_knows_its_labels():
    assert "Alcohol" in SHOP
    assert "vodka" not in SHOP
    assert SHOP.leaf_numbers(["wine", "beer"]).tolist() == [1, 0]
    with pytest.raises(UnknownItemError, match="the hierarchy has no leaf for 'vodka'"):
        SHOP.leaf_numbers(["vodka"])
    assert [SHOP.labels[node] for node in SHOP.children("Alcohol")] == ["beer", "wine"]
    assert SHOP.children(SHOP.root).tolist() == SHOP.children("ALL").tolist()
    for ask in (SHOP.children, lambda node: SHOP.pruned([node])):
        with pytest.raises(ParameterError, match="the nodes of this tree are 0 to 4"):
            ask(5)
    with pytest.raises(ParameterError, match="the nodes of this tree are 0 to 4"):
        SHOP.pruned([2**40])


def test_a_tree_comes_whole_and_read_only_out_of_another_process():
    for twin in (pickle.loads(pickle.dumps(SHOP)), copy.copy(SHOP), copy.deepcopy(SHOP)):
        assert twin == SHOP
        assert twin.origin == SHOP.origin
        assert not any(
            array.flags.writeable for array in (twin.parent, twin.depth, twin.first, twin.stop)
        )
        assert twin.path("wine") == SHOP.path("wine")


def test_neighbours_are_not_sent_along():
    tree = Hierarchy.balanced(range(300), 300)
    before = len(pickle.dumps(tree))
    assert len(tree.neighbours(range(300), 2).items) == 90_000
    assert len(pickle.dumps(tree)) == before


def test_a_tree_of_wordnet_is_sent_without_wordnet(tmp_path):
    net = WordNet.read(write_tiny(tmp_path))
    words = [word for word in sorted(net.lemmas) if "_" not in word][:4]
    tree = net.tree(words)
    assert len(pickle.dumps(tree)) < 5_000
    twin = pickle.loads(pickle.dumps(tree))
    assert twin == tree
    assert type(twin) is type(tree)
    assert twin.neighbours(words, 3).row(0) == tree.neighbours(words, 3).row(0)


def test_several_threads_may_ask_for_neighbours_at_once():
    tree = Hierarchy.balanced(range(200), 3)
    asked = [epsilon % 9 for epsilon in range(60)]
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda epsilon: len(tree.neighbours(range(200), epsilon).items), asked)
        )
    alone = {
        epsilon: len(Hierarchy.balanced(range(200), 3).neighbours(range(200), epsilon).items)
        for epsilon in range(9)
    }
    assert found == [alone[epsilon] for epsilon in asked]

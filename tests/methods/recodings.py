"""What the tests of global recoding share."""

from __future__ import annotations

from hypothesis import strategies as st

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from tests.oracle import partition as oracle
from tests.strategies import data_with_tree


def plain_tree(tree: Hierarchy) -> oracle.Tree:
    """The same tree for the oracle; siblings in the same order."""
    order = sorted(range(len(tree)), key=lambda node: (tree.first[node], tree.depth[node]))
    return oracle.Tree(
        {
            tree.labels[node]: tree.labels[tree.parent[node]]
            for node in order
            if tree.parent[node] >= 0
        }
    )


def records_of(data: Transactions) -> list[set[str]]:
    return [set(record) for record in data]


def published(release) -> list[frozenset[str]]:
    return [frozenset(record) for record in release.classes.take(release.alignment)]


def penalty(data: Transactions, release, tree: oracle.Tree) -> int:
    """NCP times the leaves and the occurrences."""
    return int(
        oracle.ncp(records_of(data), published(release), tree) * len(tree.leaves) * data.occurrences
    )


def small(**options):
    """Records with a tree, and k and m."""
    given = {"min_records": 4, "max_records": 10, "max_leaves": 7, "chains": False, **options}
    return st.tuples(data_with_tree(**given), st.integers(2, 3), st.integers(1, 4)).filter(
        lambda case: len(case[0][1]) > 1
    )

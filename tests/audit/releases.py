"""Valid random releases, made by a plain method of our own, and what is needed to break them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from setveil.data.transactions import Bags, Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.promises import KAnonymity
from setveil.published.generalized import Generalized
from tests.oracle.containment import Bag, Parents, path
from tests.strategies import data_with_tree


def parents_of(tree: Hierarchy) -> Parents:
    """The tree for the oracles."""
    return {
        tree.labels[node]: tree.labels[parent]
        for node, parent in enumerate(tree.parent.tolist())
        if parent >= 0
    }


def bags_of(data: Transactions) -> list[Bag]:
    """The records for the oracles."""
    counts = data.counts.tolist() if isinstance(data, Bags) else [1] * len(data.items)
    bounds = data.indptr.tolist()
    return [
        dict(zip(record, counts[start:stop], strict=True))
        for record, start, stop in zip(data, bounds, bounds[1:], strict=False)
    ]


def published_of(release: Generalized) -> list[Bag]:
    """All published records for the oracles, class by class."""
    return [
        record
        for record, size in zip(bags_of(release.classes), release.sizes.tolist(), strict=True)
        for _ in range(size)
    ]


def pairs_of(
    release: Generalized, original: Transactions, alignment: np.ndarray
) -> list[tuple[Bag, Bag]]:
    """Each original record with the published one that represents it."""
    classes = bags_of(release.classes)
    return [
        (record, classes[number])
        for record, number in zip(bags_of(original), alignment.tolist(), strict=True)
    ]


@st.composite
def releases(
    draw: st.DrawFn, *, multiset: bool = False, max_records: int = 8
) -> tuple[Generalized, Transactions]:
    """A 2-anonymous release with its original and alignment; groups and their nodes are random."""
    data, tree = draw(data_with_tree(multiset=multiset, max_records=max_records, max_leaves=6))
    parents, records = parents_of(tree), bags_of(data)
    numbers = draw(st.permutations(range(len(records))))
    published: list[Bag] = [{}] * len(records)
    for start in range(0, len(numbers) - 1, 2):
        group = (
            list(numbers[start:]) if start + 3 >= len(numbers) else list(numbers[start : start + 2])
        )
        image = _image(draw, [records[number] for number in group], parents, tree.labels[tree.root])
        for number in group:
            published[number] = image
    release = Generalized.of(published, tree, KAnonymity(k=2), counted=multiset)
    return release, data


def _image(draw: st.DrawFn, group: Sequence[Bag], parents: Parents, root: str) -> Bag:
    """Nodes that all records of a group share, expanded at random; empty if one is empty."""
    if not all(group):
        return {}
    nodes = {root}
    while draw(st.booleans()):
        node = draw(st.sampled_from(sorted(nodes)))
        below = [
            {_under(item, node, parents) for item in record if node in path(item, parents)}
            for record in group
        ]
        if any(one != below[0] for one in below) or node in below[0]:
            continue
        nodes = (nodes - {node}) | below[0]
    return {
        node: min(
            sum(count for item, count in record.items() if node in path(item, parents))
            for record in group
        )
        for node in nodes
    }


def _under(item: str, node: str, parents: Parents) -> str:
    """The child of a node that is over an item; the node itself when it is the item."""
    labels = path(item, parents)
    return labels[max(labels.index(node) - 1, 0)]

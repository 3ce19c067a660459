"""Distances in meaning as whole numbers, for kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.tree import Hierarchy
from setveil.published.release import Release

EPSILON, OMEGA = 4, 10  # the numbers of [Liu2010b], for releases without their own
SCALE = 1000  # omega may be a fraction: distances are counted in thousandths


@dataclass(frozen=True)
class Meaning:
    """Which items are close in meaning, and what one without a partner costs."""

    epsilon: int
    omega: float

    @classmethod
    def of(cls, release: Release) -> Meaning:
        """The numbers of a release, or those of the paper if it has none."""
        facts: dict[str, Any] = {"epsilon": EPSILON, "omega": OMEGA} | release.facts
        return cls(facts["epsilon"], facts["omega"])

    @property
    def nil(self) -> int:
        """Omega, scaled."""
        return round(SCALE * self.omega)

    def table(
        self, items: Vocabulary, published: Vocabulary, tree: Hierarchy, network: Hierarchy
    ) -> Int64s:
        """The scaled distance of each item to each published label; -1 if it is more than epsilon.

        `published` are original items or nodes of the tree; `network` gives the distances of items.
        """
        table = np.full((len(items), len(published)), -1, dtype=np.int64)
        leaves = tree.leaf_numbers(items).astype(np.int64)
        nodes = tree.nodes.encode(published.labels).astype(np.int64)
        inner = np.flatnonzero(nodes >= tree.leaf_count)
        if len(inner):
            table[:, inner] = _edges(tree, leaves, nodes[inner])
        outer = np.flatnonzero(nodes < tree.leaf_count)
        shown = [published[number] for number in outer.tolist()]
        together = Vocabulary.of([*items, *shown])
        near = network.neighbours(together, self.epsilon)
        all_pairs = np.full((len(together), len(together)), -1, dtype=np.int64)
        owners = np.repeat(np.arange(len(together)), np.diff(near.indptr))
        all_pairs[owners, near.items] = near.distances
        table[:, outer] = all_pairs[np.ix_(together.encode(items.labels), together.encode(shown))]
        return np.where((table < 0) | (table > self.epsilon), -1, table * SCALE)


def _edges(tree: Hierarchy, leaves: Int64s, nodes: Int64s) -> Int64s:
    """The number of edges between each leaf and each node."""
    paths, others = tree.ancestors[leaves], tree.ancestors[tree.first[nodes]]
    shared = np.zeros((len(leaves), len(nodes)), dtype=np.int64)
    for depth in range(1, tree.height + 1):
        shared += (paths[:, None, depth] == others[None, :, depth]) & (paths[:, None, depth] >= 0)
    shared = np.minimum(shared, tree.depth[nodes][None, :])
    return tree.depth[leaves][:, None] + tree.depth[nodes][None, :] - 2 * shared

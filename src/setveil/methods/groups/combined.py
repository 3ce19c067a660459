"""The cut of a tree of groups that loses least if errors of its groups may cancel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Floats, Int32s, Int64s, offsets
from setveil.methods.groups.tree import best_cut

ROUNDS = 30
"""So many times the errors that are left are weighed anew."""
FEW = 300
"""If a tree has no more cuts than these, each is tried."""
_EQUAL = 1e-12


class Errors(NamedTuple):
    """The error of each node of a tree about each of `many` pairs of items, where it has one."""

    bounds: Int64s
    """Where those of each node begin, and the end."""
    pairs: Int32s
    errors: Floats
    many: int

    @classmethod
    def of(cls, nodes: Sequence[tuple[Int32s, Floats]], many: int) -> Errors:
        """From the pairs and the errors of each node."""
        pairs = np.concatenate([found for found, _ in nodes])
        errors = np.concatenate([found for _, found in nodes])
        return cls(offsets([len(found) for found, _ in nodes]), pairs, errors, many)

    def total(self, nodes: Sequence[int]) -> Floats:
        """The error of some nodes together about each pair."""
        from setveil.kernels.groups import add_errors

        found = np.zeros(self.many)
        add_errors(*self[:3], np.array(nodes, dtype=np.int64), found)
        return found

    def joint(self, nodes: Sequence[int]) -> float:
        """The mean over all pairs of the size of the error of some nodes together."""
        return float(np.abs(self.total(nodes)).sum()) / max(self.many, 1)

    def weighed(self, weights: Floats) -> Floats:
        """For each node the mean over all pairs of its error times the weight of the pair."""
        from setveil.kernels.groups import weigh_errors

        found: Floats = weigh_errors(*self[:3], weights) / max(self.many, 1)
        return found

    @property
    def alone(self) -> Floats:
        """For each node the mean over all pairs of its error, without a sign."""
        return self._replace(errors=np.abs(self.errors)).weighed(np.ones(self.many))


def combined_cut(parent: Sequence[int], own: Floats, errors: Errors, share: float) -> list[int]:
    """The nodes, one on every path from the root to a leaf, for which the sum of their `own` losses
    and `share` times the mean size of their joint errors is least, as far as was found.

    Joint errors do not add up over groups, so that no pass over the tree finds the best cut. But
    for given weights of the pairs, from -1 to 1, weighed errors do add up, and their sum is at most
    the joint error. So weights follow the errors that the last cut has left; of all cuts that were
    best for some weights the best one is taken. The first is that of errors that never cancel. In
    a tree with few cuts all of them are tried."""

    def loss(cut: Sequence[int]) -> float:
        return float(own[cut].sum() + share * errors.joint(cut))

    if not errors.many or share == 0:
        return best_cut(parent, own)
    if _count(parent) <= FEW:
        return min(_cuts(parent, 0), key=lambda cut: (round(loss(cut) / _EQUAL), len(cut), cut))
    cut = best_cut(parent, own + share * errors.alone)
    best, least = cut, loss(cut)
    weights, scale = np.zeros(errors.many), errors.joint(cut) or 1.0
    for number in range(ROUNDS):
        step = errors.total(cut) / scale / np.sqrt(1.0 + number)
        weights = np.clip(weights + step, -1.0, 1.0)
        cut = best_cut(parent, own + share * errors.weighed(weights))
        found = loss(cut)
        if found < least * (1 - _EQUAL):
            best, least = cut, found
    return best


def _count(parent: Sequence[int]) -> int:
    """How many cuts a tree has; more than `FEW` are not told apart."""
    below = [0] * len(parent)
    for node in range(len(parent) - 1, -1, -1):
        below[node] = min(below[node] + 1, FEW + 1)
        above = parent[node]
        if above >= 0:
            below[above] = min(max(below[above], 1) * below[node], FEW + 1)
    return below[0]


def _cuts(parent: Sequence[int], node: int) -> Iterator[list[int]]:
    """All cuts below a node."""
    yield [node]
    children = [child for child, above in enumerate(parent) if above == node]
    for parts in product(*(list(_cuts(parent, child)) for child in children)) if children else ():
        yield sorted(each for part in parts for each in part)

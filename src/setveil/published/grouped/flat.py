"""The sets of all groups as one release of sets, to count in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s, offsets
from setveil.published.disassociated.canonical import together
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.release import RecordRelease, Release
from setveil.published.rows import coverage, stacked


def flat_release(groups: Sequence[Release], rows: Sequence[Int64s] | None) -> Release:
    """The sets of all groups as one release; `Hidden` says what it may not claim. `rows` has the
    original rows of each group, if they are known."""
    if isinstance(groups[0], Disassociated):
        return together([each for each in groups if isinstance(each, Disassociated)], rows)
    some: Any = groups
    sizes = np.concatenate([each.sizes for each in some])
    classes = stacked([each.classes for each in some])
    alignment = None
    if rows is not None:
        starts = offsets([len(each.classes) for each in some])
        alignment = np.empty(sum(map(len, rows)), dtype=np.int64)
        for each, here, start in zip(some, rows, starts.tolist(), strict=False):
            alignment[here] = each.alignment + start
    made: RecordRelease = replace(some[0], classes=classes, sizes=sizes, alignment=alignment)
    return made


@dataclass(frozen=True)
class Hidden:
    """Which records may have an item that they do not show, since their group left it out.

    A release of sets leaves an item out everywhere or nowhere; groups decide on their own."""

    groups: tuple[RecordRelease, ...]
    flat: RecordRelease

    @cached_property
    def home(self) -> Int64s:
        """The group of each distinct record."""
        return np.repeat(np.arange(len(self.groups)), [len(each.classes) for each in self.groups])

    def holders(self, label: str) -> tuple[Int64s, Int64s, Floats]:
        """As in `RecordRelease`, with the bounds of each group."""
        least, most, chance = self._held(label)
        return least, np.where(self._left_out(label)[self.home], self.flat.sizes, most), chance

    def _held(self, label: str) -> tuple[Int64s, Int64s, Floats]:
        flat = self.flat
        if not isinstance(flat, Generalized) or label not in flat.items:
            return flat._holders(label)
        tree, classes, sizes = flat.hierarchy, flat.classes, flat.sizes
        within, above, chance = coverage(tree, classes.items, tree.nodes.number(label))
        missing = np.ones(len(classes))
        np.multiply.at(missing, classes.rows, 1.0 - chance)
        least, most = (
            np.where(np.bincount(classes.rows[each], minlength=len(classes)) > 0, sizes, 0)
            for each in (within, within | above)
        )
        return least, most, 1.0 - missing

    def _left_out(self, label: str) -> Flags:
        """The groups whose records may have an item that none of them shows."""
        number = self.flat.items.numbers.get(label)
        if number is None:
            return np.zeros(len(self.groups), dtype=bool)
        return ~self._covered[:, number]

    @cached_property
    def _covered(self) -> Flags:
        """Whether each group publishes whatever of each label its people have."""
        flat, covered = self.flat, np.zeros((len(self.groups), len(self.flat.items)), dtype=bool)
        covered[self.home[flat.classes.rows], flat.classes.items] = True
        if not isinstance(flat, Generalized):
            return covered
        tree = flat.hierarchy
        for node in np.argsort(tree.depth, kind="stable").tolist():
            if tree.parent[node] >= 0:
                covered[:, node] |= covered[:, tree.parent[node]]
        return covered if tree.origin.pruned else _with_whole(covered, flat)


def _with_whole(covered: Flags, flat: Generalized) -> Flags:
    """Of a whole tree, also the nodes whose leaves are all covered."""
    tree = flat.hierarchy
    for node in np.argsort(-tree.depth, kind="stable").tolist():
        below = tree.children(node)
        if len(below) and not (node == tree.root and tree.origin.parameters.get("unknown")):
            covered[:, node] |= covered[:, below].all(axis=1)
    return covered

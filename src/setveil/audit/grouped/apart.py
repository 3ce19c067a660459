"""The sets of all groups as one release, in which the same item of two groups is two items: so no
set of items goes beyond a group, and the checks of sets judge all groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from setveil.data.arrays import Int64s, offsets
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.published.grouped.form import Grouped
from setveil.published.release import RecordRelease, Release


@dataclass(frozen=True)
class Apart:
    """Groups with names, each with its sets."""

    names: Sequence[str]
    """The cells of each group, in words, which end in its number; empty if items keep their own
    names, so that the same item of two groups is one."""
    homes: Int64s
    """Which of these each group of the release is."""
    release: Grouped

    @cached_property
    def joined(self) -> Release:
        """The sets of all groups, with items of their own in each."""
        some: Any = self.release.groups
        made: Release
        if hasattr(some[0], "classes"):
            rows = self._labelled([each.classes for each in some])
            sizes = np.concatenate([each.sizes for each in some])
            made = replace(some[0], classes=rows, sizes=sizes, alignment=self.aligned)
            return made
        nodes = offsets([len(each.parent) for each in some])
        chunks = offsets([len(each.chunk_node) for each in some])
        tables = [table for each in some for table in (each.subrecords, each.terms)]
        both, lengths = self._labelled(tables, 2), [len(table) for table in tables]
        owners = np.repeat(np.arange(len(tables)) % 2, lengths)
        made = replace(
            some[0],
            parent=_moved([each.parent for each in some], nodes),
            sizes=np.concatenate([each.sizes for each in some]),
            chunk_node=_moved([each.chunk_node for each in some], nodes),
            subrecords=both.take(np.flatnonzero(owners == 0)),
            subrecord_chunk=_moved([each.subrecord_chunk for each in some], chunks),
            subrecord_counts=np.concatenate([each.subrecord_counts for each in some]),
            terms=both.take(np.flatnonzero(owners == 1)),
            alignment=self.aligned,
        )
        return made

    def original(self, data: Transactions) -> Transactions:
        """The original with the items of `joined`, each row in the group of the alignment; without
        the items of a group that publishes none of that name, which get new ones."""
        assert self.release.alignment is not None
        homes = self.homes[self.release.alignment]
        labels = _texts(data.vocabulary.labels, self.names)
        codes = homes[data.rows] * len(data.vocabulary) + data.items
        used, items = np.unique(codes, return_inverse=True)
        group, item = np.divmod(used, max(len(data.vocabulary), 1))
        words = [labels(*pair) for pair in zip(group.tolist(), item.tolist(), strict=True)]
        return Transactions(data.indptr, items.astype(np.int32), Vocabulary(words))

    @cached_property
    def aligned(self) -> Int64s | None:
        """The record or cluster of `joined` of each row of the original."""
        release = self.release
        rows = "classes" if isinstance(release.groups[0], RecordRelease) else "parent"
        if release.alignment is None or any(each.alignment is None for each in release.groups):
            return None
        starts = offsets([len(getattr(each, rows)) for each in release.groups])
        found = np.full(len(release.alignment), -1, dtype=np.int64)
        for number, each in enumerate(release.groups):
            here = np.flatnonzero(release.alignment == number)
            inside = each.alignment
            if inside is None or len(inside) != len(here):
                return None
            found[here] = inside + starts[number]
        return found

    def _labelled(self, tables: Sequence[Transactions], each: int = 1) -> Transactions:
        """The rows of all tables, `each` of a group one after the other, over the items of their
        groups."""
        words = tables[0].vocabulary
        if not self.names and all(table.vocabulary == words for table in tables):
            lengths = np.concatenate([table.lengths for table in tables])
            items = np.concatenate([table.items for table in tables])
            return Transactions(offsets(lengths), items, words)
        homes = np.repeat(self.homes if self.names else 0 * self.homes, each)
        numbers = dict[str, int]()
        for table in tables:
            for label in table.vocabulary:
                numbers.setdefault(label, len(numbers))
        known = tuple(numbers)
        codes = [
            home * len(known)
            + np.array([numbers[each] for each in table.vocabulary], dtype=np.int64)[table.items]
            for home, table in zip(homes.tolist(), tables, strict=True)
        ]
        used, entries = np.unique(np.concatenate(codes), return_inverse=True)
        group, item = np.divmod(used, max(len(known), 1))
        text = _texts(known, self.names)
        labels = [text(*pair) for pair in zip(group.tolist(), item.tolist(), strict=True)]
        lengths = np.concatenate([table.lengths for table in tables])
        owners = np.repeat(np.arange(len(lengths)), lengths)
        return Transactions.from_pairs(
            owners, entries.astype(np.int32), Vocabulary(labels), size=len(lengths)
        )


def _texts(items: Sequence[str], names: Sequence[str]) -> Any:
    """The name of an item in a group."""
    if not names:
        return lambda group, item: items[item]
    return lambda group, item: f"{items[item]} ({names[group]})"


def _moved(numbers: Sequence[Int64s], shifts: Int64s) -> Int64s:
    """Numbers within each group, moved on by what comes before it; -1 stays."""
    pairs = zip(numbers, shifts.tolist(), strict=False)
    return np.concatenate([np.where(each >= 0, each + shift, -1) for each, shift in pairs])

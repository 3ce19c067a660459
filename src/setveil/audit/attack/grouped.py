"""What an adversary sees of groups of people, who may also know the columns of a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from setveil.alignment.align import over_whole_tree
from setveil.alignment.columns import table_of
from setveil.audit.attack.clusterview import Clusters, view_disassociated
from setveil.audit.attack.draws import Items
from setveil.audit.attack.outcome import View
from setveil.audit.attack.rowview import Rows, meaning_of
from setveil.audit.grouped.apart import Apart
from setveil.audit.grouped.cells import covered_values
from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.published.grouped.form import Grouped


def view_grouped(release: Grouped, original: Transactions) -> View:
    """As of the form of its sets, all groups together; `knowing_columns` leaves only the groups
    whose cells cover the values of a person."""
    covers = _Covers.of(over_whole_tree(release, original), original)
    return _OF_SETS[release.groups[0].form](covers, original)


@dataclass(frozen=True)
class _Covers:
    """Which groups cover the values of each person."""

    release: Grouped
    codes: Int64s
    """The values of each person, a column for each column."""
    flags: list[Flags]

    @classmethod
    def of(cls, release: Grouped, original: Transactions) -> _Covers:
        table = table_of(release, original)
        codes = np.stack([column.codes for column in table.columns], axis=1).astype(np.int64)
        pairs = zip(release.columns, table.columns, strict=True)
        return cls(release, codes, [covered_values(*each) for each in pairs])

    def groups(self, person: int) -> tuple[int, ...]:
        """The groups that a person may be in."""
        codes = tuple(self.codes[person].tolist())
        if codes not in self._known:
            fits = np.ones(len(self.release.groups), dtype=bool)
            for place, (flags, code) in enumerate(zip(self.flags, codes, strict=True)):
                fits &= flags[self.release.cells[:, place], code]
            self._known[codes] = tuple(np.flatnonzero(fits).tolist())
        return self._known[codes]

    def alike(self, person: int) -> Int64s:
        """The people with the same values as one, ascending."""
        numbers, people = self._alike
        found: Int64s = people[int(numbers[person])]
        return found

    @cached_property
    def _alike(self) -> tuple[Int64s, list[Int64s]]:
        """The number of the values of each person, and the people with each."""
        numbers: Int64s = np.unique(self.codes, axis=0, return_inverse=True)[1].ravel()
        order = np.argsort(numbers, kind="stable").astype(np.int64)
        return numbers, np.split(order, np.cumsum(np.bincount(numbers))[:-1])

    @cached_property
    def _known(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        return {}

    @property
    def joined(self) -> Any:
        """The sets of all groups as one release, with items under their own names."""
        homes = np.arange(len(self.release.groups))
        return Apart((), homes, self.release).joined


@dataclass(frozen=True, eq=False)
class _GroupedRows(Rows):
    """Published sets of several groups; an item that a group leaves out may be in any of its
    sets."""

    covers: _Covers = field(kw_only=True)
    group_of: Int64s = field(kw_only=True)
    """The group of each distinct set."""
    leaves_out: bool = field(kw_only=True)
    """Whether groups leave out items, each in its own way."""

    def alike(self, person: int) -> Int64s:
        return self.covers.alike(person)

    def knowing_columns(self, person: int) -> View:
        groups = self.covers.groups(person)
        if groups not in self._inside:
            places = np.flatnonzero(np.isin(self.group_of, groups))
            self._inside[groups] = _Inside(self, places)
        return self._inside[groups]

    @cached_property
    def _inside(self) -> dict[tuple[int, ...], View]:
        return {}

    def _holders(self, item: int) -> Int64s | None:
        if item not in self._known_holders:
            labels = self.represents(item)
            shown = [self._of_label(label) for label in (() if labels is None else labels)]
            found = np.unique(np.concatenate((self.free, *shown)))
            if self.leaves_out:
                known = np.unique(self.group_of[found])
                others = np.flatnonzero(~np.isin(self.group_of, known))
                found = np.union1d(found, others)
            self._known_holders[item] = found
        return self._known_holders[item]


class _Inside(View):
    """The sets of some groups only."""

    def __init__(self, rows: _GroupedRows, inside: Int64s) -> None:
        self.rows, self.inside, self.candidate = rows, inside, rows.candidate

    def candidates(self, known: Items, lacking: Items = ()) -> float:
        return float(max(int(self.rows.sizes[self.places(known)].sum()), 1))

    def places(self, known: Items) -> Int64s:
        if not known:
            return self.inside
        return np.intersect1d(self.rows.places(known), self.inside, assume_unique=True)

    def beliefs(self, known: Items) -> Floats:
        return self.rows.beliefs_at(self.places(known), known)


def _view_rows(covers: _Covers, original: Transactions) -> View:
    release, joined = covers.release, covers.joined
    sizes = [len(group.classes) for group in release.groups]  # type: ignore[attr-defined]
    meaning = meaning_of(joined, original)
    return _GroupedRows(
        joined.classes,
        joined.sizes,
        meaning.represents,
        original,
        meaning.ranges,
        meaning.order,
        free=meaning.free,
        homes=joined.alignment,
        covers=covers,
        group_of=np.repeat(np.arange(len(sizes)), sizes),
        leaves_out=meaning.leaves_out,
    )


class _GroupedClusters(Clusters):
    """Clusters of several groups."""

    def __init__(self, covers: _Covers, release: Any, original: Transactions) -> None:
        super().__init__(release, original)
        self.covers = covers
        self._inside: dict[tuple[int, ...], View] = {}

    def alike(self, person: int) -> Int64s:
        return self.covers.alike(person)

    def knowing_columns(self, person: int) -> View:
        groups = self.covers.groups(person)
        if groups not in self._inside:
            every = self.covers.release
            chosen = np.array(groups, dtype=np.int64)
            some = Grouped(
                every.columns,
                every.cells[chosen],
                tuple(every.groups[number] for number in groups),
                every.promise,
            ).without_alignment()
            made: Any = Apart((), np.arange(len(groups)), some).joined
            self._inside[groups] = Clusters(made, self.original)
        return self._inside[groups]


def _view_clusters(covers: _Covers, original: Transactions) -> View:
    joined = covers.joined
    view_disassociated(joined, original)
    return _GroupedClusters(covers, joined, original)


_OF_SETS = {
    "generalized": _view_rows,
    "suppressed": _view_rows,
    "disassociated": _view_clusters,
}
"""By form of the sets."""

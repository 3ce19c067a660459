"""The grouped form: columns beside the set, generalized for groups of people, and the sets of each
group published by another method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from setveil.data.arrays import Floats, Int32s, Int64s, positions, random_from
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels, texts_of
from setveil.errors import DataError, brief
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.kanonymity import KmAnonymity
from setveil.promises.promise import Promise
from setveil.published.countable import Counting, counted_one_by_one
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import world_seeds
from setveil.published.grouped.cells import PublishedColumn
from setveil.published.grouped.flat import Hidden, flat_release
from setveil.published.release import RecordRelease, Release, Support
from setveil.published.rows import stacked


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Release):
    """Groups of people: one cell per column for all of a group, and a release of their sets.

    `cells[g, c]` is the number of the cell of column c that covers all people of group g; no two
    groups have the same cells. `groups[g]` is an ordinary release of their sets, all of one form.
    The alignment, the group of each original row, is private; that of a group is of its rows, in
    the order of the original.

    Example:
        >>> from setveil.promises import Columns, KmAnonymity
        >>> from setveil.published import PublishedColumn, Span, Suppressed
        >>> born = PublishedColumn("born", "number", (Span(None, "1931"), Span("1931", None)))
        >>> old = Suppressed.of([["flu"], ["flu"]], KmAnonymity(k=2, m=2))
        >>> young = Suppressed.of([["flu", "cold"], ["cold", "flu"]], KmAnonymity(k=2, m=2))
        >>> groups = [old, young]
        >>> release = Grouped.of_groups([born], np.array([[0], [1]]), groups, Columns(k=2, m=2))
        >>> release
        Grouped(4 records in 2 groups, 1 column, Columns(k=2, m=2))
        >>> release.support(["flu"])
        Support(lower=4, upper=4, expected=4.0, accuracy='exact')
        >>> release.support(["cold"])
        Support(lower=2, upper=4, expected=None, accuracy='not determined')
    """

    form: ClassVar[str] = "grouped"
    expected_is: ClassVar[str] = "the sum of what each group lets one expect"
    open_because: ClassVar[str] = "the groups do not show these items as such"
    no_rule: ClassVar[str] = "its groups were formed from its own people"

    columns: tuple[PublishedColumn, ...]
    cells: Int32s
    groups: tuple[Release, ...]
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    alignment: Int64s | None = None
    min_people: int = 0

    @classmethod
    def of_groups(
        cls,
        columns: Sequence[PublishedColumn],
        cells: Int32s,
        groups: Sequence[Release],
        promise: Promise,
        method: Mapping[str, object] | None = None,
        alignment: Int64s | None = None,
    ) -> Grouped:
        """From groups with their cells, in any order.

        Rows whose cells are the same are one group: join them before their sets are published."""
        numbers = np.asarray(cells, dtype=np.int32).reshape(len(groups), len(columns))
        for place, column in enumerate(columns):
            wrong = (numbers[:, place] < 0) | (numbers[:, place] >= len(column.cells))
            if wrong.any():
                raise DataError(f"the column {brief(column.name)} has no such cell")
        if not groups:
            raise DataError("there must be a group")
        if len(np.unique(numbers, axis=0)) < len(groups):
            raise DataError("two groups have the same columns; join their rows before")
        if len({each.form for each in groups}) > 1:
            raise DataError("the groups must have one form")
        groups = [_unclaimed(each) for each in groups]
        if any(each.facts != groups[0].facts for each in groups):
            raise DataError("the groups must have the same facts")
        if any(isinstance(getattr(each, "classes", None), Bags) for each in groups):
            raise DataError("beside columns only sets can be published, not bags")
        trees = [each.tree.nodes for each in groups if each.tree is not None]
        if any(nodes != trees[0] for nodes in trees):
            raise DataError("the groups must have one hierarchy")
        return cls(tuple(columns), numbers, tuple(groups), promise, method or {}, alignment)

    def __len__(self) -> int:
        return sum(map(len, self.groups))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same groups with equal sets, in whatever order."""
        if not isinstance(other, Grouped) or self.columns != other.columns:
            return False
        mine, theirs = (
            dict(zip(each.group_texts, each.groups, strict=True)) for each in (self, other)
        )
        return mine.keys() == theirs.keys() and all(mine[key] == theirs[key] for key in mine)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        """The fields alone; what is counted with is made again when it is needed."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __repr__(self) -> str:
        shape = f"{len(self)} records in {len(self.groups)} groups"
        columns = f"{len(self.columns)} column{'s' * (len(self.columns) != 1)}"
        return f"Grouped({shape}, {columns}, {self.promise})"

    @property
    def within(self) -> str:
        """The form of the sets of each group."""
        return self.groups[0].form

    @property
    def shows_records(self) -> bool:  # type: ignore[override]
        """Whether each person has one published set; as its groups."""
        return self.groups[0].shows_records

    @cached_property
    def items(self) -> Vocabulary:
        if self.tree is not None:
            return self.tree.nodes
        return Vocabulary(sort_labels(self.shown))

    @cached_property
    def shown(self) -> frozenset[str]:
        rows, _ = self.certain_rows()
        return frozenset(rows.vocabulary[number] for number in np.unique(rows.items).tolist())

    @property
    def tree(self) -> Hierarchy | None:
        return self.groups[0].tree

    @property
    def empty(self) -> int:
        return sum(each.empty for each in self.groups)

    @property
    def group_sizes(self) -> Int64s:
        return np.array([len(each) for each in self.groups], dtype=np.int64)

    @property
    def facts(self) -> dict[str, object]:
        """Those of the sets, their form, and the columns with their cells."""
        columns = [column.to_dict() for column in self.columns]
        return {**self.groups[0].facts, "within": self.within, "columns": columns}

    @cached_property
    def group_texts(self) -> tuple[tuple[str, ...], ...]:
        """The text of each cell of each group."""
        texts = [column.texts for column in self.columns]
        return tuple(
            tuple(map(tuple.__getitem__, texts, numbers)) for numbers in self.cells.tolist()
        )

    @cached_property
    def order(self) -> Int64s:
        """The groups in the order of their cells, as files number them."""
        ranks = [positions(column.order) for column in self.columns]
        keys = [rank[self.cells[:, place]] for place, rank in enumerate(ranks)]
        found: Int64s = np.lexsort(keys[::-1]) if keys else np.arange(len(self.groups))
        return found

    @cached_property
    def flat(self) -> Release:
        """The sets of all groups as one release, with the alignment if it is known."""
        return flat_release(self.groups, self._rows_of_groups)

    @property
    def _rows_of_groups(self) -> list[Int64s] | None:
        """Private: the original rows of each group, if what became of each is known."""
        if self.alignment is None or any(group.alignment is None for group in self.groups):
            return None
        order = np.argsort(self.alignment, kind="stable")
        ends = np.searchsorted(self.alignment[order], np.arange(1, len(self.groups)))
        return np.split(order, ends)

    def certain_rows(self) -> tuple[Transactions, Int64s]:
        return self.flat.certain_rows()

    def support(self, itemset: Iterable[object]) -> Support:
        return self.supports_of([texts_of(itemset)])[0]

    def supports_of(self, itemsets: Iterable[Sequence[str]]) -> list[Support]:
        if self._hidden is None:
            return self.flat.supports_of(itemsets)
        known, flat = cache(self._hidden.holders), self._hidden.flat
        return [flat._support(itemset, known) for itemset in itemsets]

    @cached_property
    def _hidden(self) -> Hidden | None:
        """What to count with if each group has its own list of items; else None."""
        flat = self.flat
        own = flat.hides_items or bool(getattr(flat, "is_global", False))
        if not own or not isinstance(flat, RecordRelease):
            return None
        return Hidden(tuple(each for each in self.groups if isinstance(each, RecordRelease)), flat)

    def counting(self) -> Counting:
        return self.flat.counting() if self._hidden is None else counted_one_by_one(self)

    def estimates(self, items: Sequence[str], queries: Int64s) -> Floats:
        return self.flat.estimates(items, queries)

    def guess(self, itemset: Sequence[str]) -> float:
        return self.flat.guess(itemset) if self._hidden is None else self.support(itemset).guess

    def support_note(self, itemset: Sequence[str]) -> str:
        return self.flat.support_note(itemset)

    @property
    def reconstruction_note(self) -> str:
        return self.groups[0].reconstruction_note

    def reconstruct(self, seed: int | None = None) -> Transactions:
        """Possible sets of all people, in random order; `rows` also says their groups."""
        return self.rows(seed, possible=True)[0]

    def rows(
        self, seed: int | None = None, *, possible: bool = False
    ) -> tuple[Transactions, Int64s]:
        """The published set of each person, in random order, and the group of each: of a form that
        shows no sets, or if `possible`, one that the person could have."""
        seeds = world_seeds(len(self.groups) + 1, seed)
        drawn, order = [], self.order.tolist()
        for place, own in zip(order, seeds[1:], strict=True):
            group = self.groups[place]
            shown = isinstance(group, RecordRelease) and not possible
            drawn.append(group.records(own) if shown else group.reconstruct(own))
        sets = stacked(drawn)
        homes = np.repeat(self.order, [len(self.groups[place]) for place in order])
        shuffled = random_from(seed).permutation(len(sets))
        return sets.take(shuffled), homes[shuffled]

    def to_pandas(self, seed: int | None = None) -> Any:
        """The table: a row for each person in random order, with the generalized columns (None if
        missing) and the list of published items or groups. If the release shows no whole sets,
        these are a possible reconstruction."""
        from pandas import DataFrame

        return DataFrame(self._table(seed))

    def to_polars(self, seed: int | None = None) -> Any:
        from polars import DataFrame

        return DataFrame(self._table(seed))

    def _table(self, seed: int | None) -> dict[str, list[Any]]:
        sets, homes = self.rows(seed)
        table: dict[str, list[Any]] = {}
        for place, column in enumerate(self.columns):
            numbers = self.cells[homes, place].tolist()
            table[column.name] = [column.texts[number] or None for number in numbers]
        return {**table, self.set_name: [list(record) for record in sets]}

    @property
    def set_name(self) -> str:
        """What the column of the sets is called."""
        name, taken = "items", {column.name for column in self.columns}
        while name in taken:
            name += "_"
        return name

    def _whole_records(self, seed: int | None) -> Transactions:
        return self.rows(seed)[0]

    def published_as(self, number: int, record: Sequence[str]) -> str:
        if self.alignment is None:
            return ""
        home = int(self.alignment[number])
        inside = int((self.alignment[:number] == home).sum())
        shown = (
            column.shown(cell) for column, cell in zip(self.columns, self.cells[home], strict=True)
        )
        group = self.groups[home]
        said = "" if group.alignment is None else group.published_as(inside, record)
        return f"{', '.join(shown)}: {said}"

    def without_alignment(self) -> Grouped:
        groups = tuple(group.without_alignment() for group in self.groups)
        return replace(self, alignment=None, groups=groups)

    def suppressed_items(self, original: Transactions) -> tuple[str, ...]:
        if not self.flat.hides_items:
            return ()
        return tuple(item for item in original.vocabulary if item not in self.shown)


def _unclaimed(group: Release) -> Release:
    """A group without the claim of safe chunks: that is about the share of all records of its
    release, which are those of the group alone."""
    return replace(group, is_safe=False) if isinstance(group, Disassociated) else group


def inner_promise(promise: Promise) -> KmAnonymity:
    """What the sets of each group must keep, so that the release keeps its promise."""
    most = promise.most_known
    diversity = getattr(promise, "diversity", None)
    return KmAnonymity(promise.crowd, "all" if most is None else most, diversity)

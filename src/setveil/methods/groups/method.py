"""The method Groups: a tree over the columns, its best cut, and the sets of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np

from setveil.data.arrays import Flags, Int32s, Int64s
from setveil.data.columns import Column, Table
from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.errors import InfeasibleError, ParameterError, brief
from setveil.methods.disassociation import Disassociation
from setveil.methods.groups.axes import Axis, axis_of
from setveil.methods.groups.losses import Covered, SetLosses, Unlinked, Within
from setveil.methods.groups.tree import Tree, best_cut, column_losses, grown
from setveil.methods.method import Method, Request
from setveil.methods.partition import Partition
from setveil.methods.recoding.onecut import Apriori, MHgHs
from setveil.methods.suppression import Suppression
from setveil.parameters import with_default
from setveil.promises import Columns, KAnonymity, KmAnonymity, LDiversity, Promise
from setveil.published import Grouped, PublishedColumn, Release, Span
from setveil.words import rough_share

_METHODS: Mapping[str, type[Method[Release]]] = {
    "disassociation": Disassociation,
    "partition": Partition,
    "apriori": Apriori,
    "mhghs": MHgHs,
    "suppression": Suppression,
}
"""The methods for the sets of a group."""


@dataclass(frozen=True, kw_only=True)
class Groups(Method[Grouped]):
    """Divides people into groups by their columns, and publishes the sets of each on their own.

    In each group a column has one value for all: an interval, or a node of its tree. A tree of
    groups is grown as Mondrian does: all people at the root, split by the column whose loss falls
    most, down to groups of k people. Its best cut becomes the release: `columns_matter` weighs the
    loss of columns against that of sets, and no cut of this tree has a lower sum. A method for
    sets, which keeps k^m-anonymity or k-anonymity, then publishes those of each group.

    So at least k people of a person's own group have the same published columns, and could have
    any m items of that person. [Poulis2013] has the promise; this method is another one.

    The result depends only on the rows, not on their order or the number of threads. People without
    items hide nobody: at least k people of each group have items.

    Ends of intervals are cut points: values that at least k people have, or nobody. The outermost
    ends are open. The missing value is one of its own, if k people have it; else it joins an
    interval, which says so.

    Cost:
        The tree reads each row once per level and column. Nodes of 1,000 rows or more are published
        to see what their sets lose; for smaller ones that is estimated from 12 nodes of each size,
        with disassociation also from clusters of all nodes of one level at once.

    Example:
        >>> born = Column("born", "number", ("1931", "1932", "1980"), [0, 1, 2, 2])
        >>> people = Table.beside(Transactions.of([["flu"]] * 4), [born])
        >>> release = Groups(columns_matter=1.0).anonymize(people, Columns(k=2, m=2))
        >>> [release.columns[0].shown(cell) for cell in release.cells[:, 0]]
        ['1949 or less', '1950 or more']
    """

    name: ClassVar[str] = "groups"
    promises: ClassVar[tuple[type[Promise], ...]] = (Columns,)
    additions: ClassVar[tuple[type[Promise], ...]] = (LDiversity,)
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {Columns: "it is the method for columns"}
    needs_hierarchy: ClassVar[bool] = False
    takes_hierarchy: ClassVar[bool] = True
    reads: ClassVar[Literal["tables"]] = "tables"
    form: ClassVar[str] = Grouped.form
    weighs: ClassVar[Mapping[str, tuple[Any, ...]]] = {"columns_matter": (0, 0.25, 0.5, 0.75, 1)}
    runs_anywhere: ClassVar[bool] = True
    trial: ClassVar[Promise] = Columns(k=2, m=2)

    within: Literal["disassociation", "partition", "apriori", "mhghs", "suppression"] = (
        with_default("disassociation", "The method for the sets of each group.", metavar="METHOD")
    )
    columns_matter: float = with_default(
        0.5,
        "How much the loss of columns matters against that of items: 1 gives the smallest groups, "
        "0 whatever is best for items.",
        metavar="0..1",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.columns_matter <= 1:
            allowed = "it must be a number from 0 to 1"
            raise ParameterError("columns_matter", self.columns_matter, allowed)

    @property
    def uses_hierarchy(self) -> bool:
        return _METHODS[self.within].needs_hierarchy

    def admit(self, data: object) -> Table:
        if not isinstance(data, Table) or not data.columns:
            raise ParameterError(
                "columns", None, "name the columns that are published beside items"
            )
        return data

    def check_early(self, promise: Promise, *, has_hierarchy: bool) -> None:
        super().check_early(promise, has_hierarchy=has_hierarchy)
        inner, asked = _METHODS[self.within](), cast(Columns, promise)
        inner.check_early(_promise_within(inner, asked), has_hierarchy=has_hierarchy)

    def remark(self, release: Any) -> str:
        """Which column is lost for most people, if it is."""
        lost = {
            column.name: int(release.group_sizes[_is_anything(column, cells)].sum())
            for column, cells in zip(release.columns, release.cells.T, strict=True)
        }
        name = max(lost, key=lost.__getitem__)
        if 2 * lost[name] <= len(release):
            return ""
        share = rough_share(lost[name] / len(release))
        return (
            f"The column {brief(name)} costs most: it says nothing of {share} of the people. "
            "Publish fewer columns, give it a hierarchy with {column_hierarchies}, or weigh "
            "columns more with {columns_matter}."
        )

    def _anonymize(self, request: Request[Columns]) -> Grouped:
        data, promise = request.records, request.promise
        assert isinstance(data, Table)
        least = max(part.crowd for part in promise.parts)
        counts = _counting(data, least)
        request.report(0, 0, "grouping people")
        axes = [axis_of(column, promise.k) for column in data.columns]
        tree = grown(axes, counts, least)
        inner = _METHODS[self.within]()
        hierarchy = request.hierarchy if inner.needs_hierarchy else None
        within = Within(inner, _promise_within(inner, promise), hierarchy)
        cut = self._cut(tree, axes, within, request)
        cut.sort(key=tree.cells.__getitem__)
        return self._published(request, axes, tree, cut, within)

    def _cut(
        self, tree: Tree, axes: Sequence[Axis], within: Within, request: Request[Columns]
    ) -> list[int]:
        """The groups that lose least of columns and sets."""
        weight, columns = self.columns_matter, column_losses(tree, axes)
        if weight == 1:
            return best_cut(tree.parent, columns)
        request.report(0, 0, "weighing columns and items")
        sets, engine = request.records, request.engine
        found: SetLosses = Covered(sets, within, engine)
        if self.within == "disassociation":
            found = Unlinked(sets, within, engine, request.promise.k, request.promise.m)
        # Squares: what a further loss of one saves of the other varies a hundredfold along a tree.
        return found.cut(tree, weight**2 * columns, (1 - weight) ** 2)

    def _published(
        self,
        request: Request[Columns],
        axes: Sequence[Axis],
        tree: Tree,
        cut: Sequence[int],
        within: Within,
    ) -> Grouped:
        data = request.records
        alignment = np.empty(len(data), dtype=np.int64)
        rows = [np.sort(tree.rows[node]) for node in cut]
        for group, numbers in enumerate(rows):
            alignment[numbers] = group
        tasks = (GroupTask(within, data, numbers) for numbers in rows)
        releases = list[Release]()
        for release in request.engine.map(published, tasks):
            releases.append(release)
            request.report(len(releases), len(cut), "publishing groups")
        columns, cells = [], np.empty((len(cut), len(axes)), dtype=np.int32)
        for place, axis in enumerate(axes):
            used = [tree.cells[node][place] for node in cut]
            distinct = sorted(set(used))
            numbers_of = {cell: number for number, cell in enumerate(distinct)}
            columns.append(axis.published(distinct))
            cells[:, place] = [numbers_of[cell] for cell in used]
        about, promise = self.to_dict(), request.promise
        return Grouped.of_groups(columns, cells, releases, promise, about, alignment)

    def _try_out(self) -> None:
        records = [[f"a{i % 3}", f"b{i % 4}", f"c{i % 5}"] for i in range(60)]
        born = Column("born", "number", ("1", "2", "3"), [i % 3 for i in range(60)])
        table = Table.beside(Transactions.of(records), [born])
        self.anonymize(table, self.trial, engine=Local(1))


class GroupTask(NamedTuple):
    """The sets of a group to publish."""

    within: Within
    data: Transactions
    rows: Int64s


def published(task: GroupTask) -> Release:
    """The release of the sets of a group."""
    return task.within.release(task.data.take(task.rows))


def _is_anything(column: PublishedColumn, cells: Int32s) -> Flags:
    """Which of these cells of a column cover every value."""
    root = None if column.tree is None else column.tree.labels[column.tree.root]
    whole = [cell.is_any if isinstance(cell, Span) else cell.label == root for cell in column.cells]
    found: Flags = np.array(whole, dtype=bool)[cells]
    return found


def _counting(data: Transactions, k: int) -> Flags:
    """Which rows count for the size of a group: those with items; all if none has any."""
    if not len(data):
        raise InfeasibleError("the table has no people, so there is no group to publish")
    counts = np.asarray(data.lengths > 0)
    people = int(counts.sum())
    if 0 < people < k:
        have = "1 person has" if people == 1 else f"{people:,} people have"
        raise InfeasibleError(f"only {have} items, but a group needs {k:,}")
    return counts if people else ~counts


def _promise_within(method: Method[Any], promise: Columns) -> Promise:
    """What the sets of a group must keep."""
    known = KmAnonymity(k=promise.k, m=promise.m, diversity=promise.diversity)
    return known if isinstance(known, method.promises) else KAnonymity(k=promise.k)

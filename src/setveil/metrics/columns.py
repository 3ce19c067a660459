"""What columns lost beside sets: columns, column_ncp, and are_columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.alignment.align import over_whole_tree
from setveil.alignment.columns import table_of, tree_for
from setveil.data.arrays import Flags, Floats, Int64s, random_from
from setveil.data.columns import MISSING, Column, Table
from setveil.data.transactions import Transactions
from setveil.errors import check_count
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.queries import Answers
from setveil.metrics.state import State, measured
from setveil.published.grouped.cells import Cell, Node, PublishedColumn, Span, point_of
from setveil.published.grouped.form import Grouped

NEAR = 0.05
"""A query asks for this share of the people below and above a person's number or date."""


@dataclass(frozen=True, eq=False)
class ColumnLosses(State):
    """What the published values of each column cost, for all people together."""

    shared = ("names",)
    names: tuple[str, ...]
    people: int
    costs: Floats

    @classmethod
    def of(cls, release: Grouped, original: Transactions) -> ColumnLosses:
        table, sizes = table_of(release, original), release.group_sizes
        costs = []
        for place, (column, held) in enumerate(zip(release.columns, table.columns, strict=True)):
            cost = np.array([_Values.of(column, held).cost(cell) for cell in column.cells])
            costs.append(float(cost[release.cells[:, place]] @ sizes))
        names = tuple(column.name for column in release.columns)
        return cls(names, int(sizes.sum()), np.array(costs))


@measured(ColumnLosses.of)
def columns(found: ColumnLosses) -> float:
    """Loss of the columns: how wide a published value is, as a share of all values.

    Formula: the average over people and columns of NCP(c), where c is the person's cell. Of numbers
    and dates, NCP is (last - first) / (max - min): the first and the last value that c covers, and
    the least and the greatest of the original. Of words, it is u / |I| for a node over u > 1 of |I|
    leaves, else 0. `any` costs 1, and the missing value alone 0.

    Range: 0 (every value is published as it is) to 1 (nothing is left of the columns).

    Example:
        Two people of 1931 and 1940 in one interval, in data from 1931 to 1950: 9/19.

        >>> import numpy as np
        >>> from setveil import Columns, KmAnonymity, PublishedColumn, Span, Suppressed
        >>> born = Column("born", "number", ("1931", "1940", "1950"), [0, 1, 2, 2])
        >>> people = Table.beside(Transactions.of([["flu"]] * 4), [born])
        >>> spans = Span(None, "1941"), Span("1941", None)
        >>> sets = [Suppressed.of([["flu"]] * 2, KmAnonymity(k=2, m=1)) for _ in spans]
        >>> column, cells = PublishedColumn("born", "number", spans), np.array([[0], [1]])
        >>> release = Grouped.of_groups([column], cells, sets, Columns(k=2, m=1))
        >>> round(columns(release, people), 4) == round((9 / 19 + 9 / 19) / 2, 4)
        True
    """
    return float(found.costs.sum() / max(found.people * len(found.names), 1))


@measured(ColumnLosses.of)
def column_ncp(found: ColumnLosses) -> dict[str, float]:
    """The same of each column on its own.

    Formula: as `columns`, averaged over people only.

    Range: 0 to 1 each."""
    costs = (found.costs / max(found.people, 1)).tolist()
    return dict(zip(found.names, costs, strict=True))


@dataclass(frozen=True)
class _Values:
    """The values of a column of the original, and what cells cover of them."""

    column: PublishedColumn
    held: Column
    tree: Hierarchy | None
    low: float
    high: float

    @classmethod
    def of(cls, column: PublishedColumn, held: Column) -> _Values:
        if column.kind == "word":
            return cls(column, held, tree_for(column, held), 0.0, 0.0)
        known = held.numbers[~np.isnan(held.numbers)]
        ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        return cls(column, held, None, *ends)

    def cost(self, cell: Cell) -> float:
        if isinstance(cell, Span):
            if cell.is_any:
                return 1.0
            first, last = self.ends(cell)
            return max(last - first, 0.0) / (self.high - self.low) if self.high > self.low else 0.0
        if cell.label == MISSING:
            return 0.0
        assert self.tree is not None
        width = self._width(cell)
        root = cell.label == self.tree.labels[self.tree.root]
        return 0.0 if width < 2 and not root else width / max(self.tree.leaf_count, 1)

    def ends(self, span: Span) -> tuple[float, float]:
        """The first and the last value that a span covers, within those of the original."""
        step = 1.0 if self.column.is_whole else 0.0
        low = self.low if span.low is None else max(self._number(span.low), self.low)
        high = self.high if span.high is None else min(self._number(span.high) - step, self.high)
        return low, high

    def _number(self, end: str) -> float:
        point: Any = point_of(end, self.column.kind)
        if self.column.kind == "number":
            return float(point)
        return float(point.toordinal() - _EPOCH)

    def _width(self, node: Node) -> int:
        assert self.tree is not None
        return int(self.tree.widths[self.tree.nodes.number(node.label)])

    def chances(self, cell: Cell, asked: tuple[float, float] | str) -> float:
        """How likely a person of this cell has a value that is asked for, each value of the cell
        equally likely."""
        if isinstance(cell, Span):
            if isinstance(asked, str):
                return 0.0
            first, last = self.ends(cell)
            step = 1.0 if self.column.is_whole else 0.0
            inside = min(last, asked[1]) - max(first, asked[0]) + step
            width = last - first + step
            return min(max(inside / width, 0.0), 1.0) if width > 0 else float(inside >= 0)
        if cell.label == asked:
            return 1.0
        if self.tree is None or not isinstance(asked, str):
            return 0.0
        if cell.label == self.tree.labels[self.tree.root]:
            return 1.0 / len(self.held.values)
        if asked not in self.tree.nodes:
            return 0.0
        return 1.0 / self._width(cell) if cell.label in self.tree.path(asked) else 0.0


_EPOCH = 719163
"""The ordinal of 1970-01-01."""


@dataclass(frozen=True, eq=False)
class _Query:
    """Values of some columns, and items."""

    places: tuple[int, ...]
    """Which columns."""
    values: tuple[tuple[float, float] | str, ...]
    items: tuple[str, ...]


def _answers(
    release: Grouped, original: Transactions, *, seed: int = 0, queries: int = 300
) -> Answers:
    """The answers to random queries over columns and items."""
    check_count("queries", queries, 1)
    release, table = over_whole_tree(release, original), table_of(release, original)
    asked = _drawn(table, random_from(seed), queries) if len(table) else []
    truth = np.array([_count(table, query) for query in asked], dtype=np.int64)
    return Answers(len(table), truth, _expected(release, table, asked))


@measured(_answers)
def are_columns(answers: Answers) -> float:
    """Average relative error of the answers to "how many people have these values and items?".

    Formula: as `are`, over queries that are drawn by drawing a person of the original, one or two
    columns, and none to two of the person's items. Of words a query asks for the person's value, of
    numbers and dates for an interval from 5 % of the people below the person's value to 5 % above
    it. The answer of the release is the sum over its groups of (the chance of such values, each
    value of a cell equally likely) x (the support of the items that the group's sets let one
    expect). Open intervals end at the least and the greatest value of the original.

    Range: 0 (every answer is right) upward, without a bound."""
    least = max(answers.records / 1000, np.finfo(float).tiny)
    errors = np.abs(answers.truth - answers.expected) / np.maximum(answers.truth, least)
    return float(errors.mean()) if len(errors) else 0.0


def _drawn(table: Table, random: np.random.Generator, queries: int) -> list[_Query]:
    ranks = [_ranks(column) for column in table.columns]
    found = []
    for person in random.integers(0, len(table), queries).tolist():
        many = int(random.integers(1, min(2, len(table.columns)) + 1))
        places = np.sort(random.choice(len(table.columns), size=many, replace=False)).tolist()
        values = [_asked(table.columns[at], person, ranks[at]) for at in places]
        items = table.items[table.entries(person)]
        chosen = random.choice(
            items, size=min(int(random.integers(0, 3)), len(items)), replace=False
        )
        names = tuple(sorted(table.vocabulary[int(item)] for item in chosen))
        found.append(_Query(tuple(places), tuple(values), names))
    return found


def _ranks(column: Column) -> Int64s:
    """The values of all people who have one, in order."""
    known = column.codes[column.codes < len(column.values) - column.has_missing]
    return np.sort(known.astype(np.int64))


def _asked(column: Column, person: int, ordered: Int64s) -> tuple[float, float] | str:
    code = int(column.codes[person])
    if column.kind == "word" or column.values[code] == MISSING:
        return column.values[code]
    reach = round(NEAR * len(ordered))
    first, stop = (int(np.searchsorted(ordered, value)) for value in (code, code + 1))
    at = (first + stop) // 2
    low, high = ordered[max(at - reach, 0)], ordered[min(at + reach, len(ordered) - 1)]
    numbers = column.numbers
    return float(numbers[min(low, code)]), float(numbers[max(high, code)])


def _count(table: Table, query: _Query) -> int:
    fits = np.ones(len(table), dtype=bool)
    for place, asked in zip(query.places, query.values, strict=True):
        column = table.columns[place]
        if isinstance(asked, str):
            wanted = np.array([value == asked for value in column.values])
        else:
            wanted = (column.numbers >= asked[0]) & (column.numbers <= asked[1])
        fits &= wanted[column.codes]
    for item in query.items:
        fits &= _having(table, item)
    return int(fits.sum())


def _having(table: Table, item: str) -> Flags:
    number = table.vocabulary.numbers[item]
    rows = np.searchsorted(table.indptr, np.flatnonzero(table.items == number), side="right") - 1
    marks = np.zeros(len(table), dtype=bool)
    marks[rows] = True
    return marks


def _expected(release: Grouped, table: Table, asked: list[_Query]) -> Floats:
    pairs = zip(release.columns, table.columns, strict=True)
    values = [_Values.of(column, held) for column, held in pairs]
    chances = np.ones((len(asked), len(release.groups)))
    for number, query in enumerate(asked):
        for place, value in zip(query.places, query.values, strict=True):
            column = release.columns[place]
            known = np.array([values[place].chances(cell, value) for cell in column.cells])
            chances[number] *= known[release.cells[:, place]]
    names = sorted({item for query in asked for item in query.items})
    numbers = {name: at for at, name in enumerate(names)}
    places = np.full((len(asked), 2), -1, dtype=np.int64)
    for number, query in enumerate(asked):
        places[number, : len(query.items)] = [numbers[item] for item in query.items]
    found = np.zeros(len(asked))
    for at, group in enumerate(release.groups):
        here = np.flatnonzero(chances[:, at])
        bare = places[here, 0] < 0
        found[here[bare]] += chances[here[bare], at] * len(group)
        rest = here[~bare]
        if len(rest):
            found[rest] += chances[rest, at] * group.estimates(names, places[rest])
    return found

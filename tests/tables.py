"""Tables of people and grouped releases of them, for tests: plain values, small, and at random."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

import setveil as sv
from setveil.data.columns import Column, Table
from setveil.data.transactions import Transactions
from setveil.promises.columns import Columns
from setveil.published.grouped.form import inner_promise

SEX = sv.Hierarchy.from_paths([("F", "any"), ("M", "any"), ("X", "any")])
PLACE = sv.Hierarchy.from_paths(
    [("N1", "north", "any"), ("N2", "north", "any"), ("S1", "south", "any"), ("S2", "south", "any")]
)
ITEMS = sv.Hierarchy.from_paths(
    [("a", "ab", "all"), ("b", "ab", "all"), ("c", "cd", "all"), ("d", "cd", "all")]
)
WITHIN = ("generalized", "global", "suppressed", "disassociated")


def table(rows: Sequence[Sequence[str]], sets: Iterable[Iterable[str]], columns: Any) -> Table:
    """People with the values of columns, given as (name, kind, tree), and their sets."""
    made = []
    for place, (name, kind, tree) in enumerate(columns):
        held = {row[place] for row in rows}
        key: Any = str if kind == "word" else float if kind == "number" else str
        values = (*sorted(held - {""}, key=key), *held & {""})
        codes = np.array([values.index(row[place]) for row in rows], dtype=np.int32)
        made.append(Column(name, kind, values, codes, tree))
    return Table.beside(Transactions.of(sets), made)


def random_table(random: Random, people: int, *, empty: bool = True) -> Table:
    """Years, sexes and places, some missing, and up to four items, or none if `empty`."""
    rows = [
        (
            random.choice(["1931", "1940", "1955", "1971", ""]),
            random.choice(["F", "M", "X", ""]),
            random.choice(["N1", "N2", "S1", "S2"]),
        )
        for _ in range(people)
    ]
    sets = [[item for item in "abcd" if random.random() < 0.5] for _ in range(people)]
    sets = [items or (["a"] if not empty else []) for items in sets]
    kinds = (("birth_year", "number", None), ("sex", "word", SEX), ("place", "word", PLACE))
    return table(rows, sets, kinds)


def random_cell(random: Random, values: set[str], tree: sv.Hierarchy | None) -> Any:
    """A cell that covers these values."""
    if tree is not None:
        if values == {""}:
            return sv.Node("")
        fits = [
            label
            for label in tree.labels
            if label == "any" or all(value and label in tree.path(value) for value in values)
        ]
        return sv.Node(random.choice(fits))
    years = sorted(map(int, values - {""}))
    if not years:
        return random.choice([sv.Node(""), sv.Span()])
    low = random.choice([None, str(years[0] - random.randrange(3))])
    high = random.choice([None, str(years[-1] + 1 + random.randrange(3))])
    missing = "" in values and (low is not None or high is not None)
    return sv.Span(low, high, missing)


def opened(cells: Sequence[Any]) -> list[Any]:
    """The cells of a column, with the outermost intervals open."""
    spans = [cell for cell in cells if isinstance(cell, sv.Span)]
    lows, highs = [span.low for span in spans], [span.high for span in spans]
    low = None if None in lows or not lows else min(lows, key=int)
    high = None if None in highs or not highs else max(highs, key=int)

    def open_end(cell: Any) -> Any:
        if not isinstance(cell, sv.Span):
            return cell
        first = None if cell.low == low else cell.low
        last = None if cell.high == high else cell.high
        return sv.Span(first, last, cell.or_missing and not first is last is None)

    return list(map(open_end, cells))


def grouped(data: Table, homes: Sequence[int], within: str, promise: Any, random: Random) -> Any:
    """A release of a table whose rows are in these groups, with random cells that cover them."""
    places = [np.flatnonzero(np.array(homes) == home) for home in sorted(set(homes))]
    picked = []
    for rows in places:
        values = [{column.texts[row] for row in rows} for column in data.columns]
        trees = (column.tree for column in data.columns)
        picked.append(tuple(random_cell(random, *each) for each in zip(values, trees, strict=True)))
    picked = [*zip(*map(opened, zip(*picked, strict=True)), strict=True)]
    distinct = list(dict.fromkeys(picked))
    joined = [
        np.sort(
            np.concatenate(
                [rows for rows, each in zip(places, picked, strict=True) if each == cells]
            )
        )
        for cells in distinct
    ]
    columns, numbers = [], np.zeros((len(distinct), len(data.columns)), dtype=np.int32)
    for place, column in enumerate(data.columns):
        cells = list(dict.fromkeys(each[place] for each in distinct))
        numbers[:, place] = [cells.index(each[place]) for each in distinct]
        columns.append(sv.PublishedColumn(column.name, column.kind, tuple(cells), column.tree))
    inner = inner_promise(promise)
    groups = [inside(data.sets().take(rows), within, inner) for rows in joined]
    alignment = np.zeros(len(data), dtype=np.int64)
    for place, rows in enumerate(joined):
        alignment[rows] = place
    return sv.Grouped.of_groups(columns, numbers, groups, promise, {"name": "groups"}, alignment)


def inside(sets: Transactions, within: str, promise: Any) -> Any:
    """The sets of a group, published by some method."""
    if within == "generalized":
        made = sv.Partition().anonymize(sets, sv.KAnonymity(min(promise.k, len(sets))), ITEMS)
    elif within == "global":
        made = sv.Apriori().anonymize(sets, promise, ITEMS)
    elif within == "disassociated":
        made = sv.Disassociation().anonymize(sets, promise)
    else:
        rare = sets.without_rare(promise.k)
        made = sv.Suppressed.of_rows(rare, promise, {}, alignment=np.arange(len(sets)))
    return replace(made, promise=promise)


def random_release(random: Random, within: str, k: int = 2, m: int = 2, most: int = 14) -> Any:
    """A table and a release of it that keeps its promise, but for suppressed sets."""
    people = random.randrange(k, most)
    data = random_table(random, people, empty=within != "disassociated")
    count = random.randrange(1, people // k + 1)
    homes = [*list(range(count)) * k, *(random.randrange(count) for _ in range(people - count * k))]
    random.shuffle(homes)
    return data, grouped(data, homes, within, Columns(k, m), random)

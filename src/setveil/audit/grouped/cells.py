"""Which values the cells of a column cover, read here and not by the makers of cells."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation

import numpy as np

from setveil.alignment.columns import tree_for
from setveil.data.arrays import Flags
from setveil.data.columns import Column
from setveil.published.grouped.cells import Cell, Node, PublishedColumn, Span

Point = Decimal | date


def point_of(text: str, kind: str) -> Point | None:
    """A number or a date to compare with; None if it is neither."""
    try:
        if kind == "date":
            return date.fromisoformat(text) if len(text) == len("2024-03-01") else None
        found = Decimal(text)
    except (ValueError, InvalidOperation):
        return None
    return found if found.is_finite() else None


def key_of(column: PublishedColumn, cell: Cell) -> Hashable:
    """What a cell says: the same for two cells that cover the same."""
    if isinstance(cell, Node):
        return cell.label
    ends = (None if end is None else point_of(end, column.kind) for end in (cell.low, cell.high))
    return (*ends, cell.or_missing)


def faults_of(column: PublishedColumn) -> Iterator[str]:
    """What is wrong with the cells of a column, a sentence each."""
    spans = [cell for cell in column.cells if isinstance(cell, Span)]
    nodes = [cell.label for cell in column.cells if isinstance(cell, Node) and cell.label]
    name = column.name
    if column.kind == "word":
        if spans or column.tree is None or any(each not in column.tree.nodes for each in nodes):
            yield f"the column {name} has a value that is not in its tree"
        return
    if nodes:
        yield f"the column {name} has a word, but it is a column of {column.kind}s"
    ends = [(each.low, each.high) for each in spans]
    points = [
        tuple(None if end is None else point_of(end, column.kind) for end in each) for each in ends
    ]
    for (low, high), (first, last) in zip(points, ends, strict=True):
        if (low is None) != (first is None) or (high is None) != (last is None):
            yield f"the column {name} has an interval with an end that is no {column.kind}"
            return
        if low is not None and high is not None and not low < high:  # type: ignore[operator]
            yield f"the column {name} has an interval that ends before it begins"
    if spans and not (any(a is None for a, _ in ends) and any(b is None for _, b in ends)):
        yield f"the column {name} has an outermost interval that is not open"


def covered_values(published: PublishedColumn, original: Column) -> Flags:
    """Whether each cell, a row each, covers each value of the original."""
    found = np.zeros((len(published.cells), len(original.values)), dtype=bool)
    tree = tree_for(published, original)
    above: list[frozenset[str]] = []
    points: list[Point | None] = []
    if tree is not None:
        paths: Mapping[str, int] = tree.nodes.numbers
        above = [frozenset(tree.path(each) if each in paths else ()) for each in original.values]
    else:
        points = [point_of(each, original.kind) for each in original.values]
    for number, cell in enumerate(published.cells):
        if isinstance(cell, Node):
            shown = published.tree
            root = shown is not None and cell.label == shown.labels[shown.root]
            for place, value in enumerate(original.values):
                inside = bool(above) and cell.label in above[place]
                found[number, place] = root or value == cell.label or inside
        else:
            found[number] = [_is_in(published, cell, point) for point in points]
    return found


def _is_in(column: PublishedColumn, span: Span, point: Point | None) -> bool:
    """Whether a span covers a value, or the missing one (None)."""
    if point is None:
        return span.or_missing or (span.low is None and span.high is None)
    low, high = (
        None if end is None else point_of(end, column.kind) for end in (span.low, span.high)
    )
    after = low is None or low <= point  # type: ignore[operator]
    return after and (high is None or point < high)  # type: ignore[operator]

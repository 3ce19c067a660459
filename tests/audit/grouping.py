"""Grouped releases as plain values, for the oracle of columns."""

from __future__ import annotations

import json
from typing import Any

from tests.tables import ITEMS


def people_of(data: Any) -> list[tuple[tuple[str, ...], frozenset[str]]]:
    """The values and the items of each person."""
    texts = zip(*(column.texts for column in data.columns), strict=True)
    return [(values, frozenset(items)) for values, items in zip(texts, data, strict=True)]


def below_of(release: Any) -> dict[str, frozenset[str]]:
    """The items that each label may represent."""
    below = {item: frozenset({item}) for item in "abcd"}
    if release.tree is None:
        return below
    return {
        label: frozenset(item for item in "abcd" if label in ITEMS.path(item))
        for label in ITEMS.labels
    }


def groups_of(release: Any, data: Any) -> list[dict[str, Any]]:
    """Each group with the values that its cells cover."""
    found = []
    for numbers, group in zip(release.cells.tolist(), release.groups, strict=True):
        pairs = zip(release.columns, data.columns, numbers, strict=True)
        plain: dict[str, Any] = {
            "covers": [covered(column, column.cells[at], held) for column, held, at in pairs],
            "size": len(group),
        }
        if release.within == "disassociated":
            plain["clusters"] = [json.loads(line) for line in group.lines()]
        else:
            rows = zip(group.classes, group.sizes.tolist(), strict=True)
            plain["rows"] = [(frozenset(row), count) for row, count in rows]
            plain["everywhere"] = release.within == "suppressed" or group.is_global
        found.append(plain)
    return found


def covered(column: Any, cell: Any, held: Any) -> set[str]:
    """The values of a column that a cell covers, by its meaning."""
    if column.kind == "word":
        label = cell.label
        return {
            value
            for value in held.values
            if label in ("any", value) or (value and label in column.tree.path(value))
        }
    if not hasattr(cell, "low"):
        return {""}
    low, high = (None if end is None else float(end) for end in (cell.low, cell.high))
    is_any = low is None and high is None
    inside = {
        value
        for value in set(held.values) - {""}
        if (low is None or low <= float(value)) and (high is None or float(value) < high)
    }
    return inside | ({""} if is_any or cell.or_missing else set())

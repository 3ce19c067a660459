"""What the columns of groups of people lost. Slow, plain, standard library only.

A person is `(cells, values)`: for each column the published cell and the true value. A cell is
`("span", low, high)` with numbers or None, of whole values without their upper end; `("node",
leaves)` with the leaves below it; or `("missing",)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def loss(cell: tuple[Any, ...], numbers: Sequence[float], leaves: int) -> float:
    """The NCP of a cell, given all known numbers of the column, or how many leaves its tree has."""
    if cell[0] == "missing":
        return 0.0
    if cell[0] == "node":
        return 0.0 if cell[1] == 1 else cell[1] / leaves
    _, low, high = cell
    if low is None and high is None:
        return 1.0
    least, most = min(numbers), max(numbers)
    first = least if low is None else max(low, least)
    last = most if high is None else min(high - 1, most)
    return max(last - first, 0) / (most - least) if most > least else 0.0


def chance(cell: tuple[Any, ...], asked: tuple[float, float], numbers: Sequence[float]) -> float:
    """How likely a whole number of a span is in an interval, each number equally likely."""
    if cell[0] != "span":
        return 0.0
    _, low, high = cell
    first = int(min(numbers) if low is None else max(low, min(numbers)))
    last = int(max(numbers) if high is None else min(high - 1, max(numbers)))
    inside = [number for number in range(first, last + 1) if asked[0] <= number <= asked[1]]
    return len(inside) / (last - first + 1) if last >= first else 0.0

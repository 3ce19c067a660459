"""The data that the cases run on: real sets where they are present, and generated ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measured import Measured, best_of
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

Case = Callable[[str], Measured]


def real(file: str) -> Transactions:
    """A real data set."""
    return read(REAL_DATA / file)


def where_real(cases: dict[str, Case]) -> dict[str, Case]:
    """These cases where the real data are present, none elsewhere."""
    return cases if REAL_DATA.is_dir() else {}


def balanced(data: Transactions) -> tuple[Transactions, Hierarchy]:
    """The data with the papers' tree: fan-out 5 over the sorted items."""
    return data, Hierarchy.balanced(data.vocabulary, 5)


def with_own_tree(file: str, tree: str) -> tuple[Transactions, Hierarchy]:
    """A real data set with the tree that came with it."""
    return real(file), Hierarchy.read(REAL_DATA / tree)


def sort_baseline(data: Transactions) -> float:
    """Seconds that NumPy takes to sort all occurrences by item and record: the cost of one pass."""
    rows = data.rows
    return best_of(2, lambda: np.lexsort((rows, data.items)))

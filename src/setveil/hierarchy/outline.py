"""A hierarchy as somebody wrote it down, and the links between its labels; it may not be a tree."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from setveil.data.items import is_missing, text_of
from setveil.errors import ParameterError

Edge = tuple[str, str]  # a child and its parent


@dataclass(frozen=True)
class Outline:
    """A hierarchy as it was written down, with its faults.

    A chain goes up: `(child, parent)`, or `(leaf, parent, ..., root)`. Each two labels in a row are
    an edge. A label right after itself is the same node (other tools pad short paths so), and empty
    labels at the end are ignored: `("ALL", "")` names a root."""

    chains: Sequence[Sequence[str]]
    from_leaves: bool = False
    """Whether each chain starts at a leaf, which must then not be a group elsewhere."""
    lines: Sequence[int] | None = None  # the line of each chain in its file
    columns: tuple[str, ...] = ()
    """The names of the level columns, from the items up, if it comes from a table."""
    moved: tuple[str, ...] = ()
    """Items in several groups that were put below one that contains all of these."""
    renamed: tuple[str, ...] = ()
    """Labels of groups that were qualified with their parent."""


class Links:
    """The edges of an outline: one parent for each label, and further parents that do not fit."""

    def __init__(self, outline: Outline) -> None:
        self.parent: dict[str, str] = {}
        """The first parent of each label; empty if it has none."""
        self.more: dict[str, list[str]] = {}
        """Further parents of labels that have several."""
        known: set[tuple[str, ...]] = set()
        for labels in outline.chains:
            above = tuple(labels[1:])
            is_new = above and above[0] and labels[0] and labels[0] not in self.parent
            if is_new and above in known:
                self.parent[labels[0]] = above[0]
            else:
                known.add(above)
                self._add(labels)
        further = {parent for parents in self.more.values() for parent in parents}
        self.inner = (set(self.parent.values()) | further) - {""}
        """The labels that have children."""

    def _add(self, labels: Sequence[str]) -> None:
        first = next(filter(None, labels), "")
        if first:
            self.parent.setdefault(first, "")
        for child, parent in edges(labels):
            known = self.parent.get(child, "")
            if not known:
                self.parent[child] = parent
            elif known != parent and parent not in self.more.get(child, ()):
                self.more.setdefault(child, []).append(parent)
            self.parent.setdefault(parent, "")


def edges(chain: Sequence[str]) -> Iterator[Edge]:
    """The edges `(child, parent)` of a chain."""
    used = chain if "" not in chain else [label for label in chain if label]
    return ((child, parent) for child, parent in pairwise(used) if child != parent)


def free_label(label: str, taken: Collection[str]) -> str:
    """The label, with as many stars as are needed to make it new."""
    while label in taken:
        label += "*"
    return label


def chains_of(things: object, name: str, wanted: str) -> list[Sequence[str]]:
    """Rows of labels as texts; a missing label (None, NaN) is empty.

    Args:
        things: An iterable of iterables, a 2-D array, or a table of pandas or polars.
        name: The name of the parameter, for errors.
        wanted: What each row should be, in words.

    Example:
        >>> chains_of([("beer", "Alcohol", None), (7, "ALL")], "paths", "paths")
        [('beer', 'Alcohol', ''), ('7', 'ALL')]
    """
    rows: Any = things
    if hasattr(things, "iter_rows"):
        rows = things.iter_rows()
    elif hasattr(things, "itertuples"):
        rows = things.itertuples(index=False, name=None)
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes | Mapping):
        raise ParameterError(name, type(things).__name__, f"it must hold {wanted}")
    return [_labels(row, name, wanted) for row in rows]


def column_names(things: object) -> tuple[str, ...]:
    """The names of the columns of a table of pandas or polars; empty if it has none."""
    names = tuple(getattr(things, "columns", ()))
    return names if all(isinstance(name, str) for name in names) else ()


def _labels(row: object, name: str, wanted: str) -> Sequence[str]:
    if not isinstance(row, Iterable) or isinstance(row, str | bytes):
        raise ParameterError(name, row, f"it must hold {wanted}")
    labels = row if isinstance(row, tuple | list) else tuple(row)
    if set(map(type, labels)) <= {str}:
        return labels
    return tuple("" if is_missing(label) else text_of(label) for label in labels)

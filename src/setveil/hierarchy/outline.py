"""A hierarchy as somebody wrote it down, and the links between its labels; it may not be a tree."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Any

import numpy as np

from setveil.data.vocabulary import is_missing, text_of
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


Group = tuple[str, ...]  # a group as the labels from its own up to the root


def qualified(outline: Outline) -> Outline:
    """The same outline, in which each group has a label of its own.

    What is above a group decides which group it is. A label that names one group only stays as it
    is. Otherwise, and if it is an item too, the label gets that of its parent in front, and more of
    what is above it as far as needed. Items keep their labels, because the data has them too. An
    item that is in several groups is put below the lowest group that contains all of these.

    Raises:
        ParameterError: if the outline consists of pairs, which do not say what is above a parent.

    Example:
        >>> rows = ["fresh carrots;CARROTS;VEGETABLES;ALL", "frozen carrots;CARROTS;FROZEN;ALL"]
        >>> outline = Outline([row.split(";") for row in rows], from_leaves=True)
        >>> qualified(outline).chains[1]
        ('frozen carrots', 'FROZEN/CARROTS', 'FROZEN', 'ALL')
    """
    if not outline.from_leaves:
        allowed = "in pairs, a label is one node; write a path for each item, or level columns"
        raise ParameterError("qualify", True, allowed)
    lines = [(chain[0] if chain else "", _groups(chain[1:])) for chain in outline.chains]
    lines = _without_padding(lines)
    places: dict[str, dict[Group, None]] = {}
    for leaf, groups in lines:
        places.setdefault(leaf, {})[groups] = None
    home = {leaf: _common_end(list(found)) for leaf, found in places.items()}
    moved = tuple(leaf for leaf, found in places.items() if len(found) > 1 and home[leaf])
    chosen = [(leaf, home[leaf] or groups) for leaf, groups in lines]
    names = _names((groups for _, groups in chosen), set(places))
    chains = [(leaf, *(names[groups[at:]] for at in range(len(groups)))) for leaf, groups in chosen]
    renamed = tuple(name for group, name in names.items() if name != group[0])
    return replace(outline, chains=chains, moved=moved, renamed=renamed)


def _groups(labels: Sequence[str]) -> Group:
    """The labels above a leaf without empty ones and without those that repeat the one before."""
    used = [label for label in labels if label]
    return tuple(used[:1] + [above for below, above in pairwise(used) if above != below])


def _without_padding(lines: Sequence[tuple[str, Group]]) -> list[tuple[str, Group]]:
    """The lines without a leaf repeated right above itself, unless that group has other items."""
    members: dict[Group, set[str]] = {}
    for leaf, groups in lines:
        for at in range(len(groups)):
            found = members.setdefault(groups[at:], set())
            if len(found) < 2:
                found.add(leaf)
    return [
        (leaf, groups[1:] if groups[:1] == (leaf,) and len(members[groups]) < 2 else groups)
        for leaf, groups in lines
    ]


def _common_end(places: Sequence[Group]) -> Group:
    """What all these groups are below, or are; empty if they have no group in common."""
    levels = zip(*(reversed(groups) for groups in places), strict=False)
    shared = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    return tuple(reversed(shared))


def _names(used: Iterable[Group], leaves: set[str]) -> Mapping[Group, str]:
    """A label for each group at or above those that are used."""
    groups = dict.fromkeys(
        groups[at:] for groups in dict.fromkeys(used) for at in range(len(groups))
    )
    alike: dict[str, list[Group]] = {}
    for group in groups:
        alike.setdefault(group[0], []).append(group)
    taken, names = {*leaves, *alike}, dict[Group, str]()
    for label, same in alike.items():
        if len(same) == 1 and label not in leaves:
            names[same[0]] = label
            continue
        for group in same:
            names[group] = free_label(_distinct(group, same), taken)
            taken.add(names[group])
    return names


def _distinct(group: Group, same: Sequence[Group]) -> str:
    """A group with as much of what is above it as sets it apart from those of the same label."""
    others = [other for other in same if other != group]
    for length in range(2, len(group)):
        if all(other[:length] != group[:length] for other in others):
            return "/".join(reversed(group[:length]))
    return "/".join(reversed(group))

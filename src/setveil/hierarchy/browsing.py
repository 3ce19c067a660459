"""Looking at a tree: its nodes in pages, search, paths, and how it fits the items of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from heapq import nsmallest
from typing import NamedTuple

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import sort_labels, vocabulary_of
from setveil.errors import UnknownItemError, brief_list, check_count, did_you_mean
from setveil.hierarchy.places import ABOVE_ROOT, Places
from setveil.hierarchy.tree import Hierarchy
from setveil.words import plural


@dataclass(frozen=True)
class Coverage:
    """How a tree fits the items of the data; without data only its own size is known."""

    items: int
    """How many items the tree has."""
    groups: int
    in_data: int | None = None
    """How many items the data has; None if no data is known."""
    missing: tuple[str, ...] = ()
    """Items of the data that are nowhere in the tree."""
    shadowed: tuple[str, ...] = ()
    """Items of the data that the tree has as groups."""
    unused: tuple[str, ...] = ()
    """Items of the tree that do not occur in the data."""
    empty: tuple[str, ...] = ()
    """Groups without items; they are left out of the file."""

    @property
    def is_complete(self) -> bool:
        """Whether each item of the data is an item of the tree, as far as is known."""
        return not self.missing and not self.shadowed

    def sentences(self) -> tuple[str, ...]:
        """The same in plain words.

        Example:
            >>> print(*Coverage(3, 1, 4, missing=("tea",)).sentences(), sep="\\n")
            The tree has 3 items in 1 group.
            1 of 4 items of the data is not in the tree: 'tea'
        """
        size = f"The tree has {plural(self.items, 'item')} in {plural(self.groups, 'group')}."
        return (size, *self._about_data(), *self._about_empty())

    def to_dict(self, most: int = 100) -> dict[str, object]:
        """Its numbers, sentences and the first labels of each list."""
        named = ("missing", "shadowed", "unused", "empty")
        lists = {name: list(getattr(self, name)[:most]) for name in named}
        counts = {name: len(getattr(self, name)) for name in named}
        sizes = {"items": self.items, "groups": self.groups, "in_data": self.in_data}
        return {**sizes, "counts": counts, **lists, "sentences": list(self.sentences())}

    def _about_data(self) -> Iterable[str]:
        if self.in_data is None:
            return
        if self.is_complete:
            yield f"It covers all {plural(self.in_data, 'item')} of the data."
        for labels, one, several in (
            (self.missing, "is not in the tree", "are not in the tree"),
            (self.shadowed, "is a group of the tree", "are groups of the tree"),
        ):
            if labels:
                of = f"{len(labels):,} of {plural(self.in_data, 'item')} of the data"
                yield f"{of} {one if len(labels) == 1 else several}: {brief_list(labels)}"
        if self.unused:
            words = ("item of the tree does", "items of the tree do")
            yield f"{plural(len(self.unused), *words)} not occur in the data."

    def _about_empty(self) -> Iterable[str]:
        if self.empty:
            words = ("group is empty and is", "groups are empty and are")
            yield f"{plural(len(self.empty), *words)} left out of the file."


def supports_of(data: object) -> tuple[Mapping[str, int] | None, bool]:
    """How often each item of the data occurs, and whether that is known; None without data.

    Args:
        data: Records, a mapping from items to supports, a vocabulary or a list of items."""
    if data is None:
        return None, False
    if isinstance(data, Mapping):
        return {str(item): int(support) for item, support in data.items()}, True
    if isinstance(data, Transactions):
        counts = data.supports().tolist()
        return dict(zip(data.vocabulary, counts, strict=True)), True
    return dict.fromkeys(vocabulary_of(data), 0), False


PAGE = 200  # how many children or search results are returned if no number is given


@dataclass(frozen=True)
class Node:
    """What is known about one node."""

    label: str
    parent: str | None
    """The label of its parent; None for the root."""
    is_item: bool
    children: int
    items: int
    """How many items are below it; 1 if it is an item itself."""
    occurrences: int | None
    """How often these occur in the data: the sum of their supports; None if that is not known."""
    in_data: bool | None
    """Whether an item occurs in the data; None for groups, or if no data is known."""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


class Found(NamedTuple):
    """Nodes whose label contains a text."""

    total: int
    nodes: tuple[Node, ...]
    """The best of them: equal labels first, then those that start with the text."""


class TreeView:
    """A tree over some data, seen node by node.

    Args:
        start: The tree.
        data: The data that it is for, if known: records, a mapping from items to supports, a
            vocabulary or a list of items.
    """

    def __init__(self, start: Hierarchy, data: object = None) -> None:
        self.start = start
        self._data, self._has_supports = supports_of(data)
        self._places = Places(start, self._data or {})

    def __len__(self) -> int:
        return len(self._places.label)

    def __contains__(self, label: object) -> bool:
        """Whether a node has this label."""
        return label in self._places.number

    @property
    def root(self) -> str:
        return self._places.label[self._places.root]

    @property
    def data(self) -> Mapping[str, int] | None:
        """The items of the data with their supports (0 if these are not known), or None."""
        return self._data

    def node(self, label: str) -> Node:
        """One node."""
        return self._node(self._number(label))

    def children(self, label: str, offset: int = 0, limit: int = PAGE) -> tuple[Node, ...]:
        """Some children of a node, in the order of the tree."""
        start, most = check_count("offset", offset, 0), check_count("limit", limit, 0)
        below = self._places.children.get(self._number(label), [])
        return tuple(map(self._node, below[start : start + most]))

    def path(self, label: str) -> tuple[str, ...]:
        """The labels from the root down to a node."""
        above = self._places.above(self._number(label))
        return tuple(self._places.label[node] for node in above)[::-1]

    def positions(self, labels: Iterable[str]) -> dict[str, int]:
        """The position of each node among its siblings; labels that are not here are left out."""
        numbers = self._places.number
        places = self._places.places(numbers[label] for label in labels if label in numbers)
        return {place.label: place.position for place in places.values()}

    def search(self, text: str, limit: int = PAGE) -> Found:
        """The nodes whose label contains a text, whatever the case of its letters."""
        most, wanted = check_count("limit", limit, 0), text.strip().casefold()
        found = [
            (_rank(folded, wanted), node)
            for node, label in self._places.label.items()
            if wanted in (folded := label.casefold())
        ]
        best = nsmallest(most, found) if wanted else []
        return Found(len(found) if wanted else 0, tuple(self._node(node) for _, node in best))

    def walk(self, depth: int | None = None) -> Iterator[tuple[str, int]]:
        """The labels of the nodes, depth first, with their depths; at most `depth` levels."""
        places = self._places
        return ((places.label[node], level) for node, level in places.walk(depth=depth))

    def coverage(self) -> Coverage:
        """Which items of the data the tree lacks, which of its items do not occur, and more."""
        places, data = self._places, self._data
        number = places.number
        items = [label for label, node in number.items() if node in places.items]
        groups = {
            label: places.sums(node)[0]
            for label, node in number.items()
            if node not in places.items
        }
        empty = tuple(label for label, size in groups.items() if not size)
        if data is None:
            return Coverage(len(items), len(groups), empty=empty)
        missing = sort_labels([item for item in data if item not in number])
        shadowed = sort_labels([item for item in data if item in groups])
        unused = tuple(item for item in items if item not in data)
        found = (tuple(missing), tuple(shadowed), unused, empty)
        return Coverage(len(items), len(groups), len(data), *found)

    def _node(self, node: int) -> Node:
        places = self._places
        label, parent, is_item = places.label[node], places.parent[node], node in places.items
        items, occurrences = places.sums(node)
        return Node(
            label,
            None if parent == ABOVE_ROOT else places.label[parent],
            is_item,
            len(places.children.get(node, ())),
            items,
            occurrences if self._has_supports else None,
            label in self._data if is_item and self._data is not None else None,
        )

    def _number(self, label: str) -> int:
        number = self._places.number.get(label)
        if number is None:
            near = did_you_mean(label, self._places.number)
            raise UnknownItemError([label], "the tree has no node", near)
        return number


def _rank(label: str, wanted: str) -> int:
    return 0 if label == wanted else 1 if label.startswith(wanted) else 2

"""How a tree fits the items of the data: what it lacks, what is unused, which groups are empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import sort_labels, vocabulary_of
from setveil.errors import brief_list
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


def coverage_of(
    leaves: Iterable[str],
    groups: Mapping[str, int],
    data: Mapping[str, int] | None,
    is_known: Callable[[str], bool],
) -> Coverage:
    """How items and groups of a tree, these with the number of items below, fit the data."""
    items, empty = list(leaves), tuple(label for label, size in groups.items() if not size)
    if data is None:
        return Coverage(len(items), len(groups), empty=empty)
    missing = sort_labels([item for item in data if not is_known(item)])
    shadowed = sort_labels([item for item in data if item in groups])
    unused = tuple(item for item in items if item not in data)
    found = (tuple(missing), tuple(shadowed), unused, empty)
    return Coverage(len(items), len(groups), len(data), *found)

"""The form of vocabularies: a multiset of bags, each of which stands for a group of people whose bags are close in meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from setveil.data.seeds import random_from
from setveil.data.transactions import Bags, Counts
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.promises.promise import Promise
from setveil.published.frozen import Frozen
from setveil.published.generalized import distinct_records, relabeled

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Matches(Frozen):
    """Private: which original occurrence is represented by which slot, one row for each occurrence that is published.

    A slot is one occurrence of one item in the bag that is published for a group; one occurrence of each member is matched to it.
    """

    records: Numbers
    """The original record."""
    items: npt.NDArray[np.int32]
    """The original item, as its number in the vocabulary of the original."""
    slots: Numbers
    """The slot it was matched to, unique over all groups."""

    def __post_init__(self) -> None:
        if not len(self.records) == len(self.items) == len(self.slots):
            raise DataError(
                "matches need a record, an item and a slot for each published occurrence"
            )
        super().__post_init__()

    def __len__(self) -> int:
        """The number of original occurrences that are published."""
        return len(self.records)


@dataclass(frozen=True, eq=False, repr=False)
class TypicalBags(Frozen):
    """Bags that each stand for a group of people, held as distinct bags and how many people each stands for. [Liu2010b]

    The items of `classes` are original items; nodes of `hierarchy`, where there is one; or slots, where there are `slots`. The vocabulary
    holds only what is published. What links people to bags is private: `alignment` and `matches` are there right after `anonymize` and are
    never written into a release.

    Example:
        >>> from setveil.promises.kanonymity import VocabularyKAnonymity
        >>> release = TypicalBags.of([["wine", "wine", "milk"], ["milk", "wine", "wine"], []], VocabularyKAnonymity(k=2))
        >>> len(release), release.sizes.tolist(), release.classes.occurrences
        (3, [1, 2], 3)
    """

    form: ClassVar[str] = "typical-bags"

    classes: Bags
    """The distinct published bags, in a canonical order."""
    sizes: Counts
    """How many people each of them stands for."""
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    """The method's name and parameters, as in `release.json`."""
    hierarchy: Hierarchy | None = None
    """The tree of the published nodes, when published items are nodes."""
    slots: Bags | None = None
    """When published items are slots: record i is the bag of original items that published item i stands for."""
    semantics: Origin | None = None
    """The recipe of the tree by which bags were compared, where it was built and is not here: who has the original can build it again."""
    alignment: Numbers | None = None
    """Private: the distinct bag of each original record."""
    matches: Matches | None = None
    """Private: which slot represents which original occurrence."""

    @classmethod
    def of(
        cls,
        records: Iterable[Iterable[object]],
        promise: Promise,
        *,
        method: Mapping[str, object] | None = None,
    ) -> TypicalBags:
        """From published bags, with repeats or as mappings `{item: count}`; the first stands for the first original record, and so on."""
        rows = Bags.of(records)
        return cls.of_rows(rows, promise, method or {}, alignment=np.arange(len(rows)))

    @classmethod
    def of_rows(
        cls,
        rows: Bags,
        promise: Promise,
        method: Mapping[str, object],
        *,
        alignment: Numbers | None = None,
        weights: Counts | None = None,
        hierarchy: Hierarchy | None = None,
        slots: Bags | None = None,
        semantics: Origin | None = None,
        matches: Matches | None = None,
    ) -> TypicalBags:
        """From published bags in any order, equal ones merged, and items that stand in none of them forgotten.

        Args:
            rows: One bag for each group of people.
            promise: What the release promises.
            method: The method's name and parameters.
            alignment: The row of each original record, when known.
            weights: How many people each row stands for; when not given, as `alignment` says, or else 1 each.
            hierarchy: The tree, when the items of the rows are labels of its nodes.
            slots: What each item of the rows stands for, when they are slots; equal ones become one, under a label made anew.
            semantics: How the tree was built by which the bags were compared, when it was.
            matches: Which slot represents which original occurrence, when known.
        """
        if weights is None and alignment is not None:
            weights = np.bincount(alignment, minlength=len(rows))
        rows, slots = _tidy(rows, slots)
        classes, member = distinct_records(rows)
        sizes = np.bincount(member, weights=weights, minlength=len(classes)).astype(np.int64)
        aligned = None if alignment is None else member[alignment]
        return cls(
            _as_bags(classes), sizes, promise, method, hierarchy, slots, semantics, aligned, matches
        )

    def __len__(self) -> int:
        """The number of published bags."""
        return int(self.sizes.sum())

    def __eq__(self, other: object) -> bool:
        """The same multiset of bags; who stands behind them does not matter."""
        return isinstance(other, TypicalBags) and self._multiset() == other._multiset()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TypicalBags({len(self)} records in {len(self.classes)} classes, {self.promise})"

    def _multiset(self) -> dict[object, int]:
        names = self.meanings()
        return {
            frozenset((names[item], count) for item, count in bag): size
            for bag, size in zip(_pairs(self.classes), self.sizes.tolist(), strict=True)
        }

    def meanings(self) -> list[object]:
        """What each published item stands for: its label, or of a slot the set of its pairs (original item, count)."""
        if self.slots is None:
            return list(self.items.labels)
        labels = self.slots.vocabulary.labels
        return [
            frozenset((labels[item], count) for item, count in bag) for bag in _pairs(self.slots)
        ]

    def with_terms(self) -> TypicalBags:
        """The same release with, in the place of each slot, the item that it holds most often, of several the first; others as they are.

        The classes stay where they are, so that equal ones may stand among them.
        """
        if self.slots is None:
            return self
        slots = self.slots
        order = np.lexsort((slots.items, -slots.counts, slots.rows))
        chosen = slots.items[order[slots.indptr[:-1]]]
        classes = _as_bags(relabeled(self.classes, chosen, slots.vocabulary))
        return replace(self, classes=classes, slots=None)

    def term_totals(self) -> dict[str, int]:
        """How many occurrences of each item all bags show together, for all people; a slot shows all of its items."""
        classes = self.classes
        people = classes.counts * self.sizes[classes.rows]
        if self.slots is None:
            totals = np.bincount(classes.items, weights=people, minlength=len(self.items))
            return dict(zip(self.items.labels, totals.astype(np.int64).tolist(), strict=True))
        slots = self.slots
        groups = np.bincount(classes.items, weights=people, minlength=len(slots)) / np.maximum(
            slots.totals, 1
        )
        totals = np.bincount(
            slots.items, weights=slots.counts * groups[slots.rows], minlength=len(slots.vocabulary)
        )
        return dict(
            zip(slots.vocabulary.labels, totals.round().astype(np.int64).tolist(), strict=True)
        )

    @property
    def items(self) -> Vocabulary:
        """The published items."""
        return self.classes.vocabulary

    @property
    def empty(self) -> int:
        """How many people an empty bag stands for."""
        return int(self.sizes[self.classes.lengths == 0].sum())

    def published_nodes(self) -> npt.NDArray[np.int32]:
        """The nodes of the hierarchy that are published; none when there is no hierarchy."""
        if self.hierarchy is None:
            return np.zeros(0, dtype=np.int32)
        return np.unique(self.hierarchy.nodes.encode(self.items.labels))

    def records(self, seed: int | None = None) -> Bags:
        """All published bags, in random order: from the system, or from a seed."""
        rows = np.repeat(np.arange(len(self.classes)), self.sizes)
        return self.classes.take(random_from(seed).permutation(rows))

    def without_alignment(self) -> TypicalBags:
        """The same release as anybody may have it."""
        return replace(self, alignment=None, matches=None)

    def on(self, hierarchy: Hierarchy) -> TypicalBags:
        """The same bags over another tree that holds the same labels (the whole one instead of the pruned one)."""
        hierarchy.nodes.encode(self.items.labels)
        return replace(self, hierarchy=hierarchy)


def _as_bags(data: object) -> Bags:
    assert isinstance(data, Bags)
    return data


def _pairs(data: Bags) -> list[list[tuple[int, int]]]:
    """Each bag as pairs (item number, count)."""
    pairs = list(zip(data.items.tolist(), data.counts.tolist(), strict=True))
    bounds = data.indptr.tolist()
    return [pairs[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False)]


def _tidy(rows: Bags, slots: Bags | None) -> tuple[Bags, Bags | None]:
    """The same bags over the sorted vocabulary of what stands in them; equal slots are one item, numbered by what they hold."""
    used = np.unique(rows.items)
    if slots is None:
        labels = [rows.vocabulary[number] for number in used.tolist()]
        vocabulary = Vocabulary(sort_labels(labels))
        return _renamed(rows, used, vocabulary.encode(labels), vocabulary), None
    if len(slots) != len(rows.vocabulary):
        raise DataError(
            f"there are {len(slots)} slots for {len(rows.vocabulary)} published items: each needs one"
        )
    terms, _ = _tidy(slots.take(used), None)
    distinct, member = distinct_records(terms)
    vocabulary = Vocabulary(sort_labels([str(number + 1) for number in range(len(distinct))]))
    return _renamed(rows, used, member.astype(np.int32), vocabulary), _as_bags(distinct)


def _renamed(
    rows: Bags, used: npt.NDArray[np.int32], numbers: npt.NDArray[np.int32], vocabulary: Vocabulary
) -> Bags:
    place = np.full(len(rows.vocabulary), -1, dtype=np.int32)
    place[used] = numbers
    return _as_bags(relabeled(rows, place, vocabulary))

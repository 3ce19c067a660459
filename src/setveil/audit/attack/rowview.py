"""What an adversary sees of published records: generalized, suppressed, or typical bags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from setveil.alignment.align import align, check_size, over_whole_tree
from setveil.audit.attack.draws import Items
from setveil.audit.attack.findings import narrowing
from setveil.audit.attack.outcome import Finding, View
from setveil.data.arrays import Floats, Int64s, offsets, positions, ranges, sums
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import MisfitError
from setveil.hierarchy.tree import Hierarchy
from setveil.published.generalized import Generalized
from setveil.published.release import RecordRelease, Release
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags

Represents = Callable[[int], Int64s | None]
"""The published labels that may represent an item; None if it leaves no trace."""


@dataclass(frozen=True, eq=False)
class Rows(View):
    """Distinct published records and how often each occurs.

    With `strict`, a record is a candidate if it may be that of a person with the known items.
    Otherwise the adversary takes the records that represent most of them."""

    classes: Transactions
    sizes: Int64s
    represents: Represents
    original: Transactions
    meaning: tuple[Int64s, Int64s, Floats]
    """For each published label: the first item (in the order of `order`) that it may represent,
    where these end, and how likely a person with the label has each of them."""
    order: Int64s
    """The items of the original that each place of these ranges stands for, -1 for none."""
    strict: bool = True
    free: Int64s = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Classes that may be anybody's."""
    parts: Floats | None = None
    """How much of the chance each place of `order` has; the same for all if not given."""
    homes: Int64s | None = None
    named: tuple[Finding, ...] = ()
    candidate: str = "a published record that could be the person's"

    @property
    def own_fits(self) -> bool:
        return self.strict

    def candidates(self, known: Items, lacking: Items = ()) -> float:
        places = self.places(known)
        for item in lacking:
            places = np.setdiff1d(places, self._certain(item), assume_unique=True)
        return float(max(int(self.sizes[places].sum()), 1))

    def places(self, known: Items) -> Int64s:
        found = [self._holders(item) for item in known]
        holders = [each for each in found if each is not None]
        if not holders:
            return np.arange(len(self.classes))
        if not self.strict:
            # All classes if none represents any of the items.
            counts = np.bincount(np.concatenate(holders), minlength=len(self.classes))
            most = int(counts.max(initial=0))
            return np.flatnonzero(counts == most) if most else np.arange(len(self.classes))
        holders.sort(key=len)
        both = holders[0]
        for each in holders[1:]:
            both = np.intersect1d(both, each, assume_unique=True)
        return both

    def home(self) -> Int64s | None:
        return self.homes

    def beliefs(self, known: Items) -> Floats:
        return self.beliefs_at(self.places(known), known)

    def beliefs_at(self, places: Int64s, known: Items) -> Floats:
        """The same if only these classes may be the person's."""
        weights = self._weights(places, known)
        lengths = self.classes.lengths[places]
        entries = ranges(self.classes.indptr[places], lengths)
        labels = self.classes.items[entries]
        total = np.bincount(
            labels,
            np.repeat(weights, lengths) * self._chances[entries],
            minlength=len(self.classes.vocabulary),
        )
        first, stop, _ = self.meaning
        steps = np.zeros(len(self.order) + 1)
        np.add.at(steps, first, total)
        np.subtract.at(steps, stop, total)
        found = np.zeros(len(self.original.vocabulary) + 1)
        chances = np.cumsum(steps)[:-1]
        np.add.at(found, self.order, chances if self.parts is None else chances * self.parts)
        beliefs = np.clip(found[:-1], 0.0, 1.0)
        beliefs[list(known)] = 1.0
        return beliefs

    def findings(self) -> list[Finding]:
        return list(self.named)

    def _weights(self, places: Int64s, known: Items) -> Floats:
        """How likely each candidate class is that of the person: the more people it has, and the
        likelier its labels represent the known items. A class that may be anybody's is as likely as
        one with a label for all items."""
        weights = self.sizes[places].astype(np.float64)
        for item in known if self.strict else ():
            labels = self.represents(item)
            if labels is None:
                continue
            chance = np.full(len(self.classes), 1 / max(len(self.original.vocabulary), 1))
            for label in labels.tolist():
                chance[self._of_label(label)] = self.meaning[2][label]
            weights *= chance[places]
        return weights / max(float(weights.sum()), 1e-300)

    @cached_property
    def _chances(self) -> Floats:
        """For each entry, how likely the person has one item that its label represents."""
        chance = self.meaning[2][self.classes.items]
        if isinstance(self.classes, Bags):
            chance = 1.0 - (1.0 - chance) ** self.classes.counts
        return chance

    @cached_property
    def _postings(self) -> tuple[Int64s, Int64s]:
        """The classes of each label: starts, and numbers one label after the other."""
        rows = self.classes
        order = np.argsort(rows.items, kind="stable")
        counts = np.bincount(rows.items, minlength=len(rows.vocabulary))
        return offsets(counts), rows.rows[order]

    @cached_property
    def _known_holders(self) -> dict[int, Int64s | None]:
        return {}

    def _holders(self, item: int) -> Int64s | None:
        """The classes with a label that may represent an item; None if it leaves no trace."""
        if item not in self._known_holders:
            labels = self.represents(item)
            found = None if labels is None else [self._of_label(label) for label in labels]
            self._known_holders[item] = (
                None if found is None else np.unique(np.concatenate((self.free, *found)))
            )
        return self._known_holders[item]

    def _of_label(self, label: int) -> Int64s:
        starts, rows = self._postings
        return rows[starts[label] : starts[label + 1]]

    def _certain(self, item: int) -> Int64s:
        """The classes all of whose people have an item."""
        first, stop, chance = self.meaning
        alone = (stop - first == 1) & (chance == 1.0)
        labels = np.flatnonzero(alone)
        labels = labels[self.order[first[labels]] == item] if self.strict else labels[:0]
        found = [self._of_label(label) for label in labels.tolist()]
        return np.unique(np.concatenate((self.free[:0], *found)))


def view_generalized(release: Generalized, original: Transactions) -> View:
    """A record is a candidate if each known item is below one of its nodes.

    An empty record of a local recoding may be anybody's. Under one cut for all records, an item
    outside the cut was suppressed everywhere and leaves no trace."""
    release = over_whole_tree(release, original)
    meaning = meaning_of(release, original)

    def represents(item: int) -> Int64s | None:
        above = meaning.represents(item)
        return None if meaning.leaves_out and above is not None and not len(above) else above

    return Rows(
        release.classes,
        release.sizes,
        represents,
        original,
        meaning.ranges,
        meaning.order,
        free=meaning.free,
        homes=align(release, original),
        named=(narrowing(release),),
    )


class LabelMeaning(NamedTuple):
    """What the labels of published records may represent."""

    represents: Represents
    ranges: tuple[Int64s, Int64s, Floats]
    order: Int64s
    free: Int64s
    leaves_out: bool
    """Whether an item that no label represents may have been left out of any record."""


def meaning_of(release: RecordRelease, original: Transactions) -> LabelMeaning:
    """What the labels of generalized or suppressed records may represent."""
    tree, nothing = release.tree, np.zeros(0, dtype=np.int64)
    if tree is None:
        numbers = release.items.find(original.vocabulary)
        return LabelMeaning(
            lambda item: numbers[item : item + 1] if numbers[item] >= 0 else nothing,
            _themselves(len(release.items)),
            _places(original, release.items),
            nothing,
            True,
        )
    leaves, published = tree.nodes.find(original.vocabulary), np.zeros(len(tree), dtype=bool)
    published[np.unique(release.classes.items)] = True

    def represents(item: int) -> Int64s:
        path = _path(tree, int(leaves[item]))
        return path[published[path]]

    is_global = bool(getattr(release, "is_global", False))
    empty = np.flatnonzero(release.classes.lengths == 0)
    ranges, order = _below(tree, np.arange(len(tree))), _items_at(tree, leaves)
    return LabelMeaning(represents, ranges, order, nothing if is_global else empty, is_global)


def view_suppressed(release: Suppressed, original: Transactions) -> View:
    """A record is a candidate if it contains every known item that is published at all."""
    check_size(release, original)
    data = original.sets() if isinstance(original, Bags) else original
    images = release.images(data.vocabulary)

    def represents(item: int) -> Int64s | None:
        return None if images[item] < 0 else np.array([images[item]], dtype=np.int64)

    text = (
        "An adversary who knows the method knows that a missing item was rare, or revealed a "
        "private one. The candidates stay the same: no record shows that an item is missing."
    )
    return Rows(
        release.classes,
        release.sizes,
        represents,
        data,
        _themselves(len(release.items)),
        _places(data, release.items),
        homes=_own_classes(release, data),
        named=(Finding("minimality", text, {}),),
    )


def view_typical_bags(release: TypicalBags, original: Transactions) -> View:
    """Anybody may have had any item, so the adversary takes the bags that represent most of the
    known items: by the same item, by a slot with it, or by a node above it."""
    check_size(release, original)
    release = over_whole_tree(release, original)
    tree = release.hierarchy
    words: dict[str, Any] = {"strict": False, "homes": release.alignment}
    words["candidate"] = "a published bag that represents most of the known items"
    if release.slots is not None:
        return _slots_view(release, original, words)
    if tree is None:
        return view_rows(release, original)
    nodes = tree.nodes.find(release.items)
    leaves = tree.nodes.find(original.vocabulary)
    label_of = positions(nodes, len(tree))

    def represents(item: int) -> Int64s:
        labels = label_of[_path(tree, int(leaves[item]))]
        return labels[labels >= 0]

    meaning, order = _below(tree, nodes), _items_at(tree, leaves)
    return Rows(release.classes, release.sizes, represents, original, meaning, order, **words)


def view_rows(release: Release, original: Transactions) -> View:
    """Any form that says something for certain about rows of items: the adversary takes the rows
    with most of the known items."""
    rows, counts = release.certain_rows()
    numbers = rows.vocabulary.find(original.vocabulary)

    def represents(item: int) -> Int64s:
        return np.array([numbers[item]] if numbers[item] >= 0 else [], dtype=np.int64)

    return Rows(
        rows,
        counts,
        represents,
        original,
        _themselves(len(rows.vocabulary)),
        _places(original, rows.vocabulary),
        strict=False,
        homes=release.alignment if isinstance(release, RecordRelease) else None,
        candidate="a published record that has most of the known items",
    )


def _slots_view(release: TypicalBags, original: Transactions, words: dict[str, Any]) -> View:
    """Published items are slots: bags of original items, each of which somebody has."""
    slots = release.slots
    assert slots is not None
    numbers = slots.vocabulary.find(original.vocabulary)
    order = np.argsort(slots.items, kind="stable")
    starts = offsets(np.bincount(slots.items, minlength=len(slots.vocabulary)))

    def represents(item: int) -> Int64s:
        number = int(numbers[item])
        return slots.rows[order[starts[number] : starts[number + 1]]] if number >= 0 else order[:0]

    meaning = slots.indptr[:-1], slots.indptr[1:], np.ones(len(slots))
    known = _places(original, slots.vocabulary)
    return Rows(
        release.classes,
        release.sizes,
        represents,
        original,
        meaning,
        known[slots.items],
        parts=slots.counts / slots.totals[slots.rows],
        **words,
    )


def _path(tree: Hierarchy, leaf: int) -> Int64s:
    """A leaf and the nodes above it; none for what is no leaf."""
    path = tree.ancestors[leaf] if 0 <= leaf < tree.leaf_count else tree.parent[:0]
    return path[path >= 0].astype(np.int64)


def _below(tree: Hierarchy, nodes: Int64s) -> tuple[Int64s, Int64s, Floats]:
    """The leaves below each node, and how likely each is if one of them is meant."""
    first, stop = tree.first[nodes].astype(np.int64), tree.stop[nodes].astype(np.int64)
    return first, stop, 1.0 / np.maximum(stop - first, 1)


def _themselves(size: int) -> tuple[Int64s, Int64s, Floats]:
    """Labels that represent one item each, in their order."""
    places = np.arange(size)
    return places, places + 1, np.ones(size)


def _places(original: Transactions, labels: Vocabulary) -> Int64s:
    """The item of the original with each label; one past the last item if there is none."""
    numbers = original.vocabulary.find(labels)
    return np.where(numbers < 0, len(original.vocabulary), numbers)


def _items_at(tree: Hierarchy, leaves: Int64s) -> Int64s:
    """The item of the original at each leaf; one past the last item if there is none."""
    items = np.full(tree.leaf_count, len(leaves), dtype=np.int64)
    known = np.flatnonzero((leaves >= 0) & (leaves < tree.leaf_count))
    items[leaves[known]] = known
    return items


def _own_classes(release: Suppressed, data: Transactions) -> Int64s:
    """The class of each original record."""
    items = set(release.items)
    classes = {tuple(sorted(record)): number for number, record in enumerate(release.classes)}
    remains = (tuple(sorted(item for item in record if item in items)) for record in data)
    found = np.array([classes.get(record, -1) for record in remains], dtype=np.int64)
    if (found < 0).any() or not np.array_equal(sums(found, 1, len(classes)), release.sizes):
        raise MisfitError("its records are not those of the original without some items")
    return found

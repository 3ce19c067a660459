"""Typical bags: each published bag represents a group of people whose bags are close in meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s, find, random_from, sums
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.promises.promise import Promise
from setveil.published.countable import Counting
from setveil.published.release import Frozen, RecordRelease
from setveil.published.rows import (
    Branches,
    coverage,
    distinct_records,
    greatest,
    most_below,
    relabeled,
    tidy,
)


@dataclass(frozen=True, eq=False)
class Matches(Frozen):
    """Private: which original occurrence each slot represents, one row per published occurrence.

    A slot is one occurrence of one item in the bag of a group; each member has one occurrence in
    it."""

    records: Int64s
    """The original record."""
    items: Int32s
    """The original item, as its number in the vocabulary of the original."""
    slots: Int64s
    """The slot it was matched to, unique over all groups."""

    def __post_init__(self) -> None:
        if not len(self.records) == len(self.items) == len(self.slots):
            raise DataError("matches need a record, an item and a slot for each occurrence")
        super().__post_init__()

    def __len__(self) -> int:
        """The number of original occurrences that are published."""
        return len(self.records)


@dataclass(frozen=True, eq=False, repr=False)
class TypicalBags(RecordRelease):
    """Bags that each represent a group of people, held as distinct bags and their sizes. [Liu2010b]

    The items of `classes` are original items, nodes of `hierarchy` if it is given, or slots if
    there are `slots`. The vocabulary has only what is published. `alignment` and `matches`, which
    link people to bags, are private: they exist right after `anonymize` and are never written into
    a release.

    Example:
        >>> from setveil.promises import VocabularyKAnonymity
        >>> rows = [["wine", "wine", "milk"], ["milk", "wine", "wine"], []]
        >>> release = TypicalBags.of(rows, VocabularyKAnonymity(k=2))
        >>> len(release), release.sizes.tolist(), release.classes.occurrences
        (3, [1, 2], 3)
        >>> release.support(["wine"])
        Support(lower=1, upper=3, expected=2.0, accuracy='within 50 %')
    """

    form: ClassVar[str] = "typical-bags"
    kind: ClassVar[type[Transactions]] = Bags
    expected_is: ClassVar[str] = "an estimate: everybody is taken to have what their bag shows"
    open_because: ClassVar[str] = "a bag shows what its people share, and each may have more"
    no_rule: ClassVar[str] = "its bags represent groups of its own people"
    compares_by_tree: ClassVar[bool] = True

    classes: Bags
    """The distinct published bags in a canonical order."""
    sizes: Int64s
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    hierarchy: Hierarchy | None = None
    """The tree of the published nodes, if the published items are nodes."""
    slots: Bags | None = None
    """If published items are slots: record i is the bag of original items in published item i."""
    semantics: Origin | None = None
    """How the tree that bags were compared with was built, if it was built and is not here: the
    owner of the original can build it again."""
    alignment: Int64s | None = None
    matches: Matches | None = None
    epsilon: int | None = None
    """At most how many steps apart in the tree the occurrences in one slot are; None if unknown."""
    omega: float | None = None
    """What an occurrence without a partner cost when bags were compared; None if unknown."""
    by_majority: bool = False
    """Whether a published leaf of the hierarchy belongs to at least half of the people, not to all,
    and the others have something else in the same branch below the root."""
    min_people: int = 0
    same_branch: bool | None = False
    """Whether the occurrences in one slot are said to have more than the root in common; None if
    the release is older than that statement."""
    complete: bool = False
    """Whether a bag is said to show every item that all its people have."""

    def __post_init__(self) -> None:
        if self.epsilon is not None and not (type(self.epsilon) is int and self.epsilon >= 0):
            raise DataError("epsilon is not a number of steps")
        if self.by_majority and self.hierarchy is None:
            raise DataError("items by majority need the hierarchy of the other items")
        super().__post_init__()

    @classmethod
    def of_rows(
        cls,
        rows: Transactions,
        promise: Promise,
        method: Mapping[str, object] | None = None,
        *,
        slots: Bags | None = None,
        **facts: Any,
    ) -> Self:
        """As of other forms, from bags of which each represents a group of people: by default those
        that the alignment says.

        `slots` is what each item of the rows contains, if they are slots; equal ones are merged and
        numbered anew."""
        if facts.get("weights") is None and facts.get("alignment") is not None:
            facts["weights"] = np.bincount(facts["alignment"], minlength=len(rows))
        if slots is not None:
            rows, slots = _tidy(rows, slots)
        return super().of_rows(rows, promise, method, slots=slots, **facts)

    @property
    def tree(self) -> Hierarchy | None:
        return self.hierarchy

    @property
    def shown(self) -> frozenset[str]:
        slots = self.slots
        inside = () if slots is None else np.unique(slots.items).tolist()
        labels = () if slots is None else slots.vocabulary.labels
        return super().shown.union(labels[number] for number in inside)

    @property
    def facts(self) -> dict[str, object]:
        said = {
            "epsilon": self.epsilon,
            "omega": self.omega,
            "same_branch": self.same_branch,
            "complete": self.complete or None,
            "by_majority": self.by_majority or None,
        }
        return {name: value for name, value in said.items() if value is not None}

    def replaced(self, original: Transactions) -> tuple[int, int]:
        """None if it is not known who the people are, nor for nodes and slots: these say it."""
        named = self.slots is None and (self.hierarchy is None or self.by_majority)
        if self.alignment is None or not named or not len(self.classes.items):
            return 0, 0
        published, width = self.classes.take(self.alignment), len(original.vocabulary) + 1
        place = original.vocabulary.find(self.items)[published.items] % width
        groups = self._is_group()[published.items]
        own = original.rows * width + original.items
        at = find(own, published.rows * width + place)
        counts = original.counts if isinstance(original, Bags) else np.ones(len(own), np.int64)
        kept = np.where(groups, published.counts, np.append(counts, 0)[at])
        total = int(published.counts.sum())
        return total - int(np.minimum(kept, published.counts).sum()), total

    def only_terms(self) -> Self:
        """The same release without groups of items; classes keep their places."""
        classes = self.classes
        shown = ~self._is_group()[classes.items]
        rows, items, counts = classes.rows[shown], classes.items[shown], classes.counts[shown]
        kept = Bags.from_pairs(rows, items, self.items, size=len(classes), counts=counts)
        named = cast(Bags, tidy(kept))
        return replace(self, classes=named, hierarchy=None, by_majority=False)

    def _is_group(self) -> Flags:
        """Whether each published item is a group of items: an inner node of the hierarchy."""
        if self.hierarchy is None:
            return np.zeros(len(self.items), dtype=bool)
        return self.hierarchy.nodes.encode(self.items.labels) >= self.hierarchy.leaf_count

    def least_holders(self) -> Int64s:
        """For each entry of `classes` how many people have what it shows, at least."""
        sizes = self.sizes[self.classes.rows]
        if self.hierarchy is None and self.slots is None:
            return np.ones_like(sizes)
        is_shared = ~self._is_group()[self.classes.items] & self.by_majority
        return np.where(is_shared, (sizes + 1) // 2, sizes)

    def published_nodes(self) -> Int32s:
        """The nodes of the hierarchy that are published; empty if there is no hierarchy."""
        if self.hierarchy is None:
            return np.zeros(0, dtype=np.int32)
        return np.unique(self.hierarchy.nodes.encode(self.items.labels))

    def with_terms(self) -> Self:
        """The same release with each slot replaced by its most frequent item, the first of several;
        some classes may now be equal."""
        if self.slots is None:
            return self
        slots = self.slots
        order = np.lexsort((slots.items, -slots.counts, slots.rows))
        chosen = slots.items[order[slots.indptr[:-1]]]
        classes = cast(Bags, relabeled(self.classes, chosen, slots.vocabulary))
        return replace(self, classes=classes, slots=None)

    def term_totals(self) -> dict[str, int]:
        """How often each item is published for all people together; a slot counts all its items."""
        totals, slots = super().term_totals(), self.slots
        if slots is None:
            return totals
        groups = np.array(list(totals.values())) / np.maximum(slots.totals, 1)
        weights, labels = slots.counts * groups[slots.rows], slots.vocabulary.labels
        dealt = np.bincount(slots.items, weights=weights, minlength=len(labels)).round()
        return dict(zip(labels, dealt.astype(np.int64).tolist(), strict=True))

    def records(self, seed: int | None = None) -> Bags:
        return cast(Bags, super().records(seed))

    def reconstruct(self, seed: int | None = None) -> Bags:
        """Bags of original items, which are kept as they are: slots are dealt out to their people,
        and nodes become leaves below them, at most epsilon steps apart and not all in one branch.
        """
        if self.slots is not None:
            known = self.slots.vocabulary
        elif self.hierarchy is not None:
            known = Vocabulary(self.hierarchy.labels[: self.hierarchy.leaf_count])
        else:
            return self.records(seed)
        random = random_from(seed)
        people, starts = random.permutation(len(self)), np.cumsum(self.sizes) - self.sizes
        owners, items = [people[:0]], [self.classes.items[:0]]
        kinds = [self._represented(item) for item in range(len(self.items))]
        entries = self.classes.rows, self.classes.items, self.classes.counts
        for row, item, count in zip(*(array.tolist() for array in entries), strict=True):
            group = people[starts[row] : starts[row] + int(self.sizes[row])]
            for _ in range(count):
                owners.append(group)
                kind = kinds[item]
                if isinstance(kind, Branches):
                    items.append(kind.drawn(len(group), self.epsilon, random))
                    continue
                times = range(0, len(group), max(len(kind), 1))
                dealt = np.concatenate([random.permutation(kind) for _ in times])
                items.append(dealt[: len(group)])
        rows, numbers = np.concatenate(owners), np.concatenate(items)
        return Bags.from_pairs(rows, numbers, known, size=len(self))

    def without_alignment(self) -> Self:
        return replace(self, alignment=None, matches=None)

    def _represented(self, item: int) -> Int32s | Branches:
        """The terms of a slot, or the leaves below a node."""
        if self.slots is not None:
            inside = slice(*self.slots.indptr[item : item + 2])
            return np.repeat(self.slots.items[inside], self.slots.counts[inside])
        assert self.hierarchy is not None
        return Branches.below(self.hierarchy, self.hierarchy.nodes.number(self.items[item]))

    def _holders(self, label: str) -> tuple[Int64s, Int64s, Floats]:
        """Anybody may have any item; of complete bags that lack it, not all people do."""
        rows, sizes = self.classes.rows, self.sizes
        held, chance = self._held(label)
        least, missing = np.zeros_like(sizes), np.ones(len(sizes))
        np.maximum.at(least, rows, held)
        np.multiply.at(missing, rows, (1.0 - chance) ** self.classes.counts)
        most = sizes - (self.complete & ~self._may_all_have(label))
        return least, most, 1.0 - missing

    def _may_all_have(self, label: str) -> Flags:
        """Which bags show an item as what all may have; all bags if it may be a group of items."""
        items, slots, tree = self.classes.items, self.slots, self.hierarchy
        node = 0 if tree is None else tree.nodes.numbers.get(label, 0)
        if tree is not None and (tree.origin.pruned or node >= tree.leaf_count):
            return np.ones(len(self.sizes), dtype=bool)
        if slots is not None:
            number = slots.vocabulary.numbers.get(label, -1)
            shows = ((slots.lengths == 1) & (slots.items[slots.indptr[:-1]] == number))[items]
        else:
            shows = items == self.items.numbers.get(label, -1)
        found: Flags = np.bincount(self.classes.rows[shows], minlength=len(self.sizes)) > 0
        return found

    def counting(self) -> Counting:
        """What `support` says of each label, summed over all bags. Anybody may have any item, but
        for one person of each bag that does not show it, if bags are complete."""
        classes, slots, tree, sizes = self.classes, self.slots, self.hierarchy, self.sizes
        anybody = len(self) - self.complete * len(sizes)
        if slots is not None:
            return _counted_slots(self, slots, anybody)
        people = sizes[classes.rows]
        if tree is None:
            bags = sums(classes.items, 1, len(self.items))
            shown = sums(classes.items, people, len(self.items))
            return Counting(self.items.labels, shown, bags, bags * self.complete, anybody)
        nodes = tree.nodes.encode(self.items.labels)[classes.items]
        lower = most_below(tree, classes.rows, nodes, self.least_holders())
        shown, upper = sums(nodes, people, len(tree)), sums(nodes, 1, len(tree))
        if tree.origin.pruned:
            upper[:] = len(sizes)
        upper[tree.leaf_count :] = len(sizes)
        used = np.flatnonzero(lower)
        labels = tuple(tree.labels[node] for node in used.tolist())
        return Counting(labels, shown[used], lower[used], upper[used] * self.complete, anybody)

    def _held(self, label: str) -> tuple[Int64s, Floats]:
        """For each entry of `classes`: how many people have an item for certain because of it, and
        the chance that one has.

        A node at or below the label is certain for all of them, an item belongs to at least one (by
        majority to half of them), and a slot says how many have each of its items."""
        items, slots, tree = self.classes.items, self.slots, self.hierarchy
        sizes = self.sizes[self.classes.rows]
        if slots is not None:
            is_asked = slots.items == slots.vocabulary.numbers.get(label, -1)
            held = np.bincount(slots.rows, slots.counts * is_asked, len(slots)).astype(np.int64)
            totals = slots.totals[items]
            return held[items] * sizes // totals, held[items] / totals
        node = (self.items if tree is None else tree.nodes).numbers.get(label)
        if node is None:
            return np.zeros_like(sizes), np.zeros(len(items))
        if tree is None:
            return (items == node).astype(np.int64), (items == node).astype(np.float64)
        within, _, chance = coverage(tree, tree.nodes.encode(self.items.labels)[items], node)
        return np.where(within, self.least_holders(), 0), chance

    def meanings(self) -> list[object]:
        if self.slots is None:
            return super().meanings()
        labels, bounds = self.slots.vocabulary.labels, self.slots.indptr.tolist()
        pairs = zip(self.slots.items.tolist(), self.slots.counts.tolist(), strict=True)
        named = [(labels[item], count) for item, count in pairs]
        return [frozenset(named[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)]


def _counted_slots(release: TypicalBags, slots: Bags, anybody: int) -> Counting:
    """A slot says how many of its people have each of its items."""
    classes, width = release.classes, max(len(slots.vocabulary), 1)
    inside = slots.take(classes.items)
    entry = inside.rows
    rows, totals = classes.rows[entry], slots.totals[classes.items][entry]
    held = inside.counts * release.sizes[rows] // totals
    alone = inside.lengths[entry] == 1
    bags, most = greatest(rows * width + inside.items, held)
    pure, _ = greatest((rows * width + inside.items)[alone], held[alone])
    shown = sums(inside.items, held * classes.counts[entry], width)
    lower, upper = sums(bags % width, most, width), sums(pure % width, 1, width) * release.complete
    cut = len(slots.vocabulary)
    return Counting(slots.vocabulary.labels, shown[:cut], lower[:cut], upper[:cut], anybody)


def _tidy(rows: Transactions, slots: Bags) -> tuple[Transactions, Bags]:
    """The same bags with equal slots merged and numbered by what they contain."""
    if len(slots) != len(rows.vocabulary):
        have, need = len(slots), len(rows.vocabulary)
        raise DataError(f"there are {have} slots for {need} published items: each needs one")
    used = np.unique(rows.items)
    distinct, member = distinct_records(tidy(slots.take(used)))
    vocabulary = Vocabulary(sort_labels([str(number + 1) for number in range(len(distinct))]))
    place = np.full(len(rows.vocabulary), -1, dtype=np.int32)
    place[used] = member
    return relabeled(rows, place, vocabulary), cast(Bags, distinct)

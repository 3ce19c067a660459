"""What generalizing, suppressing and grouping cost: ncp, lm, blm, distortion; and class sizes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import cast

import numpy as np

from setveil.alignment.align import aligned, check_size, over_tree, representing_nodes
from setveil.data.arrays import Int32s, Int64s, run_places
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError, ParameterError, UnknownItemError
from setveil.hierarchy.neighbours import Neighbours, common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.retrieval import SCALE, Meaning
from setveil.metrics.state import State, measured
from setveil.published.generalized import Generalized
from setveil.published.grouped.form import Grouped
from setveil.published.release import RecordRelease
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import Matches, TypicalBags

CANDIDATES = 16  # how many bags are considered for each record if its own is unknown


@dataclass(frozen=True, eq=False)
class Occurrences(State):
    """The original occurrences, and what became of them."""

    original: int
    published: int
    ncp: float = 0.0
    """The costs of the nodes that they are published under."""
    lm: float = 0.0

    @classmethod
    def of(cls, release: Generalized, original: Transactions) -> Occurrences:
        """In sets a node is published for all occurrences that it covers."""
        release = aligned(release, original)
        classes = release.classes
        if isinstance(classes, Bags):
            times = classes.counts * release.sizes[classes.rows]
            return cls.under(release.hierarchy, classes.items, times, original)
        nodes = representing_nodes(release, original)
        counts = original.counts if isinstance(original, Bags) else None
        return cls.under(release.hierarchy, nodes, counts, original)

    @classmethod
    def under(
        cls, tree: Hierarchy, nodes: Int32s, times: Int64s | None, original: Transactions
    ) -> Occurrences:
        """Occurrences that are published under these nodes; -1 is none."""
        found = np.bincount(nodes + 1, weights=times, minlength=len(tree) + 1)[1:]
        widths, leaves = tree.widths, tree.leaf_count
        ncp = np.where(widths > 1, widths / max(leaves, 1), 0.0)
        lm = (widths - 1) / max(leaves - 1, 1)
        return cls(original.occurrences, int(found.sum()), float(found @ ncp), float(found @ lm))

    def average(self, cost: float) -> float:
        """The average cost of an occurrence: 1 if it is not published."""
        return (self.original - self.published + cost) / max(self.original, 1)


@measured(Occurrences.of)
def ncp(found: Occurrences) -> float:
    """Normalized certainty penalty: how large a group replaces an item, as a share of all items.

    Formula: the average over all original occurrences of NCP(v), where v is the node that replaces
    the occurrence. NCP(v) = 0 if v has u = 1 leaf, else u / |I|, where |I| is the number of leaves
    of the hierarchy; a suppressed occurrence costs 1. [He2009] section 3.2

    Range: 0 (every item is published as it is) to 1 (every item became the root or was suppressed).
    0 if there are no occurrences.

    Departures from the paper: its formula sums over published items, its example over original
    occurrences; this follows the example.

    Example:
        Table 1 of the paper, where the loss is 1/3:

        >>> from setveil.promises import KAnonymity
        >>> alcohol = [(drink, "Alcohol", "ALL") for drink in ("Beer", "Wine")]
        >>> care = [(item, "Health Care", "ALL") for item in ("Diapers", "Pregnancy Test")]
        >>> original = Transactions.of([
        ...     ["Beer", "Diapers"], ["Wine", "Diapers", "Pregnancy Test"],
        ...     ["Beer", "Wine", "Pregnancy Test"], ["Beer", "Wine", "Diapers", "Pregnancy Test"]])
        >>> published = [["Alcohol", "Health Care"]] * 2 + [["Beer", "Wine", "Health Care"]] * 2
        >>> tree = Hierarchy.from_paths(alcohol + care)
        >>> round(ncp(Generalized.of(published, tree, KAnonymity(k=2)), original), 4)
        0.3333
    """
    return found.average(found.ncp)


@measured(Occurrences.of)
def lm(found: Occurrences) -> float:
    """Loss metric: how many other items an item may be confused with, as a share of all others.

    Formula: the average over all original occurrences of LM(v) = (u - 1) / (|I| - 1), where v is
    the node over u of the |I| leaves that replaces the occurrence; a suppressed occurrence costs 1.

    Range: 0 to 1, as `ncp`; a tree of one leaf costs 0.

    Example:
        Two people bought alcohol, one of them is published as such, in a tree of three items:
        (1/2 + 0) / 2.

        >>> from setveil.promises import KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> rows, tree = [["Alcohol"], ["wine"]], Hierarchy.from_paths(paths)
        >>> lm(Generalized.of(rows, tree, KAnonymity(k=2)), Transactions.of([["beer"], ["wine"]]))
        0.25
    """
    return found.average(found.lm)


@measured(Occurrences.of)
def blm(found: Occurrences) -> float:
    """Loss metric of bags: an occurrence costs the LM of its node, or 1 if it is not published.

    Formula: if a node v occurs c times in a published record whose original has o occurrences below
    v, then c of them cost LM(v) = (u - 1) / (|I| - 1) and o - c cost 1; the average over all
    original occurrences. In sets every covered occurrence is published, so `blm` equals `lm`. For
    typical bags see `setveil.metrics.generalization.of_slots`. [Liu2010b] section V-A

    Range: 0 to 1.

    Example:
        Five occurrences, four of them published under a node of LM 1/2: (4 x 1/2 + 1) / 5.

        >>> from setveil.data.transactions import Bags
        >>> from setveil.promises import KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> original = Bags.of([{"beer": 2, "wine": 1}, {"beer": 1, "wine": 1}])
        >>> rows, tree = [{"Alcohol": 2}, {"Alcohol": 2}], Hierarchy.from_paths(paths)
        >>> blm(Generalized.of(rows, tree, KAnonymity(k=2), counted=True), original)
        0.6
    """
    return found.average(found.lm)


@measured(Occurrences.of)
def distortion(found: Occurrences) -> float:
    """The share of the original occurrences that are not published at all.

    Formula: suppressed occurrences / all occurrences. If a node occurs c times for o > c
    occurrences in a bag, o - c are suppressed. A typical bag publishes one occurrence of each of
    its people per occurrence in it; all others are suppressed.

    Range: 0 to 1.

    Example:
        In the example of `blm`, one of five occurrences is not published: 0.2."""
    return found.average(0.0)


@dataclass(frozen=True, eq=False)
class Classes(State):
    """How many classes there are of each size."""

    sizes: Counter[int]

    @classmethod
    def of(cls, release: RecordRelease, original: Transactions) -> Classes:
        return cls(Counter(release.sizes.tolist()))


@measured(Classes.of)
def class_sizes(classes: Classes) -> dict[str, float]:
    """How many records are published alike: minimum, median, mean and maximum.

    Formula: over the classes of equal published records (bags: with equal counts), their sizes.

    Range: 1 to the number of records; all 0 if nothing is published. k-anonymity means min >= k.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> release = Generalized.of([["Alcohol"], ["wine"], ["wine"]], tree, KAnonymity(k=2))
        >>> class_sizes(release, Transactions.of([["beer"], ["wine"], ["wine"]]))
        {'min': 1.0, 'median': 1.5, 'mean': 1.5, 'max': 2.0}
    """
    counted = classes.sizes or {0: 1}
    sizes = np.repeat([*counted], [*counted.values()])
    ends = {"min": float(sizes.min()), "median": float(np.median(sizes))}
    return {**ends, "mean": float(sizes.mean()), "max": float(sizes.max())}


def of_suppressed(release: Suppressed, original: Transactions) -> Occurrences:
    """In a suppressed release: those of the items that are published."""
    check_fits(release, original)
    kept = original.vocabulary.marks(release.items)[original.items]
    found = original.counts[kept].sum() if isinstance(original, Bags) else kept.sum()
    return Occurrences(original.occurrences, int(found))


def of_groups(release: Grouped, original: Transactions) -> Occurrences:
    """In groups: all occurrences but those whose items the person's group leaves out."""
    check_size(release, original)
    if not release.shows_records:
        return Occurrences(original.occurrences, original.occurrences)
    if release.tree is None:
        rows, sizes = release.certain_rows()
        published = int(sizes[rows.rows].sum())
        return Occurrences(original.occurrences, published)
    return Occurrences.of(cast(Generalized, release.flat), original)


def of_typical_bags(release: TypicalBags, original: Transactions) -> Occurrences:
    """In typical bags: those that a published occurrence represents, however far it is."""
    published = int((release.classes.counts * release.sizes[release.classes.rows]).sum())
    check_size(release, original)
    if published > original.occurrences:
        raise MisfitError(
            f"it shows {published} occurrences, the original has {original.occurrences}"
        )
    return Occurrences(original.occurrences, published)


def check_fits(release: Suppressed, original: Transactions) -> None:
    """Refuse an original with another number of records, or other supports of published items."""
    check_size(release, original)
    numbers, before = original.vocabulary.numbers, original.supports()
    for item, support in release.term_totals().items():
        if item not in numbers or before[numbers[item]] != support:
            problem = "a published item occurs in another number of records than in the original"
            raise MisfitError(problem, published=(item,))


def of_slots(
    release: TypicalBags, original: Transactions, *, hierarchy: Hierarchy | None = None
) -> Occurrences:
    """The original occurrences, published under the lowest node over their slot. [Liu2010b] section
    V-A

    What the slots contain is known if the release still has its matches, or publishes slots or
    nodes. Otherwise each record is matched again with its bag, at the least distance, and what
    cannot be matched costs 1; if an item occurs several times in a bag, the same items of several
    records get the same slot. If the alignment is unknown too, `guess_alignment` gives one."""
    found = of_typical_bags(release, original)
    if not found.published:
        return found
    release = over_tree(release, original, hierarchy)
    tree = release.hierarchy if hierarchy is None else hierarchy
    if tree is None:
        allowed = "blm is about the nodes over the items of a slot and needs a hierarchy"
        raise ParameterError("hierarchy", None, allowed)
    return Occurrences.under(tree, *_represented(release, original, tree), original)


def _represented(
    release: TypicalBags, original: Transactions, tree: Hierarchy
) -> tuple[Int32s, Int64s]:
    """The nodes that represent slots, and how many original occurrences each represents."""
    classes, leaves = release.classes, tree.leaf_numbers(original.vocabulary)
    people = classes.counts * release.sizes[classes.rows]
    if release.matches is not None:
        names, matched = np.unique(release.matches.slots, return_inverse=True)
        nodes = common_ancestors(tree, matched, leaves[release.matches.items], len(names))
        return nodes, np.bincount(matched, minlength=len(names))
    if release.by_majority:
        return _of_both(release, original, tree)
    if release.hierarchy is not None:
        return tree.nodes.encode(release.items.labels)[classes.items], people
    if release.slots is not None:
        slots, held = release.slots, leaves[_encoded(release.slots, original)]
        return common_ancestors(tree, slots.rows, held, len(slots))[classes.items], people
    return _matched_anew(release, original, tree, leaves)


def _of_both(
    release: TypicalBags, original: Transactions, tree: Hierarchy
) -> tuple[Int32s, Int64s]:
    """Groups represent themselves; the slots of single items are found by matching."""
    classes = release.classes
    nodes = tree.nodes.encode(release.items.labels)[classes.items]
    is_group = nodes >= tree.leaf_count
    people = (classes.counts * release.sizes[classes.rows])[is_group]
    leaves = tree.leaf_numbers(original.vocabulary)
    over, times = _matched_anew(release.only_terms(), original, tree, leaves)
    return np.concatenate((nodes[is_group], over)), np.concatenate((people, times))


def _encoded(data: Bags, original: Transactions) -> Int32s:
    """The number in the original's vocabulary of each entry of some data."""
    try:
        return original.vocabulary.encode(data.vocabulary.labels)[data.items]
    except UnknownItemError as error:
        problem = f"it shows {len(error.items)} items that the original does not have"
        raise MisfitError(problem, published=error.items) from None


def _matched_anew(
    release: TypicalBags, original: Transactions, tree: Hierarchy, leaves: Int32s
) -> tuple[Int32s, Int64s]:
    """Slots by matching each record with its bag: one for each item of each bag."""
    from setveil.kernels.retrieval import BagRows, NearItems, pair_records

    meaning = Meaning.of(release)
    near = tree.neighbours(original.vocabulary, meaning.epsilon)
    known, items = release.alignment, _encoded(release.classes, original)
    alignment = guess_alignment(release, original, near) if known is None else np.array(known)
    pairs = pair_records(
        BagRows(release.classes.indptr, items, release.classes.counts),
        alignment,
        BagRows(original.indptr, original.items, original.times),
        NearItems(near.indptr, near.items, SCALE * near.distances.astype(np.int64)),
        meaning.nil,
    ).reshape(-1, 3)
    single = np.repeat(pairs[:, :2], pairs[:, 2], axis=0)
    slots = _slots_of(single, items, release.classes.counts, original)
    terms = np.repeat(items, release.classes.counts)
    over = common_ancestors(
        tree,
        np.concatenate((np.arange(len(terms)), slots.slots)),
        np.concatenate((leaves[terms], leaves[slots.items])),
        len(terms),
    )
    return over, np.bincount(slots.slots, minlength=len(terms))


def _slots_of(pairs: Int64s, terms: Int32s, counts: Int64s, original: Transactions) -> Matches:
    """Pairs of (entry of a bag, entry of a record) as matches; an entry has a slot per occurrence.

    Of what a record has for an entry, the published item itself comes first, then the others in
    their order, each in a slot of its own."""
    owner, own = pairs[:, 0], pairs[:, 1]
    items, records = original.items[own], original.rows[own]
    order = np.lexsort((items, items != terms[owner], owner, records))
    owner, items, records = owner[order], items[order], records[order]
    slots = (np.cumsum(counts) - counts)[owner] + run_places(owner, records)
    return Matches(records, items, slots)


def guess_alignment(release: TypicalBags, original: Transactions, near: Neighbours) -> Int64s:
    """A bag for each original record, each as often as its size says, if the true one is unknown.

    Each record rates the bags that have something near its own items and are not longer than it (by
    a bound on the distance). The pairs of record and bag are then taken by rating, the best first,
    as long as the bag has people left; the other records get what is left. This is greedy, so the
    loss found with it is an estimate, usually above the true one."""
    from setveil.kernels.retrieval import BagRows, NearItems, rate_bags

    classes, items = release.classes, _encoded(release.classes, original)
    order = np.argsort(items, kind="stable")
    starts = np.searchsorted(items[order], np.arange(len(original.vocabulary) + 1))
    chosen, ratings = rate_bags(
        BagRows(original.indptr, original.items, original.times),
        BagRows(classes.indptr, items, classes.counts),
        BagRows(starts, classes.rows[order].astype(np.int32), classes.counts[order]),
        NearItems(near.indptr, near.items, SCALE * near.distances.astype(np.int64)),
        Meaning.of(release).nil,
        CANDIDATES,
    )
    return _handed_out(chosen, ratings, release.sizes)


def _handed_out(chosen: Int64s, ratings: Int64s, sizes: Int64s) -> Int64s:
    """Give out the bags by rating, each as often as its size says."""
    records, places = np.nonzero(chosen >= 0)
    order = np.lexsort((records, ratings[records, places]))
    left = sizes.tolist()
    alignment = np.full(len(chosen), -1, dtype=np.int64)
    pairs = np.column_stack((records, chosen[records, places]))[order]
    for record, bag in pairs.tolist():
        if left[bag] > 0 and alignment[record] < 0:
            alignment[record] = bag
            left[bag] -= 1
    alignment[alignment < 0] = np.repeat(np.arange(len(left)), left)
    return alignment

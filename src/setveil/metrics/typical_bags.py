"""What it cost to publish one bag for a group of people: blm of typical bags."""

import numpy as np

from setveil.alignment.align import over_tree
from setveil.data.arrays import Int32s, Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError, ParameterError, UnknownItemError
from setveil.hierarchy.neighbours import Neighbours, common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.generalization import Occurrences, of_typical_bags
from setveil.metrics.retrieval import SCALE, Meaning
from setveil.published.typical_bags import Matches, TypicalBags

CANDIDATES = 16  # how many bags are considered for each record if its own is unknown


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
        return _of_matches(release.matches, leaves, tree)
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


def _of_matches(matches: Matches, leaves: Int32s, tree: Hierarchy) -> tuple[Int32s, Int64s]:
    names, slots = np.unique(matches.slots, return_inverse=True)
    nodes = common_ancestors(tree, slots, leaves[matches.items], len(names))
    return nodes, np.bincount(slots, minlength=len(names))


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
        BagRows(original.indptr, original.items, _counts(original)),
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
    new = np.ones(len(order), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (records[1:] != records[:-1])
    starts = np.flatnonzero(new)
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return Matches(records, items, (np.cumsum(counts) - counts)[owner] + rank)


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
        BagRows(original.indptr, original.items, _counts(original)),
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


def _counts(data: Transactions) -> Int64s:
    return data.counts if isinstance(data, Bags) else np.ones(len(data.items), dtype=np.int64)

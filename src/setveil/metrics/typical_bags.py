"""What it cost to publish one bag for a group of people: blm of typical bags."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setveil.alignment.align import over_tree
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError, ParameterError, UnknownItemError
from setveil.hierarchy.neighbours import Neighbours, common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.generalization import published_share
from setveil.metrics.meaning import SCALE, Meaning
from setveil.published.typical_bags import Matches, TypicalBags

Numbers = npt.NDArray[np.int64]

CANDIDATES = 16  # how many bags are considered for each record if its own is unknown


def loss_of_slots(
    release: TypicalBags, original: Transactions, *, hierarchy: Hierarchy | None = None
) -> float:
    """The average over all original occurrences of the LM of the lowest node over their slot; 1 if
    an occurrence is not published. [Liu2010b] section V-A

    What the slots contain is known if the release still has its matches, or publishes slots or
    nodes. Otherwise each record is matched again with its bag, at the least distance, and what
    cannot be matched costs 1; if an item occurs several times in a bag, the same items of several
    records get the same slot. If the alignment is unknown too, `guess_alignment` gives one."""
    if not original.occurrences or published_share(release, original) == 0:
        return 1.0 if original.occurrences else 0.0
    release = over_tree(release, original, hierarchy)
    tree = release.hierarchy if hierarchy is None else hierarchy
    if tree is None:
        raise ParameterError(
            "hierarchy",
            None,
            "blm is about the nodes over the items of a slot and needs a hierarchy",
        )
    nodes, times = _standing(release, original, tree)
    costs = (tree.widths - 1) / max(tree.leaf_count - 1, 1)
    return float(
        (original.occurrences - times.sum() + (costs[nodes] * times).sum()) / original.occurrences
    )


def _standing(
    release: TypicalBags, original: Transactions, tree: Hierarchy
) -> tuple[npt.NDArray[np.int32], Numbers]:
    """The nodes that represent slots, and how many original occurrences each represents."""
    classes, leaves = release.classes, tree.leaf_numbers(original.vocabulary)
    people = classes.counts * release.sizes[classes.rows]
    if release.matches is not None:
        return _of_matches(release.matches, leaves, tree)
    if release.hierarchy is not None:
        return tree.nodes.encode(release.items.labels)[classes.items], people
    if release.slots is not None:
        over = common_ancestors(
            tree,
            release.slots.rows,
            leaves[_encoded(release.slots, original)[1]],
            len(release.slots),
        )
        return over[classes.items], people
    return _matched_anew(release, original, tree, leaves)


def _of_matches(
    matches: Matches, leaves: npt.NDArray[np.int32], tree: Hierarchy
) -> tuple[npt.NDArray[np.int32], Numbers]:
    names, slots = np.unique(matches.slots, return_inverse=True)
    return common_ancestors(tree, slots, leaves[matches.items], len(names)), np.bincount(
        slots, minlength=len(names)
    )


def _encoded(
    data: Bags, original: Transactions
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The number in the original's vocabulary of each item of some data, and of each entry."""
    try:
        numbers = original.vocabulary.encode(data.vocabulary.labels)
    except UnknownItemError as error:
        raise MisfitError(
            f"it shows {len(error.items)} items that the original does not have",
            published=error.items,
        ) from None
    return numbers, numbers[data.items]


def _matched_anew(
    release: TypicalBags, original: Transactions, tree: Hierarchy, leaves: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Numbers]:
    """Slots by matching each record with its bag: one for each item of each bag."""
    from setveil.kernels.retrieval import BagRows, NearItems, pair_records

    meaning = Meaning.of(release)
    near = tree.neighbours(original.vocabulary, meaning.epsilon)
    alignment = (
        np.array(release.alignment)
        if release.alignment is not None
        else guess_alignment(release, original, near)
    )
    items = _encoded(release.classes, original)[1]
    pairs = pair_records(
        BagRows(release.classes.indptr, items, release.classes.counts),
        alignment,
        BagRows(original.indptr, original.items, _counts(original)),
        NearItems(near.indptr, near.items, SCALE * near.distances.astype(np.int64)),
        meaning.nil,
    ).reshape(-1, 3)
    slots = _slots_of(
        np.repeat(pairs[:, :2], pairs[:, 2], axis=0), items, release.classes.counts, original
    )
    terms = np.repeat(items, release.classes.counts)
    over = common_ancestors(
        tree,
        np.concatenate((np.arange(len(terms)), slots.slots)),
        np.concatenate((leaves[terms], leaves[slots.items])),
        len(terms),
    )
    return over, np.bincount(slots.slots, minlength=len(terms))


def _slots_of(
    pairs: Numbers, terms: npt.NDArray[np.int32], counts: Numbers, original: Transactions
) -> Matches:
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


def guess_alignment(release: TypicalBags, original: Transactions, near: Neighbours) -> Numbers:
    """A bag for each original record, each as often as its size says, if the true one is unknown.

    Each record rates the bags that have something near its own items and are not longer than it (by
    a bound on the distance). The pairs of record and bag are then taken by rating, the best first,
    as long as the bag has people left; the other records get what is left. This is greedy, so the
    loss found with it is an estimate, usually above the true one."""
    from setveil.kernels.retrieval import BagRows, NearItems, rate_bags

    classes, items = release.classes, _encoded(release.classes, original)[1]
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


def _handed_out(chosen: Numbers, ratings: Numbers, sizes: Numbers) -> Numbers:
    """Give out the bags by rating, each as often as its size says."""
    records, places = np.nonzero(chosen >= 0)
    order = np.lexsort((records, ratings[records, places]))
    left = sizes.tolist()
    alignment = np.full(len(chosen), -1, dtype=np.int64)
    for record, bag in zip(
        records[order].tolist(), chosen[records, places][order].tolist(), strict=True
    ):
        if left[bag] > 0 and alignment[record] < 0:
            alignment[record] = bag
            left[bag] -= 1
    alignment[alignment < 0] = np.repeat(np.arange(len(left)), left)
    return alignment


def _counts(data: Transactions) -> Numbers:
    return data.counts if isinstance(data, Bags) else np.ones(len(data.items), dtype=np.int64)

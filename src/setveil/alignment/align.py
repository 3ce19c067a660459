"""The alignment: which published record may stand for each original one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from setveil.alignment.fitting import ClassTable, ClassTrie, LeafRecords, Numbers, leaves_of
from setveil.alignment.matching import Matching, Shortage
from setveil.alignment.recoding import image_alignment
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, MisfitError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.published.generalized import Generalized
from setveil.published.release import Release
from setveil.published.rows import distinct_records

AnyRelease = TypeVar("AnyRelease", bound=Release)

_BLOCK_RECORDS = 1 << 14
_BLOCK_ENTRIES = 1 << 20


def align(release: Generalized, original: Transactions) -> npt.NDArray[np.int64]:
    """The class that may stand for each original record; each class stands for as many records as its size says.

    A class may stand for a record when the class is the image of the record: every item is covered by exactly one node of the class, every
    node covers at least one item (in bags: stands at most as often as the items under it). The empty class may stand for any record, all of
    whose items are then suppressed. Where one cut stands for all records (`Generalized.is_global`), the image of a record has no node for
    the items that the cut leaves out, and the alignment follows from it. When any other release still has its alignment, that one is
    checked and given back; otherwise one is found by matching. Several may be possible, and the true one is not known then.

    Cost: checking is linear. Matching works on distinct records and groups those that fit the same classes; 90,000 real baskets take
    seconds.

    Raises:
        MisfitError: when there is no such assignment, with a record that fits nowhere or a published record too many.

    Example:
        >>> from setveil.hierarchy.tree import Hierarchy
        >>> from setveil.promises import KAnonymity
        >>> tree = Hierarchy.from_parents(["beer", "wine", "milk", "Alcohol", "ALL"], [3, 3, 4, 4, -1])
        >>> nodes = tree.nodes.encode(["Alcohol", "milk", "Alcohol", "Alcohol"])
        >>> rows = Transactions.from_pairs(np.array([0, 1, 1, 2]), nodes, tree.nodes)
        >>> release = Generalized.of_rows(rows, tree, KAnonymity(k=2), {})
        >>> [release.classes.record(number) for number in align(release, Transactions.of([["milk", "wine"], ["beer", "wine"], ["beer"]]))]
        [('milk', 'Alcohol'), ('Alcohol',), ('Alcohol',)]
    """
    release = over_whole_tree(release, original)
    if len(release) != len(original):
        raise MisfitError(f"it has {len(release)} records, the original {len(original)}")
    if release.is_global:
        return _checked_image(release, image_alignment(release, original))
    if release.alignment is not None:
        check_alignment(release, original, release.alignment)
        return release.alignment
    return _match(release, original)


def _checked_image(release: Generalized, images: Numbers) -> Numbers:
    """The alignment that the cut gives, if the one that the release has, if any, is the same."""
    if release.alignment is not None and not np.array_equal(release.alignment, images):
        raise MisfitError("its alignment is not the one that its cut gives")
    return images


def aligned(release: Generalized, original: Transactions) -> Generalized:
    """The release over its whole tree and with an alignment; one that has both comes back as it is, only its length checked."""
    release = over_whole_tree(release, original)
    if release.alignment is not None and len(release.alignment) == len(original) == len(release):
        return release
    return replace(release, alignment=align(release, original))


def over_whole_tree(release: AnyRelease, original: Transactions) -> AnyRelease:
    """The release over the tree it was made with, which is built again from the original when only a part of it was published."""
    if release.tree is None or not release.tree.origin.pruned:
        return release
    return _on(release, _rebuilt(release.tree.origin, original), "built from the original's items")


def over_tree(
    release: AnyRelease, original: Transactions, hierarchy: Hierarchy | None
) -> AnyRelease:
    """As `over_whole_tree`, but over a tree that is given, if one is; a release without a tree comes back as it is."""
    if release.tree is None or hierarchy is None or not release.tree.origin.pruned:
        return over_whole_tree(release, original)
    return _on(release, hierarchy, "given")


def semantic_tree(
    release: Release, original: Transactions, hierarchy: Hierarchy | None
) -> Hierarchy | None:
    """The tree by which bags were compared: the one that is given, or else what the recipe of the release makes; None without either."""
    if hierarchy is not None or release.tree is not None or release.semantics is None:
        return hierarchy
    return _rebuilt(release.semantics, original)


def _rebuilt(origin: Origin, original: Transactions) -> Hierarchy:
    """The tree that a recipe makes of the items of the original; the recipe is read from a file and may say anything."""
    from setveil.hierarchy.build import rebuild

    try:
        return rebuild(origin, original.vocabulary, original.supports())
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise MisfitError("its tree cannot be built again by the recipe in release.json") from None


def _on(release: AnyRelease, tree: Hierarchy, kind: str) -> AnyRelease:
    try:
        return release.on(tree)
    except UnknownItemError as error:
        problem = f"it shows {len(error.items)} nodes that the tree {kind} does not have"
        raise MisfitError(problem, published=error.items) from None


def standing_nodes(
    release: Generalized, original: Transactions, alignment: Numbers
) -> npt.NDArray[np.int32]:
    """The node that stands for each entry of `original.items` under an alignment; -1 for an entry that is suppressed."""
    table, leaves = (
        ClassTable.of(release.classes, release.hierarchy),
        leaves_of(release.hierarchy, original.vocabulary),
    )
    nodes = np.full(len(original.items), -1, dtype=np.int32)
    for start, stop in _blocks(original):
        entries = slice(original.indptr[start], original.indptr[stop])
        owners = np.repeat(alignment[start:stop], original.lengths[start:stop])
        found = table.find(owners, leaves[original.items[entries]])
        covered = found >= 0
        nodes[entries][covered] = table.nodes[found[covered]]
    return nodes


def check_alignment(release: Generalized, original: Transactions, alignment: Numbers) -> None:
    """Raise `MisfitError` unless every class stands for as many records as its size says and is the image of each of them.

    Cost: linear, in blocks of a million entries, whatever the size of the data.
    """
    count = len(release.classes)
    if len(alignment) != len(original) or (
        len(alignment) and not 0 <= alignment.min() <= alignment.max() < count
    ):
        raise MisfitError(
            f"its alignment must give one of {count} classes to each of {len(original)} records"
        )
    used = np.bincount(alignment, minlength=count)
    if (used != release.sizes).any():
        number = int(np.flatnonzero(used != release.sizes)[0])
        problem = f"a published record stands {release.sizes[number]} times but is given to {used[number]} originals"
        raise MisfitError(problem, published=release.classes.record(number))
    table, leaves = (
        ClassTable.of(release.classes, release.hierarchy),
        leaves_of(release.hierarchy, original.vocabulary),
    )
    for start, stop in _blocks(original):
        wrong = _misfits(table, original, leaves, alignment, start, stop)
        if len(wrong):
            raise _record_misfit(release, original, int(wrong[0]), int(alignment[wrong[0]]))


def _blocks(data: Transactions) -> Iterator[tuple[int, int]]:
    """Ranges of records with about a million entries each."""
    start = 0
    while start < len(data):
        stop = (
            int(np.searchsorted(data.indptr, data.indptr[start] + _BLOCK_ENTRIES, side="right")) - 1
        )
        stop = min(max(stop, start + 1), len(data), start + _BLOCK_ENTRIES)
        yield start, stop
        start = stop


def _misfits(
    table: ClassTable,
    original: Transactions,
    leaves: Numbers,
    alignment: Numbers,
    start: int,
    stop: int,
) -> Numbers:
    """The records of a block of which their class is not the image."""
    entries = slice(original.indptr[start], original.indptr[stop])
    classes = alignment[start:stop]
    owners = np.repeat(np.arange(stop - start), original.lengths[start:stop])
    found = table.find(classes[owners], leaves[original.items[entries]])
    bad = table.broken[classes]
    bad[owners[found < 0]] = True
    codes = owners * (len(table.nodes) + 1) + np.maximum(found, 0)
    pairs = np.unique(codes)
    hit_owner, hit_entry = np.divmod(pairs, len(table.nodes) + 1)
    bad |= np.bincount(hit_owner, minlength=stop - start) != table.lengths[classes]
    if (table.counts > 1).any():
        counts = original.counts[entries] if isinstance(original, Bags) else None
        held = np.bincount(np.searchsorted(pairs, codes), weights=counts, minlength=len(pairs))
        bad[hit_owner[held < table.counts[hit_entry]]] = True
    return np.flatnonzero(bad & (table.lengths[classes] > 0)) + start


def _match(release: Generalized, original: Transactions) -> Numbers:
    """Find an assignment: which classes fit which distinct records, then a flow over groups of records that fit the same ones."""
    table = ClassTable.of(release.classes, release.hierarchy)
    with_counts = isinstance(original, Bags) and isinstance(release.classes, Bags)
    data = original if with_counts or not isinstance(original, Bags) else original.sets()
    distinct, member = distinct_records(data)
    group, signatures = _group(table, LeafRecords.of(distinct, release.hierarchy))
    empty = table.lengths == 0
    supply = np.bincount(group[member], minlength=len(signatures)).astype(np.int64)
    lengths = np.array([len(signature) for signature in signatures], dtype=np.int64)
    _check_homeless(
        release, original, supply, lengths, group[member], int(release.sizes[empty].sum())
    )
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    classes = np.concatenate(signatures) if signatures else np.zeros(0, dtype=np.int64)
    matching = Matching(indptr, classes, supply, np.where(empty, 0, release.sizes))
    shortage = matching.fill()
    if shortage is not None:
        raise _class_misfit(release, shortage)
    return _assign(matching, group[member], np.repeat(np.flatnonzero(empty), release.sizes[empty]))


def _group(table: ClassTable, records: LeafRecords) -> tuple[Numbers, list[Numbers]]:
    """The group of each record, and the classes that fit the records of each group."""
    trie, known = ClassTrie(table), dict[bytes, int]()
    signatures: list[Numbers] = []
    count = len(records.indptr) - 1
    group = np.zeros(count, dtype=np.int64)
    for start in range(0, count, _BLOCK_RECORDS):
        stop = min(start + _BLOCK_RECORDS, count)
        rows, classes = trie.fits(records, start, stop)
        bounds = np.searchsorted(rows, np.arange(start, stop + 1))
        for number in range(start, stop):
            signature = classes[bounds[number - start] : bounds[number - start + 1]]
            key = signature.tobytes()
            if key not in known:
                known[key] = len(signatures)
                signatures.append(signature.copy())
            group[number] = known[key]
    return group, signatures


def _check_homeless(
    release: Generalized,
    original: Transactions,
    supply: Numbers,
    lengths: Numbers,
    group: Numbers,
    empty: int,
) -> None:
    """Refuse when more records fit no class than there are published records without items."""
    if int(supply[lengths == 0].sum()) <= empty:
        return
    homeless = np.flatnonzero(lengths[group] == 0)
    number = homeless[np.argmax(original.lengths[homeless])]
    raise _record_misfit(release, original, int(number), None)


def _assign(matching: Matching, group: Numbers, empties: Numbers) -> Numbers:
    """Hand out the classes of each group to its records in order; those left over get the empty class."""
    owners = np.concatenate(
        (
            np.repeat(matching.owner, matching.flow),
            np.repeat(np.arange(len(matching.left)), matching.left),
        )
    )
    classes = np.concatenate((np.repeat(matching.classes, matching.flow), empties))
    alignment = np.empty(len(group), dtype=np.int64)
    alignment[np.argsort(group, kind="stable")] = classes[np.argsort(owners, kind="stable")]
    return alignment


def _record_misfit(
    release: Generalized, original: Transactions, record: int, number: int | None
) -> MisfitError:
    items = original.record(record)
    unknown = [item for item in items if item not in release.hierarchy.nodes]
    if unknown:
        return MisfitError(
            "an original record holds an item that the hierarchy does not have", record=items
        )
    if number is None:
        return MisfitError(
            f"an original record of {len(items)} items is the source of no published record",
            record=items,
        )
    problem = f"the published record that stands for an original record of {len(items)} items is not its image"
    return MisfitError(problem, record=items, published=release.classes.record(number))


def _class_misfit(release: Generalized, shortage: Shortage) -> MisfitError:
    worst = int(shortage.classes[np.argmax(release.sizes[shortage.classes])])
    count = len(shortage.classes)
    kinds = (
        f"{count} distinct published records stand" if count > 1 else "a published record stands"
    )
    records = f"{shortage.fitting} original record{'s' * (shortage.fitting != 1)}"
    problem = f"{kinds} {shortage.needed} times, but only {records} can be behind {'them' if count > 1 else 'it'}"
    return MisfitError(problem, published=release.classes.record(worst))

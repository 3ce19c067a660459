"""The alignment: which published record may belong to each original record."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.alignment.fitting import ClassTable, ClassTrie, LeafRecords, leaves_of
from setveil.alignment.flow import Matching, Shortage
from setveil.alignment.merging import (
    SomeRelease,
    equal_records,
    item_supports,
    recounted,
    renamed,
    stacked,
)
from setveil.data.arrays import Int32s, Int64s, distinct, offsets, ranges, sums
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, MisfitError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.hierarchy.unknown import lacking, rooted
from setveil.published.generalized import Generalized
from setveil.published.release import Release
from setveil.threads import on_threads
from setveil.words import count, plural

_BLOCK_RECORDS = 1 << 14
_BLOCK_ENTRIES = 1 << 20


def align(release: Generalized, original: Transactions) -> Int64s:
    """A class for each original record that it may be published as; each class has `sizes` records.

    A class fits a record if it generalizes it: exactly one node of the class covers each item, and
    each node covers at least one (in bags: it occurs at most as often as the items below it). The
    empty class fits any record; all its items are then suppressed. If one cut generalizes all
    records (`Generalized.is_global`), items outside the cut are suppressed, and the alignment
    follows from the cut. If another release still has its alignment, that one is checked and
    returned. Otherwise one is found by matching; there may be several, and nobody knows the true
    one then.

    Cost: checking is linear. Matching works on distinct records and groups those that fit the same
    classes; 90,000 real baskets take seconds.

    Raises: MisfitError: if there is none, with a record that fits nowhere or a published record too
        many.

    Example:
        >>> from setveil.hierarchy.tree import Hierarchy
        >>> from setveil.promises import KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> rows = [["Alcohol"], ["Alcohol", "milk"], ["Alcohol"]]
        >>> release = Generalized.of(rows, Hierarchy.from_paths(paths), KAnonymity(k=2))
        >>> original = Transactions.of([["milk", "wine"], ["beer", "wine"], ["beer"]])
        >>> found = align(release.without_alignment(), original)
        >>> [release.classes.record(number) for number in found]
        [('milk', 'Alcohol'), ('Alcohol',), ('Alcohol',)]
    """
    release = over_whole_tree(release, original)
    check_size(release, original)
    if release.is_global:
        # The cut says nothing about items that the tree lacks. If the release says that such items
        # were dropped or placed below the root, they are gone or there by now.
        leaves = leaves_of(release.hierarchy, original.vocabulary)
        foreign = np.flatnonzero(leaves[original.items] < 0)
        if len(foreign):
            raise _foreign(original.record(int(original.rows[foreign[0]])))
        images = image_alignment(release, original)
        if release.alignment is not None and not np.array_equal(release.alignment, images):
            raise MisfitError("its alignment is not the one that follows from its cut")
        return images
    if release.alignment is not None:
        check_alignment(release, original, release.alignment)
        return release.alignment
    return _match(release, original)


def _foreign(record: tuple[str, ...]) -> MisfitError:
    problem = "an original record contains an item that is not in the hierarchy"
    return MisfitError(problem, record=record)


def aligned(release: Generalized, original: Transactions) -> Generalized:
    """The release over its whole tree, with an alignment; one that it has is not checked."""
    release = over_whole_tree(release, original)
    if release.alignment is not None and len(release.alignment) == len(original) == len(release):
        return release
    return replace(release, alignment=align(release, original))


def check_size(release: Release, original: Transactions) -> None:
    """Raise `MisfitError` unless there are as many published records as originals."""
    if len(release) != len(original):
        have = f"it has {plural(len(release), 'record')} and the original has"
        raise MisfitError(f"{have} {count(len(original))}")


def over_whole_tree(release: SomeRelease, original: Transactions) -> SomeRelease:
    """The release over the tree it was made with, rebuilt if it brings only a part of it.

    Items that a given tree lacks are leaves below its root, if the release says so."""
    if release.tree is None:
        return release
    groups = getattr(release, "groups", None)
    if groups is not None:
        tree = over_whole_tree(groups[0], original).tree
        if tree is groups[0].tree:
            return release
        moved = tuple(on_tree(each, tree, "the tree of all its groups") for each in groups)
        return replace(release, groups=moved)  # type: ignore[type-var]
    if release.tree.origin.parameters.get("unknown") == "root":
        missing = lacking(release.tree, original.vocabulary)
        new = [item for item in missing if item not in release.tree]
        return over(release, rooted(release.tree, new)) if new else release
    if not release.tree.origin.pruned:
        return release
    tree = _rebuilt(release.tree.origin, original)
    return on_tree(release, tree, "the tree built from the original's items")


def over_tree(
    release: SomeRelease, original: Transactions, hierarchy: Hierarchy | None
) -> SomeRelease:
    """As `over_whole_tree`, but over the given tree, if there is one."""
    if release.tree is None or hierarchy is None or not release.tree.origin.pruned:
        return over_whole_tree(release, original)
    return on_tree(release, hierarchy, "the given tree")


def semantic_tree(
    release: Release, original: Transactions, hierarchy: Hierarchy | None
) -> Hierarchy | None:
    """The tree that bags were compared with: given, or rebuilt from the original; else None."""
    if hierarchy is not None or release.tree is not None or release.semantics is None:
        return hierarchy
    return _rebuilt(release.semantics, original)


def _rebuilt(origin: Origin, original: Transactions) -> Hierarchy:
    """The tree that a recipe makes; it comes from a file and may be anything."""
    from setveil.hierarchy.build import rebuild

    try:
        return rebuild(origin, original.vocabulary, item_supports(original))
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise MisfitError("its tree cannot be rebuilt from the recipe in release.json") from None


def on_tree(release: SomeRelease, tree: Hierarchy, name: str) -> SomeRelease:
    """A release that shows only a part of its tree, over the whole tree; errors call it `name`."""
    try:
        return over(release, tree)
    except UnknownItemError as error:
        problem = f"it contains {plural(len(error.items), 'node')} that {name} lacks"
        raise MisfitError(problem, published=error.items) from None


def over(release: SomeRelease, tree: Hierarchy) -> SomeRelease:
    """The same release over another tree with the same labels (the whole one, not a part)."""
    some: Any = release
    if some.items is not some.tree.nodes:  # its items are numbered on their own
        tree.nodes.encode(some.items.labels)
        return replace(release, hierarchy=tree)  # type: ignore[type-var]
    used, numbers = np.unique(some.classes.items), np.full(len(some.tree), -1, dtype=np.int32)
    numbers[used] = tree.nodes.encode([some.tree.labels[node] for node in used.tolist()])
    rows = renamed(some.classes, numbers, tree.nodes)
    moved: SomeRelease = replace(some, classes=rows, hierarchy=tree)
    return recounted(moved)


def representing_nodes(release: Generalized, original: Transactions) -> Int32s:
    """The node that represents each entry of `original.items`; -1 if it is suppressed.

    The release must have its alignment."""
    alignment = release.alignment
    assert alignment is not None
    table = ClassTable.of(release.classes, release.hierarchy)
    leaves = leaves_of(release.hierarchy, original.vocabulary)
    nodes = np.full(len(original.items), -1, dtype=np.int32)

    def represent(records: Int64s) -> None:
        rows = original.take(records)
        found = table.find(np.repeat(alignment[records], rows.lengths), leaves[rows.items])
        entries = ranges(original.indptr[records], rows.lengths)
        nodes[entries] = np.where(found >= 0, table.nodes[found], -1) if len(table.nodes) else -1

    for _ in on_threads(represent, _blocks(original, alignment)):
        pass
    return nodes


def check_alignment(release: Generalized, original: Transactions, alignment: Int64s) -> None:
    """Raise `MisfitError` unless each class has `sizes` records and generalizes each of them.

    Cost: linear, in blocks of a million entries."""
    classes = len(release.classes)
    outside = (alignment < 0) | (alignment >= classes)
    if len(alignment) != len(original) or outside.any():
        problem = f"its alignment must name one of {count(classes)} distinct published records"
        raise MisfitError(f"{problem} for each of {count(len(original))} originals")
    used = np.bincount(alignment, minlength=classes)
    if (used != release.sizes).any():
        number = int(np.flatnonzero(used != release.sizes)[0])
        times = plural(int(release.sizes[number]), "time")
        problem = (
            f"a record is published {times} but aligned with {plural(used[number], 'original')}"
        )
        raise MisfitError(problem, published=release.classes.record(number))
    table = ClassTable.of(release.classes, release.hierarchy)
    leaves = leaves_of(release.hierarchy, original.vocabulary)

    def misfits(records: Int64s) -> Int64s:
        return records[_misfits(table, original.take(records), leaves, alignment[records])]

    wrong = [each.min() for each in on_threads(misfits, _blocks(original, alignment)) if len(each)]
    if wrong:
        first = int(min(wrong))
        raise _record_misfit(release, original, first, int(alignment[first]))


def _blocks(data: Transactions, alignment: Int64s) -> Iterator[Int64s]:
    """The records, class by class, a million entries at a time: so classes are looked up faster."""
    order = np.argsort(alignment, kind="stable")
    ends, start = np.cumsum(data.lengths[order]), 0
    while start < len(data):
        most = _BLOCK_ENTRIES + (ends[start - 1] if start else 0)
        stop = int(np.searchsorted(ends, most, side="right"))
        stop = min(max(stop, start + 1), len(data), start + _BLOCK_ENTRIES)
        yield order[start:stop]
        start = stop


def _misfits(table: ClassTable, records: Transactions, leaves: Int64s, classes: Int64s) -> Int64s:
    """Which of some records their class does not generalize."""
    owners = records.rows
    found = table.find(classes[owners], leaves[records.items])
    bad = table.broken[classes]
    bad[owners[found < 0]] = True
    codes = owners * (len(table.nodes) + 1) + np.maximum(found, 0)
    pairs = distinct(codes)
    hit_owner, hit_entry = np.divmod(pairs, len(table.nodes) + 1)
    bad |= np.bincount(hit_owner, minlength=len(records)) != table.lengths[classes]
    if (table.counts > 1).any():
        held = sums(np.searchsorted(pairs, codes), records.times, len(pairs))
        bad[hit_owner[held < table.counts[hit_entry]]] = True
    return np.flatnonzero(bad & (table.lengths[classes] > 0))


def _match(release: Generalized, original: Transactions) -> Int64s:
    """Find which classes fit which distinct records, then a flow from records to classes."""
    table = ClassTable.of(release.classes, release.hierarchy)
    with_counts = isinstance(original, Bags) and isinstance(release.classes, Bags)
    data = original if with_counts or not isinstance(original, Bags) else original.sets()
    first, member = equal_records(data)
    group, signatures = _group(table, LeafRecords.of(data.take(first), release.hierarchy))
    empty, member = table.lengths == 0, group[member]
    supply = np.bincount(member, minlength=len(signatures)).astype(np.int64)
    lengths = np.array([len(signature) for signature in signatures], dtype=np.int64)
    fits_none = np.flatnonzero(lengths[member] == 0)
    if len(fits_none) > release.sizes[empty].sum():
        longest = fits_none[np.argmax(original.lengths[fits_none])]
        raise _record_misfit(release, original, int(longest), None)
    classes = np.concatenate(signatures) if signatures else np.zeros(0, dtype=np.int64)
    matching = Matching(offsets(lengths), classes, supply, np.where(empty, 0, release.sizes))
    shortage = matching.fill()
    if shortage is not None:
        raise _class_misfit(release, shortage)
    return _assign(matching, member, np.repeat(np.flatnonzero(empty), release.sizes[empty]))


def _group(table: ClassTable, records: LeafRecords) -> tuple[Int64s, list[Int64s]]:
    """The group of each record, and the classes that all records of each group fit."""
    trie, known = ClassTrie(table), dict[bytes, int]()
    signatures: list[Int64s] = []
    total = len(records.indptr) - 1
    group = np.zeros(total, dtype=np.int64)
    for start in range(0, total, _BLOCK_RECORDS):
        stop = min(start + _BLOCK_RECORDS, total)
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


def _assign(matching: Matching, group: Int64s, empties: Int64s) -> Int64s:
    """Give the classes of each group to its records in order; the rest get the empty class."""
    served = np.repeat(matching.owner, matching.flow)
    left = np.repeat(np.arange(len(matching.left)), matching.left)
    owners = np.concatenate((served, left))
    classes = np.concatenate((np.repeat(matching.classes, matching.flow), empties))
    alignment = np.empty(len(group), dtype=np.int64)
    alignment[np.argsort(group, kind="stable")] = classes[np.argsort(owners, kind="stable")]
    return alignment


def _record_misfit(
    release: Generalized, original: Transactions, record: int, number: int | None
) -> MisfitError:
    items = original.record(record)
    if any(item not in release.hierarchy.nodes for item in items):
        return _foreign(items)
    length = plural(len(items), "item")
    if number is None:
        problem = f"no published record generalizes an original record of {length}"
        return MisfitError(problem, record=items)
    problem = f"the record published for an original of {length} does not generalize it"
    return MisfitError(problem, record=items, published=release.classes.record(number))


def _class_misfit(release: Generalized, shortage: Shortage) -> MisfitError:
    worst = int(shortage.classes[np.argmax(release.sizes[shortage.classes])])
    several = len(shortage.classes) > 1
    records = f"{count(len(shortage.classes))} distinct records are" if several else "a record is"
    fitting = (
        f"{'they' if several else 'it'} can come from only {plural(shortage.fitting, 'original')}"
    )
    problem = f"{records} published {plural(shortage.needed, 'time')}, but {fitting}"
    return MisfitError(problem, published=release.classes.record(worst))


def nested_nodes(release: Generalized) -> tuple[int, int] | None:
    """A published node and one above it that is published too, in any record; None on one cut."""
    tree, nodes = release.hierarchy, release.published_nodes()
    nodes = nodes[np.lexsort((-tree.stop[nodes], tree.first[nodes]))]
    overlap = np.flatnonzero(tree.stop[nodes[:-1]] > tree.first[nodes[1:]])
    return (int(nodes[overlap[0] + 1]), int(nodes[overlap[0]])) if len(overlap) else None


def image_alignment(release: Generalized, original: Transactions) -> Int64s:
    """The class of each original record: its items replaced by the published nodes above them.

    An item below no published node is suppressed everywhere."""
    nested = nested_nodes(release)
    if nested is not None:
        node, above = (release.hierarchy.labels[number] for number in nested)
        both = f"contains both {node} and {above}, which includes it"
        raise MisfitError(f"it claims to use one cut for all records, but {both}")
    nodes = _cover(release)[leaves_of(release.hierarchy, original.vocabulary)[original.items]]
    kept, labels = nodes >= 0, release.hierarchy.nodes
    rows = Transactions.from_pairs(original.rows[kept], nodes[kept], labels, size=len(original))
    _, member = equal_records(stacked(release.classes, rows))
    classes, member = member[: len(release.classes)], member[len(release.classes) :]
    size = int(max(classes.max(initial=-1), member.max(initial=-1))) + 1
    place = np.full(size, -1, dtype=np.int64)
    place[classes[::-1]] = np.arange(len(classes) - 1, -1, -1)
    alignment = place[member]
    if (alignment < 0).any():
        record = int(np.flatnonzero(alignment < 0)[0])
        problem = "what an original record becomes under the cut is not published"
        raise MisfitError(problem, record=original.record(record))
    used = np.bincount(alignment, minlength=len(classes))
    sizes = sums(place[classes], release.sizes, len(classes))
    wrong = np.flatnonzero(used != sizes)
    if len(wrong):
        number = int(wrong[0])
        times, sources = int(sizes[number]), int(used[number])
        come = f"comes from {plural(sources, 'original')} under the cut"
        problem = f"a record is published {plural(times, 'time')} but {come}"
        raise MisfitError(problem, published=release.classes.record(number))
    return alignment


def _cover(release: Generalized) -> Int32s:
    """The published node above each leaf; -1 if there is none."""
    tree: Hierarchy = release.hierarchy
    over = np.full(tree.leaf_count, -1, dtype=np.int32)
    for node in release.published_nodes().tolist():
        over[tree.first[node] : tree.stop[node]] = node
    return over

"""Global recoding: the alignment of a release whose records are all generalized by one cut."""

from __future__ import annotations

import numpy as np

from setveil.alignment.fitting import leaves_of
from setveil.data.arrays import Int32s, Int64s
from setveil.data.transactions import Transactions
from setveil.errors import MisfitError
from setveil.hierarchy.tree import Hierarchy
from setveil.published.generalized import Generalized
from setveil.published.rows import distinct_records
from setveil.words import plural


def nested_nodes(release: Generalized) -> tuple[int, int] | None:
    """A published node and one above it that is published too, in any record; None on one cut."""
    tree, nodes = release.hierarchy, release.published_nodes()
    nodes = nodes[np.lexsort((-tree.stop[nodes], tree.first[nodes]))]
    overlap = np.flatnonzero(tree.stop[nodes[:-1]] > tree.first[nodes[1:]])
    return (int(nodes[overlap[0] + 1]), int(nodes[overlap[0]])) if len(overlap) else None


def image_alignment(release: Generalized, original: Transactions) -> Int64s:
    """The class of each original record: its items replaced by the published nodes above them.

    An item below no published node is suppressed everywhere.

    Raises:
        MisfitError: if the published nodes are not on one cut, an item is not in the tree, or other
            records than these are published."""
    nested = nested_nodes(release)
    if nested is not None:
        node, above = (release.hierarchy.labels[number] for number in nested)
        both = f"contains both {node} and {above}, which includes it"
        raise MisfitError(f"it claims to use one cut for all records, but {both}")
    _, member = distinct_records(_stacked(release.classes, _images(release, original)))
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
    sizes = np.bincount(place[classes], release.sizes, minlength=len(classes))
    wrong = np.flatnonzero(used != sizes)
    if len(wrong):
        number = int(wrong[0])
        times, sources = int(sizes[number]), int(used[number])
        come = f"comes from {plural(sources, 'original')} under the cut"
        problem = f"a record is published {plural(times, 'time')} but {come}"
        raise MisfitError(problem, published=release.classes.record(number))
    return alignment


def suppressed_items(release: Generalized, original: Transactions) -> tuple[str, ...]:
    """Private: the items of the original that a release with one cut does not show."""
    shown = _cover(release)[leaves_of(release.hierarchy, original.vocabulary)]
    missing = np.flatnonzero((shown < 0) & (original.supports() > 0))
    return tuple(original.vocabulary[item] for item in missing.tolist())


def _cover(release: Generalized) -> Int32s:
    """The published node above each leaf; -1 if there is none."""
    tree: Hierarchy = release.hierarchy
    over = np.full(tree.leaf_count, -1, dtype=np.int32)
    for node in release.published_nodes().tolist():
        over[tree.first[node] : tree.stop[node]] = node
    return over


def _images(release: Generalized, original: Transactions) -> Transactions:
    leaves = leaves_of(release.hierarchy, original.vocabulary)[original.items]
    if (leaves < 0).any():
        record = int(original.rows[np.flatnonzero(leaves < 0)[0]])
        problem = "an original record contains an item that is not in the hierarchy"
        raise MisfitError(problem, record=original.record(record))
    nodes = _cover(release)[leaves]
    kept = nodes >= 0
    labels = release.hierarchy.nodes
    return Transactions.from_pairs(original.rows[kept], nodes[kept], labels, size=len(original))


def _stacked(one: Transactions, other: Transactions) -> Transactions:
    """The records of both, one after the other."""
    indptr = np.concatenate((one.indptr, one.indptr[-1] + other.indptr[1:]))
    return Transactions(indptr, np.concatenate((one.items, other.items)), one.vocabulary)

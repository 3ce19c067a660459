"""Global recoding: one cut of the tree stands for all records, so that the published record of an original follows from it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setveil.alignment.fitting import Numbers, leaves_of
from setveil.data.transactions import Transactions
from setveil.errors import MisfitError
from setveil.hierarchy.tree import Hierarchy
from setveil.published.generalized import Generalized
from setveil.published.rows import distinct_records


def nested_nodes(release: Generalized) -> tuple[int, int] | None:
    """A published node and one above it that is published too, perhaps in another record; None when all lie on one cut."""
    tree, nodes = release.hierarchy, release.published_nodes()
    nodes = nodes[np.lexsort((-tree.stop[nodes], tree.first[nodes]))]
    overlap = np.flatnonzero(tree.stop[nodes[:-1]] > tree.first[nodes[1:]])
    return (int(nodes[overlap[0] + 1]), int(nodes[overlap[0]])) if len(overlap) else None


def image_alignment(release: Generalized, original: Transactions) -> Numbers:
    """The class of each original record under the one cut of a release: its items as the published nodes over them.

    An item that no published node covers is suppressed, and so missing everywhere.

    Raises:
        MisfitError: when the published nodes lie on no cut, an item is not in the tree, or the images are not the published records.
    """
    nested = nested_nodes(release)
    if nested is not None:
        node, above = (release.hierarchy.labels[number] for number in nested)
        raise MisfitError(
            f"it says that one cut stands for all records, but shows {node} and also {above}, which covers it"
        )
    images = _images(release, original)
    stacked = _stacked(release.classes, images)
    _, member = distinct_records(stacked)
    classes, member = member[: len(release.classes)], member[len(release.classes) :]
    place = np.full(
        int(max(classes.max(initial=-1), member.max(initial=-1))) + 1, -1, dtype=np.int64
    )
    place[classes[::-1]] = np.arange(len(classes) - 1, -1, -1)
    alignment = place[member]
    if (alignment < 0).any():
        record = int(np.flatnonzero(alignment < 0)[0])
        raise MisfitError(
            "the image of an original record is not published", record=original.record(record)
        )
    used, stands = (
        np.bincount(alignment, minlength=len(classes)),
        np.bincount(place[classes], release.sizes, minlength=len(classes)),
    )
    wrong = np.flatnonzero(used != stands)
    if len(wrong):
        problem = f"a published record stands {int(stands[wrong[0]])} times but is the image of {used[wrong[0]]} originals"
        raise MisfitError(problem, published=release.classes.record(int(wrong[0])))
    return alignment


def suppressed_items(release: Generalized, original: Transactions) -> tuple[str, ...]:
    """Private: the items of the original that a release with one cut shows nowhere."""
    shown = _cover(release)[leaves_of(release.hierarchy, original.vocabulary)]
    missing = np.flatnonzero((shown < 0) & (original.supports() > 0))
    return tuple(original.vocabulary[item] for item in missing.tolist())


def _cover(release: Generalized) -> npt.NDArray[np.int32]:
    """The published node over each leaf; -1 where there is none."""
    tree: Hierarchy = release.hierarchy
    over = np.full(tree.leaf_count, -1, dtype=np.int32)
    for node in release.published_nodes().tolist():
        over[tree.first[node] : tree.stop[node]] = node
    return over


def _images(release: Generalized, original: Transactions) -> Transactions:
    leaves = leaves_of(release.hierarchy, original.vocabulary)[original.items]
    if (leaves < 0).any():
        record = int(original.rows[np.flatnonzero(leaves < 0)[0]])
        raise MisfitError(
            "an original record holds an item that the hierarchy does not have",
            record=original.record(record),
        )
    nodes = _cover(release)[leaves]
    kept = nodes >= 0
    return Transactions.from_pairs(
        original.rows[kept], nodes[kept], release.hierarchy.nodes, size=len(original)
    )


def _stacked(one: Transactions, other: Transactions) -> Transactions:
    """The records of one after those of the other."""
    indptr = np.concatenate((one.indptr, one.indptr[-1] + other.indptr[1:]))
    return Transactions(indptr, np.concatenate((one.items, other.items)), one.vocabulary)

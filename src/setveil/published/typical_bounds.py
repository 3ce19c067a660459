"""The bounds of everything that typical bags show, all at once."""

from __future__ import annotations

import numpy as np

from setveil.data.arrays import sums
from setveil.data.transactions import Bags
from setveil.hierarchy.tree import Hierarchy
from setveil.published.countable import Counting
from setveil.published.rows import greatest, most_below
from setveil.published.typical_bags import TypicalBags


def count_labels(release: TypicalBags) -> Counting:
    """What `TypicalBags.support` says of each label, summed over all bags.

    Anybody may have any item, but for one person of each bag that does not show it, if bags are
    complete."""
    items, rows = release.classes.items, release.classes.rows
    if release.slots is not None:
        return _counted_slots(release, release.slots)
    if release.hierarchy is not None:
        return _counted_nodes(release, release.hierarchy)
    bags, shown = (
        sums(items, 1, len(release.items)),
        sums(items, release.sizes[rows], len(release.items)),
    )
    upper = bags * release.complete
    return Counting(release.items.labels, shown, bags, upper, _anybody(release))


def _anybody(release: TypicalBags) -> int:
    return len(release) - release.complete * len(release.sizes)


def _counted_nodes(release: TypicalBags, tree: Hierarchy) -> Counting:
    rows = release.classes.rows
    nodes = tree.nodes.encode(release.items.labels)[release.classes.items]
    lower = most_below(tree, rows, nodes, release.least_holders())
    shown, upper = sums(nodes, release.sizes[rows], len(tree)), sums(nodes, 1, len(tree))
    if tree.origin.pruned:
        upper[:] = len(release.sizes)
    upper[tree.leaf_count :] = len(release.sizes)
    used = np.flatnonzero(lower)
    labels = tuple(tree.labels[node] for node in used.tolist())
    ends = lower[used], upper[used] * release.complete
    return Counting(labels, shown[used], *ends, _anybody(release))


def _counted_slots(release: TypicalBags, slots: Bags) -> Counting:
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
    cut, anybody = len(slots.vocabulary), _anybody(release)
    return Counting(slots.vocabulary.labels, shown[:cut], lower[:cut], upper[:cut], anybody)

"""Minimality: what knowing the method adds to what a generalized release shows."""

from __future__ import annotations

import numpy as np

from setveil.audit.attack.statistics import Estimate
from setveil.audit.attack.view import Finding
from setveil.data.arrays import Floats, Int64s, sums
from setveil.published.generalized import Generalized
from setveil.words import rough_share


def narrowing(release: Generalized) -> Finding:
    """How far beliefs move if originals are excluded that would have been published with more
    detail.

    A method that generalizes no more than it must would have published a child instead of its
    parent if all records of the class had items below that one child (under one cut for all
    records: all records of the release with that node). Let the s records each have an item below
    the node, each leaf equally likely, and let child c have a share p_c of the leaves. Without
    these originals the belief in child c is

        p_c (1 - p_c^(s - 1)) / (1 - sum of p_j^s over all children j).

    It moves most for a child with most of the leaves, and not at all between equal children."""
    nodes, people, weights = _published(release)
    shares = {node: _shares(release, node) for node in np.unique(nodes).tolist()}
    moved, total, most = 0.0, 0.0, 0.0
    for node, size, weight in zip(nodes.tolist(), people.tolist(), weights.tolist(), strict=True):
        change = _change(shares[node], size)
        moved, total, most = moved + weight * change, total + weight, max(most, change)
    mean = moved / total if total else 0.0
    text = (
        "An adversary who knows that the method generalizes no more than necessary can rule out "
        "that all records of a group have items of one branch. That changes the belief in a branch "
        f"by {rough_share(mean)} on average, at most {rough_share(most)}. The candidates stay the "
        "same."
    )
    figures = {"mean": Estimate.certain(mean), "most": Estimate.certain(most)}
    return Finding("minimality", text, figures)


def _published(release: Generalized) -> tuple[Int64s, Int64s, Int64s]:
    """The published nodes that are groups, how many people each was made for, and how many have
    it: one entry for each class, or one for each node under one cut."""
    classes, tree = release.classes, release.hierarchy
    groups = classes.items >= tree.leaf_count
    nodes, sizes = classes.items[groups].astype(np.int64), release.sizes[classes.rows[groups]]
    if release.is_global:
        totals = sums(nodes, sizes, len(tree))
        nodes = np.flatnonzero(totals)
        return nodes, totals[nodes], totals[nodes]
    codes, which = np.unique(nodes * (int(sizes.max(initial=0)) + 1) + sizes, return_inverse=True)
    nodes, people = np.divmod(codes, int(sizes.max(initial=0)) + 1)
    return nodes, people, sums(which, sizes, len(codes))


def _shares(release: Generalized, node: int) -> Floats:
    """The share of the leaves below a node that each child has."""
    tree = release.hierarchy
    children = np.flatnonzero(tree.parent == node)
    return tree.widths[children] / max(int(tree.widths[node]), 1)


def _change(shares: Floats, size: int) -> float:
    """The largest change of the belief in a child."""
    excluded = float((shares**size).sum())
    if len(shares) < 2 or size < 2 or excluded >= 1:
        return 0.0
    after = shares * (1 - shares ** (size - 1)) / (1 - excluded)
    return float(np.abs(after - shares).max())

"""Is a generalized release well formed, and can each of its records come from one original?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.align import align, nested_nodes
from setveil.audit.records import (
    check_record_count,
    check_sizes,
    misfit_check,
    not_paired,
)
from setveil.audit.verdict import Check, Question, Witness, show_items
from setveil.data.arrays import find
from setveil.data.transactions import Transactions
from setveil.errors import MisfitError
from setveil.published.generalized import Generalized
from setveil.words import are


def check_generalized(release: Generalized, question: Question) -> list[Check]:
    """Whether a generalized release is well formed and comes from its original, if one is given."""
    structure, original = _check_structure(release, question.limit), question.original
    if original is None:
        return [structure]
    counts = check_record_count(len(release), len(original))
    if structure.holds:
        return [structure, counts, _check_containment(release, original)]
    text = "a release that is not well formed cannot be compared with its original"
    return [structure, counts, Check("containment", False, text)]


def _check_structure(release: Generalized, limit: int) -> Check:
    """Whether records consist of nodes of the tree, never both a group and one of its members."""
    tree, published = release.hierarchy, release.classes.vocabulary
    if published != tree.nodes:
        unknown = tuple(label for label in published if label not in tree.nodes)
        witness = Witness(f"{show_items(unknown)} is not in the hierarchy", unknown)
        text = "the published records contain items that are not in the hierarchy"
        return Check("structure", False, text, (witness,) if unknown else ())
    sizes = check_sizes(release, limit)
    if sizes is not None:
        return sizes
    faults = _nested(release)
    if faults:
        number = f"{len(faults)} distinct published record{'s' * (len(faults) != 1)}"
        text = f"{number} contain{'s' * (len(faults) == 1)} both a group and one of its members"
        witnesses, labels = [], tree.labels
        for at, below, over in faults[:limit]:
            items = release.classes.shown(at)
            both = f"contains {labels[below]} and its group {labels[over]}"
            said = f"the record {show_items(items)} {both}"
            witnesses.append(Witness(said, items, int(release.sizes[at])))
        return Check("structure", False, text, tuple(witnesses))
    nested = nested_nodes(release) if release.is_global else None
    if nested is not None:
        node, group = (tree.labels[number] for number in nested)
        text = "the release claims one cut for all records, but publishes a group and its member"
        witness = Witness(f"{node} and its group {group} are both published", (node, group))
        return Check("structure", False, text, (witness,))
    text = "no published record contains both a group and one of its members"
    return Check("structure", True, text)


def _nested(release: Generalized) -> list[tuple[int, int, int]]:
    """Each class with a node and an ancestor of it, by walking up: (class, node, ancestor)."""
    classes, parent = release.classes, release.hierarchy.parent
    codes = classes.rows * len(release.hierarchy) + classes.items
    above, rows, nodes = parent[classes.items].astype(np.int64), classes.rows, classes.items
    found: dict[int, tuple[int, int, int]] = {}
    while len(above):
        alive = above >= 0
        above, rows, nodes = above[alive], rows[alive], nodes[alive]
        held = find(codes, rows * len(release.hierarchy) + above) >= 0
        for at in np.flatnonzero(held).tolist():
            found.setdefault(int(rows[at]), (int(rows[at]), int(nodes[at]), int(above[at])))
        above = parent[above].astype(np.int64)
    return [found[number] for number in sorted(found)]


def _check_containment(release: Generalized, original: Transactions) -> Check:
    """Whether the published records can be paired with originals that they generalize."""
    if len(release) != len(original):
        return not_paired()
    try:
        align(release, original)
    except MisfitError as misfit:
        return misfit_check(misfit)
    how = "by matching" if release.alignment is None else "by the alignment of the release"
    how = "by the one cut for all records" if release.is_global else how
    text = f"each published record can be paired with one original ({how})"
    emptied = release.empty - int((original.lengths == 0).sum())
    if emptied > 0:
        text += f"; {are(emptied, 'nonempty original')} published as empty"
    exact = release.is_global or release.alignment is not None
    compared = "each record generalizes its own" if exact else "its records can be paired"
    compared = "each record follows from its own by one cut" if release.is_global else compared
    return Check("containment", True, text, compared=compared, exact=exact)

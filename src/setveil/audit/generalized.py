"""Is every published record the image of its original, none lost and none invented? And is each well formed?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.align import align
from setveil.alignment.recoding import nested_nodes
from setveil.audit.kanonymity import shown_record
from setveil.audit.question import Question
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.transactions import Transactions
from setveil.errors import MisfitError
from setveil.published.generalized import Generalized
from setveil.published.release import RecordRelease
from setveil.words import are, plural


def check_generalized(release: Generalized, question: Question) -> list[Check]:
    """Whether a generalized release is well formed and comes from its original, if one is given."""
    structure, original = check_structure(release, question.limit), question.original
    if original is None:
        return [structure]
    counts = check_record_count(release, original)
    if structure.holds:
        return [structure, counts, check_containment(release, original)]
    text = "a release that is not well formed cannot be compared with its original"
    return [structure, counts, Check("containment", False, text)]


def check_structure(release: Generalized, limit: int = 1) -> Check:
    """Whether the published records are made of nodes of the hierarchy, none beside an ancestor of its own, each standing at least once."""
    if release.classes.vocabulary != release.hierarchy.nodes:
        unknown = [
            label for label in release.classes.vocabulary if label not in release.hierarchy.nodes
        ]
        witness = Witness(
            f"{show_items(tuple(unknown))} stands in no node of the hierarchy", tuple(unknown)
        )
        return Check(
            "structure",
            False,
            "the records are not made of the hierarchy's nodes",
            (witness,) if unknown else (),
        )
    if len(release.sizes) != len(release.classes) or (
        len(release.sizes) and release.sizes.min() < 1
    ):
        witnesses = [
            Witness(
                f"the record {show_items(release.classes.record(number))} stands {release.sizes[number]} times",
                release.classes.record(number),
                int(release.sizes[number]),
            )
            for number in np.flatnonzero(release.sizes[: len(release.classes)] < 1)[:limit].tolist()
        ]
        return Check(
            "structure", False, "each distinct record needs a number of 1 or more", tuple(witnesses)
        )
    faults = _nested(release)
    if faults:
        text = f"{len(faults)} distinct published records hold a node beside one of its ancestors"
        return Check(
            "structure",
            False,
            text,
            tuple(_nested_witness(release, *fault) for fault in faults[:limit]),
        )
    nested = nested_nodes(release) if release.is_global else None
    if nested is not None:
        node, above = (release.hierarchy.labels[number] for number in nested)
        text = "the release says that one cut stands for all records, but its nodes lie on none"
        return Check(
            "structure",
            False,
            text,
            (Witness(f"{node} and {above}, which covers it, are both published", (node, above)),),
        )
    return Check(
        "structure",
        True,
        "every published record is made of nodes of the hierarchy, none beside its ancestor",
    )


def check_record_count(release: RecordRelease, original: Transactions) -> Check:
    """Whether as many records are published as there are originals."""
    text = f"{are(len(release), 'record')} published for {plural(len(original), 'original')}"
    if len(release) == len(original):
        return Check("records", True, text)
    difference = len(original) - len(release)
    fault = (
        f"{are(difference, 'record')} lost"
        if difference > 0
        else f"{are(-difference, 'record')} invented"
    )
    return Check("records", False, text, (Witness(f"{fault}: {text}", count=len(release)),))


def check_containment(release: Generalized, original: Transactions) -> Check:
    """Whether the published records can be given to the originals one by one, each the image of its own."""
    if len(release) != len(original):
        return Check(
            "containment",
            False,
            "the published records cannot be given to the originals one by one: their numbers differ",
        )
    try:
        align(release, original)
    except MisfitError as misfit:
        return Check("containment", False, misfit.problem, (misfit_witness(misfit),))
    known = (
        "by the alignment of the release"
        if release.alignment is not None
        else "by a complete matching"
    )
    known = "by the one cut that stands for all records" if release.is_global else known
    lost = int(release.sizes[release.classes.lengths == 0].sum()) - int(
        (original.lengths == 0).sum()
    )
    empty = (
        f"; {lost} original{'s' * (lost != 1)} with items {'are' if lost != 1 else 'is'} published as empty"
        if lost > 0
        else ""
    )
    return Check(
        "containment", True, f"every published record is the image of its original, {known}{empty}"
    )


def _nested(release: Generalized) -> list[tuple[int, int, int]]:
    """Every class with a node and an ancestor of it: (class, node, ancestor), by walking up from each node."""
    classes, parent = release.classes, release.hierarchy.parent
    codes = classes.rows * len(release.hierarchy) + classes.items
    above, rows, nodes = parent[classes.items].astype(np.int64), classes.rows, classes.items
    found: dict[int, tuple[int, int, int]] = {}
    while len(above):
        alive = above >= 0
        above, rows, nodes = above[alive], rows[alive], nodes[alive]
        wanted = rows * len(release.hierarchy) + above
        places = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        for at in np.flatnonzero(codes[places] == wanted).tolist():
            found.setdefault(int(rows[at]), (int(rows[at]), int(nodes[at]), int(above[at])))
        above = parent[above].astype(np.int64)
    return [found[number] for number in sorted(found)]


def _nested_witness(release: Generalized, number: int, node: int, ancestor: int) -> Witness:
    labels, items = release.hierarchy.labels, shown_record(release.classes, number)
    text = (
        f"the record {show_items(items)} holds {labels[node]} and its ancestor {labels[ancestor]}"
    )
    return Witness(text, items, int(release.sizes[number]))


def misfit_witness(misfit: MisfitError) -> Witness:
    """What a misfit shows; items of the original are private."""
    published, record = misfit.published, misfit.record
    parts = [misfit.problem]
    if record is not None:
        parts.append(f"the original {show_items(record)}")
    if published is not None:
        parts.append(f"the published {show_items(published)}")
    return Witness("; ".join(parts), published or (), original=record, private=record is not None)

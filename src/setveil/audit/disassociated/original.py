"""Does a disassociated release stem from this original? Above all: is the original one of the possible worlds?"""

from __future__ import annotations

import numpy as np

from setveil.audit.disassociated.layout import Layout, Numbers
from setveil.audit.disassociated.projections import compare_projections
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.transactions import Bags, Transactions
from setveil.words import are, count, plural


def check_original(layout: Layout, original: Transactions, limit: int = 1) -> list[Check]:
    """Every check of a well-formed release against its original.

    With the private alignment, which says the simple cluster of each original record, it is decided whether the original is one of the
    worlds. Without it (a release that was read from disk) only numbers of records and supports are compared, and the answer says so.
    """
    data = original.sets() if isinstance(original, Bags) else original
    records = check_record_count(layout, data)
    checks = [records, check_items(layout, data, limit), check_supports(layout, data, limit)]
    if layout.release.alignment is not None:
        checks.append(check_world(layout, data, limit))
    return checks


def check_record_count(layout: Layout, original: Transactions) -> Check:
    """Whether as many records are published as there are originals, and as many empty ones."""
    release = layout.release
    text = f"{are(len(release), 'record')} published for {plural(len(original), 'original')}"
    if len(release) != len(original):
        return Check("records", False, text, (Witness(text, count=len(release)),))
    published, empty = int(release.sizes[layout.is_void].sum()), int((original.lengths == 0).sum())
    if published != empty:
        text = f"{are(published, 'empty record')} published for {plural(empty, 'empty original')}"
        return Check("records", False, text, (Witness(text, count=published),))
    return Check("records", True, text)


def check_items(layout: Layout, original: Transactions, limit: int = 1) -> Check:
    """Whether every item of the original is published, and no other."""
    published = {layout.label(item) for item in np.flatnonzero(_bounds(layout)[1]).tolist()}
    known = {original.vocabulary[item] for item in np.flatnonzero(original.supports()).tolist()}
    lost, invented = sorted(known - published), sorted(published - known)
    if not lost and not invented:
        return Check(
            "items",
            True,
            f"{are(len(known), 'item')} in the original, all of them published, and no other",
        )
    witnesses = [Witness(f"{item} is lost", (), original=(item,), private=True) for item in lost]
    witnesses += [Witness(f"{item} is in no record of the original", (item,)) for item in invented]
    return Check(
        "items",
        False,
        f"{plural(len(lost), 'item')} of the original lost, {count(len(invented))} invented",
        tuple(witnesses[:limit]),
    )


def check_supports(layout: Layout, original: Transactions, limit: int = 1) -> Check:
    """Whether the support of every item in the original lies between what is certain and what is possible."""
    low, high = _bounds(layout)
    supports = np.zeros(layout.width, dtype=np.int64)
    numbers = _renumber(layout, original)
    np.add.at(supports, numbers[numbers >= 0], original.supports()[numbers >= 0])
    wrong = np.flatnonzero((supports < low) | (supports > high))
    if not len(wrong):
        note = "" if layout.release.alignment is not None else _NOT_ASKED
        return Check("supports", True, f"the support of every item lies between its bounds{note}")
    witnesses = [
        Witness(
            f"{layout.label(item)} stands in {supports[item]} originals, and in {low[item]} to {high[item]} of any world",
            (layout.label(item),),
            int(supports[item]),
            private=True,
        )
        for item in wrong[:limit].tolist()
    ]
    return Check(
        "supports",
        False,
        f"the support of {plural(len(wrong), 'item')} outside the bounds",
        tuple(witnesses),
    )


_NOT_ASKED = "; whether the original is one of the possible worlds was not checked: that takes the private alignment"


def check_world(layout: Layout, original: Transactions, limit: int = 1) -> Check:
    """Whether the original, each record in the simple cluster that the alignment says, is one of the worlds."""
    faults = _find_faults(layout, original, limit)
    if faults:
        return Check(
            "world", False, "the original is none of the possible worlds", tuple(faults[:limit])
        )
    return Check(
        "world",
        True,
        "the original is one of the possible worlds: each chunk is what its records project to",
    )


def _find_faults(layout: Layout, original: Transactions, limit: int) -> list[Witness]:
    release, alignment = layout.release, layout.release.alignment
    assert alignment is not None
    if len(alignment) != len(original) or not _names_simple(layout, alignment):
        return [
            Witness(
                f"the alignment does not give each of {len(original)} original records a simple cluster",
                count=len(alignment),
            )
        ]
    held = np.bincount(alignment, minlength=layout.node_count)
    wrong = np.flatnonzero(release.is_simple & (held != release.sizes))
    if len(wrong):
        return [
            Witness(f"{layout.name(node)} has {held[node]} originals", count=int(held[node]))
            for node in wrong[:limit].tolist()
        ]
    empty = np.flatnonzero((original.lengths == 0) & ~layout.is_void[alignment])
    if len(empty):
        return [
            Witness(
                f"an empty original record lies in {layout.name(int(alignment[empty[0]]))}",
                private=True,
            )
        ]
    return _compare(layout, original, alignment, limit)


def _names_simple(layout: Layout, alignment: Numbers) -> bool:
    inside = bool(((alignment >= 0) & (alignment < layout.node_count)).all())
    return inside and bool(layout.release.is_simple[alignment].all())


def _compare(
    layout: Layout, original: Transactions, alignment: Numbers, limit: int
) -> list[Witness]:
    """Every item of every original record looked up where its cluster tells of it, and compared with what is published there."""
    numbers = _renumber(layout, original)[original.items]
    rows = original.rows
    if (numbers < 0).any():
        row = int(rows[np.flatnonzero(numbers < 0)[0]])
        return [
            Witness(
                "an item of an original record is not published",
                original=original.record(row),
                private=True,
            )
        ]
    chunks, terms = _locate(layout, alignment[rows], numbers)
    untold = np.flatnonzero((chunks < 0) & (terms < 0))
    if len(untold):
        row, item = int(rows[untold[0]]), layout.label(int(numbers[untold[0]]))
        text = f"{layout.name(int(alignment[row]))} tells nothing of {item}, which one of its originals holds"
        return [Witness(text, (item,), original=original.record(row), private=True)]
    idle = layout.term_places[
        np.bincount(terms[terms >= 0], minlength=len(layout.term_places)) == 0
    ]
    if len(idle):
        node, number = divmod(int(idle[0]), layout.width)
        text = f"{layout.label(number)} stands in the term chunk of {layout.name(node)}, but in none of its originals"
        return [Witness(text, (layout.label(number),), 0, private=True)]
    inside = terms < 0
    differences = compare_projections(layout, rows[inside], chunks[inside], numbers[inside], limit)
    return [
        Witness(
            f"{show_items(items)} stands {plural(here, 'time')} in a chunk, but {plural(there, 'original')} project to it",
            items,
            here,
            private=True,
        )
        for items, here, there in differences
    ]


def _locate(layout: Layout, nodes: Numbers, items: Numbers) -> tuple[Numbers, Numbers]:
    """For each occurrence the chunk that tells of it, the lowest on the way up, and the place among the terms of term chunks; -1: none."""
    places = nodes * layout.width + items
    chunks, terms = layout.chunk_at(places), layout.term_at(places)
    missing = np.flatnonzero((chunks < 0) & (terms < 0))
    above = layout.release.parent[nodes[missing]]
    while len(missing := missing[above >= 0]):
        above = above[above >= 0]
        chunks[missing] = layout.chunk_at(above * layout.width + items[missing])
        left = chunks[missing] < 0
        missing, above = missing[left], layout.release.parent[above[left]]
    return chunks, terms


def _bounds(layout: Layout) -> tuple[Numbers, Numbers]:
    """The fewest and the most records that can hold each item."""
    release = layout.release
    low, rows = np.zeros(layout.width, dtype=np.int64), release.subrecords.rows
    np.add.at(low, release.subrecords.items, release.subrecord_counts[rows])
    high = low.copy()
    np.add.at(low, release.terms.items, 1)
    np.add.at(high, release.terms.items, release.sizes[release.terms.rows])
    return low, high


def _renumber(layout: Layout, original: Transactions) -> Numbers:
    """The number in the release of each item of the original; -1 where it is not there."""
    if original.vocabulary == layout.release.items:
        return np.arange(len(original.vocabulary))
    numbers = layout.release.items.numbers
    return np.fromiter(
        (numbers.get(label, -1) for label in original.vocabulary),
        dtype=np.int64,
        count=len(original.vocabulary),
    )

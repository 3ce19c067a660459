"""Is a disassociated release well formed? Every rule of the form that needs no promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from setveil.audit.disassociated.layout import Layout
from setveil.audit.verdict import Check, Witness
from setveil.data.arrays import Int64s, sums
from setveil.published.disassociated.form import Disassociated
from setveil.words import plural


def check_structure(layout: Layout, limit: int = 1) -> Check:
    """Whether clusters, chunks and term chunks fit together, by the rules below.

    They are those of [Terrovitis2012] section 3.
    """
    broken = _broken_arrays(layout.release)
    if broken:
        return Check("structure", False, broken, (Witness(broken),))
    faults = {rule: list(islice(find(layout), limit)) for rule, find in _RULES.items()}
    witnesses = [witness for found in faults.values() for witness in found]
    if witnesses:
        text = "broken rules: " + "; ".join(rule for rule, found in faults.items() if found)
        return Check("structure", False, text, tuple(witnesses[:limit]))
    clusters = plural(int(layout.release.is_simple.sum()), "cluster")
    return Check("structure", True, f"{clusters}: chunks and term chunks fit together")


def _broken_arrays(release: Disassociated) -> str | None:
    """Why the arrays themselves cannot be used, if so."""
    nodes, chunks = len(release.parent), len(release.chunk_node)
    if len(release.sizes) != nodes or len(release.terms) != nodes:
        return "each cluster needs one size and one term chunk"
    if not len(release.subrecords) == len(release.subrecord_chunk) == len(release.subrecord_counts):
        return "each subrecord needs one chunk and one count"
    if release.subrecords.vocabulary != release.terms.vocabulary:
        return "subrecords and term chunks must have one vocabulary"
    if (release.parent >= np.arange(nodes)).any() or (release.parent < -1).any():
        return "a joint cluster must come before its parts"
    if _outside(release.chunk_node, nodes) or _outside(release.subrecord_chunk, chunks):
        return "a chunk must belong to a cluster, and a subrecord to a chunk"
    return None


def _outside(values: Int64s, size: int) -> bool:
    return bool(((values < 0) | (values >= size)).any())


def _without_records(layout: Layout) -> Iterator[Witness]:
    for node in np.flatnonzero(layout.release.sizes < 1).tolist():
        yield Witness(f"{layout.name(node)} has no records", count=int(layout.release.sizes[node]))


def _wrong_sums(layout: Layout) -> Iterator[Witness]:
    release = layout.release
    inner = release.parent >= 0
    totals = sums(release.parent[inner], release.sizes[inner], layout.node_count)
    for node in np.flatnonzero(~release.is_simple & (totals != release.sizes)).tolist():
        text = f"the parts of {layout.name(node)} have {plural(int(totals[node]), 'record')}"
        yield Witness(text, count=int(totals[node]))


def _terms_of_joints(layout: Layout) -> Iterator[Witness]:
    for node in np.flatnonzero(~layout.release.is_simple & layout.has_terms).tolist():
        yield Witness(f"{layout.name(node)} has a term chunk", layout.release.terms.record(node))


def _void_subrecords(layout: Layout) -> Iterator[Witness]:
    release = layout.release
    void = (release.subrecords.lengths == 0) | (release.subrecord_counts < 1)
    for row in np.flatnonzero(void).tolist():
        count, items = int(release.subrecord_counts[row]), release.subrecords.record(row)
        text = f"a subrecord of {plural(len(items), 'item')} occurs {plural(count, 'time')}"
        yield Witness(text, items, count)


def _crowded_chunks(layout: Layout) -> Iterator[Witness]:
    release = layout.release
    for chunk in np.flatnonzero(layout.chunk_totals > release.sizes[release.chunk_node]).tolist():
        total, name = int(layout.chunk_totals[chunk]), layout.name(int(release.chunk_node[chunk]))
        yield Witness(f"{name} has a chunk of {plural(total, 'subrecord')}", count=total)


def _shared_items(layout: Layout) -> Iterator[Witness]:
    places, _ = layout.chunk_places
    twice = places[1:][places[1:] == places[:-1]]
    both = layout.term_places[layout.chunk_at(layout.term_places) >= 0]
    yield from (_double(layout, place, "two chunks") for place in twice.tolist())
    yield from (_double(layout, place, "a chunk and the term chunk") for place in both.tolist())


def _double(layout: Layout, place: int, where: str) -> Witness:
    node, item = divmod(place, layout.width)
    label = layout.label(item)
    return Witness(f"{label} is in {where} of {layout.name(node)}", (label,))


def _terms_below_chunks(layout: Layout) -> Iterator[Witness]:
    if not layout.repeats_shared_terms:
        return
    numbers, nodes = layout.climb(layout.term_places)
    for number, above in zip(numbers.tolist(), nodes.tolist(), strict=True):
        node, item = divmod(int(layout.term_places[number]), layout.width)
        text = f"{layout.label(item)} is in a shared chunk of {layout.name(above)}"
        text += f" and in the term chunk of {layout.name(node)}"
        yield Witness(text, (layout.label(item),))


_RULES: dict[str, Callable[[Layout], Iterator[Witness]]] = {
    "a cluster has at least one record": _without_records,
    "a joint cluster has as many records as its parts": _wrong_sums,
    "only simple clusters have term chunks": _terms_of_joints,
    "a subrecord has items and occurs at least once": _void_subrecords,
    "a chunk has at most as many subrecords as its cluster has records": _crowded_chunks,
    "an item is in only one chunk, or in the term chunk, of a cluster": _shared_items,
    "an item of a shared chunk is in no term chunk below": _terms_below_chunks,
}

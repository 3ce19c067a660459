"""Guarantee 1 by counting: sufficient conditions, which every careful method meets. Are clusters
large enough, and is every chunk k^m-anonymous by itself?"""

from __future__ import annotations

import numpy as np

from setveil.audit.anonymity import count_violations, find_violations, said
from setveil.audit.disassociated.layout import Layout
from setveil.audit.rareitemsets import Search, Vertical
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags
from setveil.promises.kanonymity import KmAnonymity
from setveil.words import count, plural


def prove(layout: Layout, promise: KmAnonymity, *, chunks_hold: bool) -> Flags:
    """Which of `layout.tops` certainly keep Guarantee 1."""
    marks = np.ones(layout.node_count, dtype=bool)
    marks[layout.top[find_doubtful(layout, promise, chunks_hold=chunks_hold)]] = False
    return marks[layout.tops]


def find_doubtful(layout: Layout, promise: KmAnonymity, *, chunks_hold: bool) -> Flags:
    """Which nodes, simple or joint, prevent a proof by counting.

    The release must be well formed. A top-level cluster J is proved if none of its nodes prevents
    it, that is if

    1. each of its simple clusters has at least k records;
    2. each of its chunks, record or shared, is k^m-anonymous;
    3. each of its simple clusters has a nonempty term chunk, or v >= 1 record chunks with at least
       s + k (min(m, v) - 1) subrecords together, where s is its size (Lemma 2 of [Terrovitis2012];
       without a record chunk that bound would mean nothing);
    4. no term of a shared chunk is in a chunk of a cluster below it; or the shared chunk has only
       one term, and at most as many subrecords as there are records below it in clusters without
       that term in a chunk. (A term chunk below cannot contain a term of a shared chunk: the
       release is well formed.)

    Proof. A record of a simple cluster p draws from the record chunks of p and from those shared
    chunks above p that are not barred from it: of the first kind of 4 none is, of the second kind
    those whose term is in a chunk further down. So the chunks that p draws from have no term in
    common, and each subrecord of each of them may go to p. Let S be a set of up to m terms in some
    record of some world, and p the simple cluster of that record. Each term of S is in the term
    chunk of p or in exactly one chunk that p draws from; let C_1..C_h be p's own record chunks
    and D_1..D_g the shared chunks with terms of S. The record took from each of them a subrecord
    with that chunk's share of S. A share has at most m terms, so by 2 each of the chunks has at
    least k such subrecords. By 1 there are k records in p: give each of them one of these
    subrecords of every C_i and every D_j, and the terms of S in the term chunk. All k contain S.
    It remains to complete a world.

    - Records of p. With a term chunk every record of p takes a term of it. Else, if h >= 1, then
      h <= min(m, v), and by 3 the record chunks of p have at least s + k (h - 1) - k h = s - k
      subrecords left for the s - k records that are still empty. Put them, chunk by chunk, on
      empty records while there are any, then on any records without a subrecord of that chunk;
      there are enough, since a chunk has at most s subrecords. If h = 0, fill the s records with
      the at least s subrecords in the same way.
    - Records of another simple cluster q of J: as for p with h = 0.
    - Shared chunks. The rest of each goes to any records that it is not barred from and that have
      no subrecord of that chunk yet. There are enough: a chunk of the first kind has at most as
      many subrecords as its joint cluster has records, one of the second kind at most as many as
      there are records it may go to. No record was left empty before, so any choice will do.
    - Terms of term chunks that no record has yet: to any record of their cluster.

    So k records of a world contain S, and Guarantee 1 holds for J; the worlds of a release are all
    combinations of worlds of its top-level clusters. Shared chunks are never needed here to fill
    empty records, so their number does not matter.
    """
    chunks = layout.node_chunks
    wanted = layout.release.sizes + promise.k * (np.minimum(promise.m, chunks) - 1)
    enough = (chunks > 0) & (layout.node_totals >= wanted)
    broken: Flags = layout.release.is_simple & ~layout.is_void & ~layout.has_terms & ~enough
    doubtful: Flags = is_small(layout, promise.k) | broken
    if not chunks_hold:
        doubtful[layout.release.chunk_node[is_rare(layout, promise)]] = True
    doubtful[layout.release.chunk_node[is_overlaid(layout)]] = True
    return doubtful


def is_overlaid(layout: Layout) -> Flags:
    """Which shared chunks have terms of chunks below, except those with one term and room."""
    places, _ = layout.chunk_places
    numbers, above = layout.climb(places)
    nodes, items = np.divmod(places[numbers], layout.width)
    chunks = layout.chunk_at(above * layout.width + items)
    room = layout.release.sizes[layout.release.chunk_node]
    np.subtract.at(room, chunks, layout.release.sizes[nodes])
    single = np.bincount(layout.domains[0], minlength=len(room)) == 1
    overlaid: Flags = np.bincount(chunks, minlength=len(room)) > 0
    overlaid &= ~(single & (layout.chunk_totals <= room))
    return overlaid


def check_clusters(layout: Layout, promise: KmAnonymity, limit: int = 1) -> Check:
    """Whether every nonempty simple cluster has at least k records.

    A term of a term chunk may occur in any number of records of its cluster, but of no others.
    """
    small = np.flatnonzero(is_small(layout, promise.k))
    if not len(small):
        return Check("clusters", True, f"every cluster has at least {promise.k} records")
    release, witnesses = layout.release, []
    for node in small[:limit].tolist():
        text = f"{layout.name(node)} has fewer than {promise.k}"
        witnesses.append(Witness(text, release.terms.record(node), int(release.sizes[node])))
    clusters = f"{count(len(small))} of {plural(int(release.is_simple.sum()), 'cluster')}"
    text = f"{clusters} {'has' if len(small) == 1 else 'have'} fewer than {promise.k} records"
    many = {"records": int(release.sizes[small].sum()), "clusters": len(small)}
    return Check("clusters", False, text, tuple(witnesses), violations=many)


def check_chunks(layout: Layout, promise: KmAnonymity, limit: int = 1) -> Check:
    """Whether in every chunk each set of up to m items occurs in k subrecords or in none."""
    by_chunk = _by_chunk(layout)
    found = find_violations(by_chunk, promise, limit)
    if not found:
        chunks = plural(len(layout.release.chunk_node), "chunk")
        occurs = f"each set of up to {promise.m} items occurs at least {promise.k} times or never"
        return Check("chunks", True, f"in each of {chunks}, {occurs}")
    witnesses = []
    for items, support in found:
        text = f"{show_items(items)} occurs in {plural(support, 'subrecord')} of a chunk"
        witnesses.append(Witness(text, items, support))
    many = count_violations(by_chunk, promise, "subrecords")
    text = f"a set of up to {promise.m} items occurs fewer than {promise.k} times in a chunk"
    text += f"; {said(many, 'subrecord')}"
    return Check("chunks", False, text, tuple(witnesses), violations=many)


def is_small(layout: Layout, k: int) -> Flags:
    """Which nodes are nonempty simple clusters with fewer than k records."""
    return layout.release.is_simple & (layout.release.sizes < k) & ~layout.is_void


def is_rare(layout: Layout, promise: KmAnonymity) -> Flags:
    """Which chunks contain a set of up to m items fewer than k times."""
    search = Search(_by_chunk(layout), promise.k)
    marks = np.zeros(len(layout.release.chunk_node), dtype=bool)
    for size in range(1, promise.m + 1):
        for rare in search.of_size(size):
            marks[layout.release.subrecord_chunk[rare.carriers]] = True
        if search.exhausted:
            break
    return marks


def _by_chunk(layout: Layout) -> Vertical:
    """The subrecords as records in which the same item of two chunks is two items."""
    release, (_, items) = layout.release, layout.domains
    indptr, counts = release.subrecords.indptr, release.subrecord_counts
    return Vertical.of_codes(indptr, layout.domain_at, counts, release.items.labels, items)

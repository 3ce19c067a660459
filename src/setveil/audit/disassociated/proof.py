"""Guarantee 1 by counting: conditions that suffice, and hold for whatever a careful method makes."""

from __future__ import annotations

import numpy as np

from setveil.audit.disassociated.chunks import is_rare, is_small
from setveil.audit.disassociated.layout import Layout, Marks
from setveil.promises.kanonymity import KmAnonymity


def prove(layout: Layout, promise: KmAnonymity, *, chunks_hold: bool) -> Marks:
    """Which top-level clusters keep Guarantee 1 for certain; a mark for each of `layout.tops`."""
    marks = np.ones(layout.node_count, dtype=bool)
    marks[layout.top[find_doubtful(layout, promise, chunks_hold=chunks_hold)]] = False
    return marks[layout.tops]


def find_doubtful(layout: Layout, promise: KmAnonymity, *, chunks_hold: bool) -> Marks:
    """Which nodes, simple or joint, stand in the way of a proof by counting.

    The release must be well formed. A top-level cluster J is proved when, of all nodes in it, none does, that is when

    1. each of its simple clusters has at least k records;
    2. each of its chunks, record or shared, is k^m-anonymous;
    3. each of its simple clusters has a term chunk that is not empty, or v >= 1 record chunks with at least s + k (min(m, v) - 1)
       subrecords together, s being its size (Lemma 2 of [Terrovitis2012]; without a record chunk that bound would say nothing);
    4. no term of a shared chunk stands in a chunk of a cluster below it; or the shared chunk has one term only, and at most as many
       subrecords as there are records below it in clusters that do not tell of that term themselves. (In a term chunk below no term of a
       shared chunk can stand: the release is well formed.)

    Proof. A record of a simple cluster p draws from the record chunks of p and from those shared chunks above p that are not barred from
    it: of the first kind of 4 none is, of the second kind those are whose term is told further down. So the chunks that p draws from
    have no term in common, and of each of them every subrecord may go to p. Let S be a set of up to m terms that some record of some
    world holds, and p the simple cluster of that record. Each term of S stands in the term chunk of p or in exactly one chunk that p
    draws from; say C_1..C_h are those of p's own record chunks and D_1..D_g those shared chunks that hold terms of S. The record took
    from each of them a subrecord with that chunk's share of S. A share has at most m terms, so by 2 each of the chunks has at least k
    such subrecords. By 1 there are k records in p: give each of them one of these subrecords of every C_i and every D_j, and the terms
    of S that stand in the term chunk. All k hold S. It remains to fill up to a world.

    - Records of p. With a term chunk every record of p takes a term of it. Else, if h >= 1, then h <= min(m, v), and by 3 the record chunks
      of p have at least s + k (h - 1) - k h = s - k subrecords left for the s - k records that are still empty. Put them, chunk after
      chunk, on empty records as long as there are any, then on any records without a subrecord of that chunk; there are enough, since
      a chunk has at most s subrecords. If h = 0, fill the s records with the at least s subrecords in the same way.
    - Records of another simple cluster q of J: as for p with h = 0.
    - Shared chunks. What is left of each goes to any records that it is not barred from and that have none of that chunk yet. There are
      enough: a chunk of the first kind has at most as many subrecords as its joint cluster has records, one of the second kind at
      most as many as there are records that it may go to. No record was left empty before, so it does not matter which.
    - Terms of term chunks that nobody has yet: to any record of their cluster.

    So k records of a world hold S, and Guarantee 1 holds for J; the worlds of a release are those of its top-level clusters, any with any.
    Shared chunks are never needed against emptiness here, which is why nothing is asked of their number.
    """
    doubtful: Marks = is_small(layout, promise.k) | _breaks_lemma_2(layout, promise)
    if not chunks_hold:
        doubtful[layout.release.chunk_node[is_rare(layout, promise)]] = True
    doubtful[layout.release.chunk_node[_is_overlaid(layout)]] = True
    return doubtful


def _breaks_lemma_2(layout: Layout, promise: KmAnonymity) -> Marks:
    chunks = layout.node_chunks
    wanted = layout.release.sizes + promise.k * (np.minimum(promise.m, chunks) - 1)
    enough = (chunks > 0) & (layout.node_totals >= wanted)
    broken: Marks = layout.release.is_simple & ~layout.is_void & ~layout.has_terms & ~enough
    return broken


def _is_overlaid(layout: Layout) -> Marks:
    """Which shared chunks have terms that chunks below tell of, but for those with a single term and room enough."""
    places, _ = layout.told
    numbers, above = layout.climb(places)
    nodes, items = np.divmod(places[numbers], layout.width)
    chunks = layout.chunk_at(above * layout.width + items)
    room = layout.release.sizes[layout.release.chunk_node]
    np.subtract.at(room, chunks, layout.release.sizes[nodes])
    single = np.bincount(layout.domains[0], minlength=len(room)) == 1
    overlaid: Marks = np.bincount(chunks, minlength=len(room)) > 0
    overlaid &= ~(single & (layout.chunk_totals <= room))
    return overlaid

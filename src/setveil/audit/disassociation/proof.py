"""Guarantee 1 by counting: conditions that suffice, and hold for whatever a careful method makes."""

from __future__ import annotations

import numpy as np

from setveil.audit.disassociation.chunks import is_rare, is_small
from setveil.audit.disassociation.layout import Layout, Marks, Numbers
from setveil.promises.kanonymity import KmAnonymity


def prove(layout: Layout, promise: KmAnonymity, *, chunks_hold: bool) -> Marks:
    """Which top-level clusters keep Guarantee 1 for certain; a mark for each of `layout.tops`.

    The release must be well formed. A top-level cluster J is proved when

    1. each of its simple clusters has at least k records;
    2. each of its chunks, record or shared, is k^m-anonymous;
    3. each of its simple clusters has a term chunk that is not empty, or v >= 1 record chunks with at least s + k (min(m, v) - 1)
       subrecords together, s being its size (Lemma 2 of [Terrovitis2012]; without a record chunk that bound would say nothing);
    4. no term of a shared chunk stands in a chunk of a cluster below it (in a term chunk it cannot: the release is well formed).

    Proof. By 4 no subrecord of a shared chunk is barred from any record, and all chunks that a record may draw from have no term in common.
    Let S be a set of up to m terms that some record of some world holds, and p the simple cluster of that record. Each term of S stands in
    the term chunk of p or in exactly one chunk that p draws from; say C_1..C_h are those of p's own record chunks and D_1..D_g those shared
    chunks that hold terms of S. The record took from each of them a subrecord with that chunk's share of S. A share has at most m terms,
    so by 2 each of the chunks has at least k such subrecords. By 1 there are k records in p: give each of them one of these subrecords of
    every C_i and every D_j, and the terms of S that stand in the term chunk. All k hold S. It remains to fill up to a world.

    - Records of p. With a term chunk every record of p takes a term of it. Else, if h >= 1, then h <= min(m, v), and by 3 the record chunks
      of p have at least s + k (h - 1) - k h = s - k subrecords left for the s - k records that are still empty. Put them, chunk after
      chunk, on empty records as long as there are any, then on any records without a subrecord of that chunk; there are enough, since
      a chunk has at most s subrecords. If h = 0, fill the s records with the at least s subrecords in the same way.
    - Records of another simple cluster q of J: as for p with h = 0.
    - Shared chunks. What is left of each goes to any records of its joint cluster that have none of that chunk yet: it has at most as many
      subrecords as there are records, and none is barred. No record was left empty before, so it does not matter where they go.
    - Terms of term chunks that nobody has yet: to any record of their cluster.

    So k records of a world hold S, and Guarantee 1 holds for J; the worlds of a release are those of its top-level clusters, any with any.
    Shared chunks are never needed against emptiness here, which is why nothing is asked of their number.
    """
    bad = is_small(layout, promise.k) | _breaks_lemma_2(layout, promise)
    if not chunks_hold:
        bad[layout.release.chunk_node[is_rare(layout, promise)]] = True
    bad[_overlaid(layout)] = True
    marks = np.ones(layout.node_count, dtype=bool)
    marks[layout.top[bad]] = False
    return marks[layout.tops]


def _breaks_lemma_2(layout: Layout, promise: KmAnonymity) -> Marks:
    chunks = layout.node_chunks
    wanted = layout.release.sizes + promise.k * (np.minimum(promise.m, chunks) - 1)
    enough = (chunks > 0) & (layout.node_totals >= wanted)
    broken: Marks = layout.release.is_simple & ~layout.is_void & ~layout.has_terms & ~enough
    return broken


def _overlaid(layout: Layout) -> Numbers:
    """The nodes with a shared chunk of which a term stands in a chunk below."""
    _, nodes = layout.climb(layout.told[0])
    return nodes

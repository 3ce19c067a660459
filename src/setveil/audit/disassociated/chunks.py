"""Are clusters large enough, and is every chunk k^m-anonymous by itself?"""

from __future__ import annotations

import numpy as np

from setveil.audit.disassociated.layout import Layout
from setveil.audit.itemsets import Reordered, Search, Vertical
from setveil.audit.km import count_violations, find_violations, said
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags
from setveil.promises.kanonymity import KmAnonymity
from setveil.words import count, plural


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
    labels = Reordered(release.items.labels, items)
    indptr, counts = release.subrecords.indptr, release.subrecord_counts
    return Vertical.ranked(indptr, layout.domain_at, counts, labels)

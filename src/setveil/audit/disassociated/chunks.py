"""Are clusters large enough, and is every chunk k^m-anonymous by itself?"""

from __future__ import annotations

import numpy as np

from setveil.audit.disassociated.layout import Layout, Marks
from setveil.audit.itemsets import Search, Vertical
from setveil.audit.kanonymity import Counted
from setveil.audit.km import find_violations
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.promises.kanonymity import KmAnonymity
from setveil.words import count, plural


def check_clusters(layout: Layout, promise: KmAnonymity, limit: int = 1) -> Check:
    """Whether every simple cluster that holds something has at least k records.

    A term of a term chunk may stand in any number of records of its cluster, but never in more than there are.
    """
    small = np.flatnonzero(is_small(layout, promise.k))
    if not len(small):
        return Check("clusters", True, f"every cluster has at least {promise.k} records")
    witnesses = [
        Witness(
            f"{layout.name(node)} has fewer than {promise.k}",
            layout.release.terms.record(node),
            int(layout.release.sizes[node]),
        )
        for node in small[:limit].tolist()
    ]
    simple = int(layout.release.is_simple.sum())
    return Check(
        "clusters",
        False,
        f"{count(len(small))} of {plural(simple, 'cluster')} with fewer than {promise.k} records",
        tuple(witnesses),
    )


def check_chunks(layout: Layout, promise: KmAnonymity, limit: int = 1) -> Check:
    """Whether in every chunk each set of up to m items stands in at least k subrecords, or in none."""
    found = find_violations(_by_chunk(layout), promise, limit)
    if not found:
        chunks = plural(len(layout.release.chunk_node), "chunk")
        return Check(
            "chunks",
            True,
            f"{chunks}, in each of which a set of up to {promise.m} items stands {promise.k} times or never",
        )
    witnesses = tuple(
        Witness(
            f"{show_items(items)} stands in {plural(support, 'subrecord')} of a chunk",
            items,
            support,
        )
        for items, support in found
    )
    return Check(
        "chunks",
        False,
        f"a set of up to {promise.m} items stands fewer than {promise.k} times in a chunk",
        witnesses,
    )


def is_small(layout: Layout, k: int) -> Marks:
    """Which nodes are simple clusters that hold something, with fewer than k records."""
    return layout.release.is_simple & (layout.release.sizes < k) & ~layout.is_void


def is_rare(layout: Layout, promise: KmAnonymity) -> Marks:
    """Which chunks hold a set of up to m items fewer than k times."""
    search, marks = (
        Search(Vertical.of(_by_chunk(layout)), promise.k),
        np.zeros(len(layout.release.chunk_node), dtype=bool),
    )
    for size in range(1, promise.m + 1):
        for rare in search.of_size(size):
            marks[layout.release.subrecord_chunk[rare.carriers]] = True
        if search.exhausted:
            break
    return marks


def _by_chunk(layout: Layout) -> Counted:
    """The subrecords as records in which an item of one chunk is another than the same item of another chunk."""
    rows = layout.release.subrecords
    chunks, items = layout.domains
    codes = layout.release.subrecord_chunk[rows.rows] * layout.width + rows.items
    numbers = np.searchsorted(chunks * layout.width + items, codes)
    labels = layout.release.items.labels
    apart = Transactions(
        rows.indptr, numbers.astype(np.int32), Vocabulary(labels[item] for item in items.tolist())
    )
    return Counted(apart, layout.release.subrecord_counts, np.arange(len(apart)))

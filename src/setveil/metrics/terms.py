"""What disassociation did to single items: tlost and chunked."""

from __future__ import annotations

import numpy as np

from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.published.disassociated.form import Disassociated


def tlost(release: Disassociated, original: Transactions, *, k: int | None = None) -> float:
    """Terms lost: the share of the frequent items that are published without counts everywhere.

    Formula: of the items with a support of at least k in the original, the share that is in no
    subrecord of any record or shared chunk, only in term chunks. [Terrovitis2012] section 7

    Range: 0 (each of them is in a chunk somewhere) to 1. 0 if there are no such items.

    Example:
        Three items are in 2 or more records; c is only in a term chunk.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(3, [{("a", "b"): 2}], ["c", "d"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> round(tlost(release, Transactions.of([["a", "b", "c"], ["a", "b", "c"], ["d"]])), 4)
        0.3333
    """
    least = getattr(release.promise, "k", None) if k is None else k
    if least is None:
        raise ParameterError("k", k, f"{release.promise.model} has no k; give one")
    frequent = np.flatnonzero(original.supports() >= least)
    if not len(frequent):
        return 0.0
    inside = {release.items[number] for number in np.unique(release.subrecords.items).tolist()}
    return sum(original.vocabulary[number] not in inside for number in frequent.tolist()) / len(
        frequent
    )


def chunked(release: Disassociated, original: Transactions) -> float:
    """Share in chunks: how much of all item occurrences is in record and shared chunks.

    Formula: the items of all subrecords, each as often as it occurs, divided by the number of
    occurrences in the original (bags: of distinct items per record).

    Range: 0 (only term chunks are left) to 1 (every occurrence is in a chunk). 1 if the original
    has no items.

    Example:
        Four of six occurrences are in the chunk.

        >>> from setveil import Disassociated, KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(3, [{("a", "b"): 2}], ["c"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> round(chunked(release, Transactions.of([["a", "b", "c"], ["a", "b"], ["c"]])), 4)
        0.6667
    """
    inside = int((release.subrecords.lengths * release.subrecord_counts).sum())
    return inside / len(original.items) if len(original.items) else 1.0

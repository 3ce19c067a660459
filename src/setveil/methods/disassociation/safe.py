"""Safe chunks: an item of another chunk is never likelier than 1/k, or its share of all records."""

from __future__ import annotations

from functools import partial

import numpy as np

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.grouping import counted
from setveil.methods.disassociation.head import Head
from setveil.methods.disassociation.judging import Judge
from setveil.methods.disassociation.layers import Way, lay
from setveil.methods.disassociation.partitioning import (
    Clusters,
    canonical_order,
    verpart,
    with_public_terms,
)
from setveil.methods.disassociation.refine import no_joints
from setveil.methods.disassociation.sketches import Divided
from setveil.methods.method import Request
from setveil.promises import KmAnonymity

KEPT = 0.5
"""The share of the frequent pairs that must occur k times, so that head chunks can have them; else
VERPART keeps more."""


def divide_safely(
    data: Transactions, rule: Rule, request: Request[KmAnonymity], judge: Judge | None = None
) -> Divided:
    """All records as one cluster, cut into chunks; `judge` is what was counted before.

    A person of a cluster of s records has an item of a chunk, if nothing else of that chunk is
    known, with a chance of c / s, where c records have it. A chunk has no item fewer than k times,
    so c / s is at most 1/k only in clusters of k^2 records or more, and only for items that are not
    common there. Clusters of similar records have common items by design: HORPART cuts by an item
    that all records of a cluster have. So all records are merged. Then c / s is the share of all
    records that have the item, which is no more than anybody may expect of anybody."""
    origin = canonical_order(data, request.engine)
    rows = data.take(origin)
    bounds = np.array([0, len(rows)] if len(rows) else [0], dtype=np.int64)
    clusters = Clusters(rows, origin, bounds)
    if rule.sensitive.any() and len(rows):
        clusters = with_public_terms(clusters, rule.sensitive)
    way = Way(rule, rule.k, len(rows) + 1, partial(_divide, rule=rule, request=request))
    if rule.m == 2 and len(rows) and not rule.sensitive.any():
        judge = judge or counted(rows, request.engine.width)
        if judge.share_kept(rule.k) >= KEPT:
            head = Head(rows, judge.targets, rule)
            return lay(clusters, head.arrange_whole(), way).divided
    return way.divide(clusters)


def _divide(clusters: Clusters, rule: Rule, request: Request[KmAnonymity]) -> Divided:
    """VERPART alone: there is nothing to join."""
    chunks = verpart(clusters, rule, request.engine, request.progress)
    return Divided(clusters, chunks, no_joints(clusters))

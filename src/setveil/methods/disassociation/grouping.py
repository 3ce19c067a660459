"""Choose between small clusters and head chunks above them: by what the release would say."""

from __future__ import annotations

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.head import Head
from setveil.methods.disassociation.judging import Divided, Judge, Scope
from setveil.methods.disassociation.layers import Way, lay

MOST_WORK = 12.0  # pairs to count per occurrence of an item; more take too long
FEWEST_SWEEPS = 10  # of annealing, below which a head is too large for the data
KEPT = 0.5  # the share of the frequent pairs that must occur k times


def choose(small: Divided, way: Way, scope: Scope | None = None) -> Divided:
    """The small clusters, or head chunks above small clusters of the rest.

    The second is taken if its total of `Judged` is expected to be less, and no measure in it is
    expected to be worse. It is not tried if most of the frequent pairs occur fewer than k times,
    so that no chunk can have them, or if it would take too long."""
    rows = small.clusters.rows
    judge = Judge(rows, Scope() if scope is None else scope)
    head = head_of(rows, judge, way.rule)
    if head is None:
        return small
    limit = judge.of(small)
    arranged = head.arrange(limit.top)
    if arranged.pairs > limit.pairs or arranged.top > limit.top:
        return small
    layers = lay(small.clusters, arranged, way)
    found = judge.of_layers(layers)
    return layers.divided if found.is_safe(limit) and found.total < limit.total else small


def head_of(rows: Transactions, judge: Judge, rule: Rule) -> Head | None:
    """The head of some records; None if it would keep little or take too long."""
    if judge.work > MOST_WORK:
        return None
    judge.count()
    if judge.share_kept(rule.k) < KEPT:
        return None
    head = Head(rows, judge.targets, rule)
    return head if head.sweeps >= FEWEST_SWEEPS else None

"""Choose between small clusters and head chunks above them: by what the release would say."""

from __future__ import annotations

from functools import partial

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.head import Head
from setveil.methods.disassociation.judging import Divided, Judge, Scope
from setveil.methods.disassociation.layers import Way, lay

MOST_WORK = 12.0  # pairs to count per occurrence of an item; more take too long
FEWEST_SWEEPS = 10  # of annealing, below which a head is too large for the data
MOST_TRIPLES = 8_000_000  # that the memory allows; as many per occurrence as pairs
KEPT = 0.5  # the share of the frequent pairs that must occur k times


def choose(small: Divided, way: Way, scope: Scope | None = None) -> Divided:
    """The small clusters, or head chunks above small clusters of the rest.

    The second is taken if its total of `Judged` is expected to be less, and no measure in it is
    expected to be worse. It is not tried if most of the frequent pairs occur fewer than k times,
    so that no chunk can have them, or if it would take too long. `scope` is for tests."""
    width = way.engine.width
    judge = way.judge or Judge(small.clusters.rows, scope or Scope(), width)
    if not is_worth_it(judge, way.rule):
        return small
    clusters = judge.small(small)
    below = partial(judge.kept, clusters)
    head = Head(small.clusters.rows, judge.targets, way.rule, below, width)
    most = min(MOST_TRIPLES, MOST_WORK * small.clusters.rows.occurrences)
    if head.sweeps < FEWEST_SWEEPS or head.triples > most:
        return small
    limit = judge.of_small(clusters)
    for arranged in head.arrange(limit.top):
        if arranged.pairs > limit.pairs or arranged.top > limit.top:
            continue
        if judge.of_parts(clusters, arranged.part, arranged.chunks).is_safe(limit, way.rule.m):
            layers = lay(small.clusters, arranged, way)
            found = judge.of_layers(layers)
            is_better = found.is_safe(limit, way.rule.m) and found.total < limit.total
            return layers.divided if is_better else small
    return small


def counted(rows: Transactions, rule: Rule, width: int) -> Judge:
    """A judge of these records that has counted what `choose` needs."""
    judge = Judge(rows, Scope(), width)
    is_worth_it(judge, rule)
    return judge


def is_worth_it(judge: Judge, rule: Rule) -> bool:
    """Whether head chunks could keep most of the frequent pairs, which are counted here, within
    the time."""
    if judge.work > MOST_WORK:
        return False
    judge.count()
    return judge.share_kept(rule.k) >= KEPT

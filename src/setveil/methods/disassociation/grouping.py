"""Choose between small clusters and head chunks above them: by what the release would say."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.head import Arranged, Head
from setveil.methods.disassociation.judging import GAIN, Judge, Judged, Scope
from setveil.methods.disassociation.layers import Way, lay
from setveil.methods.disassociation.sketches import Divided
from setveil.threads import at_once

if TYPE_CHECKING:
    from setveil.kernels.disassociation.expected import Supports

MOST_WORK = 12.0  # pairs to count per occurrence of an item; more take too long
FEWEST_SWEEPS = 10  # of annealing, below which a head is too large for the data
MOST_TRIPLES = 8_000_000  # that the memory allows; as many per occurrence as pairs
KEPT = 0.5  # the share of the frequent pairs that must occur k times


def choose(small: Divided, way: Way, scope: Scope | None = None) -> Divided:
    """The small clusters, or head chunks above small clusters of the rest.

    The second is taken if its total of `Judged` is expected to be less, and no measure in it is
    expected to be worse. It is not tried if most of the frequent pairs occur fewer than k times,
    so that no chunk can have them, or if it would take too long. `scope` is for tests."""
    judge = way.judge or Judge(small.clusters.rows, scope or Scope(), way.engine.width)
    found = _arranged(small, judge, way) if is_worth_it(judge, way.rule) else None
    if found is None:
        return small
    arranged, limit, heads = found
    layers = lay(small.clusters, arranged, way)
    made = judge.of_layers(layers, heads)
    return layers.divided if made.is_safe(limit, way.rule.m) and made.total < limit.total else small


def _arranged(small: Divided, judge: Judge, way: Way) -> tuple[Arranged, Judged, Supports] | None:
    """The best way to arrange the records with head chunks, if one is not worse than the small
    clusters; how these are judged; and what is expected where there are head chunks."""
    clusters, width = judge.small(small), way.engine.width
    below = partial(judge.kept, clusters)
    head = Head(small.clusters.rows, judge.targets, way.rule, below, width)
    most = min(MOST_TRIPLES, MOST_WORK * small.clusters.rows.occurrences)
    if head.sweeps < FEWEST_SWEEPS or head.triples > most:
        return None
    found, limit = at_once(head.arrange, partial(judge.of_small, clusters), width=width)
    for arranged in sorted(found, key=lambda each: each.badness(limit.top)):
        if arranged.pairs > (1 - GAIN) * limit.pairs or arranged.top > limit.top:
            continue
        cut = arranged.part, arranged.chunks
        heads = judge.of_heads(clusters, *cut)
        if judge.of_parts(clusters, *cut, heads).is_safe(limit, way.rule.m):
            return arranged, limit, heads
    return None


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

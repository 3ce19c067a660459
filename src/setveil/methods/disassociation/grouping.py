"""Choose how the records are arranged: by what the release would say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.head import Arranged, Head
from setveil.methods.disassociation.judging import GAIN, Judge, Judged, Scope
from setveil.methods.disassociation.layers import FEW, Way, lay
from setveil.methods.disassociation.sketches import Divided
from setveil.threads import at_once

if TYPE_CHECKING:
    from setveil.kernels.disassociation.expected import Supports

MOST_WORK = 400.0  # pairs to count per occurrence of an item; more take too long
FEWEST_SWEEPS = 10  # of annealing, below which a head is too large for the data
MOST_TRIPLES = 8_000_000  # that the memory allows; as many per occurrence as pairs
KEPT = 0.5  # the share of the frequent pairs that must occur k times
NEAR, SAME = 1.1, 0.005
"""An error of the frequent pairs is as good as the least one if it is at most so many times as
large, or larger by so little."""


SIZES = (100, 300, 1000)  # of larger clusters that are tried
MANY, SOME = 200_000, 50_000  # of more records than the first, only some are tried with all kinds


class Other(NamedTuple):
    """Another way to arrange the records."""

    make: Callable[[], Divided]
    is_safe: bool = False


class Found(NamedTuple):
    """An arrangement, and which of the others it is; None if it is none of them."""

    divided: Divided
    other: Other | None = None

    @property
    def is_safe(self) -> bool:
        return self.other is not None and self.other.is_safe


def search(small: Divided, way: Way, others: Sequence[Other]) -> Found:
    """The arrangement whose frequent pairs are expected to be least wrong: small clusters, head
    chunks above them, or one of the others (larger clusters, one cluster, the safe one).

    Of those that are about as good as the best, a safe one is taken, because it promises more; else
    the one that is least wrong about everything that is judged."""
    judge = way.judge or Judge(small.clusters.rows, Scope(), way.engine.width)
    if judge.work > MOST_WORK:
        return Found(small)
    judge.count()
    way = way._replace(judge=judge)

    def judged(found: Found) -> tuple[Found, Judged]:
        return found, judge.of(found.divided)

    def tried(other: Other) -> tuple[Found, Judged]:
        return judged(Found(other.make(), other))

    width = way.engine.width if len(small.clusters.rows) <= FEW else 1
    made = [judged(Found(small)), judged(Found(choose(small, way)))]
    made += at_once(*(partial(tried, other) for other in others), width=width)
    least = min(each.pairs for _, each in made)
    good = (pair for pair in made if pair[1].pairs <= max(NEAR * least, least + SAME))
    return min(good, key=lambda pair: (not pair[0].is_safe, pair[1].badness))[0]


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

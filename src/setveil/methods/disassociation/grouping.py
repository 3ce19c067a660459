"""Choose how the records are arranged: by what the release would say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
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
Kind = str | int
"""A value of `Disassociation.arrangement`."""


class Found(NamedTuple):
    """An arrangement, and how it is judged if it was."""

    kind: Kind
    divided: Divided
    judged: Judged | None = None

    @property
    def is_safe(self) -> bool:
        return self.kind == "safe"


def judge_all(
    small: Divided, way: Way, others: Callable[[Judge], Mapping[Kind, Callable[[], Divided]]]
) -> list[Found]:
    """Small clusters, head chunks above them and the others (larger clusters, one cluster, the safe
    one), each as it is judged; only small clusters if that would take too long."""
    judge = way.judge or Judge(small.clusters.rows, Scope(), way.engine.width)
    if judge.work > MOST_WORK:
        return [Found("small", small)]
    judge.count()
    way = way._replace(judge=judge)

    def judged(kind: Kind, make: Callable[[], Divided]) -> Found:
        divided = make()
        return Found(kind, divided, judge.of(divided))

    width = way.engine.width if len(small.clusters.rows) <= FEW else 1
    made = [judged("small", lambda: small), judged("head", lambda: choose(small, way))]
    works = (partial(judged, *other) for other in others(judge).items())
    return made + at_once(*works, width=width)


def take_best(made: Sequence[Found], *, prefer_safe: bool = True) -> Found:
    """The arrangement whose frequent pairs are expected to be least wrong.

    Of those that are about as good as the best, a safe one is taken, because it promises more; else
    the one that is least wrong about everything that is judged."""
    known = [(each, each.judged) for each in made if each.judged is not None]
    if not known:
        return made[0]
    least = min(judged.pairs for _, judged in known)
    good = [each for each in known if each[1].pairs <= max(NEAR * least, least + SAME)]
    return min(good, key=lambda each: (not (prefer_safe and each[0].is_safe), each[1].badness))[0]


def is_head(kind: Kind) -> bool:
    """Whether an arrangement has head chunks above small clusters."""
    return kind in ("head", "hubs")


def force_head(small: Divided, way: Way, kind: Kind) -> Divided:
    """Head chunks above small clusters, though these may lose less; in parts by hubs if asked for.
    Small clusters if there are no head chunks that keep the promise."""
    judge = Judge(small.clusters.rows, Scope(), way.engine.width)
    judge.count()
    below = partial(judge.kept, judge.small(small))
    head = Head(small.clusters.rows, judge.targets, way.rule, below, way.engine.width)
    found = head.arrange(kind)
    best = min(found, key=lambda each: each.badness(inf), default=None)
    return small if best is None else lay(small.clusters, best, way).divided


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

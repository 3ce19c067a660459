"""Choose how the records are arranged: by what the release would say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from setveil.data.transactions import Transactions
from setveil.methods.disassociation.head import Head
from setveil.methods.disassociation.judging import Judge, Judged, Scope
from setveil.methods.disassociation.layers import FEW, Way, lay
from setveil.methods.disassociation.sketches import Divided
from setveil.threads import at_once

MOST_TRIPLES = 8_000_000  # that the memory allows to count for heads with m = 3
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
    """Small clusters, head chunks above them, without and with hubs, and the others (larger
    clusters, one cluster, the safe one), each as it is judged."""
    judge = way.judge or counted(small.clusters.rows, way.engine.width)
    way = way._replace(judge=judge)

    def judged(kind: Kind, make: Callable[[], Divided]) -> Found:
        divided = make()
        return Found(kind, divided, judge.of(divided))

    width = way.engine.width if len(small.clusters.rows) <= FEW else 1
    made = [judged("small", lambda: small), *lay_heads(small, way, head_kinds(way.rule.m))]
    works = (partial(judged, *other) for other in others(judge).items())
    return made + at_once(*works, width=width)


def take_best(made: Sequence[Found], *, prefer_safe: bool = True) -> Found:
    """The arrangement whose frequent pairs are expected to be least wrong.

    Of those that are about as good as the best, a safe one is taken, because it promises more; else
    the one that is least wrong about everything that is judged."""
    known = [(each, each.judged) for each in made if each.judged is not None]
    if not known:
        return made[0]
    limit = _about(min(judged.pairs for _, judged in known))
    good = [each for each in known if each[1].pairs <= limit]
    return min(good, key=lambda each: (not (prefer_safe and each[0].is_safe), each[1].badness))[0]


def _about(least: float) -> float:
    """The largest error that is about as good as the least one."""
    return max(NEAR * least, least + SAME)


def is_head(kind: Kind) -> bool:
    """Whether an arrangement has head chunks above small clusters."""
    return kind in ("head", "hubs")


def head_kinds(m: int) -> tuple[str, ...]:
    """The kinds of head chunks that there are."""
    return ("head", "hubs") if m == 2 else ("head",)


def force_head(small: Divided, way: Way, kind: str) -> Divided:
    """Head chunks above small clusters, though these may lose less; in parts by hubs if asked for.
    Small clusters if there are no head chunks that keep the promise."""
    way = way._replace(judge=counted(small.clusters.rows, way.engine.width))
    return next((each.divided for each in lay_heads(small, way, (kind,))), small)


def lay_heads(small: Divided, way: Way, kinds: Sequence[str]) -> list[Found]:
    """For each kind the head chunks above small clusters of the rest that are expected to lose
    least, and how they are judged; nothing for a kind that keeps no promise here."""
    judge, rows = way.judge or counted(small.clusters.rows, way.engine.width), small.clusters.rows
    clusters = judge.small(small)
    head = Head(rows, judge.targets, way.rule, partial(judge.kept, clusters), way.engine.width)
    if head.triples > MOST_TRIPLES:
        return []
    made = []
    for kind, found in head.arrange(kinds).items():
        limit = _about(min(each.pairs for each in found))
        best = min((each for each in found if each.pairs <= limit), key=lambda each: each.badness)
        layers = lay(small.clusters, best, way)
        heads = judge.of_heads(clusters, best.part, best.chunks)
        made.append(Found(kind, layers.divided, judge.of_layers(layers, heads)))
    return made


def counted(rows: Transactions, width: int) -> Judge:
    """A judge of these records that has counted what is frequent."""
    judge = Judge(rows, Scope(), width)
    judge.count()
    return judge

"""Judge kinds of arrangements, and take the one that is expected to lose least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial

import numpy as np

from setveil.data.transactions import Transactions
from setveil.methods.disassociation.head import Arranged, Head
from setveil.methods.disassociation.judging import Judge, Judged, Scope
from setveil.methods.disassociation.layers import Way, lay
from setveil.methods.disassociation.sketches import Divided

MOST_TRIPLES = 8_000_000  # that the memory allows to count for heads with m = 3
NEAR, SAME = 1.1, 0.005
"""An error of the frequent pairs is as good as the least one if it is at most so many times as
large, or larger by so little."""
HUB_PAIRS = 0.02
"""Parts by hubs are tried if at least this share of the frequent pairs has a hub: they keep these
pairs, but divide all others."""
Kind = str | int
"""A value of `Disassociation.arrangement`."""


class Found:
    """An arrangement and how it is judged; it is made when it is asked for."""

    def __init__(
        self,
        kind: Kind,
        make: Callable[[], Divided],
        pairs: float = 0.0,
        judge: Callable[[Divided], Judged] | None = None,
    ) -> None:
        """Of this kind; `pairs` is the expected error of the frequent pairs."""
        self.kind, self.pairs, self._make, self._judge = kind, pairs, make, judge

    @property
    def is_safe(self) -> bool:
        return self.kind == "safe"

    @property
    def was_judged(self) -> bool:
        return self._judge is not None

    @cached_property
    def divided(self) -> Divided:
        return self._make()

    @cached_property
    def badness(self) -> float:
        """How wrong it is expected to be about everything that is judged."""
        return 0.0 if self._judge is None else self._judge(self.divided).badness


Others = Callable[[Judge, Head], list[Found]]
"""What judges the kinds that are tried besides small clusters and head chunks."""


def judge_all(small: Divided, way: Way, others: Others) -> list[Found]:
    """Small clusters and the others (larger clusters, one cluster, the safe one), as they are
    judged; and head chunks above small clusters, without and with hubs, if they are expected to be
    about as good as the best of these."""
    above = Above(small, way)
    own = Found("small", lambda: small, above.judge.pairs_of(above.small), above.judge.of_clusters)
    made = [own, *others(above.judge, above.head)]
    kinds = head_kinds(way.rule.m)
    if above.head.hub_share < HUB_PAIRS:
        kinds = kinds[:1]
    return made + above.lay(kinds, _about(min(each.pairs for each in made)))


def judge_clusters(kind: Kind, judge: Judge, divided: Divided) -> Found:
    """Clusters without head chunks, as they are judged."""
    pairs = judge.pairs_of(judge.small(divided))
    return Found(kind, lambda: divided, pairs, judge.of_clusters)


def take_best(made: Sequence[Found], *, prefer_safe: bool = True) -> Found:
    """The arrangement whose frequent pairs are expected to be least wrong.

    Of those that are about as good as the best, a safe one is taken, because it promises more; else
    the one that is least wrong about everything that is judged."""
    limit = _about(min(each.pairs for each in made))
    good = [each for each in made if each.pairs <= limit]
    safe = [each for each in good if each.is_safe and prefer_safe]
    if safe or len(good) == 1:
        return (safe or good)[0]
    return min(good, key=lambda each: each.badness)


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
    return next((each.divided for each in Above(small, way).lay((kind,))), small)


class Above:
    """Head chunks above small clusters of the rest."""

    def __init__(self, small: Divided, way: Way) -> None:
        rows, width = small.clusters.rows, way.engine.width
        self.judge = way.judge or counted(rows, width, way.rule.k)
        self.small, self._way = self.judge.small(small), way
        below = partial(self.judge.kept, self.small)
        self.head = Head(rows, self.judge.targets, way.rule, below, width)

    def lay(self, kinds: Sequence[str], limit: float = np.inf) -> list[Found]:
        """For each kind those that are expected to lose least, as they are judged; nothing for a
        kind that keeps no promise here, or whose pairs are expected to be worse than the limit."""
        if self.head.triples > MOST_TRIPLES:
            return []
        made = list[Found]()
        for kind in kinds:
            ways = self.head.arrange(kind, limit)
            good = _about(min((each.pairs for each in ways), default=0.0))
            fine = [each for each in ways if each.pairs <= good]
            for best in sorted(fine, key=lambda each: each.badness)[:1]:
                again = self.head.leave_again(best) if kind == "head" else []
                near = (each for each in again if each.pairs <= good)
                best = min(near, key=lambda each: each.badness, default=best)
                if best.pairs <= limit:
                    made.append(self._judged(kind, best))
                    limit = min(limit, _about(made[-1].pairs))
        return made

    def _judged(self, kind: str, arranged: Arranged) -> Found:
        """Head chunks as judged; the rest is only known when it is divided anew."""
        layers = cache(partial(lay, self.small.divided.clusters, arranged, self._way))

        @cache
        def judged() -> Judged:
            return self.judge.of_layers(layers(), self.small, arranged.part, arranged.chunks)

        is_bare = bool((arranged.chunks.max(axis=1) < 0).any())
        pairs = judged().pairs if is_bare or self.head.is_part else arranged.pairs
        return Found(kind, lambda: layers().divided, pairs, lambda _: judged())


def counted(rows: Transactions, width: int, k: int) -> Judge:
    """A judge of these records that has counted what is frequent."""
    judge = Judge(rows, Scope(), width, k)
    judge.count()
    return judge

"""Make the arrangement of the records that was asked for, or search for the best one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.head import PRICES, Head
from setveil.methods.disassociation.judging import Judge, Judged, Scope
from setveil.methods.disassociation.layers import FEW, Way, lay
from setveil.methods.disassociation.partitioning import (
    Clusters,
    canonical_order,
    horpart,
    verpart,
    with_public_terms,
)
from setveil.methods.disassociation.refine import PAPER, level_plan, no_joints, refine
from setveil.methods.disassociation.sketches import Divided
from setveil.methods.method import Request
from setveil.promises import KmAnonymity
from setveil.threads import at_once

if TYPE_CHECKING:
    from setveil.methods.disassociation.method import Disassociation

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


SMALL = 6  # small clusters have fewer than so many times k records. Measured.
MANY, SOME = 200_000, 50_000
"""Of more records than the first, only some are tried with all kinds."""
LARGEST = 1 << 40  # of clusters; more records than there can be


@dataclass(frozen=True)
class Arranger:
    """Some records, and how a method arranges them."""

    method: Disassociation
    request: Request[KmAnonymity]
    rule: Rule
    least: int  # the fewest records of a cluster

    @property
    def records(self) -> Transactions:
        return self.request.records

    def arrange(self) -> Found:
        """The records as the method was asked to arrange them."""
        kind = self.method.arrangement
        if kind == "search":
            return self._searched() if self._may_search() else Found("small", self._small())
        if kind == "safe":
            return Found(kind, self._safe())
        if isinstance(kind, str) and is_head(kind) and len(self.records):
            return Found(kind, force_head(self._small(), self._way(), kind))
        return Found(kind, self._in_clusters(len(self.records) if kind == "all" else self._most))

    @property
    def _most(self) -> int:
        """The most records of a cluster that is not larger than asked for."""
        kind = self.method.arrangement
        return kind if isinstance(kind, int) else SMALL * self.rule.k - 1

    def _may_search(self) -> bool:
        """Whether more than HORPART's small clusters is tried."""
        can = self.method.refine and self.rule.m in PRICES and not self.rule.sensitive.any()
        return can and len(self.records) > 0

    def _searched(self) -> Found:
        return take_best(self._judged())

    def _judged(self) -> list[Found]:
        """All kinds that are tried, and how they are judged."""
        width = self.request.engine.width
        clusters = self._clusters(self._most)
        small, judge = at_once(
            partial(self._divide, clusters, self._most),
            partial(counted, clusters.rows, width),
            width=width,
        )
        return judge_all(small, self._way()._replace(judge=judge), self._others)

    def _others(self, judge: Judge) -> dict[Kind, Callable[[], Divided]]:
        """What makes the kinds that are tried besides small clusters and head chunks.

        If there are many records, only those that are best for some of them."""
        quiet, most = self._quiet(), len(self.records)
        sizes = [each for each in SIZES if 2 * SMALL * self.rule.k < each <= most // 2]
        others: dict[Kind, Callable[[], Divided]]
        others = {each: partial(quiet._in_clusters, each) for each in sizes}
        others["all"] = partial(quiet._in_clusters, most)
        if self.method.max_part is None:
            others["safe"] = partial(quiet._safe, judge)
        if most <= MANY:
            return others
        order = canonical_order(self.records, self.request.engine)
        some = self.records.take(np.sort(order[:: most // SOME]))
        judged = replace(quiet, request=replace(quiet.request, records=some))._judged()
        best = {take_best(judged).kind, take_best(judged, prefer_safe=False).kind}
        return {kind: make for kind, make in others.items() if kind in best}

    def _quiet(self) -> Arranger:
        """The same without progress, for several at the same time."""
        return replace(self, request=replace(self.request, progress=None))

    def _way(self) -> Way:
        """How head chunks are put above small clusters."""
        quiet = self._quiet() if len(self.records) <= FEW else self
        below = partial(quiet._divide, most=self._most, share_lost=True)
        limit = max(self._most + 1, self.least + 1)
        return Way(self.rule, self.least, limit, below, None, self.request.engine)

    def _small(self) -> Divided:
        return self._in_clusters(self._most)

    def _safe(self, judge: Judge | None = None) -> Divided:
        return divide_safely(self.records, self.rule, self.request, judge)

    def _in_clusters(self, most: int) -> Divided:
        """The records in clusters of at most so many."""
        return self._divide(self._clusters(most), most)

    def _clusters(self, most: int) -> Clusters:
        """HORPART."""
        rule, limit = self.rule, max(min(most, LARGEST), self.least) + 1
        clusters = horpart(self.records, rule.sensitive, self.least, limit, self.request.engine)
        return with_public_terms(clusters, rule.sensitive) if rule.sensitive.any() else clusters

    def _divide(self, clusters: Clusters, most: int, share_lost: bool | None = None) -> Divided:
        """VERPART and REFINE."""
        rule, engine, progress = self.rule, self.request.engine, self.request.progress
        chunks = verpart(clusters, rule, engine, progress)
        if not self.method.refine:
            return Divided(clusters, chunks, no_joints(clusters))
        lost = self.method.share_lost if share_lost is None else share_lost
        plan = level_plan(rule.k, min(most, LARGEST) + 1, with_lost=lost)
        plan = PAPER if self.method.arrangement == "paper" else plan
        joints = refine(clusters, chunks, rule, plan, engine=engine, progress=progress)
        return Divided(clusters, chunks, joints)

"""Make the arrangement of the records that was asked for, or search for the best one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.choosing import (
    Found,
    Kind,
    counted,
    force_head,
    is_head,
    judge_all,
    judge_clusters,
    take_best,
)
from setveil.methods.disassociation.head import PRICES, Head
from setveil.methods.disassociation.judging import Judge
from setveil.methods.disassociation.layers import FEW, Way, lay
from setveil.methods.disassociation.partitioning import (
    Clusters,
    Ordered,
    horpart,
    only_items,
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

SIZES = (100, 300, 1000)  # of larger clusters that are tried

KEPT = 0.5
"""The share of the frequent pairs that must occur k times, so that head chunks can have them; else
VERPART keeps more."""


def divide_safely(
    ordered: Ordered,
    rule: Rule,
    request: Request[KmAnonymity],
    judge: Judge | None = None,
    head: Head | None = None,
) -> Divided:
    """All records as one cluster, cut into chunks; `judge` and `head` are what was counted before.

    A person of a cluster of s records has an item of a chunk, if nothing else of that chunk is
    known, with a chance of c / s, where c records have it. A chunk has no item fewer than k times,
    so c / s is at most 1/k only in clusters of k^2 records or more, and only for items that are not
    common there. Clusters of similar records have common items by design: HORPART cuts by an item
    that all records of a cluster have. So all records are merged. Then c / s is the share of all
    records that have the item, which is no more than anybody may expect of anybody."""
    rows, origin = ordered
    bounds = np.array([0, len(rows)] if len(rows) else [0], dtype=np.int64)
    clusters = Clusters(rows, origin, bounds)
    if rule.sensitive.any() and len(rows):
        clusters = with_public_terms(clusters, rule.sensitive)
    way = Way(rule, rule.k, len(rows) + 1, partial(_divide, rule=rule, request=request))
    if rule.m == 2 and len(rows) and not rule.sensitive.any():
        judge = judge or counted(rows, request.engine.width, rule.k)
        if has_safe_head(rule, judge):
            head = head or Head(rows, judge.targets, rule)
            return lay(clusters, head.whole, way).divided
    return way.divide(clusters)


def has_safe_head(rule: Rule, judge: Judge) -> bool:
    """Whether the safe arrangement has head chunks."""
    return rule.m == 2 and judge.share_kept(rule.k) >= KEPT


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
    ordered: Ordered

    @property
    def records(self) -> Transactions:
        return self.request.records

    def arrange(self) -> Found:
        """The records as the method was asked to arrange them."""
        kind = self.method.arrangement
        if kind == "search":
            can = self.method.refine and self.rule.m in PRICES and not self.rule.sensitive.any()
            if can and len(self.records):
                return take_best(self._judged())
            return Found("small", self._small)
        if kind == "safe":
            return Found(kind, self._safe)
        if isinstance(kind, str) and is_head(kind) and len(self.records):
            return Found(kind, lambda: force_head(self._small(), self._way(), kind))
        most = len(self.records) if kind == "all" else self._most
        return Found(kind, partial(self._in_clusters, most))

    @property
    def _most(self) -> int:
        """The most records of a cluster that is not larger than asked for."""
        kind = self.method.arrangement
        return kind if isinstance(kind, int) else SMALL * self.rule.k - 1

    def _judged(self) -> list[Found]:
        """All kinds that are tried, and how they are judged."""
        width = self.request.engine.width
        clusters = self._clusters(self._most)
        small, judge = at_once(
            partial(self._divide, clusters, self._most),
            partial(counted, clusters.rows, width, self.rule.k),
            width=width,
        )
        return judge_all(small, self._way()._replace(judge=judge), self._others)

    def _others(self, judge: Judge, head: Head) -> list[Found]:
        """How the kinds are judged that are tried besides small clusters and head chunks.

        If there are many records, only those that are best for some of them."""
        quiet, most = self._quiet(), len(self.ordered.rows)
        least = 2 * SMALL * self.rule.k + 1
        kinds: list[Kind] = [*(each for each in SIZES if least <= each <= most // 2), "all"]
        if self.method.max_part is None:
            kinds.append("safe")
        if most > MANY:
            some = self.ordered.rows.take(np.arange(0, most, most // SOME))
            ordered = Ordered(some, np.arange(len(some)))
            request = replace(quiet.request, records=some)
            judged = replace(quiet, request=request, ordered=ordered)._judged()
            best = {take_best(judged).kind, take_best(judged, prefer_safe=False).kind}
            kinds = [each for each in kinds if each in best]
        sizes = [each for each in kinds if isinstance(each, int)]
        return [*quiet._larger(sizes, judge), *quiet._in_one(kinds[len(sizes) :], judge, head)]

    def _larger(self, sizes: Sequence[int], judge: Judge) -> list[Found]:
        """How larger clusters are judged; not again if a limit changes nothing."""
        made, largest = dict[int, Clusters](), np.inf
        for size in sorted(sizes, reverse=True):
            if size < largest:
                clusters = self._clusters(size)
                largest = int(clusters.sizes.max())
                if largest > self._most:
                    made[size] = clusters

        def judged(size: int, clusters: Clusters) -> Found:
            return judge_clusters(size, judge, self._divide(clusters, size))

        width = self.request.engine.width if len(self.records) <= FEW else 1
        return at_once(*(partial(judged, *each) for each in sorted(made.items())), width=width)

    def _in_one(self, kinds: Sequence[Kind], judge: Judge, head: Head) -> list[Found]:
        """How one cluster is judged, and the safe one.

        VERPART divides rarer items later, so those of frequent pairs do not depend on them."""
        if not kinds:
            return []
        rows, given = only_items(self.ordered.rows, judge.is_common), (judge, head)
        clusters = Clusters(rows, self.ordered.origin, np.array([0, len(rows)]))
        pairs = judge.pairs_of(judge.small(_divide(clusters, self.rule, self.request)))
        makes = {"all": partial(self._in_clusters, len(rows)), "safe": partial(self._safe, *given)}
        errors = dict.fromkeys(makes, pairs)
        if "safe" in kinds and has_safe_head(self.rule, judge):
            errors["safe"] = head.whole.pairs
        return [
            Found(kind, makes[kind], errors[kind], judge.of_clusters)
            for kind in makes
            if kind in kinds
        ]

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

    def _safe(self, judge: Judge | None = None, head: Head | None = None) -> Divided:
        return divide_safely(self.ordered, self.rule, self.request, judge, head)

    def _in_clusters(self, most: int) -> Divided:
        """The records in clusters of at most so many."""
        return self._divide(self._clusters(most), most)

    def _clusters(self, most: int) -> Clusters:
        """HORPART."""
        rule, limit = self.rule, max(min(most, LARGEST), self.least) + 1
        clusters = horpart(self.ordered, rule.sensitive, self.least, limit, self.request.engine)
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

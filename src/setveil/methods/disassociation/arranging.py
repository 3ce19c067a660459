"""Make the arrangement of the records that was asked for, or search for the best one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.transactions import Transactions
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.grouping import (
    SIZES,
    Found,
    Kind,
    counted,
    force_head,
    is_head,
    judge_all,
    take_best,
)
from setveil.methods.disassociation.head import PRICES
from setveil.methods.disassociation.judging import Judge
from setveil.methods.disassociation.layers import FEW, Way
from setveil.methods.disassociation.partitioning import (
    Clusters,
    canonical_order,
    horpart,
    verpart,
    with_public_terms,
)
from setveil.methods.disassociation.refine import PAPER, level_plan, no_joints, refine
from setveil.methods.disassociation.safe import divide_safely
from setveil.methods.disassociation.sketches import Divided
from setveil.methods.method import Request
from setveil.promises import KmAnonymity
from setveil.threads import at_once

if TYPE_CHECKING:
    from setveil.methods.disassociation.method import Disassociation

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

"""The method Disassociation: HORPART, VERPART and REFINE, one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from setveil.data.arrays import Flags
from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.engines.parts import Block, InMemory, Parts
from setveil.errors import InfeasibleError, ParameterError, check_count
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.grouping import MANY, SIZES, SOME, Other, counted, search
from setveil.methods.disassociation.head import PRICES
from setveil.methods.disassociation.layers import FEW, Way
from setveil.methods.disassociation.partitioning import (
    Clusters,
    canonical_order,
    horpart,
    verpart,
    with_public_terms,
)
from setveil.methods.disassociation.parts import Limits, divide
from setveil.methods.disassociation.refine import PAPER, assemble, level_plan, no_joints, refine
from setveil.methods.disassociation.safe import check_alone, divide_safely
from setveil.methods.disassociation.sketches import Divided
from setveil.methods.dividing import USUAL_PART, Share, Whole
from setveil.methods.method import Method, Request
from setveil.parameters import with_default
from setveil.promises import KmAnonymity, LDiversity, Promise
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.together import together
from setveil.threads import at_once


@dataclass(frozen=True, kw_only=True)
class Disassociation(Method[Disassociated]):
    """Cuts similar records into unlinked pieces: every term stays, rare combinations disappear.

    HORPART groups similar records into clusters: a group is cut by its most frequent term that it
    was not cut by yet, until it is small. VERPART divides the terms of a cluster: terms of at least
    k records go into record chunks that are k^m-anonymous, where each record shows only the terms
    of the chunk; all others go into the term chunk, a list without counts. REFINE joins clusters
    whose term chunks have terms in common, and moves these terms into shared chunks.
    [Terrovitis2012] section 4

    The result depends only on the records, not on their order or the number of threads; ties go to
    the first term of the vocabulary. Counts of bags are ignored. Empty records form a cluster
    without terms.

    Departures from the paper (`docs/methods/disassociation.md` has the counterexamples):
        - Clusters have at least k records: smaller parts are put together with their neighbours.
          The paper leaves them as they are, which breaks the guarantee whatever their chunks are.
        - A group that no unused term can cut is cut evenly.
        - A cluster in which every record has only sensitive terms is put together with another one:
          all its people would have a sensitive term, and everybody would know.
        - A cluster that meets Lemma 2 only by its term chunk keeps a term in it when terms are
          shared.
        - Property 1 is not sound. A shared chunk of several terms has none that is also in a chunk
          below it. Such a term is shared in a chunk of its own, which is always sound: its
          subrecords are all equal, so k of them can belong to any k records that do not show the
          term in another chunk, and the others to the records that they came from.
        - For m = 2 and 3, if `max_cluster` is not given, the arrangement is chosen that is expected
          to lose least: small clusters, larger ones, one, or the terms of frequent pairs in chunks
          above small clusters of the rest (`grouping.search`, `layers.lay`).
        - When no more clusters join by the paper's rule, neighbours in the order of
          HORPART are joined, two by two and level by level, over each term that the joint cluster
          makes at least half as likely as the clusters that have it do. With `share_lost`, a term
          that is in no chunk is shared in the first joint cluster, of up to 100,000 records, that
          has it k times.

    Cost:
        HORPART reads each record once per level, and there are at most as many levels as terms in a
        record; the rest is linear in the data. About 80 bytes per occurrence.

    Example:
        >>> data = [["flu", "itunes"]] * 2 + [["flu", "ikea"], ["itunes", "flu", "ruby"]]
        >>> release = Disassociation().anonymize(data, KmAnonymity(k=2, m=2))
        >>> release.lines()
        ['{"size":4,"chunks":[[[["flu"],1],[["flu","itunes"],3]]],"terms":["ikea","ruby"]}']
    """

    name: ClassVar[str] = "disassociation"
    promises: ClassVar[tuple[type[Promise], ...]] = (KmAnonymity,)
    additions: ClassVar[tuple[type[Promise], ...]] = (LDiversity,)
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {
        KmAnonymity: "it needs no hierarchy and publishes every item as it is"
    }
    needs_hierarchy: ClassVar[bool] = False
    reads: ClassVar[Literal["sets"]] = "sets"
    trial: ClassVar[Promise] = KmAnonymity(k=2, m=2)
    form: ClassVar[str] = Disassociated.form
    divides: ClassVar[bool] = True
    runs_anywhere: ClassVar[bool] = True
    tunes: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "max_cluster": (None, 30, 100, 300, 1000),
        "share_lost": (False, True),
    }

    max_cluster: int | None = with_default(
        None,
        "The most records a cluster may have, if possible; by default chosen for the data, with "
        "frequent items shared above the clusters if that loses less.",
    )
    max_part: int | None = with_default(
        None,
        "Divide the records first into parts of at most so many, each disassociated on its own; by "
        "default one part, with the engines blocks and spark 500,000 records.",
    )
    max_subrecord: int | None = with_default(
        None, "The most items that a piece of a record may show together; by default no limit."
    )
    refine: bool = with_default(True, "Join clusters to publish counts for more items.")
    order: Literal["default", "paper"] = with_default(
        "default", "`paper` joins clusters exactly as the paper does, for comparison."
    )
    share_lost: bool = with_default(
        False, "Also publish counts for items that would have none, in larger groups of records."
    )

    safe: bool = with_default(
        False,
        "Also bound how likely an item of another chunk is: at most 1/k, or its share of all "
        "records.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alone(self)
        if self.share_lost and (self.order == "paper" or not self.refine):
            allowed = "it is part of the default way of joining clusters"
            raise ParameterError("share_lost", True, allowed)
        if self.max_subrecord is not None:
            check_count("max_subrecord", self.max_subrecord, 1)
        if self.max_part is not None and self.safe:
            raise ParameterError("safe", True, "it compares all records; leave out {max_part}")

    def check_early(self, promise: Promise, *, has_hierarchy: bool) -> None:
        super().check_early(promise, has_hierarchy=has_hierarchy)
        if self.max_part is None:
            return
        least = max(part.crowd for part in promise.parts)
        if self.max_part < 2 * least:
            allowed = f"it must be at least {2 * least:,}: a part has two clusters or more"
            raise ParameterError("max_part", self.max_part, allowed)
        if "sensitive" in promise.named_items:
            allowed = "all records are compared, which only {engine=local} without {max_part} does"
            raise ParameterError("sensitive", "given", allowed)

    @property
    def plain(self) -> Self | None:
        return replace(self, safe=False) if self.safe else None

    def remark(self, release: Any) -> str:
        if self.safe or not release.is_safe:
            return ""
        return (
            "The safe arrangement was taken, as with {safe=True}: it is expected to lose no more "
            "than the others, and promises more."
        )

    def _try_out(self) -> None:
        super()._try_out()
        records = [[f"a{i % 3}", f"b{i % 3}", f"c{i % 5}"] for i in range(150)]
        self.anonymize(records, self.trial, engine=Local(1))  # so frequent that heads are tried

    def _anonymize(self, request: Request[KmAnonymity]) -> Disassociated:
        data, promise = request.records, request.promise
        least = max(part.crowd for part in promise.parts)
        if self.max_part is not None and len(data) > self.max_part:
            return self._in_parts(request, Limits(least, self.max_part))
        return self._whole(request)

    def in_parts(self) -> Self:
        if self.safe:
            allowed = "it compares all records, which only {engine=local} does"
            raise ParameterError("safe", True, allowed)
        return self if self.max_part is not None else replace(self, max_part=USUAL_PART)

    def divide(self, parts: Parts, whole: Whole) -> list[Share]:
        assert self.max_part is not None
        least = max(part.crowd for part in whole.promise.parts)
        limits = Limits(least, self.max_part)
        return [Share((part,)) for part in divide(parts, whole.items, limits, whole.progress)]

    def anonymize_share(
        self, blocks: Sequence[Block], state: object, request: Request[Any]
    ) -> Disassociated:
        return self._whole(request)

    @classmethod
    def warmup_late(cls) -> None:
        """The search for chunks above the clusters."""
        from setveil.kernels.disassociation.annealing import anneal

        anneal(np.zeros((2, 2)), np.zeros((2, 2), dtype=bool), 1)

    def _in_parts(self, request: Request[KmAnonymity], limits: Limits) -> Disassociated:
        """Each part of the records on its own."""
        data = request.records
        parts = InMemory(Block(data.indptr, data.items))
        order = divide(parts, len(data.vocabulary), limits, request.progress)
        rows = [parts.rows(part) for part in order]
        found = [self._whole(replace(request, records=data.take(each))) for each in rows]
        return together(found, rows)

    def _whole(self, request: Request[KmAnonymity]) -> Disassociated:
        """All records of a request together."""
        data, promise = request.records, request.promise
        limit, least = self._limit(promise.k), max(part.crowd for part in promise.parts)
        _check_enough(int(np.count_nonzero(data.lengths)), least)
        longest = 0 if self.max_subrecord is None else self.max_subrecord
        rule = Rule(promise.k, promise.m, _sensitive(data, promise), longest)
        if self.safe:
            divided = divide_safely(data, rule, request)
            made = assemble(len(data), *divided, promise, self.to_dict(), request.engine)
            return replace(made, is_safe=True)
        sizes = least, max(limit, least + 1)
        clusters = horpart(data, rule.sensitive, *sizes, request.engine)
        if rule.sensitive.any():
            clusters = with_public_terms(clusters, rule.sensitive)
        divide = partial(self._divide, rule=rule, request=request)
        if not self._may_choose(rule) or not len(data):
            divided = divide(clusters, share_lost=self.share_lost)
            return assemble(len(data), *divided, promise, self.to_dict(), request.engine)
        width = request.engine.width
        divided, judge = at_once(
            partial(divide, clusters, share_lost=self.share_lost),
            partial(counted, clusters.rows, rule, width),
            width=width,
        )
        quiet = replace(request, progress=None) if len(data) <= FEW else request  # on all threads
        above = partial(divide, share_lost=True, request=quiet)
        way = Way(rule, *sizes, above, judge, request.engine)
        found = search(divided, way, self._others(request, way))
        made = assemble(len(data), *found.divided, promise, self.to_dict(), request.engine)
        return replace(made, is_safe=True) if found.is_safe else made

    def _others(self, request: Request[KmAnonymity], way: Way) -> list[Other]:
        """What is tried besides small clusters and head chunks.

        If there are many records, only the kind that is best for some of them."""
        request = replace(request, progress=None)  # several at the same time
        data, most = request.records, len(request.records)
        sizes = [each for each in SIZES if 2 * way.limit < each <= most // 2]
        others = [Other(partial(self._in_clusters, each, way, request)) for each in (*sizes, most)]
        if self.max_part is None:
            others.append(Other(partial(divide_safely, data, way.rule, request), is_safe=True))
        if most <= MANY:
            return others
        some = data.take(np.sort(canonical_order(data, request.engine)[:: most // SOME]))
        on_some = replace(request, records=some, progress=None)
        small = self._in_clusters(way.limit - 1, way, on_some)
        kinds = self._others(on_some, way)
        best = search(small, way._replace(judge=None), kinds).other
        return [] if best is None else [others[kinds.index(best)]]

    def _in_clusters(self, most: int, way: Way, request: Request[KmAnonymity]) -> Divided:
        """The records in clusters of at most so many."""
        clusters = horpart(request.records, way.rule.sensitive, way.least, most + 1, request.engine)
        method = replace(self, max_cluster=most)
        return method._divide(clusters, way.rule, request, share_lost=self.share_lost)

    def _divide(
        self, clusters: Clusters, rule: Rule, request: Request[KmAnonymity], *, share_lost: bool
    ) -> Divided:
        """VERPART and REFINE."""
        engine, progress = request.engine, request.progress
        chunks = verpart(clusters, rule, engine, progress)
        if not self.refine:
            return Divided(clusters, chunks, no_joints(clusters))
        plan = level_plan(rule.k, self._limit(rule.k), with_lost=share_lost)
        plan = PAPER if self.order == "paper" else plan
        joints = refine(clusters, chunks, rule, plan, engine=engine, progress=progress)
        return Divided(clusters, chunks, joints)

    def _may_choose(self, rule: Rule) -> bool:
        """Whether more than HORPART's small clusters is tried."""
        asked = self.max_cluster is None and self.order == "default" and self.refine
        return asked and rule.m in PRICES and not rule.sensitive.any()

    def _limit(self, k: int) -> int:
        """A group of so many records is cut."""
        if self.max_cluster is not None and self.max_cluster < k:
            allowed = f"it must be at least k = {k}, the smallest cluster allowed"
            raise ParameterError("max_cluster", self.max_cluster, allowed)
        return 6 * k if self.max_cluster is None else min(self.max_cluster, 1 << 40) + 1


def _check_enough(records: int, least: int) -> None:
    """Refuse data that no cluster can be made of: empty records hide nobody."""
    if 0 < records < least:
        have = "1 record has" if records == 1 else f"{records:,} records have"
        problem = f"only {have} items, but a cluster needs {least:,}"
        raise InfeasibleError(problem, remedy="use a method that suppresses items, or a smaller k")


def _sensitive(data: Transactions, promise: KmAnonymity) -> Flags:
    """For each term, whether it may only be in term chunks; never empty."""
    named = promise.named_items.get("sensitive", frozenset())
    flags = np.zeros(max(len(data.vocabulary), 1), dtype=bool)
    for number, item in enumerate(data.vocabulary):
        flags[number] = item in named
    return flags

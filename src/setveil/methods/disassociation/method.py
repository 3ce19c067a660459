"""The method Disassociation: HORPART, VERPART and REFINE."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, ClassVar, Literal, Self

import numpy as np

from setveil.data.arrays import Flags
from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.engines.parts import USUAL_PART, Block, InMemory, Parts
from setveil.errors import InfeasibleError, ParameterError, check_count
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation.arranging import SIZES, Arranger
from setveil.methods.disassociation.choosing import is_head
from setveil.methods.disassociation.head import PRICES
from setveil.methods.disassociation.partitioning import in_order
from setveil.methods.disassociation.parts import Limits, divide
from setveil.methods.disassociation.refine import assemble
from setveil.methods.dividing import Divisible, Share, Whole
from setveil.methods.method import Request
from setveil.parameters import with_default
from setveil.promises import KmAnonymity, LDiversity, Promise
from setveil.published.disassociated.canonical import together
from setveil.published.disassociated.form import Disassociated

ARRANGEMENTS = {
    "small": "small clusters",
    "head": "chunks of frequent items above small clusters",
    "hubs": "parts by the most frequent items, with chunks of frequent items above small clusters",
    "all": "one cluster of all records",
}
"""What an arrangement is, for people."""


@dataclass(frozen=True, kw_only=True)
class Disassociation(Divisible[Disassociated]):
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
        - For m = 2 and 3 the arrangement is chosen that is expected to lose least, unless one is
          named: small clusters, larger ones, one, or the terms of frequent pairs in chunks above
          small clusters of the rest (`arranging.Arranger`, `layers.lay`).
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
    former: ClassVar[Mapping[str, tuple[object, ...]]] = {
        "max_cluster": (int, NoneType),
        "order": ("default", "paper"),
        "safe": (bool,),
    }
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {
        KmAnonymity: "it needs no hierarchy and publishes every item as it is"
    }
    needs_hierarchy: ClassVar[bool] = False
    reads: ClassVar[Literal["sets"]] = "sets"
    trial: ClassVar[Promise] = KmAnonymity(k=2, m=2)
    form: ClassVar[str] = Disassociated.form
    runs_anywhere: ClassVar[bool] = True
    tunes: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "arrangement": ("search", "small", "head", "hubs", *SIZES, "all", "safe"),
        "share_lost": (False, True),
    }

    arrangement: Literal["search", "small", "head", "hubs", "all", "safe", "paper"] | int = (
        with_default(
            "search",
            "How records are arranged: `search` takes what is expected to lose least, and the safe "
            "one if it loses about as little. The kinds: `small` clusters, clusters of at most N "
            "records, `all` in one; frequent items above small clusters (`head`), or in parts too "
            "(`hubs`); `safe` also bounds how likely an item of another chunk is: at most 1/k, or "
            "its share of all records; `paper` joins clusters exactly as the paper does.",
            metavar="KIND|N",
        )
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
    share_lost: bool = with_default(
        False, "Also publish counts for items that would have none, in larger groups of records."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = self.arrangement
        if isinstance(kind, int):
            check_count("arrangement", kind, 1)
        if kind == "safe" and (self.share_lost or not self.refine):
            allowed = "{arrangement=safe} publishes all records as one cluster, without joining any"
            name = "share_lost" if self.share_lost else "refine"
            raise ParameterError(name, getattr(self, name), allowed)
        if self.share_lost and (kind == "paper" or not self.refine):
            allowed = "it is part of the default way of joining clusters"
            raise ParameterError("share_lost", True, allowed)
        if is_head(kind) and not self.refine:
            raise ParameterError("refine", False, f"{{arrangement={kind}}} joins clusters")
        if self.max_subrecord is not None:
            check_count("max_subrecord", self.max_subrecord, 1)
        if self.max_part is not None and kind == "safe":
            raise ParameterError(
                "arrangement", kind, "it compares all records; leave out {max_part}"
            )

    def check_early(self, promise: Promise, *, has_hierarchy: bool) -> None:
        super().check_early(promise, has_hierarchy=has_hierarchy)
        self._check_kind(promise)
        if self.max_part is None:
            return
        least = max(part.crowd for part in promise.parts)
        if self.max_part < 2 * least:
            allowed = f"it must be at least {2 * least:,}: a part has two clusters or more"
            raise ParameterError("max_part", self.max_part, allowed)
        if "sensitive" in promise.named_items:
            allowed = "all records are compared, which only {engine=local} without {max_part} does"
            raise ParameterError("sensitive", "given", allowed)

    def _check_kind(self, promise: Promise) -> None:
        """Refuse an arrangement that there is not for a promise."""
        kind, k, m = self.arrangement, promise.crowd, getattr(promise, "m", 0)
        if isinstance(kind, int) and kind < k:
            allowed = f"it must be at least k = {k}, the smallest cluster allowed"
            raise ParameterError("arrangement", kind, allowed)
        if is_head(kind) and (m not in PRICES or (kind == "hubs" and m > 2)):
            allowed = f"it is made for m = {'2' if kind == 'hubs' else '2 and 3'}"
            raise ParameterError("arrangement", kind, allowed)
        if is_head(kind) and "sensitive" in promise.named_items:
            raise ParameterError("arrangement", kind, "with {sensitive} only clusters are made")

    @property
    def plain(self) -> Self | None:
        return replace(self, arrangement="search") if self.arrangement == "safe" else None

    def remark(self, release: Any) -> str:
        if self.arrangement == "safe" or not (release.is_safe or release.taken):
            return ""
        if release.is_safe:
            return (
                "The safe arrangement was taken: its error of the frequent pairs is expected to be "
                "within 10 % of the least. It promises more: an item published with counts, apart "
                "from the known ones, is no likelier than 1/k, or than its share of all records if "
                "that is more."
            )
        kind = release.taken
        what = ARRANGEMENTS.get(kind) or f"clusters of at most {int(kind):,} records"
        return (
            f"The arrangement taken is {what}: of all that were tried, it is expected to be about "
            "the least wrong about frequent pairs."
        )

    def _try_out(self) -> None:
        super()._try_out()
        records = [[f"a{i % 3}", f"b{i % 3}", f"c{i % 5}"] for i in range(150)]
        self.anonymize(records, self.trial, engine=Local(1))  # so frequent that heads are tried

    def _anonymize(self, request: Request[KmAnonymity]) -> Disassociated:
        data, promise = request.records, request.promise
        least = max(part.crowd for part in promise.parts)
        if self.max_part is not None and len(data) > self.max_part:
            parts, limits = InMemory(Block(data.indptr, data.items)), Limits(least, self.max_part)
            order = divide(parts, len(data.vocabulary), limits, request.progress)
            rows = [parts.rows(part) for part in order]
            found = [self._whole(replace(request, records=data.take(each))) for each in rows]
            return together(found, rows)
        return self._whole(request)

    def in_parts(self) -> Self:
        if self.arrangement == "safe":
            allowed = "it compares all records, which only {engine=local} does"
            raise ParameterError("arrangement", "safe", allowed)
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

    def _whole(self, request: Request[KmAnonymity]) -> Disassociated:
        """All records of a request together."""
        data, promise = request.records, request.promise
        least = max(part.crowd for part in promise.parts)
        records = int(np.count_nonzero(data.lengths))
        if 0 < records < least:  # empty records hide nobody
            have = "1 record has" if records == 1 else f"{records:,} records have"
            remedy = "use a method that suppresses items, or a smaller k"
            problem = f"only {have} items, but a cluster needs {least:,}"
            raise InfeasibleError(problem, remedy=remedy)
        longest = 0 if self.max_subrecord is None else self.max_subrecord
        rule = Rule(promise.k, promise.m, _sensitive(data, promise), longest)
        ordered = in_order(data, request.engine)
        found = Arranger(self, request, rule, least, ordered).arrange()
        made = assemble(len(data), *found.divided, promise, self.to_dict(), request.engine)
        taken = str(found.kind) if found.was_judged else ""
        return replace(made, is_safe=found.is_safe, taken=taken)


def _sensitive(data: Transactions, promise: KmAnonymity) -> Flags:
    """For each term, whether it may only be in term chunks; never empty."""
    named = promise.named_items.get("sensitive", frozenset())
    flags = np.zeros(max(len(data.vocabulary), 1), dtype=bool)
    flags[: len(data.vocabulary)] = data.vocabulary.marks(named)
    return flags

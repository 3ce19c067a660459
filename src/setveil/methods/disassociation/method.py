"""The method Disassociation: HORPART, VERPART and REFINE, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Transactions
from setveil.errors import InfeasibleError, ParameterError
from setveil.methods.disassociation.assemble import assemble
from setveil.methods.disassociation.horpart import horpart
from setveil.methods.disassociation.refine import no_joints, refine, refine_as_paper
from setveil.methods.disassociation.verpart import verpart
from setveil.methods.method import Method, Request
from setveil.promises import KmAnonymity, LDiversity, Promise
from setveil.published.disassociated.form import Disassociated


@dataclass(frozen=True, kw_only=True)
class Disassociation(Method[Disassociated]):
    """Cuts similar records into subrecords that are no longer linked: every term stays, rare
    combinations vanish.

    HORPART brings similar records together in clusters: a group is cut by its most frequent term
    that it was not cut by yet, until it is small. VERPART divides the terms of a cluster: those of
    k records or more into record chunks that are k^m-anonymous, each the records of the cluster cut
    down to some terms; all others into the term chunk, a mere list. REFINE joins clusters over
    terms that their term chunks have in common, so that these stand in shared chunks.
    [Terrovitis2012] section 4.

    The result depends on the records alone, not on their order nor on the number of threads; ties
    go to the first term of the vocabulary. Of bags the sets are taken. Empty records form a cluster
    without any term.

    Departures from the paper (`docs/methods/disassociation.md` has the counterexamples):
        - Clusters have k records or more: parts below k are put together with their neighbours.
          Left as they are, as in the paper, they break the guarantee whatever their chunks.
        - A group that no unused term can cut is cut evenly.
        - A cluster that meets Lemma 2 only by its term chunk keeps a term in it when terms are
          shared.
        - Property 1 is not sound. A shared chunk of several terms holds none that a chunk below it
          tells of. A term that is told of below is shared in a chunk of its own, which is sound
          wherever it stands: its subrecords are all alike, so k of them can be placed on any k
          records for which the term is not told of elsewhere, and the others wherever they stood.
        - By default, once no more clusters join in the paper's way, neighbours in the order of
          HORPART are joined, two by two, level by level, over each term that the joint cluster
          makes at least half as likely as the clusters that hold it do. With `share_lost` a term
          that stands in no chunk at all is shared in the first joint cluster, of up to 100,000
          records, that has it k times.

    Cost:
        HORPART touches each record once for each level, and there are at most as many levels as
        terms in a record; the others are linear in the data. About 80 bytes for each occurrence.

    Example:
        >>> data = [["flu", "itunes"]] * 2 + [["flu", "ikea"], ["itunes", "flu", "ruby"]]
        >>> release = Disassociation().anonymize(data, KmAnonymity(k=2, m=2))
        >>> release.lines()
        ['{"size":4,"chunks":[[[["flu"],1],[["flu","itunes"],3]]],"terms":["ikea","ruby"]}']
    """

    name: ClassVar[str] = "disassociation"
    promises: ClassVar[tuple[type[Promise], ...]] = (KmAnonymity,)
    additions: ClassVar[tuple[type[Promise], ...]] = (LDiversity,)
    needs_hierarchy: ClassVar[bool] = False
    reads: ClassVar[Literal["sets"]] = "sets"
    trial: ClassVar[Promise] = KmAnonymity(k=5, m=2)
    form: ClassVar[str] = Disassociated.form

    max_cluster: int | None = None
    """Groups of more records than this are cut; at least k. By default 6 k - 1."""
    refine: bool = True
    """Whether clusters are joined over the terms that their term chunks have in common."""
    order: Literal["default", "paper"] = "default"
    """`paper` joins clusters as the paper does and no further, for comparison."""
    share_lost: bool = False
    """Whether terms that would stand in no chunk at all are shared once, among as many records
    as it takes; not with the order `paper`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share_lost and (self.order == "paper" or not self.refine):
            raise ParameterError(
                "share_lost", True, "it is part of the default way of joining clusters"
            )

    def _anonymize(self, request: Request[KmAnonymity]) -> Disassociated:
        data, promise = request.records, request.promise
        engine, progress = request.engine, request.progress
        k, m, limit = promise.k, promise.m, self._limit(promise.k)
        apart = _apart(data, promise)
        least = k if promise.diversity is None else max(k, promise.diversity.l)
        _check_enough(int(np.count_nonzero(data.lengths)), least)
        clusters = horpart(data, apart, least, max(limit, least + 1))
        chunks = verpart(clusters, apart, k, m, engine, progress)
        if not self.refine:
            joints = no_joints(clusters)
        elif self.order == "paper":
            joints = refine_as_paper(clusters, chunks, apart, k, m)
        else:
            joints = refine(clusters, chunks, apart, k, m, limit, self.share_lost, engine, progress)
        return assemble(len(data), clusters, chunks, joints, promise, self.to_dict())

    def _limit(self, k: int) -> int:
        """A group of this many records is cut."""
        if self.max_cluster is not None and self.max_cluster < k:
            raise ParameterError(
                "max_cluster",
                self.max_cluster,
                f"it must be at least k = {k}, the records that each cluster holds",
            )
        return 6 * k if self.max_cluster is None else min(self.max_cluster, 1 << 40) + 1


def _check_enough(records: int, least: int) -> None:
    """Refuse what no cluster can be made of: all terms are kept, so empty records hide nobody."""
    if 0 < records < least:
        raise InfeasibleError(
            f"only {records} records hold an item, but a cluster needs {least}: use a method "
            "that suppresses items, or a smaller k"
        )


def _apart(data: Transactions, promise: KmAnonymity) -> npt.NDArray[np.bool_]:
    """Which terms stay in term chunks, whatever their support."""
    sensitive = frozenset() if promise.diversity is None else promise.diversity.sensitive
    return np.fromiter(
        (item in sensitive for item in data.vocabulary), dtype=bool, count=len(data.vocabulary)
    )

"""The disassociated form: clusters of records, cut into chunks that are not linked.
[Terrovitis2012] section 3"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Flags, Int64s, sums
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.promises.promise import Promise
from setveil.published.countable import Counting
from setveil.published.disassociated.clusters import (
    Chunk,
    Cluster,
    Flattening,
    JointCluster,
    SimpleCluster,
    text_of,
)
from setveil.published.release import Release, Support
from setveil.words import plural

if TYPE_CHECKING:
    from setveil.published.disassociated.canonical import Order
    from setveil.published.disassociated.supports import SupportIndex

UNBOUNDED = (
    "How likely an item is that is published without counts, or together with a known one, is not "
    "bounded."
)
"""What a safe release does not cover."""
MANY_RARE = 0.05  # rare long subrecords, per record, above which they are worth a word


@dataclass(frozen=True, eq=False, repr=False)
class Disassociated(Release):
    """Clusters as flat arrays, so that millions of records fit.

    The clusters are the nodes of a forest: `parent[v]` is the joint cluster that node v is part of,
    -1 at the top level; parents come before their parts. A node without parts is a simple cluster
    of `sizes[v]` records; the size of a joint one is the sum. Chunk c belongs to node
    `chunk_node[c]`: it is a record chunk of a simple cluster or a shared chunk of a joint one.
    Subrecord s, row s of `subrecords`, occurs `subrecord_counts[s]` times in chunk
    `subrecord_chunk[s]`. Row v of `terms` is the term chunk of node v. The alignment, the simple
    cluster of each original record, is private and never written.

    Example:
        >>> from setveil.promises import KmAnonymity
        >>> cluster = SimpleCluster(3, [{("flu", "itunes"): 2, ("flu",): 1}], ["ikea"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> release
        Disassociated(3 records in 1 clusters, KmAnonymity(k=2, m=2))
        >>> release.support(["flu", "ikea"])
        Support(lower=1, upper=3, expected=None, accuracy='not determined')
    """

    form: ClassVar[str] = "disassociated"
    shows_records: ClassVar[bool] = False
    expected_is: ClassVar[str] = "an estimate: items of different pieces are taken as independent"
    open_because: ClassVar[str] = "these items are in different pieces, or without counts"
    no_rule: ClassVar[str] = "its clusters were formed from its own records"

    parent: Int64s
    sizes: Int64s
    chunk_node: Int64s
    subrecords: Transactions
    subrecord_chunk: Int64s
    subrecord_counts: Int64s
    terms: Transactions
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    alignment: Int64s | None = None
    min_people: int = 0
    is_safe: bool = False
    """Whether it also says that no item of another chunk is likelier than 1/k or its share of all
    records; `setveil.audit.disassociated.check` checks it."""
    taken: str = ""
    """Private: which arrangement a search took. Like the alignment, it is never written."""

    @classmethod
    def of_clusters(
        cls,
        clusters: Iterable[Cluster | Mapping[str, Any]],
        promise: Promise,
        method: Mapping[str, object] | None = None,
    ) -> Disassociated:
        """From nested clusters, as objects or as the JSON values of `data.jsonl`.

        Example:
            >>> from setveil.promises import KmAnonymity
            >>> cluster = SimpleCluster(3, [{("flu", "itunes"): 2, ("flu",): 1}], ["ikea"])
            >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
            >>> len(release), release.lines()
            (3, ['{"size":3,"chunks":[[[["flu"],1],[["flu","itunes"],2]]],"terms":["ikea"]}'])
        """
        flat = Flattening()
        for cluster in clusters:
            flat.add(text_of(cluster))
        return cls(*flat.arrays(), promise, method or {})

    def __len__(self) -> int:
        return int(self.sizes[self.parent < 0].sum())

    def __eq__(self, other: object) -> bool:
        """Whether both have the same clusters, in whatever order."""
        return isinstance(other, Disassociated) and self.order.digest == other.order.digest

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        """The fields alone; the index for `support` is made again when it is needed."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __repr__(self) -> str:
        clusters = int(self.is_simple.sum())
        return f"Disassociated({len(self)} records in {clusters} clusters, {self.promise})"

    @property
    def items(self) -> Vocabulary:
        return self.subrecords.vocabulary

    @property
    def facts(self) -> dict[str, object]:
        return {"safe": True} if self.is_safe else {}

    @classmethod
    def promised(cls, promise: Promise, **facts: object) -> str:
        said = super().promised(promise)
        if not facts.get("safe"):
            return said
        chance = f"at most 1/{promise.crowd}, or as likely as it is among all records if that"
        text = "An adversary who also knows the person's group infers an item that is published"
        text += f" with counts, apart from the known ones, with a chance of {chance} is more."
        return f"{said} {text}"

    def limits(self) -> str:
        return f"{super().limits()} {UNBOUNDED}" if self.is_safe else super().limits()

    @cached_property
    def is_simple(self) -> Flags:
        """Which nodes are simple clusters."""
        simple = np.ones(len(self.parent), dtype=bool)
        simple[self.parent[self.parent >= 0]] = False
        return simple

    @property
    def group_sizes(self) -> Int64s:
        return self.sizes[self.is_simple]

    def clusters(self) -> Iterator[Cluster]:
        """The top-level clusters as nested objects."""
        parts: dict[int, list[Cluster]] = {}
        chunks = self._chunks()
        top: list[Cluster] = []
        for node in range(len(self.parent) - 1, -1, -1):
            own = chunks.get(node, ())
            cluster: Cluster
            if self.is_simple[node]:
                cluster = SimpleCluster(int(self.sizes[node]), own, self.terms.record(node))
            else:
                cluster = JointCluster(own, tuple(reversed(parts.pop(node))))
            above = int(self.parent[node])
            (top if above < 0 else parts.setdefault(above, [])).append(cluster)
        return reversed(top)

    def lines(self) -> list[str]:
        """The lines of `data.jsonl`: a top-level cluster each, sorted, so that no input order is
        left."""
        from setveil.published.disassociated.canonical import canonical

        lines, order = canonical(self)
        self.__dict__["order"] = order
        return lines

    def paired_as(self, other: Disassociated) -> Disassociated | None:
        same = other.arranged
        arrays = zip(self._arrays, same._arrays, strict=True)
        if self.items != same.items or not all(np.array_equal(*pair) for pair in arrays):
            return None
        return replace(self, alignment=same.alignment)

    def certain_rows(self) -> tuple[Transactions, Int64s]:
        """The subrecords of all chunks with their counts, and each term once per term chunk."""
        return self._certain_rows

    @cached_property
    def _certain_rows(self) -> tuple[Transactions, Int64s]:
        inside, loose = self.subrecords, np.bincount(self.terms.items, minlength=len(self.items))
        terms = np.flatnonzero(loose)
        indptr = np.concatenate((inside.indptr, inside.indptr[-1] + np.arange(1, len(terms) + 1)))
        items = np.concatenate((inside.items, terms.astype(np.int32)))
        counts = np.concatenate((self.subrecord_counts, loose[terms]))
        return Transactions(indptr, items, self.items), counts

    def support(self, itemset: Iterable[object]) -> Support:
        """Bounds and an estimate; see `setveil.published.disassociated.supports`."""
        return self._support_index.bounds(itemset)

    def counting(self) -> Counting:
        """Items in chunks are counted there; a term is in one to all records of its cluster."""
        rows, weights = self.certain_rows()
        lower = sums(rows.items, weights[rows.rows], len(self.items))
        loose, terms = self.sizes[self.terms.rows] - 1, self.terms.items
        upper = lower + sums(terms, loose, len(self.items))
        return Counting(self.items.labels, lower, lower, upper)

    def guess(self, itemset: Sequence[str]) -> float:
        return self._support_index.expected(itemset)

    def support_note(self, itemset: Sequence[str]) -> str:
        numbers, loose = self.items.numbers, self.terms.supports()
        found = {item: int(loose[numbers[item]]) for item in itemset if item in numbers}
        return "\n".join(
            f"{item} is published without counts in {plural(count, 'cluster')}. In how many "
            f"records of {'it' if count == 1 else 'each'} it is, is an estimate."
            for item, count in found.items()
            if count
        )

    @property
    def reconstruction_note(self) -> str:
        if not self.terms.occurrences:
            return ""
        return (
            "How many records of a cluster have an item without counts is an estimate; it usually "
            "has not exactly as many occurrences as the original."
        )

    @property
    def caution(self) -> str:
        """Long subrecords that are rare, if there are many for so many records."""
        k, m, counts = self.promise.crowd, getattr(self.promise, "m", None), self.subrecord_counts
        if not isinstance(m, int):
            return ""
        rare = int(counts[(self.subrecords.lengths > m) & (counts < k)].sum())
        if rare <= MANY_RARE * len(self):
            return ""
        text = f"{rare:,} pieces of records show {m + 1} or more items together and occur fewer "
        text += f"than {k:,} times. Someone who knows more than {m} items of a person may recognize"
        return f"{text} theirs, and read the rest of it. {{max_subrecord={m}}} bounds this."

    def reconstruct(
        self, seed: int | None = None, *, most_per_term: int | None = None
    ) -> Transactions:
        """One possible original at random; see `setveil.published.disassociated.reconstruct`."""
        from setveil.published.disassociated.reconstruct import reconstruct

        return reconstruct(self, seed, most_per_term=most_per_term)

    def published_as(self, number: int, record: Sequence[str]) -> str:
        from setveil.published.disassociated.supports import TERM

        assert self.alignment is not None
        pieces: dict[int, list[str]] = {}
        node, index = int(self.alignment[number]), self._support_index
        for item in record:
            source = index.sources(self.items.number(item))[index.forest.first[node]]
            pieces.setdefault(int(source), []).append(item)
        loose = pieces.pop(TERM, [])
        shown = [f"{{{', '.join(items)}}}" for items in pieces.values()]
        shown += [f"{', '.join(loose)} (without counts)"] if loose else []
        return f"{' | '.join(shown)} in a cluster of {self.sizes[node]:,} records"

    @cached_property
    def _support_index(self) -> SupportIndex:
        from setveil.published.disassociated.supports import SupportIndex

        return SupportIndex.of(self)

    @cached_property
    def order(self) -> Order:
        """The order of its parts in its files; `lines` finds it as well."""
        from setveil.published.disassociated.canonical import canonical

        return canonical(self)[1]

    @cached_property
    def arranged(self) -> Disassociated:
        """The same release with its parts in the order of its files."""
        from setveil.published.disassociated.canonical import arranged

        return arranged(self, self.order)

    @property
    def _arrays(self) -> tuple[npt.NDArray[np.integer], ...]:
        rows = (self.subrecords, self.terms)
        inside = (array for each in rows for array in (each.indptr, each.items))
        chunks = (self.chunk_node, self.subrecord_chunk, self.subrecord_counts)
        return (self.parent, self.sizes, *chunks, *inside)

    def _chunks(self) -> dict[int, list[Chunk]]:
        contents: list[dict[tuple[str, ...], int]] = [{} for _ in self.chunk_node]
        chunks, counts = self.subrecord_chunk.tolist(), self.subrecord_counts.tolist()
        for record, chunk, count in zip(self.subrecords, chunks, counts, strict=True):
            contents[chunk][record] = count
        by_node: dict[int, list[Chunk]] = {}
        for node, content in zip(self.chunk_node.tolist(), contents, strict=True):
            by_node.setdefault(node, []).append(content)
        return by_node

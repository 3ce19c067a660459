"""The disassociated form: clusters of records, cut into chunks whose subrecords are no longer linked. [Terrovitis2012] section 3"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Counts, Offsets, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.promises.promise import Promise
from setveil.published.frozen import Frozen

if TYPE_CHECKING:
    from setveil.published.disassociated.supports import Support, SupportIndex

Chunk = Mapping[tuple[str, ...], int]
"""The distinct non-empty subrecords of a chunk, each with how often it stands."""


@dataclass(frozen=True)
class SimpleCluster:
    """A number of records, their record chunks, and the terms that stand in them unlinked."""

    size: int
    chunks: Sequence[Chunk] = ()
    terms: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """As it stands in `data.jsonl`: everything in a canonical order."""
        return {
            "size": self.size,
            "chunks": _chunks_to_json(self.chunks),
            "terms": sorted(self.terms),
        }


@dataclass(frozen=True)
class JointCluster:
    """Clusters, simple or joint, that share chunks over the records of all of them."""

    shared: Sequence[Chunk]
    parts: Sequence[Cluster]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def to_json(self) -> dict[str, object]:
        """As it stands in `data.jsonl`: everything in a canonical order."""
        return {
            "shared": _chunks_to_json(self.shared),
            "parts": sorted((part.to_json() for part in self.parts), key=_text),
        }


Cluster = SimpleCluster | JointCluster


@dataclass(frozen=True, eq=False, repr=False)
class Disassociated(Frozen):
    """Clusters as flat arrays, so that millions of records fit.

    The clusters are the nodes of a forest: `parent[v]` is the joint cluster that node v is a part of, -1 for a top-level one; parents
    stand before their parts. A node without parts is a simple cluster of `sizes[v]` records; of a joint one `sizes[v]` is the sum. Chunk
    c belongs to node `chunk_node[c]`: a record chunk of a simple cluster, a shared chunk of a joint one. Subrecord s, `subrecords` row s,
    stands `subrecord_counts[s]` times in chunk `subrecord_chunk[s]`. Row v of `terms` is the term chunk of node v. `alignment`, the
    simple cluster of each original record, is private and never written.

    Example:
        >>> from setveil.promises import KmAnonymity
        >>> cluster = SimpleCluster(3, [{("flu", "itunes"): 2, ("flu",): 1}], ["ikea"])
        >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
        >>> release
        Disassociated(3 records in 1 clusters, KmAnonymity(k=2, m=2))
        >>> release.support(["flu", "ikea"])
        Support(lower=1, upper=3, expected=1.0)
    """

    form: ClassVar[str] = "disassociated"

    parent: Offsets
    sizes: Counts
    chunk_node: Offsets
    subrecords: Transactions
    subrecord_chunk: Offsets
    subrecord_counts: Counts
    terms: Transactions
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    alignment: npt.NDArray[np.int64] | None = None

    @classmethod
    def of_clusters(
        cls,
        clusters: Iterable[Cluster],
        promise: Promise,
        method: Mapping[str, object] | None = None,
    ) -> Disassociated:
        """From nested clusters.

        Example:
            >>> from setveil.promises import KmAnonymity
            >>> cluster = SimpleCluster(3, [{("flu", "itunes"): 2, ("flu",): 1}], ["ikea"])
            >>> release = Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2))
            >>> len(release), release.lines()
            (3, ['{"size":3,"chunks":[[[["flu"],1],[["flu","itunes"],2]]],"terms":["ikea"]}'])
        """
        flat = _Flattened()
        for cluster in clusters:
            flat.add(cluster, -1)
        return flat.release(promise, method or {})

    def __len__(self) -> int:
        """The number of records."""
        return int(self.sizes[self.parent < 0].sum())

    def __eq__(self, other: object) -> bool:
        """The same clusters, in whatever order they are held."""
        return isinstance(other, Disassociated) and self.lines() == other.lines()

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        """The release alone, without the index of its items, which is made again when it is asked."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __repr__(self) -> str:
        return f"Disassociated({len(self)} records in {int(self.is_simple.sum())} clusters, {self.promise})"

    @property
    def vocabulary(self) -> Vocabulary:
        return self.subrecords.vocabulary

    @cached_property
    def is_simple(self) -> npt.NDArray[np.bool_]:
        """Which nodes are simple clusters."""
        simple = np.ones(len(self.parent), dtype=bool)
        simple[self.parent[self.parent >= 0]] = False
        return simple

    def clusters(self) -> Iterator[Cluster]:
        """The top-level clusters as nested objects."""
        parts: dict[int, list[Cluster]] = {}
        chunks = self._chunks()
        top: list[Cluster] = []
        for node in range(len(self.parent) - 1, -1, -1):
            cluster: Cluster
            if self.is_simple[node]:
                cluster = SimpleCluster(
                    int(self.sizes[node]), chunks.get(node, ()), self.terms.record(node)
                )
            else:
                cluster = JointCluster(chunks.get(node, ()), tuple(reversed(parts.pop(node))))
            (top if self.parent[node] < 0 else parts.setdefault(int(self.parent[node]), [])).append(
                cluster
            )
        return reversed(top)

    def lines(self) -> list[str]:
        """The lines of `data.jsonl`: one for each top-level cluster, sorted, so that no order of the input is left."""
        from setveil.published.disassociated.canonical import canonical

        return canonical(self).lines

    def support(self, itemset: Iterable[object]) -> Support:
        """How many records of the original hold all these items: bounds and an estimate; see `setveil.published.query.support`."""
        return self._support_index.bounds(itemset)

    @cached_property
    def _support_index(self) -> SupportIndex:
        from setveil.published.disassociated.supports import SupportIndex

        return SupportIndex.of(self)

    @cached_property
    def arranged(self) -> Disassociated:
        """The same release with its parts in the order in which they stand in its files."""
        from setveil.published.disassociated.canonical import arranged

        return arranged(self)

    def without_alignment(self) -> Disassociated:
        """The same release as anybody may have it."""
        return replace(self, alignment=None)

    def _chunks(self) -> dict[int, list[Chunk]]:
        contents: list[dict[tuple[str, ...], int]] = [{} for _ in self.chunk_node]
        for record, chunk, count in zip(
            self.subrecords,
            self.subrecord_chunk.tolist(),
            self.subrecord_counts.tolist(),
            strict=True,
        ):
            contents[chunk][record] = count
        by_node: dict[int, list[Chunk]] = {}
        for node, chunk_content in zip(self.chunk_node.tolist(), contents, strict=True):
            by_node.setdefault(node, []).append(chunk_content)
        return by_node


def cluster_of_json(value: object) -> Cluster:
    """A cluster from one line of `data.jsonl`.

    Raises:
        DataError: when the line is no cluster; the sentence says where.
    """
    if not isinstance(value, dict):
        raise DataError(
            "a cluster must be an object with size, chunks and terms, or with shared and parts"
        )
    if set(value) == {"shared", "parts"} and isinstance(value["parts"], list) and value["parts"]:
        return JointCluster(
            _chunks_of_json(value["shared"]), [cluster_of_json(part) for part in value["parts"]]
        )
    if set(value) == {"size", "chunks", "terms"}:
        size, terms = value["size"], value["terms"]
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise DataError(
                f"the size of a cluster must be a whole number of 1 or more, not {size!r}"
            )
        if (
            not isinstance(terms, list)
            or not all(isinstance(term, str) for term in terms)
            or len(set(terms)) != len(terms)
        ):
            raise DataError("the terms of a cluster must be a list of distinct texts")
        return SimpleCluster(size, _chunks_of_json(value["chunks"]), terms)
    raise DataError("a cluster must have size, chunks and terms, or shared and a list of parts")


def _chunks_of_json(value: object) -> list[Chunk]:
    if not isinstance(value, list):
        raise DataError("the chunks of a cluster must be a list")
    return [_chunk_of_json(chunk) for chunk in value]


def _chunk_of_json(value: object) -> Chunk:
    chunk: dict[tuple[str, ...], int] = {}
    for entry in value if isinstance(value, list) else [None]:
        match entry:
            case [[*items], int(count)] if count >= 1 and _is_itemset(items):
                key = tuple(sorted(items))
            case _:
                raise DataError(
                    f"a chunk must list [items, count] of its distinct non-empty subrecords, not {entry!r}"
                )
        if key in chunk:
            raise DataError(f"the subrecord {list(key)!r} stands twice in a chunk")
        chunk[key] = count
    return chunk


def _is_itemset(items: list[object]) -> bool:
    return (
        bool(items)
        and all(isinstance(item, str) for item in items)
        and len(set(items)) == len(items)
    )


def _chunks_to_json(chunks: Iterable[Chunk]) -> list[object]:
    return sorted((_chunk_to_json(chunk) for chunk in chunks), key=_text)


def _chunk_to_json(chunk: Chunk) -> list[object]:
    return [
        [list(items), count]
        for items, count in sorted((tuple(sorted(items)), count) for items, count in chunk.items())
    ]


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _Flattened:
    """Collects nested clusters into flat lists."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.sizes: list[int] = []
        self.terms: list[Sequence[str]] = []
        self.chunk_node: list[int] = []
        self.subrecords: list[tuple[str, ...]] = []
        self.subrecord_chunk: list[int] = []
        self.counts: list[int] = []

    def add(self, cluster: Cluster, parent: int) -> None:
        pending = [(cluster, parent)]
        while pending:
            current, above = pending.pop()
            node = len(self.parent)
            self.parent.append(above)
            self.sizes.append(current.size)
            self.terms.append(current.terms if isinstance(current, SimpleCluster) else ())
            for chunk in current.chunks if isinstance(current, SimpleCluster) else current.shared:
                self._add_chunk(chunk, node)
            if isinstance(current, JointCluster):
                pending.extend((part, node) for part in reversed(current.parts))

    def _add_chunk(self, chunk: Chunk, node: int) -> None:
        for items, count in chunk.items():
            self.subrecords.append(items)
            self.subrecord_chunk.append(len(self.chunk_node))
            self.counts.append(count)
        self.chunk_node.append(node)

    def release(self, promise: Promise, method: Mapping[str, object]) -> Disassociated:
        rows = Transactions.of([*self.subrecords, *self.terms])
        split = len(self.subrecords)
        return Disassociated(
            np.array(self.parent, dtype=np.int64),
            np.array(self.sizes, dtype=np.int64),
            np.array(self.chunk_node, dtype=np.int64),
            rows.take(np.arange(split)),
            np.array(self.subrecord_chunk, dtype=np.int64),
            np.array(self.counts, dtype=np.int64),
            rows.take(np.arange(split, len(rows))),
            promise,
            method,
        )

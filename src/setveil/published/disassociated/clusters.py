"""Clusters of disassociated data as nested objects or JSON values, and how they become flat
arrays."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.jsontext import SAME_KEY, JsonPieces
from setveil.data.records import Numbering, RecordBuilder
from setveil.data.transactions import Transactions
from setveil.errors import DataError
from setveil.published.rows import distinct_records

Chunk = Mapping[tuple[str, ...], int]
"""The distinct non-empty subrecords of a chunk and how often each occurs."""

MOST_RECORDS = 10**12
"""Sizes and counts above this are refused, so that sums fit in 64 bits."""

_SIMPLE, _JOINT = {"size", "chunks", "terms"}, {"shared", "parts"}
_TEXTS = {str}
_KINDS = (
    "a cluster must be an object with size, chunks and terms, or with shared and a list of parts"
)
_LISTS = "the chunks of a cluster must be a list of lists"


@dataclass(frozen=True)
class SimpleCluster:
    """A number of records, their record chunks, and the terms that occur in them without counts."""

    size: int
    chunks: Sequence[Chunk] = ()
    terms: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """The cluster as in `data.jsonl`, everything in a canonical order."""
        chunks = _in_order(self.chunks)
        return {"size": self.size, "chunks": chunks, "terms": sorted(self.terms)}


@dataclass(frozen=True)
class JointCluster:
    """Clusters, simple or joint, that share chunks over the records of all of them."""

    shared: Sequence[Chunk]
    parts: Sequence[Cluster]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def to_json(self) -> dict[str, object]:
        """The cluster as in `data.jsonl`, everything in a canonical order."""
        parts = sorted((part.to_json() for part in self.parts), key=_text)
        return {"shared": _in_order(self.shared), "parts": parts}


Cluster = SimpleCluster | JointCluster


class FlatArrays(NamedTuple):
    """The arrays of `Disassociated`."""

    parent: Int64s
    sizes: Int64s
    chunk_node: Int64s
    subrecords: Transactions
    subrecord_chunk: Int64s
    subrecord_counts: Int64s
    terms: Transactions


class Flattening:
    """Collects clusters straight into flat arrays, from JSON texts that are checked.

    A cluster may have a million subrecords, so none of its lists is held whole.
    """

    def __init__(self) -> None:
        self.parent, self.sizes, self.chunk_node = list[int](), list[int](), list[int]()
        self.tops: list[int] = []
        """The node of each cluster that was added."""
        self._chunk_of, self._counts = array("q"), array("q")
        numbers = Numbering[str]()
        self._subrecords, self._terms = RecordBuilder(numbers), RecordBuilder(numbers)

    def add(self, text: str) -> None:
        """Add a top-level cluster and its parts.

        Raises:
            ValueError: if the text is not JSON.
            DataError: if it is not a cluster.
        """
        pieces = JsonPieces(text)
        self.tops.append(len(self.parent))
        self._add(pieces, -1)
        pieces.end()

    def arrays(self) -> FlatArrays:
        """Everything that was added."""
        for node in range(len(self.parent) - 1, 0, -1):  # parts come after their joint cluster
            if self.parent[node] >= 0:
                self.sizes[self.parent[node]] += self.sizes[node]
        return FlatArrays(
            np.array(self.parent, dtype=np.int64),
            np.array(self.sizes, dtype=np.int64),
            np.array(self.chunk_node, dtype=np.int64),
            _rows(self._subrecords),
            np.array(self._chunk_of, dtype=np.int64),
            np.array(self._counts, dtype=np.int64),
            _rows(self._terms),
        )

    def _add(self, pieces: JsonPieces, above: int) -> None:
        node, found = len(self.parent), dict[str, Any]()
        self.parent.append(above)
        self.sizes.append(0)
        if pieces.ends_soon('{"size":', "}"):  # as nearly all do: twice as fast as by pieces
            found = pieces.value()
            if found.keys() == _SIMPLE:
                chunks = found["chunks"]
                if not isinstance(chunks, list) or {*map(type, chunks)} - {list}:
                    raise DataError(_LISTS)
                self._add_chunks(chunks, node)
        elif not pieces.passes("{"):
            raise _unlike(pieces, _KINDS)
        else:
            self._add_pieces(pieces, found, node)
        if found.keys() == _SIMPLE:
            size = found["size"]
            if type(size) is not int or not 1 <= size <= MOST_RECORDS:
                whole = "must be a whole number of 1 or more"
                raise DataError(f"the size of a cluster {whole}, not {_shown(size)}")
            self.sizes[node] = size
            self._terms.add(_terms(found["terms"]))
        elif found.keys() != _JOINT:
            raise DataError(_KINDS)

    def _add_pieces(self, pieces: JsonPieces, found: dict[str, Any], node: int) -> None:
        early = None
        for key in pieces.named():
            if key in found:
                raise ValueError(SAME_KEY)
            found[key] = None
            if key in ("chunks", "shared"):
                chunks = _members(pieces, _LISTS)
                self._add_chunks((_values(pieces) for _ in chunks), node)
            elif key == "parts" and "shared" in found:
                self._add_parts(pieces, node)
            else:
                at, found[key] = pieces.at, pieces.value()
                early = pieces.back_at(at) if key == "parts" else early
        if early is not None and found.keys() == _JOINT:
            self._add_parts(early, node)

    def _add_parts(self, pieces: JsonPieces, node: int) -> None:
        self._terms.add_empty(1)
        for _ in _members(pieces, _KINDS):
            self._add(pieces, node)
        if len(self.parent) == node + 1:
            raise DataError(_KINDS)

    def _add_chunks(self, chunks: Iterable[Iterable[Any]], node: int) -> None:
        for chunk in chunks:
            before = len(self._counts)
            for entry in chunk:
                self._add_subrecord(entry)
            many = len(self._counts) - before
            if not many:
                raise DataError("a chunk must have at least one subrecord")
            self._chunk_of.extend(repeat(len(self.chunk_node), many))
            self.chunk_node.append(node)

    def _add_subrecord(self, entry: Any) -> None:
        items: Any
        items, count = entry if isinstance(entry, list) and len(entry) == 2 else (None, 0)
        good = isinstance(items, list) and items and _is_set(items) and type(count) is int
        if not good or not 1 <= count <= MOST_RECORDS:
            pairs = "[items, count] of its distinct non-empty subrecords"
            raise DataError(f"a chunk must list {pairs}, not {_shown(entry)}")
        self._subrecords.add(items)
        self._counts.append(count)


def repeated(subrecords: Transactions, chunk: Int64s) -> int | None:
    """The first chunk in which a subrecord occurs twice, if any."""
    _, kind = distinct_records(subrecords)
    order = np.lexsort((kind, chunk))
    place, kind = chunk[order], kind[order]
    twice = place[1:][(place[1:] == place[:-1]) & (kind[1:] == kind[:-1])]
    return int(twice[0]) if len(twice) else None


def text_of(cluster: Cluster | Mapping[str, Any]) -> str:
    """A cluster as JSON, in the order in which it was given."""
    return _text(cluster if isinstance(cluster, Mapping) else _plain(cluster))


def _plain(cluster: Cluster) -> dict[str, object]:
    match cluster:
        case SimpleCluster(size, chunks, terms):
            return {"size": size, "chunks": _listed(chunks), "terms": list(terms)}
        case JointCluster(shared, parts):
            return {"shared": _listed(shared), "parts": [_plain(part) for part in parts]}


def _listed(chunks: Iterable[Chunk]) -> list[object]:
    held = filter(None, chunks)
    return [[[list(items), count] for items, count in each.items()] for each in held]


def _members(pieces: JsonPieces, problem: str) -> Iterator[None]:
    """Stop before each member of the list that comes next."""
    if not pieces.passes("["):
        raise _unlike(pieces, problem)
    yield from pieces.each("]")


def _values(pieces: JsonPieces) -> Iterator[Any]:
    return (pieces.value() for _ in _members(pieces, _LISTS))


def _unlike(pieces: JsonPieces, problem: str) -> DataError:
    pieces.value()  # says if it is no JSON at all
    return DataError(problem)


def _terms(terms: Any) -> list[str]:
    if not isinstance(terms, list) or not _is_set(terms):
        raise DataError("the terms of a cluster must be a list of distinct texts")
    return terms


def _is_set(items: list[Any]) -> bool:
    return set(map(type, items)) <= _TEXTS and len(set(items)) == len(items)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _rows(rows: RecordBuilder) -> Transactions:
    owners, items, vocabulary, size, _ = rows.pairs()
    return Transactions.from_pairs(owners, items, vocabulary, size=size)


def _in_order(chunks: Iterable[Chunk]) -> list[object]:
    """Chunks as sorted lists of [items, count]."""
    held = filter(None, chunks)
    pairs = ([(tuple(sorted(items)), count) for items, count in each.items()] for each in held)
    return sorted(
        ([[list(items), count] for items, count in sorted(each)] for each in pairs), key=_text
    )


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

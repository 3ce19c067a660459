"""Clusters of disassociated data as nested objects or JSON values, and how they become flat
arrays."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError

Chunk = Mapping[tuple[str, ...], int]
"""The distinct non-empty subrecords of a chunk and how often each occurs."""

MOST_RECORDS = 10**12
"""Sizes and counts above this are refused, so that sums fit in 64 bits."""

_SIMPLE, _JOINT = {"size", "chunks", "terms"}, {"shared", "parts"}
_TEXTS = {str}


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
    """Collects clusters straight into flat lists.

    JSON values come from files and are checked; objects are taken as they are.
    """

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.sizes: list[int] = []
        self.chunk_node: list[int] = []
        self.chunk_of: list[int] = []
        self.counts: list[int] = []
        self.subrecords: list[Sequence[str]] = []
        self.terms: list[Sequence[str]] = []

    def add(self, cluster: object) -> None:
        """Add a top-level cluster and its parts.

        Raises:
            DataError: if a JSON value is not a cluster.
        """
        pending: list[tuple[object, int]] = [(cluster, -1)]
        while pending:
            value, above = pending.pop()
            node = len(self.parent)
            self.parent.append(above)
            found = self._add_object(value, node)
            parts = self._add_json(value, node) if found is None else found
            pending.extend((part, node) for part in reversed(parts))

    def arrays(self) -> FlatArrays:
        """Everything that was added."""
        used = set(chain.from_iterable(self.subrecords)).union(chain.from_iterable(self.terms))
        vocabulary = Vocabulary.of(used)
        for node in range(len(self.parent) - 1, 0, -1):  # parts come after their joint cluster
            if self.parent[node] >= 0:
                self.sizes[self.parent[node]] += self.sizes[node]
        return FlatArrays(
            np.array(self.parent, dtype=np.int64),
            np.array(self.sizes, dtype=np.int64),
            np.array(self.chunk_node, dtype=np.int64),
            _rows(self.subrecords, vocabulary),
            np.array(self.chunk_of, dtype=np.int64),
            np.array(self.counts, dtype=np.int64),
            _rows(self.terms, vocabulary),
        )

    def _add_object(self, cluster: object, node: int) -> Sequence[Cluster] | None:
        """Add a cluster object; its parts, or None if it is a JSON value."""
        match cluster:
            case SimpleCluster(size, chunks, terms):
                parts: Sequence[Cluster] | None = ()
            case JointCluster(chunks, parts):
                size, terms = 0, ()
            case _:
                return None
        self.sizes.append(size)
        self.terms.append(terms)
        for chunk in filter(None, chunks):
            self._add_chunk(chunk.items(), len(chunk), node)
        return parts

    def _add_json(self, cluster: object, node: int) -> list[Any]:
        if isinstance(cluster, dict) and cluster.keys() == _SIMPLE:
            size, terms, chunks, parts = cluster["size"], cluster["terms"], cluster["chunks"], []
            if type(size) is not int or not 1 <= size <= MOST_RECORDS:
                whole = "must be a whole number of 1 or more"
                raise DataError(f"the size of a cluster {whole}, not {_shown(size)}")
            if not isinstance(terms, list) or not _is_set(terms):
                raise DataError("the terms of a cluster must be a list of distinct texts")
        elif isinstance(cluster, dict) and cluster.keys() == _JOINT and cluster["parts"]:
            size, terms, chunks, parts = 0, [], cluster["shared"], cluster["parts"]
        else:
            parts = None
        if not isinstance(parts, list):
            kinds = "size, chunks and terms, or with shared and a list of parts"
            raise DataError(f"a cluster must be an object with {kinds}")
        if not isinstance(chunks, list) or not all(isinstance(chunk, list) for chunk in chunks):
            raise DataError("the chunks of a cluster must be a list of lists")
        self.sizes.append(size)
        self.terms.append(terms)
        for chunk in chunks:
            _check_chunk(chunk)
            self._add_chunk(chunk, len(chunk), node)
        return parts

    def _add_chunk(self, entries: Iterable[Any], count: int, node: int) -> None:
        for items, number in entries:
            self.subrecords.append(items)
            self.counts.append(number)
        self.chunk_of.extend([len(self.chunk_node)] * count)
        self.chunk_node.append(node)


@contextmanager
def no_collecting() -> Iterator[None]:
    """Without garbage collection: of millions of small lists, none of which is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _check_chunk(chunk: list[Any]) -> None:
    if not chunk:
        raise DataError("a chunk must have at least one subrecord")
    for entry in chunk:
        items, count = entry if isinstance(entry, list) and len(entry) == 2 else (None, 0)
        good = isinstance(items, list) and items and _is_set(items) and type(count) is int
        if not good or not 1 <= count <= MOST_RECORDS:
            pairs = "[items, count] of its distinct non-empty subrecords"
            raise DataError(f"a chunk must list {pairs}, not {_shown(entry)}")
    if len(chunk) > 1 and len({frozenset(items) for items, _ in chunk}) < len(chunk):
        raise DataError("a subrecord occurs twice in a chunk; list it once, with its count")


def _is_set(items: list[Any]) -> bool:
    return set(map(type, items)) <= _TEXTS and len(set(items)) == len(items)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _rows(rows: list[Sequence[str]], vocabulary: Vocabulary) -> Transactions:
    numbers = vocabulary.numbers
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    labels = map(numbers.__getitem__, chain.from_iterable(rows))
    items = np.fromiter(labels, dtype=np.int32, count=int(lengths.sum()))
    owners = np.repeat(np.arange(len(rows)), lengths)
    return Transactions.from_pairs(owners, items, vocabulary, size=len(rows))


def _in_order(chunks: Iterable[Chunk]) -> list[object]:
    """Chunks as sorted lists of [items, count]."""
    held = filter(None, chunks)
    pairs = ([(tuple(sorted(items)), count) for items, count in each.items()] for each in held)
    return sorted(
        ([[list(items), count] for items, count in sorted(each)] for each in pairs), key=_text
    )


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

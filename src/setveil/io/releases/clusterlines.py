"""Clusters as JSON lines: one top-level cluster of a disassociated release per line."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, FileFormatError
from setveil.io.releases.rows import MOST_RECORDS
from setveil.io.source.database import not_utf8
from setveil.promises import Promise
from setveil.published.disassociated.form import Disassociated

_SIMPLE, _JOINT = {"size", "chunks", "terms"}, {"shared", "parts"}
_TEXTS = {str}


def looks_like_clusters(head: bytes) -> bool:
    """Whether the beginning of a file is that of a cluster: an object that starts with `size` and `chunks`, or with `shared`."""
    text = head.decode("utf-8", errors="replace").lstrip().replace(" ", "")
    return text.startswith('{"shared":[') or (
        text.startswith('{"size":') and '"chunks":[' in text[:60]
    )


def read_cluster_lines(
    lines: Iterable[bytes], name: str, promise: Promise, method: dict[str, Any]
) -> Disassociated:
    """The release whose lines these are; blank ones are skipped.

    Raises:
        FileFormatError: when a line is no cluster; it names the line.
    """
    flat = _Flat()
    with _no_collecting():
        for number, line in enumerate(lines, start=1):
            if not line.isspace():
                _add_line(flat, line, name, number)
        return flat.release(promise, method)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Millions of small lists are made, none of which is garbage: looking through them again and again takes as long as making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _add_line(flat: _Flat, line: bytes, name: str, number: int) -> None:
    try:
        flat.add(parse_json(line.decode("utf-8")))
    except UnicodeDecodeError:
        raise not_utf8(name, number) from None
    except RecursionError:
        raise FileFormatError(name, "its clusters are nested too deeply", line=number) from None
    except DataError as error:
        raise FileFormatError(name, str(error), line=number) from None
    except ValueError as error:
        raise FileFormatError(name, f"this is no JSON ({error})", line=number) from None


def parse_json(text: str) -> Any:
    """The value of a JSON text in which no name stands twice in an object, for readers differ in which of them they take."""
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


class _Flat:
    """Collects clusters straight into flat lists, with no object for each of them."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.sizes: list[int] = []
        self.chunk_node: list[int] = []
        self.chunk_of: list[int] = []
        self.counts: list[int] = []
        self.subrecords: list[list[str]] = []
        self.terms: list[list[str]] = []

    def add(self, line: object) -> None:
        pending: list[tuple[object, int]] = [(line, -1)]
        while pending:
            cluster, above = pending.pop()
            node = len(self.parent)
            self.parent.append(above)
            if isinstance(cluster, dict) and cluster.keys() == _SIMPLE:
                self._add_simple(cluster, node)
            elif (
                isinstance(cluster, dict)
                and cluster.keys() == _JOINT
                and isinstance(cluster["parts"], list)
                and cluster["parts"]
            ):
                self.sizes.append(0)
                self.terms.append([])
                self._add_chunks(cluster["shared"], node)
                pending.extend((part, node) for part in reversed(cluster["parts"]))
            else:
                raise DataError(
                    "a cluster must be an object with size, chunks and terms, or with shared and a list of parts"
                )

    def _add_simple(self, cluster: dict[str, Any], node: int) -> None:
        size, terms = cluster["size"], cluster["terms"]
        if type(size) is not int or not 1 <= size <= MOST_RECORDS:
            raise DataError(
                f"the size of a cluster must be a whole number of 1 or more, not {_shown(size)}"
            )
        if not isinstance(terms, list) or not _is_set(terms):
            raise DataError("the terms of a cluster must be a list of distinct texts")
        self.sizes.append(size)
        self.terms.append(terms)
        self._add_chunks(cluster["chunks"], node)

    def _add_chunks(self, chunks: object, node: int) -> None:
        if not isinstance(chunks, list) or not all(isinstance(chunk, list) for chunk in chunks):
            raise DataError("the chunks of a cluster must be a list of lists")
        for chunk in chunks:
            self._add_chunk(chunk)
            self.chunk_node.append(node)

    def _add_chunk(self, chunk: list[Any]) -> None:
        for entry in chunk:
            items, count = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
            if (
                not isinstance(items, list)
                or not items
                or not _is_set(items)
                or type(count) is not int
                or not 1 <= count <= MOST_RECORDS
            ):
                raise DataError(
                    f"a chunk must list [items, count] of its distinct non-empty subrecords, not {_shown(entry)}"
                )
            self.subrecords.append(items)
            self.counts.append(count)
        self.chunk_of.extend([len(self.chunk_node)] * len(chunk))
        if len(chunk) > 1 and len({frozenset(items) for items, _ in chunk}) < len(chunk):
            raise DataError(
                "a subrecord stands twice in a chunk; it must stand once, with its count"
            )

    def release(self, promise: Promise, method: dict[str, Any]) -> Disassociated:
        vocabulary = Vocabulary.of(
            set(chain.from_iterable(self.subrecords)).union(chain.from_iterable(self.terms))
        )
        return Disassociated(
            np.array(self.parent, dtype=np.int64),
            _with_sums(self.parent, self.sizes),
            np.array(self.chunk_node, dtype=np.int64),
            _rows(self.subrecords, vocabulary),
            np.array(self.chunk_of, dtype=np.int64),
            np.array(self.counts, dtype=np.int64),
            _rows(self.terms, vocabulary),
            promise,
            method,
        )


def _is_set(items: list[Any]) -> bool:
    return set(map(type, items)) <= _TEXTS and len(set(items)) == len(items)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _with_sums(parent: list[int], sizes: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The sizes, of joint clusters the sum of their parts, which stand behind them."""
    for node in range(len(parent) - 1, -1, -1):
        if parent[node] >= 0:
            sizes[parent[node]] += sizes[node]
    return np.array(sizes, dtype=np.int64)


def _rows(rows: list[list[str]], vocabulary: Vocabulary) -> Transactions:
    numbers = vocabulary.numbers
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    items = np.fromiter(
        map(numbers.__getitem__, chain.from_iterable(rows)),
        dtype=np.int32,
        count=int(lengths.sum()),
    )
    return Transactions.from_pairs(
        np.repeat(np.arange(len(rows)), lengths), items, vocabulary, size=len(rows)
    )

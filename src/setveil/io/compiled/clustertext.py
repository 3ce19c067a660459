"""The text of large disassociated releases, written and read by compiled loops.

They do the same as `canonical` and `Flattening`, which small releases use, as compiling takes
seconds. Where a text is not plain (an escape, a blank, a fault), they leave it to these."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s, offsets, positions
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.published.disassociated.canonical import Order
from setveil.published.disassociated.clusters import FlatArrays
from setveil.threads import at_once, on_threads, thread_count

if TYPE_CHECKING:
    from setveil.published.disassociated.form import Disassociated

Text = npt.NDArray[np.uint8]

FEW = 100_000
"""Releases of fewer subrecords are written by plain Python."""
SHORT = 4_000_000
"""Texts of fewer bytes are read by plain Python."""
_WORDS = 1 << 16
"""The distinct items for which there is room at first."""


def write_text(release: Disassociated, few: int | None = None) -> tuple[Text, Order] | None:
    """The lines of `data.jsonl` and the order of all parts; None if the release is small, or has
    an item that is not Unicode text."""
    if len(release.subrecords) < (FEW if few is None else few):
        return None
    words = _words(release.items)
    return None if words is None else _written(release, *words)


def read_text(text: bytes, short: int | None = None) -> tuple[FlatArrays, Order] | None:
    """The clusters of `data.jsonl` and their order; None if it is short, or not quite as setveil
    writes it.

    What it returns has this text and no other: everything is in the order of the text, and the text
    in that order and without a byte too many."""
    if len(text) < (SHORT if short is None else short):
        return None
    arrays, digest = at_once(partial(_read, text), lambda: hashlib.sha256(text).digest())
    if arrays is None:
        return None
    parts = (arrays.parent, arrays.chunk_node, arrays.subrecord_chunk)
    return arrays, Order(digest, *(np.arange(len(each)) for each in parts))


def _words(items: Vocabulary) -> tuple[Any, Int64s] | None:
    """The items as JSON texts by the order of their labels, and the place of each in it."""
    from setveil.kernels.clusters.writing import Words

    labels = items.labels
    alphabetical = sorted(range(len(labels)), key=labels.__getitem__)
    try:
        texts = [json.dumps(labels[at], ensure_ascii=False).encode() for at in alphabetical]
    except UnicodeEncodeError:
        return None
    text = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return Words(offsets(list(map(len, texts))), text), positions(alphabetical)


def _written(release: Disassociated, words: Any, rank: Int64s) -> tuple[Text, Order]:
    from setveil.kernels.clusters import sorting, writing

    rows, terms = release.subrecords, release.terms
    sets = sorting.Sets(rows.indptr, sorting.rank_sets(rows.indptr, rows.items, rank))
    listed = sorting.Sets(terms.indptr, sorting.rank_sets(terms.indptr, terms.items, rank))
    row_ptr, members = sorting.group(release.subrecord_chunk, len(release.chunk_node), False)
    members = sorting.sort_rows(row_ptr, members, sets)
    count = len(release.parent)
    above = np.where(release.parent >= 0, release.parent, count)
    nodes = writing.Nodes(
        release.parent,
        release.sizes,
        release.is_simple,
        *sorting.group(release.chunk_node, count, False),
        *sorting.group(above, count + 1, True),
    )
    inside = writing.Rows(row_ptr, members, sets, release.subrecord_counts)
    return _rendered(nodes, inside, listed, words)


def _rendered(nodes: Any, rows: Any, terms: Any, words: Any) -> tuple[Text, Order]:
    """The text and its order; what each node has of its own is written and copied on threads."""
    from setveil.kernels.clusters import writing

    ptr, chunk_lengths = writing.measure_heads(nodes, rows, terms, words)
    written = np.empty(ptr[-1], dtype=np.uint8)
    heads = writing.Heads(ptr, written, chunk_lengths, nodes.chunks.copy())
    cuts = _cuts(ptr)
    put = partial(_on_range, writing.put_heads, (nodes, rows, terms), words, heads)
    deque(on_threads(put, pairwise(cuts)), maxlen=0)
    parts, starts, text = writing.place_clusters(nodes, heads)
    copy = partial(_on_range, writing.copy_heads, heads, starts, text)
    deque(on_threads(copy, pairwise(cuts)), maxlen=0)
    order, digest = at_once(
        partial(writing.list_order, nodes, parts, heads.chunks, rows),
        lambda: hashlib.sha256(text).digest(),
    )
    return text, Order(digest, *order)


def _on_range(kernel: Any, *given: Any) -> None:
    """Call a kernel for a range of nodes, which comes last."""
    (low, high), rest = given[-1], given[:-1]
    kernel(low, high, *rest)


def _cuts(ptr: Int64s) -> list[int]:
    """Where to cut the nodes so that each range of them has about the same number of bytes."""
    pieces = 4 * thread_count()
    wanted = np.arange(1, pieces) * (ptr[-1] // pieces)
    return [0, *np.searchsorted(ptr[:-1], wanted).tolist(), len(ptr) - 1]


def _read(text: bytes) -> FlatArrays | None:
    from setveil.kernels.clusters.reading import read_clusters
    from setveil.kernels.words import FULL

    given, words = np.frombuffer(text, dtype=np.uint8), _WORDS
    at, found = read_clusters(given, _room(text, words))
    while at == FULL:
        words *= 16
        at, found = read_clusters(given, _room(text, words))
    return None if at < 0 else _arrays(text, found)


def _room(text: bytes, words: int) -> Int64s:
    """How many nodes, chunks, rows, items, terms and words there may be."""
    nodes, lists, quotes = text.count(b"{"), text.count(b"["), text.count(b'"')
    return np.array([nodes, lists, lists, quotes // 2, quotes // 2, words], dtype=np.int64) + 1


def _arrays(text: bytes, found: Any) -> FlatArrays | None:
    from setveil.kernels.clusters.reading import are_ascending, renumber_sets, sum_sizes

    nodes, chunks, rows, items, terms = found.used.tolist()
    words = int(found.words.used[0])
    labels = _labels(text, found.words.starts[:words], found.words.lengths[:words])
    if labels is None:
        return None
    rank = positions(sorted(range(words), key=labels.__getitem__))
    row_ptr, term_ptr = found.row_ptr[: rows + 1].copy(), found.term_ptr[: nodes + 1].copy()
    row_chunk, parent = found.row_chunk[:rows].copy(), found.parent[:nodes].copy()
    if not (
        are_ascending(row_chunk, row_ptr, found.items[:items], rank)
        and are_ascending(np.arange(nodes), term_ptr, found.terms[:terms], rank)
    ):
        return None
    vocabulary = Vocabulary.of(labels)
    numbers = vocabulary.encode(labels)
    inside = renumber_sets(row_ptr, found.items[:items], numbers)
    listed = renumber_sets(term_ptr, found.terms[:terms], numbers)
    return FlatArrays(
        parent,
        sum_sizes(parent, found.sizes[:nodes]),
        found.chunk_node[:chunks].copy(),
        Transactions.trusted(row_ptr, inside, vocabulary),
        row_chunk,
        found.counts[:rows].copy(),
        Transactions.trusted(term_ptr, listed, vocabulary),
    )


def _labels(text: bytes, starts: Int64s, lengths: Int64s) -> list[str] | None:
    """The distinct items; None if one of them is written otherwise than setveil does."""
    places = zip(starts.tolist(), lengths.tolist(), strict=True)
    try:
        labels = [text[start : start + length].decode("utf-8") for start, length in places]
    except UnicodeDecodeError:
        return None
    plain = all(json.dumps(label, ensure_ascii=False)[1:-1] == label for label in labels)
    return labels if plain else None

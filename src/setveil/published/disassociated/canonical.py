"""The canonical order of a disassociated release: everything sorted by what it says, so that no
order of the input is left; and several releases as one."""

from __future__ import annotations

import gc
import hashlib
import json
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from setveil.data.arrays import Int64s, offsets, positions
from setveil.data.transactions import Offsets, Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.published.disassociated.form import Disassociated
from setveil.published.rows import relabeled, stacked


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Without garbage collection: of millions of small lists, none of which is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_no_collecting()
def canonical(release: Disassociated) -> tuple[list[str], Order]:
    """The lines of `data.jsonl`, one for each top-level cluster, and the order of all parts.

    Texts are put together from the innermost clusters outwards, each once. A cluster is written as
    `SimpleCluster.to_json` and `JointCluster.to_json` give it; items are in alphabetical order,
    whatever the order of the vocabulary.

    Cost: linear in the text, times the depth of joint clusters; a million records take seconds.
    """
    labels = release.items.labels
    alphabetical = sorted(range(len(labels)), key=labels.__getitem__)
    words = [json.dumps(labels[number], ensure_ascii=False) for number in alphabetical]
    rank = positions(alphabetical)
    chunk_texts, rows_of_chunk = _chunk_texts(release, rank, words)
    chunks_of_node: list[list[int]] = [[] for _ in release.parent]
    for chunk, node in enumerate(release.chunk_node.tolist()):
        chunks_of_node[node].append(chunk)
    for chunks in chunks_of_node:
        chunks.sort(key=chunk_texts.__getitem__)
    texts_of_node = [[chunk_texts[chunk] for chunk in chunks] for chunks in chunks_of_node]
    lines, nodes = _cluster_texts(release, texts_of_node, rank, words)
    ordered = [chunk for node in nodes for chunk in chunks_of_node[node]]
    rows = [row for chunk in ordered for row in rows_of_chunk[chunk]]
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8", "surrogatepass"))  # it may be half of a gigabyte
        digest.update(b"\n")
    places = (np.array(each, dtype=np.int64) for each in (nodes, ordered, rows))
    return lines, Order(digest.digest(), *places)


def arranged(release: Disassociated, order: Order) -> Disassociated:
    """The same release as it is read from its files: all parts in canonical order, and only the
    items that occur, sorted."""
    nodes, chunks = positions(order.nodes), positions(order.chunks)
    parent = release.parent[order.nodes]
    rows, terms = _over_used_items(
        release.subrecords.take(order.subrecords), release.terms.take(order.nodes)
    )
    return replace(
        release,
        parent=np.where(parent >= 0, nodes[parent], -1) if len(nodes) else parent,
        sizes=release.sizes[order.nodes],
        chunk_node=nodes[release.chunk_node[order.chunks]],
        subrecords=rows,
        subrecord_chunk=chunks[release.subrecord_chunk[order.subrecords]],
        subrecord_counts=release.subrecord_counts[order.subrecords],
        terms=terms,
        alignment=None if release.alignment is None else nodes[release.alignment],
    )


def _over_used_items(rows: Transactions, terms: Transactions) -> tuple[Transactions, Transactions]:
    used = np.unique(np.concatenate((rows.items, terms.items)))
    labels = [rows.vocabulary[number] for number in used.tolist()]
    vocabulary = Vocabulary(sort_labels(labels))
    if vocabulary == rows.vocabulary:
        return rows, terms
    numbers = np.full(len(rows.vocabulary), -1, dtype=np.int32)
    numbers[used] = vocabulary.encode(labels)
    return relabeled(rows, numbers, vocabulary), relabeled(terms, numbers, vocabulary)


def _chunk_texts(
    release: Disassociated, rank: Offsets, words: list[str]
) -> tuple[list[str], list[list[int]]]:
    """The text of each chunk, and its subrecords in order."""
    ranks, bounds = _by_rank(release.subrecords, rank), release.subrecords.indptr.tolist()
    rows_of_chunk: list[list[int]] = [[] for _ in release.chunk_node]
    for row, chunk in enumerate(release.subrecord_chunk.tolist()):
        rows_of_chunk[chunk].append(row)
    for rows in rows_of_chunk:
        if len(rows) > 1:
            rows.sort(key=lambda row: ranks[bounds[row] : bounds[row + 1]])
    texts = [
        f"[[{','.join([words[at] for at in ranks[start:stop]])}],{count}]"
        for start, stop, count in zip(
            bounds, bounds[1:], release.subrecord_counts.tolist(), strict=False
        )
    ]
    return [f"[{','.join([texts[row] for row in rows])}]" for rows in rows_of_chunk], rows_of_chunk


def _cluster_texts(
    release: Disassociated, chunks: list[list[str]], rank: Offsets, words: list[str]
) -> tuple[list[str], list[int]]:
    """The text of each top-level cluster, sorted, and all clusters, each before its parts."""
    terms, bounds = _by_rank(release.terms, rank), release.terms.indptr.tolist()
    arrays = (release.parent, release.sizes, release.is_simple)
    parents, sizes, simple = (array.tolist() for array in arrays)
    texts: list[str] = [""] * len(parents)
    parts: list[list[int]] = [[] for _ in parents]
    top: list[int] = []
    for node in range(len(parents) - 1, -1, -1):
        if simple[node]:
            listed = ",".join([words[at] for at in terms[bounds[node] : bounds[node + 1]]])
            texts[node] = (
                f'{{"size":{sizes[node]},"chunks":[{",".join(chunks[node])}],"terms":[{listed}]}}'
            )
        else:
            parts[node].sort(key=texts.__getitem__)
            texts[node] = (
                f'{{"shared":[{",".join(chunks[node])}],'
                f'"parts":[{",".join([texts[part] for part in parts[node]])}]}}'
            )
            for part in parts[node]:
                texts[part] = ""
        (top if parents[node] < 0 else parts[parents[node]]).append(node)
    top.sort(key=texts.__getitem__)
    return [texts[node] for node in top], _preorder(top, parts)


def _preorder(top: list[int], parts: list[list[int]]) -> list[int]:
    order: list[int] = []
    pending = top[::-1]
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(reversed(parts[node]))
    return order


def _by_rank(rows: Transactions, rank: Offsets) -> array[int]:
    """The ranks of the items of each row, ascending; a list would be nine times as large."""
    ranks = rank[rows.items]
    if not (rank[1:] > rank[:-1]).all():
        codes = rows.rows * len(rank) + ranks
        codes.sort()
        ranks = codes % len(rank)
    ascending = array("i")
    ascending.frombytes(ranks.astype(np.int32).tobytes())
    return ascending


@dataclass(frozen=True, eq=False)
class Order:
    """The parts of a release in the order of its text."""

    digest: bytes
    """A hash of the text: two releases with the same one publish the same."""
    nodes: Int64s
    """The clusters, each before its parts, siblings by their text."""
    chunks: Int64s
    """The chunks by the place of their cluster, then by their text."""
    subrecords: Int64s
    """The subrecords by the place of their chunk, then by their items."""


def together(
    releases: Sequence[Disassociated], rows: Sequence[Int64s] | None = None
) -> Disassociated:
    """The clusters of all releases; `rows` has the original records of each, if they are known."""
    if len(releases) == 1 and rows is None:
        return releases[0]
    nodes = offsets([len(each.parent) for each in releases]).tolist()[:-1]
    chunks = offsets([len(each.chunk_node) for each in releases]).tolist()[:-1]
    found = replace(
        releases[0],
        taken="",
        parent=_shifted([each.parent for each in releases], nodes),
        sizes=np.concatenate([each.sizes for each in releases]),
        chunk_node=_shifted([each.chunk_node for each in releases], nodes),
        subrecords=stacked([each.subrecords for each in releases]),
        subrecord_chunk=_shifted([each.subrecord_chunk for each in releases], chunks),
        subrecord_counts=np.concatenate([each.subrecord_counts for each in releases]),
        terms=stacked([each.terms for each in releases]),
        alignment=None,
    )
    if rows is None:
        return found
    alignment = np.empty(sum(map(len, rows)), dtype=np.int64)
    for release, numbers, shift in zip(releases, rows, nodes, strict=True):
        assert release.alignment is not None
        alignment[numbers] = release.alignment + shift
    return replace(found, alignment=alignment)


def _shifted(numbers: Sequence[Int64s], shifts: Sequence[int]) -> Int64s:
    """Numbers of each release, moved on by what comes before it; -1 stays."""
    pairs = zip(numbers, shifts, strict=True)
    return np.concatenate([np.where(each >= 0, each + shift, -1) for each, shift in pairs])

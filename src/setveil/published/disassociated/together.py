"""Several disassociated releases as one: their clusters do not depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from setveil.data.arrays import Int64s, offsets
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.published.disassociated.form import Disassociated
from setveil.published.rows import relabeled


def together(
    releases: Sequence[Disassociated], rows: Sequence[Int64s] | None = None
) -> Disassociated:
    """The clusters of all releases; `rows` has the original records of each, if they are known."""
    if len(releases) == 1 and rows is None:
        return releases[0]
    labels = {label for each in releases for label in each.items}
    same = all(each.items == releases[0].items for each in releases)
    vocabulary = releases[0].items if same else Vocabulary(sort_labels(labels))
    nodes, chunks = (
        offsets([len(array(each)) for each in releases]).tolist()[:-1]
        for array in (_parents, _chunk_nodes)
    )
    found = replace(
        releases[0],
        parent=_shifted(releases, _parents, nodes),
        sizes=np.concatenate([each.sizes for each in releases]),
        chunk_node=_shifted(releases, _chunk_nodes, nodes),
        subrecords=_rows([each.subrecords for each in releases], vocabulary),
        subrecord_chunk=_shifted(releases, lambda each: each.subrecord_chunk, chunks),
        subrecord_counts=np.concatenate([each.subrecord_counts for each in releases]),
        terms=_rows([each.terms for each in releases], vocabulary),
        alignment=None,
    )
    return found if rows is None else replace(found, alignment=_aligned(releases, rows, nodes))


def _parents(release: Disassociated) -> Int64s:
    return release.parent


def _chunk_nodes(release: Disassociated) -> Int64s:
    return release.chunk_node


def _shifted(
    releases: Sequence[Disassociated],
    array: Callable[[Disassociated], Int64s],
    shifts: Sequence[int],
) -> Int64s:
    """Numbers of each release, moved on by what comes before it; -1 stays."""
    pairs = zip(map(array, releases), shifts, strict=True)
    return np.concatenate([np.where(each >= 0, each + shift, -1) for each, shift in pairs])


def _rows(tables: Sequence[Transactions], vocabulary: Vocabulary) -> Transactions:
    tables = [
        each
        if each.vocabulary == vocabulary
        else relabeled(each, vocabulary.encode(each.vocabulary), vocabulary)
        for each in tables
    ]
    lengths = np.concatenate([each.lengths for each in tables])
    items = np.concatenate([each.items for each in tables])
    return Transactions(offsets(lengths), items, vocabulary)


def _aligned(
    releases: Sequence[Disassociated], rows: Sequence[Int64s], nodes: Sequence[int]
) -> Int64s:
    alignment = np.empty(sum(map(len, rows)), dtype=np.int64)
    for release, numbers, shift in zip(releases, rows, nodes, strict=True):
        assert release.alignment is not None
        alignment[numbers] = release.alignment + shift
    return alignment

"""A release of data that is disassociated in parts, all of them in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.data.arrays import Int64s, offsets
from setveil.data.transactions import Transactions
from setveil.engines.parts import Block, InMemory
from setveil.methods.disassociation.parts import Limits, divide
from setveil.methods.method import Request
from setveil.published.disassociated.form import Disassociated


def in_parts(
    request: Request[Any],
    limits: Limits,
    whole: Callable[[Request[Any]], Disassociated],
    method: Mapping[str, object],
) -> Disassociated:
    """The release of all parts together; `whole` disassociates one."""
    data = request.records
    parts = InMemory(Block(data.indptr, data.items))
    order = divide(parts, len(data.vocabulary), limits, request.progress)
    rows = [parts.rows(part) for part in order]
    found = [whole(replace(request, records=data.take(each))) for each in rows]
    return replace(together(found, rows), method=method)


def together(releases: Sequence[Disassociated], rows: Sequence[Int64s]) -> Disassociated:
    """Releases over the same vocabulary as one; `rows` has the original records of each."""
    nodes, chunks = _shifts(each.parent for each in releases), _shifts(
        each.chunk_node for each in releases
    )
    alignment = np.empty(sum(map(len, rows)), dtype=np.int64)
    for release, numbers, shift in zip(releases, rows, nodes, strict=True):
        assert release.alignment is not None
        alignment[numbers] = release.alignment + shift
    parents = [
        np.where(each.parent >= 0, each.parent + shift, -1)
        for each, shift in zip(releases, nodes, strict=True)
    ]
    return Disassociated(
        np.concatenate(parents),
        np.concatenate([each.sizes for each in releases]),
        _shifted([each.chunk_node for each in releases], nodes),
        _rows([each.subrecords for each in releases]),
        _shifted([each.subrecord_chunk for each in releases], chunks),
        np.concatenate([each.subrecord_counts for each in releases]),
        _rows([each.terms for each in releases]),
        releases[0].promise,
        releases[0].method,
        alignment,
    )


def _shifts(arrays: Any) -> list[int]:
    return offsets([len(each) for each in arrays]).tolist()[:-1]


def _shifted(arrays: Sequence[Int64s], shifts: Sequence[int]) -> Int64s:
    return np.concatenate([each + shift for each, shift in zip(arrays, shifts, strict=True)])


def _rows(tables: Sequence[Transactions]) -> Transactions:
    lengths = np.concatenate([each.lengths for each in tables])
    items = np.concatenate([each.items for each in tables])
    return Transactions(offsets(lengths), items, tables[0].vocabulary)

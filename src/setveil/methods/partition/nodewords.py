"""What Partition counts in a block of records: the children of a node that each record has.

A word is the set of children of a node that occur in a record, in the order of the tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Flags, Int32s, Int64s, changes, offsets
from setveil.engines.parts import NOWHERE, Block, Record

Word = tuple[int, ...]
Hashes = npt.NDArray[np.uint64]
Withdrawn = frozenset[Record]
"""Records that are moved by number, all copies of them."""
Least = tuple[int, Record]
"""What a record gains, and its content: the order in which records leave their bucket."""


class Node(NamedTuple):
    """A node to expand: its leaves, and the child above each of them."""

    first: int
    stop: int
    child: Int32s
    """Of each leaf from `first` on."""
    delta: Int64s
    """What expanding the node gains for each of these leaves."""


def count_words(node: Node, block: Block) -> Counter[Word]:
    """How many records of a block have each word."""
    keys, rows = _keys(node, block)
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    words = (word_of(node, block.record(int(rows[at]))) for at in first.tolist())
    return Counter(dict(zip(words, counts.tolist(), strict=True)))


def least_gains(node: Node, limits: Mapping[Word, int], block: Block) -> dict[Word, list[Least]]:
    """For some words, those of their records that gain least, up to a limit, ascending."""
    keys, rows = _keys(node, block)
    gains = gains_of(node, block)
    found: dict[Word, list[Least]] = {}
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    for at, row in enumerate(first.tolist()):
        word = word_of(node, block.record(int(rows[row])))
        if word in limits:
            chosen = rows[place == at]
            found[word] = _least(gains, chosen, limits[word], block)
    return found


def assign_words(
    node: Node, parts: Mapping[Word, int], rest: int, withdrawn: Withdrawn, block: Block
) -> Int64s:
    """The part of each record by its word, or the rest; withdrawn ones go nowhere."""
    keys, rows = _keys(node, block)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    words = (word_of(node, block.record(int(rows[at]))) for at in first.tolist())
    part = np.array([parts.get(word, rest) for word in words], dtype=np.int64)
    found = part[place] if len(part) else np.zeros(0, dtype=np.int64)
    found[is_one_of(withdrawn, block)] = NOWHERE
    return found


def count_equal(records: Withdrawn, block: Block) -> Counter[Record]:
    """How often each of some records occurs in a block."""
    rows = np.flatnonzero(is_one_of(records, block))
    return Counter(block.record(row) for row in rows.tolist())


def is_one_of(records: Withdrawn, block: Block) -> Flags:
    """Whether each record of a block is one of some others."""
    marks = np.zeros(len(block), dtype=bool)
    if not records or not len(block):
        return marks
    wanted = [len(record) for record in records]
    near = np.isin(block.lengths, wanted)
    firsts = [record[0] for record in records if record]
    full = np.flatnonzero(near & (block.lengths > 0))
    full = full[np.isin(block.items[block.indptr[full]], firsts)]
    lasts = [record[-1] for record in records if record]
    full = full[np.isin(block.items[block.indptr[full + 1] - 1], lasts)]
    for row in full.tolist():
        marks[row] = block.record(row) in records
    if () in records:
        marks[block.lengths == 0] = True
    return marks


def word_of(node: Node, record: Record) -> Word:
    """The children of a node that a record has."""
    inside = (leaf for leaf in record if node.first <= leaf < node.stop)
    return tuple(dict.fromkeys(int(node.child[leaf - node.first]) for leaf in inside))


def gains_of(node: Node, block: Block) -> Int64s:
    """What expanding the node gains for each record."""
    inside = (block.items >= node.first) & (block.items < node.stop)
    gain = np.zeros(len(block.items), dtype=np.int64)
    gain[inside] = node.delta[block.items[inside] - node.first]
    return np.diff(offsets(gain)[block.indptr])


def _keys(node: Node, block: Block) -> tuple[Hashes, Int64s]:
    """A hash of the word of each record, and the numbers of the records."""
    at = np.flatnonzero((block.items >= node.first) & (block.items < node.stop))
    rows = np.repeat(np.arange(len(block)), block.lengths)[at]
    child = node.child[block.items[at] - node.first]
    random = np.random.Generator(np.random.PCG64(3))
    names, place = np.unique(node.child, return_inverse=True)
    chosen = random.integers(0, 1 << 64, size=len(names), dtype=np.uint64)[place]
    values = np.where(changes(child, rows), chosen[block.items[at] - node.first], np.uint64(0))
    total = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)))
    bounds = np.searchsorted(rows, np.arange(len(block) + 1))
    return total[bounds[1:]] - total[bounds[:-1]], np.arange(len(block))


def _least(gains: Int64s, rows: Int64s, limit: int, block: Block) -> list[Least]:
    if len(rows) > limit:
        bound = np.partition(gains[rows], limit - 1)[limit - 1]
        rows = rows[gains[rows] <= bound]
    return sorted((int(gains[row]), block.record(row)) for row in rows.tolist())[:limit]


def shortest(limit: int, block: Block) -> list[tuple[int, Record]]:
    """The records of a block with the fewest items, at least one, up to a limit, ascending."""
    rows = np.flatnonzero(block.lengths)
    return _least(block.lengths, rows, limit, block) if len(rows) else []


def count_leaves(leaves: int, block: Block) -> Int64s:
    """How many records of a block have each leaf."""
    return np.bincount(block.items, minlength=leaves).astype(np.int64, copy=False)


def deal(parts: Int32s, block: Block) -> Int64s:
    """Deal the records of a block to some parts in turn."""
    return parts[np.arange(len(block)) % len(parts)].astype(np.int64)


def assign_full(full: int, empty: int, withdrawn: Withdrawn, block: Block) -> Int64s:
    """Two parts: records with items and without; withdrawn ones go nowhere."""
    found = np.where(block.lengths > 0, full, empty).astype(np.int64)
    found[is_one_of(withdrawn, block)] = NOWHERE
    return found

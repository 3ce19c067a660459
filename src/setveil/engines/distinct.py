"""Distinct records and how often each occurs: often far fewer than the records themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.engines.blocks import ITEMS_AT_ONCE, Shelf, read_part
from setveil.engines.parts import Block, block_of
from setveil.errors import EngineError
from setveil.words import plural

BYTES_PER_OCCURRENCE = 80
BYTES_PER_RECORD = 250
"""About how much memory it takes to look for rare itemsets in distinct records."""


class Distinct(NamedTuple):
    """Distinct records and how often each occurs."""

    block: Block
    sizes: Int64s


def distinct_of(block: Block, sizes: Int64s | None = None) -> Distinct:
    """The distinct records of a block; each counts as `sizes` equal ones, by default 1."""
    blob = np.ascontiguousarray(block.items, dtype=np.int32).tobytes()
    bounds = (4 * block.indptr).tolist()
    keys = (blob[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False))
    counts: Counter[bytes] = Counter()
    if sizes is None:
        counts.update(keys)
    else:
        for key, size in zip(keys, sizes.tolist(), strict=True):
            counts[key] += size
    return of_keys(counts.keys(), counts.values())


def of_keys(keys: Iterable[bytes], sizes: Iterable[int]) -> Distinct:
    """Distinct records from the bytes of their items."""
    held = list(keys)
    lengths = np.fromiter((len(key) // 4 for key in held), dtype=np.int64, count=len(held))
    items = np.frombuffer(b"".join(held), dtype=np.int32)
    return Distinct(block_of(lengths, items), np.fromiter(sizes, dtype=np.int64, count=len(held)))


def distinct_on_shelf(shelf: Shelf, room: int, memory: str) -> Distinct:
    """The distinct records of part 0, which becomes empty.

    They are dealt to heaps by a hash, so that equal records are in one heap, and the heaps are
    counted one after the other.

    Raises:
        EngineError: if they do not fit in the memory.
    """
    heaps = shelf.occurrences.get(0, 0) // ITEMS_AT_ONCE + 1
    shelf.scatter({0: partial(_heap, heaps)})
    found, records, occurrences = list[Distinct](), 0, 0
    for number in range(1, heaps + 1):
        some = distinct_of(read_part(shelf.folder, number))
        shelf.remove(number)
        records += len(some.sizes)
        occurrences += len(some.block.items)
        check_room(records, occurrences, room, memory)
        found.append(some)
    lengths = np.concatenate([each.block.lengths for each in found])
    items = np.concatenate([each.block.items for each in found])
    return Distinct(block_of(lengths, items), np.concatenate([each.sizes for each in found]))


def check_room(records: int, occurrences: int, room: int, memory: str) -> None:
    """Refuse more distinct records than fit in the memory.

    Raises:
        EngineError: it says how much is needed, at least.
    """
    need = BYTES_PER_RECORD * records + BYTES_PER_OCCURRENCE * occurrences
    if need > room:
        problem = (
            f"there are at least {plural(records, 'distinct record')} with "
            f"{plural(occurrences, 'occurrence')}; to count them takes about "
            f"{need / 1e9:,.1f} GB, more than the memory of {memory}"
        )
        raise EngineError(problem, remedy="allow more {memory}")


def _heap(heaps: int, block: Block) -> Int64s:
    """The heap of each record, from 1 on, by a hash of its items."""
    mixed = (block.items.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    totals = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    sums = totals[block.indptr[1:]] - totals[block.indptr[:-1]]
    sums ^= sums >> np.uint64(32)
    return (sums % np.uint64(heaps)).astype(np.int64) + 1

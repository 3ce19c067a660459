"""Divide records into parts that are disassociated each on its own.

A record goes to the group of its most frequent item. Groups of neighbouring ranks are put together
into parts. A group that is too large for a part is divided by its next items in the same way, and
equal records, which no item can divide, are divided by their number. Only counts decide, so the
parts depend neither on the order of the records nor on where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from operator import add
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.engines.base import Progress
from setveil.engines.parts import NOWHERE, Block, Parts, Record

STAGE = "dividing the records"


class Limits(NamedTuple):
    """How many records a part may have."""

    least: int
    most: int


class Groups(NamedTuple):
    """How many records of a part each group has."""

    ranked: Int64s
    """By the rank of their most frequent item."""
    equal: Counter[Record]
    """Records that no unused item can divide."""


class Plan(NamedTuple):
    """What becomes of one part."""

    part_of_rank: Int64s
    added: list[tuple[int, Record, int]]
    """Equal records: the part, the record, how many."""
    parts: list[int]
    """The new parts, in the order of the ranks."""
    again: dict[int, int]
    """The new parts that are too large, each with the item that all or most of it have."""


def divide(parts: Parts, items: int, limits: Limits, progress: Progress | None = None) -> list[int]:
    """Divide part 0 and give the final parts in an order that depends on counts alone.

    Args:
        parts: The records; all of them in part 0.
        items: The number of items.
        limits: The most records of a part, which some exceed by fewer than `least`; empty records
            are not counted. At least twice the least.
        progress: Is called with how many parts are done.
    """
    if parts.sizes[0] <= limits.most:
        return [0]
    order, fresh = [0], 1
    used: dict[int, frozenset[int]] = {0: frozenset()}
    while used:
        ranks = _ranks(parts, used, items)
        counted = _counted(parts, ranks)
        plans, following = dict[int, Plan](), dict[int, frozenset[int]]()
        for part, groups in counted.items():
            plan = _planned(groups, ranks[part], limits, fresh)
            fresh += len(plan.parts)
            plans[part] = plan
            following |= {new: used[part] | {item} for new, item in plan.again.items()}
        parts.scatter(
            {part: partial(assign, ranks[part], plans[part].part_of_rank) for part in plans}
        )
        for plan in plans.values():
            for new, record, copies in plan.added:
                parts.add(new, record, copies)
        order = [new for part in order for new in (plans[part].parts if part in plans else [part])]
        used = following
        if progress is not None:
            progress(len(order) - len(used), 0, STAGE)
    return order


def count_items(items: int, block: Block) -> Int64s:
    """How many records of a block have each item."""
    return np.bincount(block.items, minlength=items).astype(np.int64, copy=False)


def count_groups(rank: Int32s, block: Block) -> Groups:
    """How many records of a block each group has."""
    first = _first_ranks(rank, block)
    none = len(rank)
    sizes = np.bincount(first, minlength=none + 1)[:none].astype(np.int64, copy=False)
    left = np.flatnonzero(first == none)
    empty = int(np.count_nonzero(block.lengths[left] == 0))
    equal = Counter(block.record(row) for row in left[block.lengths[left] > 0].tolist())
    if empty:
        equal[()] = empty
    return Groups(sizes, equal)


def assign(rank: Int32s, part_of_rank: Int64s, block: Block) -> Int64s:
    """The new part of each record of a block."""
    return np.append(part_of_rank, NOWHERE)[_first_ranks(rank, block)]


def _first_ranks(rank: Int32s, block: Block) -> Int64s:
    """The least rank among the items of each record; the number of items if all are used."""
    none = len(rank)
    first = np.full(len(block), none, dtype=np.int64)
    full = np.flatnonzero(block.lengths)
    if len(full):
        first[full] = np.minimum.reduceat(rank[block.items], block.indptr[full])
    return first


def _ranks(parts: Parts, used: Mapping[int, frozenset[int]], items: int) -> dict[int, Int32s]:
    """The rank of each unused item by its support in each part; used ones have the last rank."""
    supports = {part: np.zeros(items, dtype=np.int64) for part in used}
    for part, found in parts.fold(dict.fromkeys(used, partial(count_items, items)), add):
        supports[part] += found
    ranks = {}
    for part, support in supports.items():
        rank = np.empty(items, dtype=np.int32)
        rank[np.argsort(-support, kind="stable")] = np.arange(items, dtype=np.int32)
        rank[sorted(used[part])] = items
        ranks[part] = rank
    return ranks


def _counted(parts: Parts, ranks: Mapping[int, Int32s]) -> dict[int, Groups]:
    found = {
        part: Groups(np.zeros(len(rank), dtype=np.int64), Counter()) for part, rank in ranks.items()
    }
    works = {part: partial(count_groups, rank) for part, rank in ranks.items()}
    for part, groups in parts.fold(works, _both):
        _both(found[part], groups)
    return found


def _both(one: Groups, other: Groups) -> Groups:
    one.ranked[:] += other.ranked
    one.equal.update(other.equal)
    return one


def _planned(groups: Groups, rank: Int32s, limits: Limits, fresh: int) -> Plan:
    """The parts of one part, numbered from `fresh` on."""
    filled = np.flatnonzero(groups.ranked)
    pieces = [
        (record, size)
        for record in sorted(record for record in groups.equal if record)
        for size in _even(groups.equal[record], limits.most)
    ]
    sizes = [*groups.ranked[filled].tolist(), *(size for _, size in pieces)]
    place = np.array(_packed(sizes, limits), dtype=np.int64) + fresh
    part_of_rank = np.full(len(rank), NOWHERE, dtype=np.int64)
    part_of_rank[filled] = place[: len(filled)]
    added = [(int(new), *piece) for new, piece in zip(place[len(filled) :], pieces, strict=True)]
    if groups.equal[()]:
        added.append((fresh, (), groups.equal[()]))
    item_of_rank = np.empty(len(rank) + 1, dtype=np.int64)
    item_of_rank[rank] = np.arange(len(rank))
    large = filled[groups.ranked[filled] > limits.most]
    again = {int(part_of_rank[each]): int(item_of_rank[each]) for each in large[::-1].tolist()}
    count = int(place.max(initial=fresh)) + 1 - fresh
    return Plan(part_of_rank, added, list(range(fresh, fresh + count)), again)


def _even(count: int, most: int) -> list[int]:
    """A number as a sum of as few equal numbers as possible, or differing by one."""
    pieces = -(-count // most)
    return [(count + at) // pieces for at in range(pieces)]


def _packed(sizes: list[int], limits: Limits) -> list[int]:
    """The part of each group: neighbours are put together up to the most, and small ones join."""
    parts: list[list[int]] = []  # the groups of each part
    totals: list[int] = []
    for group, size in enumerate(sizes):
        if totals and totals[-1] + size <= limits.most:
            parts[-1].append(group)
            totals[-1] += size
        else:
            parts.append([group])
            totals.append(size)
    at = 0
    while at < len(parts):
        if totals[at] >= limits.least or len(parts) == 1:
            at += 1
            continue
        beside = [each for each in (at - 1, at + 1) if 0 <= each < len(parts)]
        other = min(beside, key=totals.__getitem__)
        low, high = min(at, other), max(at, other)
        parts[low] += parts.pop(high)
        totals[low] += totals.pop(high)
        at = low
    found = [0] * len(sizes)
    for number, groups in enumerate(parts):
        for group in groups:
            found[group] = number
    return found

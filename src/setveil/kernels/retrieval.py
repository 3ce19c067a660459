"""Kernels of comparing by meaning: the nearest of many itemsets, and which bag may stand for whom.

Distances are whole numbers, as is omega, what an unmatched occurrence costs; a pair of distance d that is matched gains 2 omega - d over
leaving both apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.kernels.arrays import roomier
from setveil.kernels.assignment import assign
from setveil.kernels.jit import kernel, step

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """Bags: row i holds `items[indptr[i]:indptr[i + 1]]`, each as often as `counts` says."""

    indptr: Int64s
    items: Int32s
    counts: Int64s


class Near(NamedTuple):
    """The items near each item, ascending, with their distances."""

    indptr: Int64s
    items: Int32s
    distances: Int64s


@kernel
def nearest_distances(some: Rows, others: Rows, table: Int64s, omega: int) -> Int64s:
    """The distance of each of some itemsets to the nearest of others, by perfect matchings with nil items.

    Args:
        some: Itemsets over the rows of the table.
        others: Itemsets over its columns.
        table: The distance of each pair of items; -1 where they have nothing to do with each other.
        omega: What an item without a partner costs.
    """
    found = np.empty(len(some.indptr) - 1, dtype=np.int64)
    for number in range(len(found)):
        rows = some.items[some.indptr[number] : some.indptr[number + 1]]
        best = omega * len(rows) if len(others.indptr) == 1 else np.int64(1) << 62
        for other in range(len(others.indptr) - 1):
            columns = others.items[others.indptr[other] : others.indptr[other + 1]]
            apart = omega * (len(rows) + len(columns))
            if apart - most_gain(rows, columns, table, omega, len(rows) > len(columns)) >= best:
                continue
            best = min(best, apart - match_sets(rows, columns, table, omega))
            if best == 0:
                break
        found[number] = best
    return found


@step
def most_gain(rows, columns, table, omega, turned):
    """No matching of two itemsets gains more than the best partner of each on one side: that of the columns, if turned."""
    total = np.int64(0)
    for one in columns if turned else rows:
        most = np.int64(0)
        for other in rows if turned else columns:
            distance = table[other, one] if turned else table[one, other]
            if distance >= 0:
                most = max(most, 2 * omega - distance)
        total += most
    return total


@step
def match_sets(rows, columns, table, omega):
    """The greatest gain of matching two itemsets."""
    starts = np.zeros(len(rows) + 1, np.int64)
    ends, gains = (
        np.empty(len(rows) * len(columns), np.int64),
        np.empty(len(rows) * len(columns), np.int64),
    )
    edges = 0
    for at in range(len(rows)):
        for to in range(len(columns)):
            if table[rows[at], columns[to]] >= 0:
                ends[edges], gains[edges] = to, 2 * omega - table[rows[at], columns[to]]
                edges += 1
        starts[at + 1] = edges
    supply, demand = np.ones(len(rows), np.int64), np.ones(len(columns), np.int64)
    return assign(starts, ends[:edges], gains[:edges], supply, demand, np.int64(0))[1]


@kernel
def pair_records(
    published: Rows, alignment: Int64s, records: Rows, near: Near, omega: int
) -> Int64s:
    """Match each record with the bag that is published for it: rows of (entry of the bag, entry of the record, how often)."""
    found, top = np.empty(3 * 1024, dtype=np.int64), np.int64(0)
    for record in range(len(alignment)):
        first, start = published.indptr[alignment[record]], records.indptr[record]
        bag, own = (
            published.indptr[alignment[record] + 1] - first,
            records.indptr[record + 1] - start,
        )
        starts = np.zeros(bag + 1, np.int64)
        ends, gains, edges = np.empty(bag * own, np.int64), np.empty(bag * own, np.int64), 0
        for at in range(bag):
            item = published.items[first + at]
            for to in range(own):
                distance = distance_of(near, item, records.items[start + to])
                if distance >= 0:
                    ends[edges], gains[edges] = to, 2 * omega - distance
                    edges += 1
            starts[at + 1] = edges
        supply, demand = (
            published.counts[first : first + bag].copy(),
            records.counts[start : start + own].copy(),
        )
        flow, _ = assign(starts, ends[:edges], gains[:edges], supply, demand, np.int64(0))
        found = roomier(found, 3 * (top + edges))
        for at in range(bag):
            for edge in range(starts[at], starts[at + 1]):
                if flow[edge] > 0:
                    found[3 * top], found[3 * top + 1], found[3 * top + 2] = (
                        first + at,
                        start + ends[edge],
                        flow[edge],
                    )
                    top += 1
    return found[: 3 * top]


@step
def distance_of(near, item, other):
    """The distance of two items, by bisection; -1 where they are not near."""
    low, high = near.indptr[item], near.indptr[item + 1]
    while low < high:
        middle = (low + high) // 2
        if near.items[middle] < other:
            low = middle + 1
        else:
            high = middle
    if low < near.indptr[item + 1] and near.items[low] == other:
        return near.distances[low]
    return np.int64(-1)


@kernel
def rate_bags(
    records: Rows,
    published: Rows,
    holders: Rows,
    near: Near,
    omega: int,
    chosen: Int64s,
    ratings: Int64s,
) -> None:
    """For each record the bags that are nearest to it by a rating that is never above the distance, the best first; -1 for none.

    Args:
        records: The records.
        published: The bags.
        holders: For each item the bags that hold it, with its count there.
        near: The items near each item.
        omega: What an unmatched occurrence costs.
        chosen: Filled with the bags of each record.
        ratings: Filled with their ratings.
    """
    bags, most = len(published.indptr) - 1, chosen.shape[1]
    lengths = np.zeros(bags, np.int64)
    for bag in range(bags):
        lengths[bag] = published.counts[published.indptr[bag] : published.indptr[bag + 1]].sum()
    gain, touched = np.zeros(bags, np.int64), np.empty(bags, np.int64)
    for record in range(len(records.indptr) - 1):
        length = records.counts[records.indptr[record] : records.indptr[record + 1]].sum()
        found = np.int64(0)
        for at in range(records.indptr[record], records.indptr[record + 1]):
            item = records.items[at]
            for place in range(near.indptr[item], near.indptr[item + 1]):
                other, worth = near.items[place], 2 * omega - near.distances[place]
                for holder in range(holders.indptr[other], holders.indptr[other + 1]):
                    bag = holders.items[holder]
                    if lengths[bag] > length:
                        continue
                    if gain[bag] == 0:
                        touched[found] = bag
                        found += 1
                    gain[bag] += worth * min(records.counts[at], holders.counts[holder])
        size = np.int64(0)
        for i in range(found):
            bag = touched[i]
            rating = max(omega * (length + lengths[bag]) - gain[bag], 0)
            gain[bag] = 0
            size = insert(chosen[record], ratings[record], size, most, bag, rating)
        for i in range(size, most):
            chosen[record, i], ratings[record, i] = -1, -1


@step
def insert(chosen, ratings, size, most, bag, rating):
    """Put a bag among the best so far, of equal ratings the first; gives how many these are."""
    place = size
    while place > 0 and (
        ratings[place - 1] > rating or (ratings[place - 1] == rating and chosen[place - 1] > bag)
    ):
        place -= 1
    if place == most:
        return size
    size = min(size + 1, most)
    for at in range(size - 1, place, -1):
        chosen[at], ratings[at] = chosen[at - 1], ratings[at - 1]
    chosen[place], ratings[place] = bag, rating
    return size

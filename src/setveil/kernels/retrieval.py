"""Kernels of comparing by meaning: the nearest of many itemsets, and which bag fits which record.

Distances are whole numbers, and so is omega, the cost of an unmatched occurrence."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.assignment import Pairs, assign
from setveil.kernels.jit import kernel, step
from setveil.kernels.steps import find, roomier


class BagRows(NamedTuple):
    """Bags: row i holds `items[indptr[i]:indptr[i + 1]]`, each as often as `counts` says."""

    indptr: Int64s
    items: Int32s
    counts: Int64s


class NearItems(NamedTuple):
    """The items near each item, ascending, with their distances."""

    indptr: Int64s
    items: Int32s
    distances: Int64s


@kernel
def nearest_distances(some: BagRows, others: BagRows, table: Int64s, omega: int) -> Int64s:
    """The distance of each of some itemsets to the nearest of others, by matchings with nil items.

    The itemsets are over the rows and the columns of the table, which has the distance of each
    pair of items; -1 if they are unrelated."""
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
    """A bound on the gain of a matching: all rows (if turned, columns) get their best."""
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
    starts, edges = np.zeros(len(rows) + 1, np.int64), 0
    ends = np.empty(len(rows) * len(columns), np.int64)
    gains = np.empty(len(rows) * len(columns), np.int64)
    for at in range(len(rows)):
        for to in range(len(columns)):
            if table[rows[at], columns[to]] >= 0:
                ends[edges], gains[edges] = to, 2 * omega - table[rows[at], columns[to]]
                edges += 1
        starts[at + 1] = edges
    supply, demand = np.ones(len(rows), np.int64), np.ones(len(columns), np.int64)
    pairs = Pairs(starts, ends[:edges], gains[:edges], supply, demand)
    return assign(pairs, np.int64(0))[1]


@kernel
def pair_records(
    published: BagRows, alignment: Int64s, records: BagRows, near: NearItems, omega: int
) -> Int64s:
    """Match records with their bags: (entry of the bag, entry of the record, times), flat."""
    found, top = np.empty(3 * 1024, dtype=np.int64), np.int64(0)
    for record in range(len(alignment)):
        first, last = published.indptr[alignment[record]], published.indptr[alignment[record] + 1]
        start, stop = records.indptr[record], records.indptr[record + 1]
        starts, edges = np.zeros(last - first + 1, np.int64), 0
        ends = np.empty((last - first) * (stop - start), np.int64)
        gains = np.empty((last - first) * (stop - start), np.int64)
        for at in range(first, last):
            item = published.items[at]
            low, high = near.indptr[item], near.indptr[item + 1]
            for to in range(start, stop):
                place = find(near.items, low, high, records.items[to])
                if place >= 0:
                    ends[edges], gains[edges] = to - start, 2 * omega - near.distances[place]
                    edges += 1
            starts[at - first + 1] = edges
        supply, demand = published.counts[first:last].copy(), records.counts[start:stop].copy()
        pairs = Pairs(starts, ends[:edges], gains[:edges], supply, demand)
        flow, _ = assign(pairs, np.int64(0))
        found = roomier(found, 3 * (top + edges))
        for at in range(first, last):
            for edge in range(starts[at - first], starts[at - first + 1]):
                if flow[edge] > 0:
                    found[3 * top], found[3 * top + 1] = at, start + ends[edge]
                    found[3 * top + 2] = flow[edge]
                    top += 1
    return found[: 3 * top]


@kernel
def rate_bags(
    records: BagRows, published: BagRows, holders: BagRows, near: NearItems, omega: int, most: int
) -> tuple[Int64s, Int64s]:
    """The `most` bags nearest to each record, best first, and their ratings; -1 for none.

    A rating is a lower bound on the distance: each item of the record is matched with everything
    near it in the bag. Bags longer than the record are left out.

    `holders` has, for each item, the bags that hold it, with its count there."""
    bags, count = len(published.indptr) - 1, len(records.indptr) - 1
    chosen = np.full((count, most), -1, np.int64)
    ratings = np.full((count, most), -1, np.int64)
    lengths = np.zeros(bags, np.int64)
    for bag in range(bags):
        lengths[bag] = published.counts[published.indptr[bag] : published.indptr[bag + 1]].sum()
    gain, touched = np.zeros(bags, np.int64), np.empty(bags, np.int64)
    for record in range(count):
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
            size = insert_sorted(chosen[record], ratings[record], size, bag, rating)
    return chosen, ratings


@step
def insert_sorted(chosen, ratings, size, bag, rating):
    """Put a bag among the best so far, by rating and then by number; how many these are now."""
    place = size
    while place > 0 and (
        ratings[place - 1] > rating or (ratings[place - 1] == rating and chosen[place - 1] > bag)
    ):
        place -= 1
    if place == len(chosen):
        return size
    size = min(size + 1, len(chosen))
    for at in range(size - 1, place, -1):
        chosen[at], ratings[at] = chosen[at - 1], ratings[at - 1]
    chosen[place], ratings[place] = bag, rating
    return size

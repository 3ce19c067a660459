"""How likely a person has an item of another chunk, over all worlds of a tiny release. Plain, slow,
standard library only.

All data sets that fit the release are equally likely, people told apart: a world with the same
records in another order is another one. A cluster is as in `tests.oracle.disassociation`."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import factorial, prod

from tests.oracle.disassociation import is_void, simple_clusters, worlds


def inferences(clusters, m, terms=False):
    """For each simple cluster, each set S of one to m items that a record of it has in some world,
    and each item y of a chunk that gives nothing of S: (S, y, how likely y is given S). With
    `terms`, each y that is published without counts instead."""
    for cluster in clusters:
        possible = [(world, _orders(world)) for world in worlds(cluster)]
        sources = [_sources(cluster, number) for number in range(len(simple_clusters(cluster)))]
        for number, source in enumerate(sources):
            records = Counter()
            for world, orders in possible:
                for record in world[number]:
                    records[record] += orders
            yield from _given(records, source, m, terms)


def _given(records, source, m, terms):
    items = sorted(source)
    for size in range(1, m + 1):
        for known in combinations(items, size):
            fits = {record: many for record, many in records.items() if set(known) <= set(record)}
            total = sum(fits.values())
            for item in items if total else ():
                chunks = {source[one] for one in known}
                known_with = item in known if terms else source[item] in chunks
                if (source[item] is None) != terms or known_with:
                    continue
                held = sum(many for record, many in fits.items() if item in record)
                yield known, item, Fraction(held, total)


def shares(clusters):
    """The share of all records, without empty ones, that have each item for certain."""
    shown, size = Counter(), 0
    for cluster in clusters:
        if is_void(cluster):
            continue
        for simple in simple_clusters(cluster):
            size += simple["size"]
            shown.update(simple["terms"])
        for chunk in _chunks(cluster):
            for items, count in chunk:
                shown.update(dict.fromkeys(items, count))
    return {item: Fraction(count, size) for item, count in shown.items()}


def violations(clusters, k, m):
    """The inferences above 1/k and above the item's share of all records."""
    common = shares(clusters)
    return [
        (known, item, chance)
        for known, item, chance in inferences(clusters, m)
        if chance > max(Fraction(1, k), common[item])
    ]


def _orders(world):
    """In how many orders the records of each simple cluster can be."""
    return prod(
        factorial(len(records)) // prod(map(factorial, Counter(records).values()))
        for records in world
    )


def _chunks(cluster):
    if "size" in cluster:
        return cluster["chunks"]
    return [*cluster["shared"], *(chunk for part in cluster["parts"] for chunk in _chunks(part))]


def _sources(cluster, number, path=()):
    """Where the records of a simple cluster get each item from: the lowest chunk with it, by where
    that is in the tree; None for the term chunk."""
    if "size" in cluster:
        found = dict.fromkeys(cluster["terms"])
        return found | _named(cluster["chunks"], path)
    for at, part in enumerate(cluster["parts"]):
        below = len(simple_clusters(part))
        if number < below:
            return _named(cluster["shared"], path) | _sources(part, number, (*path, at))
        number -= below
    raise IndexError(number)


def _named(chunks, path):
    return {
        item: (*path, "chunk", at)
        for at, chunk in enumerate(chunks)
        for items, _ in chunk
        for item in items
    }

"""Random tiny disassociated releases for the oracle, with and without an original."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import factorial, log2
from random import Random
from typing import Any

import numpy as np

from setveil.promises.promise import Promise
from setveil.published.disassociated.form import Disassociated
from tests.oracle import disassociation as oracle

Cluster = dict[str, Any]
Records = list[set[str]]


def released(clusters: Sequence[Cluster], promise: Promise) -> Disassociated:
    """The release for the library."""
    return Disassociated.of_clusters(clusters, promise)


def invented(random: Random, k: int, *, careful: bool = False) -> list[Cluster]:
    """One or two top-level clusters made up piece by piece; there may be no data behind them.

    `careful`: clusters of at least k records, chunks over disjoint items in which every subrecord
    occurs at least k times.
    """
    items = "abcdefg"[: random.randint(2, 7)]
    depths = [random.choice((0, 0, 1, 1, 1, 2)) for _ in range(random.choice((1, 1, 1, 2)))]
    return [_invent(random, items, k, depth, careful) for depth in depths]


def _invent(random: Random, items: str, k: int, depth: int, careful: bool) -> Cluster:
    if depth:
        parts = [
            _invent(random, items, k, random.randint(0, depth - 1), careful)
            for _ in range(random.choice((2, 2, 3)))
        ]
        size = sum(simple["size"] for part in parts for simple in oracle.simple_clusters(part))
        spread = items
        if careful or random.random() < 0.8:
            spread = "".join(
                sorted(set(items) - {term for part in parts for term in _term_chunks(part)})
            )
        return {
            "shared": _invent_chunks(random, spread, size, k, random.choice((1, 1, 2)), careful),
            "parts": parts,
        }
    size = (
        random.choice((k, k, k + 1, k + 2))
        if careful
        else max(1, random.choice((k - 1, k, k, k + 1, k + 2)))
    )
    terms = sorted(item for item in items if random.random() < 0.15)
    free = "".join(
        item for item in items if item not in terms or (not careful and random.random() < 0.03)
    )
    return {
        "size": size,
        "chunks": _invent_chunks(random, free, size, k, random.choice((0, 1, 1, 2, 3)), careful),
        "terms": terms,
    }


def _term_chunks(cluster: Cluster) -> set[str]:
    return {term for simple in oracle.simple_clusters(cluster) for term in simple["terms"]}


def _invent_chunks(
    random: Random, items: str, size: int, k: int, count: int, careful: bool
) -> list[Any]:
    """Chunks, mostly over disjoint items; counts around k, so that many are k^m-anonymous and,
    unless careful, many are not."""
    chunks, left = [], list(items)
    for _ in range(count):
        domain = random.sample(left, min(len(left), random.choice((1, 1, 2, 2, 3))))
        if careful or random.random() < 0.97:
            left = [item for item in left if item not in domain]
        rows: Counter[tuple[str, ...]] = Counter()
        room = size + (not careful and random.random() < 0.03)
        while domain and room >= (k if careful else 1) and (not rows or random.random() < 0.6):
            subrecord = tuple(sorted(random.sample(domain, random.randint(1, len(domain)))))
            added = min(room, random.choice((k, k, k + 1) if careful else (1, k, k, k)))
            rows[subrecord] += added
            room -= added
        if rows:
            chunks.append(_written(rows))
    return chunks


def _written(rows: Counter[tuple[str, ...]]) -> list[Any]:
    return [[list(items), count] for items, count in sorted(rows.items())]


def projected(
    random: Random, k: int, most_records: int = 9
) -> tuple[list[Cluster], list[list[Records]]]:
    """Top-level clusters cut from random records, and the records of each simple cluster."""
    items = "abcdefg"[: random.randint(2, 6)]
    clusters, originals = [], []
    for _ in range(random.choice((1, 1, 2))):
        groups = []
        left = random.randint(1, most_records)
        while left > 0:
            size = min(left, random.randint(max(k - 1, 1), k + 2))
            common = [item for item in items if random.random() < 0.4]
            groups.append([_record(random, items, common) for _ in range(size)])
            left -= size
        clusters.append(_cut(random, items, groups))
        originals.append(groups)
    if random.random() < 0.15:
        clusters.append({"size": 2, "chunks": [], "terms": []})
        originals.append([[set(), set()]])
    return clusters, originals


def _record(random: Random, items: str, common: Sequence[str]) -> set[str]:
    record = {item for item in items if random.random() < (0.8 if item in common else 0.2)}
    return record or {random.choice(items)}


def _cut(random: Random, items: str, groups: Sequence[Records]) -> Cluster:
    """Simple clusters cut into chunks, then joined until one is left."""
    parts: list[tuple[Cluster, list[Records], list[set[str]]]] = []
    for records in groups:
        present = sorted(set().union(*records))
        random.shuffle(present)
        split = random.randint(0, len(present))
        domains = _domains(random, present[:split])
        chunks = [_written(_project(records, [set(domain)] * len(records))) for domain in domains]
        parts.append(
            (
                {"size": len(records), "chunks": chunks, "terms": sorted(present[split:])},
                [list(records)],
                [set(present[:split])],
            )
        )
    while len(parts) > 1:
        at = random.randrange(len(parts) - 1)
        parts[at : at + 2] = [_join(random, parts[at], parts[at + 1])]
    return parts[0][0]


def _join(
    random: Random,
    one: tuple[Cluster, list[Records], list[set[str]]],
    other: tuple[Cluster, list[Records], list[set[str]]],
) -> Any:
    """A joint cluster over two, with some terms of their term chunks shared; `taken` are the items
    of each simple cluster's chunks."""
    parts, groups, taken = [one[0], other[0]], one[1] + other[1], one[2] + other[2]
    simples = [simple for part in parts for simple in oracle.simple_clusters(part)]
    terms = sorted({term for simple in simples for term in simple["terms"]})
    refining = [term for term in terms if random.random() < 0.5]
    shared = []
    for domain in _domains(random, refining):
        rows: Counter[tuple[str, ...]] = Counter()
        for records, known in zip(groups, taken, strict=True):
            rows += _project(records, [set(domain) - known] * len(records))
        if rows:
            shared.append(_written(rows))
    for simple, known in zip(simples, taken, strict=True):
        known |= set(simple["terms"]) & set(refining)
        simple["terms"] = [term for term in simple["terms"] if term not in refining]
    return {"shared": shared, "parts": parts}, groups, [known | set(refining) for known in taken]


def _domains(random: Random, items: Sequence[str]) -> list[list[str]]:
    items, domains = list(items), []
    while items:
        size = random.randint(1, min(3, len(items)))
        domains.append(items[:size])
        items = items[size:]
    return domains


def _project(records: Records, domains: Sequence[set[str]]) -> Counter[tuple[str, ...]]:
    return Counter(
        tuple(sorted(record & domain))
        for record, domain in zip(records, domains, strict=True)
        if record & domain
    )


def aligned(
    release: Disassociated, originals: Sequence[Sequence[Records]]
) -> Iterator[tuple[set[str], int]]:
    """Each original record with its simple cluster, in the order of `Disassociated.of_clusters`."""
    nodes = iter(np.flatnonzero(release.is_simple).tolist())
    for groups in originals:
        for records in groups:
            node = next(nodes)
            yield from ((record, node) for record in records)


def effort(cluster: Cluster) -> float:
    """About how many worlds the oracle enumerates, as a power of two: ways to place chunks and
    terms, without the orders of equal records."""
    simples = oracle.simple_clusters(cluster)
    ways = sum(simple["size"] * len(simple["terms"]) for simple in simples) + _ways(cluster)
    return ways - sum(log2(factorial(simple["size"])) for simple in simples)


def _ways(cluster: Cluster) -> float:
    size = sum(simple["size"] for simple in oracle.simple_clusters(cluster))
    ways = sum(_ways(part) for part in cluster.get("parts", ()))
    for chunk in cluster["chunks"] if "size" in cluster else cluster["shared"]:
        counts = [count for _, count in chunk]
        empty = max(size - sum(counts), 0)
        ways += log2(factorial(size)) - sum(log2(factorial(count)) for count in (*counts, empty))
    return ways

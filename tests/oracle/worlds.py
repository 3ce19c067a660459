"""Possible worlds of a disassociated release, and random releases with their originals. Slow,
plain, standard library only.

A cluster is as in `data.jsonl`: `{"size", "chunks", "terms"}` or `{"shared", "parts"}`, a chunk a
list of `[items, count]`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

Cluster = dict[str, Any]
Record = frozenset[str]
Chunk = list[list[Any]]


def leaves(
    clusters: Sequence[Cluster], above: tuple[Cluster, ...] = ()
) -> Iterator[tuple[Cluster, tuple[Cluster, ...]]]:
    """Every simple cluster with the joint ones over it, the nearest first."""
    for cluster in clusters:
        if "parts" in cluster:
            yield from leaves(cluster["parts"], (cluster, *above))
        else:
            yield cluster, above


def domain(chunk: Chunk) -> set[str]:
    return {item for items, _ in chunk for item in items}


def source(item: str, leaf: Cluster, above: Sequence[Cluster]) -> int | None:
    """What an item of a record of this cluster comes from: a chunk, by its identity; the term
    chunk is the cluster itself."""
    for chunk in leaf["chunks"]:
        if item in domain(chunk):
            return id(chunk)
    if item in leaf["terms"]:
        return id(leaf)
    for joint in above:
        for chunk in joint["shared"]:
            if item in domain(chunk):
                return id(chunk)
    return None


def find_fault(clusters: Sequence[Cluster], world: Sequence[Sequence[Record]]) -> str | None:
    """Why these records, given for each simple cluster in the order of `leaves`, cannot be an
    original; None when they can."""
    found: dict[int, Counter[Record]] = {}
    placed: set[tuple[int, str]] = set()
    for (leaf, above), records in zip(leaves(clusters), world, strict=True):
        if len(records) != leaf["size"]:
            return f"{len(records)} records in a cluster of {leaf['size']}"
        for record in records:
            if not record and (leaf["chunks"] or leaf["terms"] or above):
                return "an empty record"
            pieces: dict[int, set[str]] = {}
            for item in record:
                place = source(item, leaf, above)
                if place is None:
                    return f"{item} is nowhere in its cluster"
                pieces.setdefault(place, set()).add(item)
            for place, items in pieces.items():
                found.setdefault(place, Counter())[frozenset(items)] += 1
                placed |= {(place, item) for item in items}
    for leaf, above in leaves(clusters):
        if any((id(leaf), term) not in placed for term in leaf["terms"]):
            return "a term is in no record"
        for chunk in [*leaf["chunks"], *(chunk for joint in above for chunk in joint["shared"])]:
            if found.get(id(chunk), Counter()) != Counter(
                {frozenset(items): count for items, count in chunk}
            ):
                return f"the subrecords of the chunk {chunk} are others"
    return None


def random_release(
    chance: Random, records: int, items: int
) -> tuple[list[Cluster], list[list[Record]]]:
    """Clusters, cut and joined at random without any promise, and the records of each simple
    one, none of them empty."""
    names = [chr(97 + number) for number in range(items)]
    density = chance.choice((0.15, 0.3, 0.5))
    original = [
        frozenset(item for item in names if chance.random() < density)
        or frozenset((chance.choice(names),))
        for _ in range(records)
    ]
    world: list[list[Record]] = []
    while original:
        size = chance.randint(1, min(5, len(original)))
        world.append([original.pop() for _ in range(size)])
    nodes: list[tuple[Cluster, list[int]]] = [
        (_cut(part, chance), [number]) for number, part in enumerate(world)
    ]
    simple = [cluster for cluster, _ in nodes]
    taken: list[set[str]] = [set() for _ in world]
    order = list(range(len(world)))
    while len(nodes) > 1 and chance.random() < 0.75:
        start = chance.randrange(len(nodes) - 1)
        parts = nodes[start : start + chance.randint(2, 3)]
        below = [number for _, numbers in parts for number in numbers]
        shared = _share(simple, world, below, taken, chance)
        nodes[start : start + len(parts)] = [
            ({"shared": shared, "parts": [cluster for cluster, _ in parts]}, below)
        ]
    assert [number for _, numbers in nodes for number in numbers] == order
    if chance.random() < 0.2:
        nodes.append(({"size": 2, "chunks": [], "terms": []}, []))
        world.append([frozenset(), frozenset()])
    return [cluster for cluster, _ in nodes], world


def _cut(records: list[Record], chance: Random) -> Cluster:
    """A simple cluster: each item goes to one of some record chunks or to the term chunk."""
    width = chance.randint(0, 3)
    place = {item: chance.randint(0, width) for item in sorted(frozenset().union(*records))}
    chunks = [
        _project(records, {item for item in place if place[item] == number})
        for number in range(1, width + 1)
    ]
    return {
        "size": len(records),
        "chunks": [chunk for chunk in chunks if chunk],
        "terms": [item for item in place if place[item] == 0],
    }


def _share(
    simple: list[Cluster],
    world: list[list[Record]],
    below: list[int],
    taken: list[set[str]],
    chance: Random,
) -> list[Chunk]:
    """Shared chunks over terms of the term chunks below, which lose them; sometimes a part keeps
    a term that others give."""
    known = sorted({term for number in below for term in simple[number]["terms"]})
    width = chance.randint(1, 2)
    place = {term: chance.randint(0, width) for term in known}
    given: dict[int, set[str]] = {number: set() for number in below}
    for term in known:
        for number in below:
            if (
                place[term]
                and term in simple[number]["terms"]
                and term not in taken[number]
                and chance.random() < 0.9
            ):
                simple[number]["terms"].remove(term)
                given[number].add(term)
    for number in below:
        taken[number] |= {term for part in below for term in given[part]}
    chunks = []
    for chunk in range(1, width + 1):
        pieces: Counter[Record] = Counter()
        for number in below:
            pieces += Counter(
                record & {term for term in given[number] if place[term] == chunk}
                for record in world[number]
            )
        del pieces[frozenset()]
        if pieces:
            chunks.append([[sorted(items), count] for items, count in pieces.items()])
    return chunks


def _project(records: list[Record], items: set[str]) -> Chunk:
    pieces = Counter(record & items for record in records)
    del pieces[frozenset()]
    return [[sorted(piece), count] for piece, count in pieces.items()]

"""How likely a piece of a tiny disassociated release is a person's, over all placements. Plain,
slow, standard library only.

All placements are equally likely: the subrecords of each chunk in distinct records that may hold
them, each term of a term chunk in one record of its cluster. A cluster is as in
`tests.oracle.disassociation`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import perm
from typing import Any

from tests.oracle.disassociation import Cluster, is_void, placements, simple_clusters

Piece = tuple[Any, ...]
Profile = tuple[int, int, frozenset[str], frozenset[Piece]]
"""A record: the numbers of its top-level and simple cluster, its items, and its pieces."""


IMPOSSIBLE = 10**9


def effort(clusters: Sequence[Cluster]) -> int:
    """At most so many placements of a top-level cluster are enumerated; very many if there are
    none."""
    most = 1
    for cluster in clusters:
        sizes = [simple["size"] for simple in simple_clusters(cluster)]
        ways = 1
        for chunk in placements(cluster, 0)[0]:
            room = sum(sizes[at] for at in {at for _, allowed in chunk for at in allowed})
            ways *= perm(room, len(chunk)) or IMPOSSIBLE
        for simple in simple_clusters(cluster):
            ways *= simple["size"] ** len(simple["terms"])
        most = max(most, ways)
    return most


def profiles(clusters: Sequence[Cluster], *, no_empty: bool = False) -> dict[Profile, Fraction]:
    """How many records are expected of each kind; with `no_empty`, over the placements in which
    every record has something. Top-level clusters do not depend on each other."""
    found: dict[Profile, Fraction] = {}
    for top, cluster in enumerate(clusters):
        seen: Counter[Profile] = Counter()
        worlds = 0
        for world in _worlds(cluster):
            if no_empty and not is_void(cluster) and not all(items for _, items, _ in world):
                continue
            worlds += 1
            seen.update((top, leaf, items, pieces) for leaf, items, pieces in world)
        found |= {profile: Fraction(number, worlds) for profile, number in seen.items()}
    return found


def _worlds(cluster: Cluster) -> Iterator[list[tuple[int, frozenset[str], frozenset[Piece]]]]:
    """Every placement of a top-level cluster: the records, with their pieces."""
    simples = simple_clusters(cluster)
    slots = [leaf for leaf, simple in enumerate(simples) for _ in range(simple["size"])]
    ways: list[list[list[tuple[int, Piece, tuple[str, ...]]]]] = []
    for number, chunk in enumerate(placements(cluster, 0)[0]):
        ways.append(
            [
                [(slot, ("piece", number, at), chunk[at][0]) for at, slot in enumerate(chosen)]
                for chosen in _distinct([set(allowed) for _, allowed in chunk], slots)
            ]
        )
    for leaf, simple in enumerate(simples):
        own = [slot for slot, where in enumerate(slots) if where == leaf]
        ways += [
            [[(slot, ("term", leaf, term), (term,))] for slot in own] for term in simple["terms"]
        ]
    for chosen in product(*ways):
        items: list[set[str]] = [set() for _ in slots]
        pieces: list[set[Piece]] = [set() for _ in slots]
        for placed in chosen:
            for slot, piece, held in placed:
                items[slot].update(held)
                pieces[slot].add((*piece, held))
        yield [
            (leaf, frozenset(items[slot]), frozenset(pieces[slot]))
            for slot, leaf in enumerate(slots)
        ]


def _distinct(allowed: list[set[int]], slots: list[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of distinct slots, each in one of the clusters that are allowed for it."""
    chosen: list[tuple[int, ...]] = [()]
    for clusters in allowed:
        chosen = [
            (*before, slot)
            for before in chosen
            for slot, leaf in enumerate(slots)
            if leaf in clusters and slot not in before
        ]
    yield from chosen


def linked(
    clusters: Sequence[Cluster],
    found: dict[Profile, Fraction],
    known: Sequence[str],
    lacking: Sequence[str] = (),
) -> tuple[Fraction, Fraction] | None:
    """How many records are expected to have the known items and not the lacking ones, and the
    chance of the likeliest piece with a known item; None if no record can have them. A term has no
    piece: it leads to any record of its simple cluster."""
    wanted, absent = set(known), set(lacking)
    fits = {
        profile: mean
        for profile, mean in found.items()
        if wanted <= profile[2] and not absent & profile[2]
    }
    total = sum(fits.values(), Fraction(0))
    if not total:
        return None
    chances: Counter[tuple[Any, ...]] = Counter()
    sizes = [[simple["size"] for simple in simple_clusters(one)] for one in clusters]
    for (top, leaf, _, pieces), mean in fits.items():
        for piece in pieces:
            if not wanted & set(piece[-1]):
                continue
            if piece[0] == "term":
                chances[top, "record", leaf, piece[2]] += mean / sizes[top][leaf]
            else:
                chances[top, *piece] += mean
    return total, max(chances.values()) / total

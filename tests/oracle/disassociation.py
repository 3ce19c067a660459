"""Every possible world of tiny disassociated releases, one by one. Slow, plain, standard library
only.

A cluster is one line of `data.jsonl`: simple `{"size", "chunks", "terms"}` or joint
`{"shared", "parts"}`, a chunk a list of `[items, count]`. The worlds of a release are the data sets
that it may have been made from:

- each subrecord of a record chunk goes to a record of its cluster, those of one chunk to distinct
  records;
- each subrecord of a shared chunk goes to a record of its joint cluster, those of one chunk to
  distinct records, and never to a record of a simple cluster in whose record chunks, term chunk, or
  shared chunks on the way up to this joint cluster, one of its terms occurs: what that cluster has
  of such a term is shown there already;
- each term of a term chunk goes to one or more records of its cluster;
- a record is a set: no term comes to it twice;
- no record is empty; but a simple cluster that is no part of another and has neither chunks nor
  terms consists of empty records.

Guarantee 1: each set of up to m terms is in no record of any world, or in at least k records of
some world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

Cluster = dict[str, Any]
Record = tuple[str, ...]
World = tuple[tuple[Record, ...], ...]
"""The records of each simple cluster, in the order of `simple_clusters`, each cluster's sorted."""


def simple_clusters(cluster: Cluster) -> list[Cluster]:
    """The simple clusters of a cluster, left to right."""
    return (
        [cluster]
        if "size" in cluster
        else [simple for part in cluster["parts"] for simple in simple_clusters(part)]
    )


def worlds(cluster: Cluster) -> set[World]:
    """All worlds of a top-level cluster."""
    simples = simple_clusters(cluster)
    states: set[World] = {tuple(((),) * simple["size"] for simple in simples)}
    for chunk in placements(cluster, 0)[0]:
        states = {after for before in states for after in place_chunk(before, chunk)}
    for number, simple in enumerate(simples):
        for term in simple["terms"]:
            states = {after for before in states for after in place_term(before, term, number)}
    if is_void(cluster):
        return states
    return {state for state in states if all(record for records in state for record in records)}


def is_void(cluster: Cluster) -> bool:
    """Whether it is how empty records are published."""
    return "size" in cluster and not cluster["terms"] and not any(cluster["chunks"])


Subrecords = list[tuple[Record, list[int]]]


def placements(cluster: Cluster, first: int) -> tuple[list[Subrecords], list[set[str]]]:
    """The chunks of a cluster, each subrecord with the simple clusters it may go to; and the terms
    that each simple cluster shows.

    `first` is the number of the leftmost simple cluster.
    """
    if "size" in cluster:
        chunks = [
            [(tuple(items), [first]) for items, count in chunk for _ in range(count)]
            for chunk in cluster["chunks"]
        ]
        return chunks, [terms_of(cluster)]
    chunks, below = [], []
    for part in cluster["parts"]:
        inner, known = placements(part, first + len(below))
        chunks += inner
        below += known
    here: set[str] = set()
    for chunk in cluster["shared"]:
        rows = []
        for items, count in chunk:
            free = [first + number for number, known in enumerate(below) if not known & set(items)]
            rows += [(tuple(items), free)] * count
            here |= set(items)
        chunks.append(rows)
    return chunks, [known | here for known in below]


def place_chunk(state: World, chunk: Subrecords) -> set[World]:
    """Every way to give the subrecords of a chunk to distinct records."""
    marked = {tuple(tuple((record, False) for record in records) for records in state)}
    for items, clusters in chunk:
        marked = {after for before in marked for after in _place(before, items, clusters)}
    return {
        tuple(tuple(sorted(record for record, _ in records)) for records in one) for one in marked
    }


def _place(state: Any, items: Record, clusters: Sequence[int]) -> Iterator[Any]:
    for number in clusters:
        for at, (record, used) in enumerate(state[number]):
            if used or set(record) & set(items):
                continue
            filled = sorted(
                [
                    *state[number][:at],
                    (tuple(sorted({*record, *items})), True),
                    *state[number][at + 1 :],
                ]
            )
            yield (*state[:number], tuple(filled), *state[number + 1 :])


def place_term(state: World, term: str, number: int) -> Iterator[World]:
    """Every way to give a term of a term chunk to one or more records of its cluster."""
    records = state[number]
    for size in range(1, len(records) + 1):
        for chosen in combinations(range(len(records)), size):
            if any(term in records[at] for at in chosen):
                continue
            filled = sorted(
                tuple(sorted({*record, term})) if at in chosen else record
                for at, record in enumerate(records)
            )
            yield (*state[:number], tuple(filled), *state[number + 1 :])


def terms_of(cluster: Cluster) -> set[str]:
    """Every term that occurs in a cluster."""
    if "size" in cluster:
        return {item for chunk in cluster["chunks"] for items, _ in chunk for item in items} | set(
            cluster["terms"]
        )
    shared = {item for chunk in cluster["shared"] for items, _ in chunk for item in items}
    return shared.union(*(terms_of(part) for part in cluster["parts"]))


def most_records(possible: set[World], itemset: Sequence[str]) -> int:
    """The most records of one world that hold the itemset."""
    wanted = set(itemset)
    return max(
        (
            sum(wanted <= set(record) for records in world for record in records)
            for world in possible
        ),
        default=0,
    )


def certainties(cluster: Cluster, sensitive: set[str], most: int) -> list[tuple[int, str, Record]]:
    """Each (number of a simple cluster, sensitive term, up to `most` known other terms) such that
    every record of the cluster with the known terms has the sensitive one, in every world."""
    found = []
    possible = worlds(cluster)
    for number, simple in enumerate(simple_clusters(cluster)):
        for term in sorted(sensitive.intersection(simple["terms"])):
            always: dict[Record, bool] = {}
            for record in {record for world in possible for record in world[number]}:
                others = [item for item in record if item not in sensitive]
                for size in range(most + 1):
                    for known in combinations(others, size):
                        always[known] = always.get(known, True) and term in record
            found += [(number, term, known) for known, is_certain in always.items() if is_certain]
    return found


def violations(clusters: Sequence[Cluster], k: int, m: int) -> dict[Record, int]:
    """The itemsets of up to m terms that some world holds and no world holds k times, each with the
    most records of one world.

    A release without any world gives `{(): 0}`. A world of the release is a world of each top-level
    cluster, any with any, so that the most records of the release are the sum of the most of each.
    """
    possible = [worlds(cluster) for cluster in clusters]
    if not all(possible):
        return {(): 0}
    terms = sorted(set().union(*(terms_of(cluster) for cluster in clusters)))
    found = {}
    for size in range(1, m + 1):
        for itemset in combinations(terms, size):
            most = sum(most_records(one, itemset) for one in possible)
            if 0 < most < k:
                found[itemset] = most
    return found


def faults(clusters: Sequence[Cluster]) -> list[str]:
    """What is wrong with the form of a release."""
    return [fault for cluster in clusters for fault in _faults(cluster)]


def _faults(cluster: Cluster) -> Iterator[str]:
    simples = simple_clusters(cluster)
    size = sum(simple["size"] for simple in simples)
    chunks = cluster["chunks"] if "size" in cluster else cluster["shared"]
    domains = [{item for items, _ in chunk for item in items} for chunk in chunks]
    terms = [set(simple["terms"]) for simple in simples]
    if size < 1:
        yield "no records"
    if any(one & other for one, other in combinations(domains, 2)):
        yield "a term in two chunks"
    if any(domain & known for domain in domains for known in terms):
        yield "a term in a chunk and in a term chunk at or below it"
    if any(sum(count for _, count in chunk) > size for chunk in chunks):
        yield "more subrecords than records"
    if any(count < 1 or not items for chunk in chunks for items, count in chunk):
        yield "an empty subrecord"
    for part in cluster.get("parts", ()):
        yield from _faults(part)


def small_clusters(clusters: Sequence[Cluster], k: int) -> list[int]:
    """The sizes of the simple clusters below k that hold something."""
    return [
        simple["size"]
        for cluster in clusters
        for simple in simple_clusters(cluster)
        if simple["size"] < k and not is_void(cluster)
    ]


def rare_in_chunks(cluster: Cluster, k: int, m: int) -> list[Record]:
    """The itemsets of up to m terms that occur in some subrecords of a chunk, but in fewer than
    k."""
    found = []
    for chunk in cluster["chunks"] if "size" in cluster else cluster["shared"]:
        terms = sorted({item for items, _ in chunk for item in items})
        for size in range(1, m + 1):
            for itemset in combinations(terms, size):
                count = sum(count for items, count in chunk if set(itemset) <= set(items))
                if 0 < count < k:
                    found.append(itemset)
    return found + [
        itemset for part in cluster.get("parts", ()) for itemset in rare_in_chunks(part, k, m)
    ]


def holds(clusters: Sequence[Cluster], k: int, m: int) -> bool:
    """Whether a release is well formed, with clusters of k or more and chunks that are
    k^m-anonymous, and keeps Guarantee 1."""
    if (
        faults(clusters)
        or small_clusters(clusters, k)
        or any(rare_in_chunks(cluster, k, m) for cluster in clusters)
    ):
        return False
    return not violations(clusters, k, m)


def is_world(cluster: Cluster, records: Sequence[Sequence[Record]]) -> bool:
    """Whether these records, given for each simple cluster, are a world of a top-level cluster."""
    return tuple(
        tuple(sorted(tuple(sorted(record)) for record in group)) for group in records
    ) in worlds(cluster)

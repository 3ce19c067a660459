"""People with several records: by brute force k people could have what is known of each, and what
says so finds planted faults."""

from __future__ import annotations

import json
from itertools import product
from random import Random

import pytest

import setveil as sv
from setveil.data.people import Whose
from setveil.data.transactions import Transactions
from tests.audit.disassociations import effort
from tests.oracle import disassociation as oracle
from tests.oracle.people import known_of, people_with
from tests.proofs import proof


def persons_of(chance, most):
    """A few people with several records of a few items; some have more than may be published."""
    items, found = "abcde"[: chance.randint(2, 4)], []
    for _ in range(chance.randint(3, 6)):
        own = [
            frozenset(chance.sample(items, chance.randint(1, min(3, len(items)))))
            for _ in range(chance.randint(1, most + 1))
        ]
        found.append(own)
    return found


def kept_of(persons, most, seed):
    """The records of each person that are published, and those of all."""
    names = [(f"r{p}.{at}", f"p{p}") for p, own in enumerate(persons) for at in range(len(own))]
    whose = Whose.of_rows(names, "person")
    kept = whose.kept(most, f"key {seed}")
    records = [record for own in persons for record in own]
    people = [[] for _ in persons]
    for (_, name), record, is_kept in zip(names, records, kept.tolist(), strict=True):
        if is_kept:
            people[int(name[1:])].append(record)
    return people


HARDEST = 10  # clusters have too many possible originals above it
METHODS = {
    "suppression": (sv.Suppression, sv.KmAnonymity),
    "apriori": (sv.Apriori, sv.KmAnonymity),
    "mhghs": (sv.MHgHs, sv.KmAnonymity),
    "partition": (sv.Partition, sv.KAnonymity),
    "disassociation": (sv.Disassociation, sv.KmAnonymity),
}


def case_of(name, seed):
    """A release of some people, who they are, and the number of known items."""
    chance = Random(seed)
    most, k, m = chance.choice([2, 2, 3]), 2, chance.choice([1, 2, 2, 3])
    people = kept_of(persons_of(chance, most), most, seed)
    records = [record for own in people for record in own]
    kind, promised = METHODS[name]
    promise = promised(k=k) if promised is sv.KAnonymity else promised(k=k, m=m)
    promise = promise.for_people(most)
    if len(records) < promise.crowd or len(records) > (8 if name == "disassociation" else 99):
        return None
    data = Transactions.of(records)
    tree = sv.Hierarchy.balanced(data.vocabulary, fanout=2) if kind.needs_hierarchy else None
    how = {"arrangement": chance.choice(["safe", promise.crowd + 1])}
    method = kind(**how) if name == "disassociation" else kind()
    release = method.anonymize(data, promise, tree)
    assert release.promise == promise
    return release, people, m, k


def shown_records(release):
    """The items that each published record may represent."""
    rows, sizes = release.certain_rows()
    tree = release.tree
    for row, size in zip(rows, sizes.tolist(), strict=True):
        items = set()
        for label in row:
            node = -1 if tree is None else tree.nodes.encode([label])[0]
            below = range(0) if tree is None else range(tree.first[node], tree.stop[node])
            items |= {label} if tree is None else {tree.labels[leaf] for leaf in below}
        yield from [frozenset(items)] * size


def possible(release):
    """The records of each possible original, cluster by cluster."""
    if release.form != "disassociated":
        return [[list(shown_records(release))]]
    lines = [json.loads(line) for line in release.lines()]
    if max(map(effort, lines)) > HARDEST:
        return None
    return [
        [[frozenset(record) for part in world for record in part] for world in oracle.worlds(line)]
        for line in lines
    ]


def hidden_among(known, k, clusters):
    """Whether in some original at least k people could have what is known."""
    return any(
        people_with(known, [record for part in world for record in part]) >= k
        for world in product(*clusters)
    )


def shows(known, clusters):
    """What of the known items could be in some published record."""
    records = [record for cluster in clusters for world in cluster for record in world]
    return tuple(part for part in known if any(part <= record for record in records))


def faults_of(name, seeds):
    """Who is found, one by one."""
    for seed in seeds:
        case = case_of(name, seed)
        if case is None:
            continue
        release, people, m, k = case
        clusters, done = possible(release), set()
        if clusters is None:
            continue
        for known in {known for own in people for known in known_of(own, m)}:
            found = shows(known, clusters)
            if found and found not in done and not hidden_among(found, k, clusters):
                yield seed, found
            done.add(found)


@pytest.mark.parametrize("name", METHODS)
@proof(20_000, quick=40)
def test_whoever_knows_items_of_several_records_of_a_person_finds_k_people(name, seeds):
    assert list(faults_of(name, seeds)) == []


def test_records_that_are_asked_for_k_alone_are_found(monkeypatch):
    monkeypatch.setattr(sv.KmAnonymity, "for_people", lambda promise, most: promise)
    assert any(True for _ in faults_of("suppression", range(200)))

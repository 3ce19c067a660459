"""Faults that public tools ship are planted in valid releases: `verify` finds each, with a witness
that an oracle confirms, and says nothing against the valid ones."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.audit import verify
from setveil.errors import InfeasibleError, SetveilError
from tests.proofs import proof
from tests.strategies import CHANCES

ITEMS = "abcdefgh"
TREE = sv.Hierarchy.from_paths(
    [
        (item, group, "ALL")
        for group, items in (("P", "abc"), ("Q", "def"), ("R", "gh"))
        for item in items
    ]
)


def random_data(rng, share=None):
    share = share or rng.choice((0.3, 0.5))
    rows = [[i for i in ITEMS if rng.random() < share] for _ in range(rng.randint(8, 24))]
    return [row or [rng.choice(ITEMS)] for row in rows]


def support(records, itemset):
    return sum(set(itemset) <= set(record) for record in records)


def a_mole_of_one_item_is_left(rng):
    """An item that fewer than k records have is published."""
    k, data = rng.choice((2, 3)), random_data(rng)
    release = sv.Suppression().anonymize(data, sv.Coherence(h=1, k=k, p=2))
    records = [list(record) for record in release.records(0)]
    for number in rng.sample(range(len(records)), rng.randint(1, k - 1)):
        records[number].append("z")
    verdict = verify(sv.Suppressed.of(records, release.promise))
    return verdict, records, lambda w: w.items == ("z",) and 0 < support(records, "z") < k


def triples_were_never_tested(rng):
    """Only pairs were made frequent, but p = 3 is promised."""
    k, data = 2, random_data(rng, 0.6)
    release = sv.Suppression().anonymize(data, sv.Coherence(h=1, k=k, p=2))
    records = [list(record) for record in release.records(0)]
    triples = [set(t) for record in records for t in combinations(record, 3)]
    if all(support(records, triple) >= k for triple in triples):
        return None
    promise = sv.Coherence(h=1, k=k, p=3)
    verdict = verify(sv.Suppressed.of(records, promise))
    return verdict, records, lambda w: len(w.items) == 3 and 0 < support(records, w.items) < k


def a_chunk_was_never_tested(rng):
    """Two subrecords of a chunk are merged into one that is rare."""
    data = random_data(rng)
    release = sv.Disassociation(arrangement=8).anonymize(data, sv.KmAnonymity(k=2, m=2))
    clusters = [json.loads(line) for line in release.lines()]
    chunks = [chunk for cluster in clusters for chunk in cluster.get("chunks", ())]
    rng.shuffle(chunks)
    for chunk in chunks:
        items = {item for one, _ in chunk for item in one}
        rows = [set(one) for one, count in chunk for _ in range(count)]
        missing = [pair for pair in combinations(sorted(items), 2) if not support(rows, pair)]
        if missing:
            pair = rng.choice(missing)
            rows[0] = rows[0] | set(pair)
            counts = Counter(tuple(sorted(row)) for row in rows)
            chunk[:] = [[list(one), count] for one, count in counts.items()]
            verdict = verify(sv.Disassociated.of_clusters(clusters, release.promise))
            return verdict, rows, lambda w: w.count == 1 and len(w.items) <= 2
    return None


def a_cluster_is_below_k(rng):
    """A cluster of fewer than k records, as HORPART leaves them."""
    data = random_data(rng)
    k = 3
    release = sv.Disassociation(arrangement=8).anonymize(data, sv.KmAnonymity(k=k, m=2))
    clusters = [json.loads(line) for line in release.lines()]
    size = rng.randint(1, k - 1)
    clusters.append({"size": size, "chunks": [], "terms": rng.sample(ITEMS, 2)})
    verdict = verify(sv.Disassociated.of_clusters(clusters, release.promise))
    return verdict, clusters, lambda w: w.count is not None and w.count < k


def an_item_is_missing_from_the_tree(rng):
    """A plain file of generalized records has an item that the tree lacks."""
    data = random_data(rng)
    release = sv.Partition().anonymize(data, sv.KAnonymity(k=2), TREE)
    records = [list(record) for record in release.records(0)]
    records = [[*record, "unknown"] for record in records]
    verdict = verify(records, promise=sv.KAnonymity(k=2), hierarchy=TREE)
    return verdict, records, lambda w: w.items == ("unknown",)


def empty_records_were_dropped(rng):
    """Records whose items were all suppressed are left out of the file."""
    k, data = 4, random_data(rng, 0.15)
    release = sv.Suppression().anonymize(data, sv.Coherence(h=1, k=k, p=1))
    records = [list(record) for record in release.records(0)]
    kept = [record for record in records if record]
    if len(kept) == len(records):
        return None
    verdict = verify(kept, data, promise=release.promise)
    return verdict, kept, lambda w: w.count == len(kept)


def a_generalized_record_is_unique(rng):
    """One record of a k-anonymous release is published with more detail."""
    data = random_data(rng)
    release = sv.Partition().anonymize(data, sv.KAnonymity(k=2), TREE)
    rows = [list(record) for record in release.records(0)]
    number = rng.randrange(len(rows))
    changed = [item for item in rows[number] if item not in TREE.nodes or item in "PQR"]
    if not changed:
        return None
    below = {"P": "a", "Q": "d", "R": "g"}
    rows[number] = [below.get(item, item) for item in rows[number]]
    counts = Counter(frozenset(row) for row in rows)
    if counts[frozenset(rows[number])] > 1 and min(counts.values()) > 1:
        return None
    verdict = verify(sv.Generalized.of(rows, TREE, sv.KAnonymity(k=2)))
    return verdict, rows, lambda w: counts[frozenset(w.items)] == w.count == 1


def a_pair_is_rare_after_recoding(rng):
    """One cut for all records, but an occurrence is added that makes a pair rare."""
    data = random_data(rng)
    release = sv.Apriori().anonymize(data, sv.KmAnonymity(k=2, m=2), TREE)
    rows = [set(record) for record in release.records(0)]
    nodes = sorted(set().union(*rows))
    pairs = [pair for pair in combinations(nodes, 2) if not support(rows, pair)]
    if not pairs:
        return None
    rng.choice(rows).update(rng.choice(pairs))
    if all(support(rows, p) != 1 for row in rows for p in combinations(sorted(row), 2)):
        return None
    verdict = verify(sv.Generalized.of(rows, TREE, release.promise, is_global=True))
    return verdict, rows, lambda w: 0 < support(rows, w.items) < 2


def a_bag_is_below_k(rng):
    """A typical bag that represents fewer than k people."""
    data = sv.Bags.of(random_data(rng))
    release = sv.SSC().anonymize(data, sv.VocabularyKAnonymity(k=2), TREE)
    sizes = release.sizes.copy()
    sizes[rng.randrange(len(sizes))] = 1
    return verify(replace(release, sizes=sizes)), release, lambda w: w.count == 1


FAULTS = (
    a_mole_of_one_item_is_left,
    triples_were_never_tested,
    a_chunk_was_never_tested,
    a_cluster_is_below_k,
    an_item_is_missing_from_the_tree,
    empty_records_were_dropped,
    a_generalized_record_is_unique,
    a_pair_is_rare_after_recoding,
    a_bag_is_below_k,
)


def planted(fault, seeds):
    """How many faults were planted; each must be found, with a true witness."""
    found = 0
    for seed in seeds:
        rng = Random(seed)
        try:
            made = fault(rng)
        except InfeasibleError:
            continue
        if made is None:
            continue
        verdict, shown, is_true = made
        assert not verdict.holds, (fault.__name__, seed, shown)
        witnesses = [witness for check in verdict.failed for witness in check.witnesses]
        assert any(map(is_true, witnesses)), (fault.__name__, seed, witnesses)
        found += 1
    return found


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@proof(1_000, quick=40)
def test_a_planted_fault_is_found_with_a_true_witness(fault, seeds):
    assert planted(fault, seeds) >= max(5, 0.09 * len(seeds))


VALID = {
    "partition": (sv.Partition(), sv.KAnonymity(k=3), True),
    "apriori": (sv.Apriori(), sv.KmAnonymity(k=3, m=2), True),
    "hghs": (sv.HgHs(), sv.KmAnonymity(k=2, m=3), True),
    "mhghs": (sv.MHgHs(), sv.KmAnonymity(k=3, m=2), True),
    "suppression": (sv.Suppression(), sv.Coherence(h=0.8, k=2, p=3, private=["h"]), False),
    "disassociation": (sv.Disassociation(arrangement=8), sv.KmAnonymity(k=3, m=2), False),
    "disassociation, chosen": (sv.Disassociation(), sv.KmAnonymity(k=2, m=3), False),
    "safe": (sv.Disassociation(arrangement="safe"), sv.KmAnonymity(k=3, m=2), False),
    "ssc": (sv.SSC(), sv.VocabularyKAnonymity(k=3), True),
}


def judged_valid(name, seeds):
    method, promise, needs_tree = VALID[name]
    made = 0
    for seed in seeds:
        rows = random_data(Random(seed))
        data = sv.Bags.of(rows) if name == "ssc" else sv.Transactions.of(rows)
        try:
            release = method.anonymize(data, promise, TREE if needs_tree else None)
        except SetveilError:
            continue
        verdict = verify(release, data, hierarchy=TREE if name == "ssc" else None)
        assert verdict.holds, (name, seed, verdict.text)
        assert all(not check.violations for check in verdict.checks)
        if name in ("partition", "suppression"):
            plain = [list(record) for record in release.records(seed)]
            tree = TREE if name == "partition" else None
            again = verify(plain, data, promise=release.promise, hierarchy=tree)
            assert again.holds, (name, seed, again.text)
        made += 1
    return made


@pytest.mark.parametrize("name", VALID)
@proof(500, quick=40)
def test_a_valid_release_raises_no_alarm(name, seeds):
    assert judged_valid(name, seeds) >= 0.25 * len(seeds)


@settings(max_examples=30)
@given(CHANCES)
def test_violations_are_counted_as_by_brute_force(rng):
    records, k, m = random_data(rng), rng.choice((2, 3, 4)), rng.choice((1, 2, 3, 4))
    check = verify(records, promise=sv.KmAnonymity(k=k, m=m)).checks[0]
    found = {
        s
        for size in range(1, m + 1)
        for s in combinations(ITEMS, size)
        if 0 < support(records, s) < k
    }
    minimal = [s for s in found if not any(set(o) < set(s) for o in found)]
    hit = [record for record in records if any(set(s) <= set(record) for s in found)]
    wanted = {"records": len(hit), "itemsets": len(minimal)} if found else {}
    assert check.violations == wanted

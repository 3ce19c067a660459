"""The choice of clusters, and chunks that keep what occurs together, against plain definitions."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation import Disassociation, grouping
from setveil.methods.disassociation.grouping import Divided, Judge, large_groups
from setveil.methods.disassociation.partitioning import Clusters, canonical_order, verpart
from setveil.methods.disassociation.refine import assemble, no_joints
from setveil.promises import KmAnonymity, LDiversity
from tests.oracle import disassociate as plain
from tests.oracle import disassociation as worlds
from tests.oracle import together as oracle

BATCHES = [range(60), pytest.param(range(60, 20_000), marks=pytest.mark.long)]
quick_and_long = pytest.mark.parametrize("batch", BATCHES, ids=["quick", "long"])


def random_data(chance: random.Random, most: int = 60) -> Transactions:
    items = chance.randint(2, 14)
    weights = [1 / (i + 1) ** chance.choice([0, 0.5, 1]) for i in range(items)]
    sizes = [chance.randint(1, 6) for _ in range(chance.randint(4, most))]
    return Transactions.of(
        [set(chance.choices(range(10, 10 + items), weights, k=s)) for s in sizes]
    )


def one_cluster(data: Transactions) -> Clusters:
    return Clusters(data, np.arange(len(data)), np.array([0, len(data)]))


def domains_of(clusters: Clusters, chunks) -> list[set[int]]:
    found: dict[int, set[int]] = {}
    for item, chunk in zip(clusters.rows.items.tolist(), chunks.chunk.tolist(), strict=True):
        if chunk >= 0:
            found.setdefault(chunk, set()).add(item)
    return [found[number] for number in range(len(found))]


@quick_and_long
def test_chunks_of_a_large_cluster_are_those_of_the_oracle_and_anonymous(batch):
    for seed in batch:
        chance = random.Random(seed)
        data, k, m = random_data(chance), chance.randint(2, 5), chance.choice([2, 3])
        longest = chance.choice([0, 0, 1, 2, 3])
        clusters = one_cluster(data)
        rule = Rule(k, m, np.zeros(len(data.vocabulary), dtype=bool), longest)
        found = domains_of(clusters, verpart(clusters, rule, together=True))
        rows = [frozenset(record) for record in data_numbers(data)]
        support = Counter(term for row in rows for term in row)
        frequent = sorted(
            (term for term in support if support[term] >= k),
            key=lambda term: (-support[term], term),
        )
        wanted = oracle.chunk_domains(rows, frequent, k, m, longest)
        pieces = sum(bool(row & domain) for row in rows for domain in wanted)
        is_short = not wanted or pieces < len(rows) + k * (min(m, len(wanted)) - 1)
        if is_short and frequent and len(frequent) == len(support):
            wanted = [domain - {frequent[-1]} for domain in wanted if domain != {frequent[-1]}]
        assert found == wanted, seed
        for domain in found:
            parts = [row & domain for row in rows]
            assert plain.is_anonymous(parts, k, m), seed
            assert longest == 0 or max(len(part) for part in parts) <= longest, seed


def data_numbers(data: Transactions) -> list[list[int]]:
    bounds = data.indptr.tolist()
    return [data.items[a:b].tolist() for a, b in zip(bounds, bounds[1:], strict=False)]


@quick_and_long
@pytest.mark.parametrize("parts", [0, 1, 2])
def test_brute_force_over_all_worlds_finds_no_violation_in_large_groups(batch, parts, monkeypatch):
    """Each grouping is taken, whatever it is judged to be."""
    for seed in batch:
        chance = random.Random(seed)
        k, m, items = 2, chance.choice([2, 3]), chance.randint(2, 5)
        data = Transactions.of(
            chance.sample("abcde"[:items], chance.randint(1, min(3, items)))
            for _ in range(chance.randint(k, 7))
        )
        monkeypatch.setattr(grouping, "PARTS", (max(parts, 1),))
        monkeypatch.setattr("setveil.methods.disassociation.method.choose", taken(parts))
        release = Disassociation().anonymize(data, KmAnonymity(k=k, m=m))
        assert verify(release, data).holds, seed
        clusters = [cluster.to_json() for cluster in release.clusters()]
        assert not worlds.violations(clusters, k, m), (seed, clusters)


def taken(parts: int):
    """A choice of the last grouping if there are parts, else of the first."""

    def choose(small, others, divide):
        made = [divide(clusters) for clusters in others]
        return made[-1 if parts else 0]

    return choose


@quick_and_long
def test_the_default_verifies(batch):
    for seed in batch:
        chance = random.Random(seed)
        data, k = random_data(chance, 120), chance.randint(2, 4)
        release = Disassociation(share_lost=chance.random() < 0.3).anonymize(
            data, KmAnonymity(k=k, m=chance.choice([1, 2, 3, 4, "all"]))
        )
        assert verify(release, data).holds, seed


@quick_and_long
def test_expected_supports_are_those_of_the_definition(batch):
    for seed in batch:
        chance = random.Random(seed)
        data, k = random_data(chance), 2
        rows = data.take(canonical_order(data))
        cuts = sorted({0, len(rows), *(chance.randint(1, len(rows)) for _ in range(2))})
        clusters = Clusters(rows, np.arange(len(rows)), np.array(cuts))
        rule = Rule(k, 2, np.zeros(len(rows.vocabulary), dtype=bool))
        chunks = verpart(clusters, rule, together=True)
        found = Judge(rows).of(Divided(clusters, chunks, no_joints(clusters)))
        items, pairs = plain_errors(clusters, chunks)
        assert (found.items, found.pairs) == (pytest.approx(items), pytest.approx(pairs)), seed
        assert found.head == pytest.approx(found.pairs) or len(rows.vocabulary) > 14


def plain_errors(clusters: Clusters, chunks) -> tuple[float, float]:
    """The average errors of all items and of all pairs that occur."""
    rows, at = data_numbers(clusters.rows), 0
    truth = Counter(
        frozenset(some) for row in rows for n in (1, 2) for some in combinations(row, n)
    )
    expected: Counter = Counter()
    for start, stop in zip(clusters.bounds.tolist(), clusters.bounds[1:].tolist(), strict=False):
        chunk: dict[int, int] = {}
        for row in rows[start:stop]:
            for item in row:
                chunk[item] = int(chunks.chunk[at])
                at += 1
        held = Counter(item for row in rows[start:stop] for item in row)
        held = {item: held[item] if chunk[item] >= 0 else 1 for item in held}
        for item in held:
            expected[frozenset([item])] += held[item]
        for one, other in combinations(held, 2):
            if chunk[one] == chunk[other] >= 0:
                here = sum({one, other} <= set(row) for row in rows[start:stop])
            else:
                here = held[one] * held[other] / (stop - start)
            expected[frozenset([one, other])] += here
    errors: list[list[float]] = [[0.0], []]
    for itemset, support in truth.items():
        errors[len(itemset) - 1].append(abs(expected[itemset] - support) / support)
    items = errors[0][1:]
    return sum(items) / len(items), sum(errors[1]) / max(len(errors[1]), 1)


def test_large_groups_are_the_whole_data_and_the_parts_of_the_most_frequent_terms(monkeypatch):
    monkeypatch.setattr(grouping, "PARTS", (1, 2))
    data = Transactions.of([list(row) for row in ["ab", "abc", "ac", "bc", "bd", "cd", "d", "cd"]])
    none = np.zeros(4, dtype=bool)
    found = [
        [sorted(clusters.origin[a:b].tolist()) for a, b in zip(bounds, bounds[1:], strict=False)]
        for clusters in large_groups(data, none, 2)
        for bounds in [clusters.bounds.tolist()]
    ]
    c = [1, 2, 3, 5, 7]
    assert found[0] == [list(range(8))]
    assert found[1] == [c, [0, 4, 6]]
    assert len(found) == 2  # two parts would leave one record alone


def test_frequent_pairs_are_kept_where_small_clusters_lose_them():
    from setveil.metrics import measure

    chance = random.Random(3)
    data = Transactions.of(
        [str(item) for item in range(40) if chance.random() < 0.5 / (item + 1) ** 0.6] or ["0"]
        for _ in range(4_000)
    )
    promise = KmAnonymity(k=10, m=2)
    small = measure(Disassociation(max_cluster=59).anonymize(data, promise), data, ["pair_error"])
    release = Disassociation().anonymize(data, promise)
    assert verify(release, data).holds
    own = measure(release, data, ["pair_error"])
    assert own["pair_error"] < 0.65 * small["pair_error"]


def test_sensitive_items_keep_their_small_clusters():
    data = quest(500, items=30, average_length=4, patterns=10, seed=1)
    promise = KmAnonymity(k=3, m=2, diversity=LDiversity(l=3, sensitive=[data.vocabulary[0]]))
    small = Disassociation(max_cluster=17).anonymize(data, promise)
    assert Disassociation().anonymize(data, promise).lines() == small.lines()


def test_the_length_of_subrecords_can_be_bounded():
    data = quest(2_000, items=40, average_length=8, patterns=10, seed=5)
    for options in ({}, {"max_cluster": 29}, {"order": "paper"}):
        for m in (2, 3):
            promise = KmAnonymity(k=5, m=m)
            free = Disassociation(**options).anonymize(data, promise)
            bound = Disassociation(max_subrecord=2, **options).anonymize(data, promise)
            assert free.subrecords.lengths.max() > 2 >= bound.subrecords.lengths.max()
            assert verify(bound, data).holds
    with pytest.raises(ParameterError, match="max_subrecord"):
        Disassociation(max_subrecord=0)


def test_very_long_records_are_not_counted_pair_by_pair(monkeypatch):
    monkeypatch.setattr(grouping, "MOST_PAIRS", 1)
    data = quest(300, items=30, average_length=8, patterns=10, seed=5)
    promise = KmAnonymity(k=2, m=2)
    small = Disassociation(max_cluster=11).anonymize(data, promise)
    assert Disassociation().anonymize(data, promise).lines() == small.lines()


def test_one_cluster_is_assembled_like_any_other():
    data = Transactions.of([list(row) for row in ("ab", "ab", "cd", "cd", "ac")])
    clusters = one_cluster(data)
    rule = Rule(2, 2, np.zeros(4, dtype=bool))
    chunks = verpart(clusters, rule, together=True)
    release = assemble(5, clusters, chunks, no_joints(clusters), KmAnonymity(k=2, m=2), {})
    assert verify(release, data).holds

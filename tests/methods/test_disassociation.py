"""Disassociation against its oracle and against brute force, phase by phase and as a whole."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from setveil.audit import verify
from setveil.data.generate import quest
from setveil.data.transactions import Bags, Transactions
from setveil.engines.local import Local
from setveil.errors import InfeasibleError, ParameterError
from setveil.io import read
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation import Disassociation, head, partitioning, refine
from setveil.methods.disassociation.arranging import Arranger
from setveil.methods.disassociation.partitioning import (
    Clusters,
    canonical_order,
    horpart,
    in_order,
    verpart,
)
from setveil.methods.disassociation.refine import assemble, level_plan, no_joints
from setveil.metrics import measure
from setveil.promises import KmAnonymity, LDiversity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstruct
from tests.oracle import disassociate as oracle
from tests.oracle import disassociation as worlds
from tests.proofs import proof
from tests.strategies import SEEDS, transactions

WAYS = {
    "default": {},
    "share_lost": {"share_lost": True},
    "paper": {"arrangement": "paper"},
    None: {"refine": False},
}


def of_size(monkeypatch, way: str | None, most: int) -> Disassociation:
    """A method with clusters of at most so many records, also if they are joined as in the
    paper."""
    monkeypatch.setattr(Arranger, "_most", most)
    return Disassociation(**{"arrangement": most} | WAYS[way])


FIGURE_2A = [
    ["itunes", "flu", "madonna", "ikea", "ruby"],
    ["madonna", "flu", "viagra", "ruby", "audi a4", "sony tv"],
    ["itunes", "madonna", "audi a4", "ikea", "sony tv"],
    ["itunes", "flu", "viagra"],
    ["itunes", "flu", "madonna", "audi a4", "sony tv"],
    ["madonna", "digital camera", "panic disorder", "playboy"],
    ["iphone sdk", "madonna", "ikea", "ruby"],
    ["iphone sdk", "digital camera", "madonna", "playboy"],
    ["iphone sdk", "digital camera", "panic disorder"],
    ["iphone sdk", "digital camera", "madonna", "ikea", "ruby"],
]


def nested(cluster):
    """A cluster of the oracle as ours."""
    if cluster[0] == "simple":
        return SimpleCluster(
            cluster[1], [texts(chunk) for chunk in cluster[2]], [str(term) for term in cluster[3]]
        )
    return JointCluster(
        [texts(chunk) for chunk in cluster[1]], [nested(part) for part in cluster[2]]
    )


def texts(chunk: Counter) -> dict[tuple[str, ...], int]:
    return {tuple(str(term) for term in sorted(row)): count for row, count in chunk.items()}


def expected(
    data: Transactions, promise: KmAnonymity, limit: int, way: str | None
) -> Disassociated:
    records = [
        frozenset(int(item) for item in data.record(number)) for number in canonical_order(data)
    ]
    sensitive = (
        frozenset()
        if promise.diversity is None
        else frozenset(int(item) for item in promise.diversity.sensitive)
    )
    clusters = oracle.disassociate(records, promise.k, promise.m, limit, way, sensitive=sensitive)
    return Disassociated.of_clusters([nested(cluster) for cluster in clusters], promise)


def random_case(seed: int, most: int = 60) -> tuple[Transactions, KmAnonymity, int]:
    chance = random.Random(seed)
    k, m, items = chance.randint(2, 4), chance.randint(1, 4), chance.randint(2, 14)
    weights = [1 / (i + 1) ** chance.choice([0, 0.5, 1]) for i in range(items)]
    sizes = [chance.randint(1, 5) for _ in range(chance.randint(k, most))]
    return (
        Transactions.of(
            [set(chance.choices(range(10, 10 + items), weights, k=size)) for size in sizes]
        ),
        KmAnonymity(k=k, m=m),
        chance.randint(k + 1, 6 * k),
    )


@pytest.mark.parametrize("way", WAYS)
@proof(8_000)
def test_the_release_equals_the_oracle_and_verifies(way, seeds, monkeypatch):
    for seed in seeds:
        data, promise, limit = random_case(seed)
        release = of_size(monkeypatch, way, limit - 1).anonymize(data, promise)
        assert release.lines() == expected(data, promise, limit, way).lines(), seed
        assert verify(release, data).holds, seed


@pytest.mark.parametrize("way", WAYS)
@proof(8_000)
def test_brute_force_over_all_worlds_finds_no_violation(way, seeds, monkeypatch):
    for seed in seeds:
        chance = random.Random(seed)
        k, m, items = 2, chance.randint(1, 3), chance.randint(2, 5)
        records = [
            chance.sample("abcde"[:items], chance.randint(1, min(3, items)))
            for _ in range(chance.randint(k, 7))
        ]
        release = of_size(monkeypatch, way, chance.randint(2, 4)).anonymize(
            records, KmAnonymity(k=k, m=m)
        )
        clusters = [cluster.to_json() for cluster in release.clusters()]
        assert not worlds.violations(clusters, k, m), (seed, clusters)


@settings(max_examples=40)
@given(transactions(min_records=4, max_records=25), st.randoms(use_true_random=False))
def test_the_order_of_the_records_and_the_number_of_threads_do_not_matter(data, chance):
    assume(np.count_nonzero(data.lengths) >= 2)
    order = list(range(len(data)))
    chance.shuffle(order)
    one = Disassociation().anonymize(data, KmAnonymity(k=2, m=2), engine=Local(1))
    other = Disassociation().anonymize(data.take(order), KmAnonymity(k=2, m=2), engine=Local(3))
    assert one == other


def test_any_number_of_known_items_needs_no_more_memory():
    data = quest(3_000, items=60, average_length=5, patterns=20, seed=4)
    every, most = (
        Disassociation().anonymize(data, KmAnonymity(k=5, m=m))
        for m in ("all", int(data.lengths.max()))
    )
    assert verify(every, data).holds
    assert every.lines() == most.lines()


def test_several_blocks_give_a_release_that_verifies_whatever_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(refine, "BLOCK", 300)
    data = quest(2_000, items=60, average_length=5, patterns=20, seed=4)
    method = Disassociation(share_lost=True)
    releases = [
        method.anonymize(data, KmAnonymity(k=5, m=2), engine=Local(threads)) for threads in (1, 3)
    ]
    assert releases[0] == releases[1]
    assert (releases[0].parent < 0).sum() > 1
    assert verify(releases[0], data).holds


@settings(max_examples=20)
@given(seed=SEEDS)
def test_large_data_take_other_ways_to_the_same_release(seed):
    data, promise, limit = random_case(seed, most=200)
    method = Disassociation(arrangement=limit - 1) if seed % 2 else Disassociation()
    usual = method.anonymize(data, promise)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refine, "OCCURRENCES", 30)
        for module in (partitioning, head):
            patch.setattr(module, "MANY", 0)
        assert method.anonymize(data, promise, engine=Local(2)) == usual


def test_records_are_in_order_by_key_then_hash_then_number():
    random = np.random.default_rng(3)
    for most in (1, 3, 50, 1 << 60):
        for count in (0, 1, 2, 40):
            keys, hashes = random.integers(0, most, (2, count)).astype(np.uint64)
            found = partitioning._order_by(keys, hashes)
            assert found.tolist() == np.lexsort((hashes, keys)).tolist()


class TestFigures:
    """The worked examples of [Terrovitis2012], from the clusters on that the paper gives."""

    def chunks(self, records, bounds):
        data = Transactions.of(records)
        clusters = Clusters(data, np.arange(len(data)), np.array(bounds))
        rule = Rule(3, 2, np.zeros(len(data.vocabulary), dtype=bool))
        return clusters, verpart(clusters, rule), rule

    def test_figure_2_has_the_chunks_of_the_paper(self):
        clusters, chunks, _ = self.chunks(FIGURE_2A, [0, 5, 10])
        release = assemble(10, clusters, chunks, no_joints(clusters), KmAnonymity(k=3, m=2), {})
        first, second = sorted(release.clusters(), key=lambda cluster: -len(cluster.chunks))
        assert [{item for row in chunk for item in row} for chunk in first.chunks] == [
            {"itunes", "flu", "madonna"},
            {"audi a4", "sony tv"},
        ]
        assert set(first.terms) == {"ikea", "viagra", "ruby"}
        assert [{item for row in chunk for item in row} for chunk in second.chunks] == [
            {"madonna", "digital camera", "iphone sdk"}
        ]
        assert set(second.terms) == {"panic disorder", "playboy", "ikea", "ruby"}
        assert verify(release, Transactions.of(FIGURE_2A)).holds

    def test_figure_3_shares_ikea_and_ruby_four_times_each(self):
        clusters, chunks, rule = self.chunks(FIGURE_2A, [0, 5, 10])
        joints = refine.refine(clusters, chunks, rule, level_plan(3, 18, with_lost=False))
        release = assemble(10, clusters, chunks, joints, KmAnonymity(k=3, m=2), {})
        (joint,) = release.clusters()
        assert joint.shared == [{("ikea", "ruby"): 3, ("ikea",): 1, ("ruby",): 1}]
        assert {term for part in joint.parts for term in part.terms} == {
            "viagra",
            "panic disorder",
            "playboy",
        }
        assert verify(release, Transactions.of(FIGURE_2A)).holds

    def test_figure_4_is_repaired_by_lemma_2(self):
        records = [["a"], ["a"], ["b", "c"], ["b", "c"], ["a", "b", "c"]]
        clusters, chunks, _ = self.chunks(records, [0, 5])
        release = assemble(5, clusters, chunks, no_joints(clusters), KmAnonymity(k=3, m=2), {})
        (cluster,) = release.clusters()
        assert list(cluster.terms) == ["c"]
        assert verify(release, Transactions.of(records)).holds


@pytest.mark.parametrize(
    "records",
    ["a x|a|c|c|x", "t u|t w|t z|u w z|w z|v w|v z", "a b|a|a"],
    ids=["CE-A", "CE-B", "CE-C"],
)
@pytest.mark.parametrize("way", WAYS)
def test_the_counterexamples_come_out_sound(records, way, monkeypatch):
    data = [record.split() for record in records.split("|")]
    k = 3 if len(data) == 3 else 2
    release = of_size(monkeypatch, way, k).anonymize(data, KmAnonymity(k=k, m=2))
    assert verify(release, Transactions.of(data)).holds
    assert not worlds.violations([cluster.to_json() for cluster in release.clusters()], k, 2)


def test_literal_clusters_below_k_would_break_the_promise():
    data = Transactions.of([["a", "b"], ["a"]])
    literal = Disassociated.of_clusters([SimpleCluster(2, [], ["a", "b"])], KmAnonymity(k=3, m=2))
    assert not verify(literal, data).holds


@pytest.mark.parametrize("k", [2, 5])
def test_every_cluster_has_k_records_and_no_more_than_asked_for_where_it_can(k):
    data = quest(3_000, items=80, average_length=4, patterns=30, seed=2)
    clusters = horpart(in_order(data), np.zeros(len(data.vocabulary), dtype=bool), k, 20)
    assert clusters.sizes.min() >= k
    assert clusters.sizes.max() < 20 + k
    assert sorted(clusters.origin.tolist()) == np.flatnonzero(data.lengths).tolist()


def test_items_that_would_be_in_no_chunk_are_shared_on_request():
    data, promise = (
        quest(1000, items=400, average_length=4, patterns=100, seed=1),
        KmAnonymity(k=4, m=2),
    )
    lost = measure(Disassociation().anonymize(data, promise), data, ["tlost"])["tlost"]
    release = Disassociation(share_lost=True).anonymize(data, promise)
    assert measure(release, data, ["tlost"])["tlost"] < lost / 4
    assert verify(release, data).holds


def test_sensitive_items_stay_in_term_chunks_of_l_records_or_more():
    data = quest(500, items=30, average_length=4, patterns=10, seed=1)
    sensitive = [data.vocabulary[number] for number in np.argsort(-data.supports())[:3]]
    promise = KmAnonymity(k=3, m=2, diversity=LDiversity(l=6, sensitive=sensitive))
    release = Disassociation().anonymize(data, promise)
    assert not {release.items[item] for item in np.unique(release.subrecords.items)} & set(
        sensitive
    )
    assert release.sizes[release.is_simple].min() >= 6
    assert verify(release, data).holds


def test_empty_records_form_a_cluster_without_terms():
    release = Disassociation().anonymize([[], ["a"], ["a"], []], KmAnonymity(k=2, m=2))
    assert '{"size":2,"chunks":[],"terms":[]}' in release.lines()
    assert len(reconstruct(release, seed=1)) == 4


def test_counts_of_bags_are_ignored():
    records = [["a", "a", "b"], ["a", "b"], ["b", "a"]]
    assert Disassociation().anonymize(
        Bags.of(records), KmAnonymity(k=2, m=2)
    ) == Disassociation().anonymize(records, KmAnonymity(k=2, m=2))


def test_what_cannot_be_done_is_refused_with_its_numbers():
    with pytest.raises(
        ParameterError, match="arrangement = 3 is not allowed: it must be at least k = 5"
    ):
        Disassociation(arrangement=3).anonymize([["a"]] * 9, KmAnonymity(k=5, m=2))
    with pytest.raises(ParameterError, match="arrangement = 'best' is not allowed"):
        Disassociation(arrangement="best")
    with pytest.raises(
        ParameterError, match="share_lost = True is not allowed: it is part of the default way"
    ):
        Disassociation(arrangement="paper", share_lost=True)
    with pytest.raises(InfeasibleError, match="only 2 records have items, but a cluster needs 3"):
        Disassociation().anonymize([[], [], ["a"], ["b"]], KmAnonymity(k=3, m=2))


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("k", [5, 25])
@pytest.mark.parametrize(
    "file",
    [
        "groceries.csv.gz",
        "msweb.csv.gz",
        pytest.param("bms-webview-2.dat.gz", marks=pytest.mark.long),
        pytest.param("retail.dat.gz", marks=pytest.mark.long),
        pytest.param("T10I4D100K.dat.gz", marks=pytest.mark.long),
    ],
)
def test_releases_of_real_data_verify(shared_data, file, k, m):
    data = read(shared_data / file)
    release = Disassociation().anonymize(data, KmAnonymity(k=k, m=m))
    assert verify(release, data).holds

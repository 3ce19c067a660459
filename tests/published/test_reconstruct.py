"""Reconstruction: every world is possible, for thousands of random releases."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.transactions import Transactions
from setveil.errors import DataError, ParameterError
from setveil.metrics.state import draw_worlds
from setveil.promises import KmAnonymity
from setveil.published.disassociated.clusters import Chunk, JointCluster, SimpleCluster
from setveil.published.disassociated.forest import Forest
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.placing import draw_places
from setveil.published.disassociated.reconstruct import (
    assemble,
    place_pieces,
    reconstruct,
)
from tests.oracle import worlds
from tests.proofs import proof

PROMISE = KmAnonymity(k=2, m=2)

FIGURE_3 = JointCluster(
    [{("ikea", "ruby"): 4}],
    [
        SimpleCluster(
            5,
            [
                {
                    ("flu", "itunes", "madonna"): 2,
                    ("flu", "madonna"): 1,
                    ("itunes", "madonna"): 1,
                    ("flu", "itunes"): 1,
                },
                {("audi a4", "sony tv"): 3},
            ],
            ["viagra"],
        ),
        SimpleCluster(
            5,
            [
                {
                    ("digital camera", "madonna"): 1,
                    ("iphone sdk", "madonna"): 1,
                    ("digital camera", "iphone sdk", "madonna"): 2,
                    ("digital camera", "iphone sdk"): 1,
                }
            ],
            ["panic disorder", "playboy"],
        ),
    ],
)


def release_of(clusters: list[worlds.Cluster]) -> Disassociated:
    return Disassociated.of_clusters(clusters, PROMISE)


def world_by_cluster(
    release: Disassociated, seed: int, most_per_term: int
) -> list[list[frozenset[str]]]:
    """A world in the order of the forest, cut into simple clusters."""
    forest = Forest.of(release)
    records = [
        frozenset(record)
        for record in assemble(
            release, *place_pieces(forest, most_per_term, np.random.default_rng(seed))
        )
    ]
    return [
        records[start:stop]
        for start, stop in zip(forest.starts.tolist(), forest.starts.tolist()[1:], strict=False)
    ]


def check(seed: int, records: int, items: int) -> None:
    chance = Random(seed)
    clusters, original = worlds.random_release(
        chance, chance.randint(1, records), chance.randint(1, items)
    )
    assert worlds.find_fault(clusters, original) is None, "the original itself must be possible"
    release = release_of(clusters)
    for number in range(2):
        world = world_by_cluster(release, seed + number, chance.choice((1, 1, 3)))
        assert worlds.find_fault(clusters, world) is None, f"{clusters}\n{world}"


@proof(20_000)
def test_every_world_of_a_random_release_is_possible(seeds):
    large = (18, 7) if seeds.start == 0 else (40, 12)
    for seed in seeds:
        check(seed, *large)


@pytest.mark.long
def test_worlds_of_a_real_release_are_possible(shared_data):
    from setveil.io import read
    from setveil.methods.disassociation import Disassociation

    release = Disassociation().anonymize(
        read(shared_data / "groceries.csv.gz"), KmAnonymity(k=5, m=2)
    )
    clusters = [plain(cluster) for cluster in release.clusters()]
    for seed, most_per_term in ((1, 1), (2, 3)):
        assert worlds.find_fault(clusters, world_by_cluster(release, seed, most_per_term)) is None


def plain(cluster: SimpleCluster | JointCluster) -> worlds.Cluster:
    """A cluster for the oracle, its parts in the order of the forest."""
    if isinstance(cluster, JointCluster):
        return {
            "shared": [plain_chunk(chunk) for chunk in cluster.shared],
            "parts": [plain(part) for part in cluster.parts],
        }
    return {
        "size": cluster.size,
        "chunks": [plain_chunk(chunk) for chunk in cluster.chunks],
        "terms": list(cluster.terms),
    }


def plain_chunk(chunk: Chunk) -> worlds.Chunk:
    return [[list(items), count] for items, count in chunk.items()]


def test_the_example_of_the_paper_is_reconstructed():
    release = Disassociated.of_clusters([FIGURE_3], KmAnonymity(k=3, m=2))
    world = reconstruct(release, seed=7)
    supports = dict(zip(world.vocabulary, world.supports().tolist(), strict=True))
    assert len(world) == 10
    assert {supports[item] for item in ("ikea", "ruby")} == {4}
    assert supports["madonna"] == 8
    assert {supports[item] for item in ("viagra", "playboy", "panic disorder")} <= {1, 2}
    assert sum("ikea" in record and "ruby" in record for record in world) == 4


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_same_seed_gives_the_same_records(seed, other):
    release = release_of(worlds.random_release(Random(other), 12, 6)[0])
    assert reconstruct(release, seed) == reconstruct(release, seed)
    assert len(reconstruct(release, seed)) == len(release)


def test_other_seeds_and_no_seed_give_other_records():
    release = Disassociated.of_clusters([FIGURE_3], PROMISE)
    assert len({tuple(reconstruct(release, seed)) for seed in range(5)}) == 5
    assert tuple(reconstruct(release)) != tuple(reconstruct(release))


def test_several_worlds_begin_with_the_one_of_their_seed():
    release = Disassociated.of_clusters([FIGURE_3], PROMISE)
    several = draw_worlds(release, seed=5, reconstructions=3)
    assert several[0] == reconstruct(release, 5)
    assert len({tuple(world) for world in several}) == 3
    assert several == draw_worlds(release, seed=5, reconstructions=3)


def test_the_order_of_the_records_is_random():
    release = Disassociated.of_clusters(
        [SimpleCluster(1, [{("a",): 1}]), SimpleCluster(1, [{("b",): 1}])], PROMISE
    )
    first = Counter(reconstruct(release, seed).record(0) for seed in range(200))
    assert 60 < first[("a",)] < 140


def test_a_cluster_without_items_gives_empty_records():
    release = Disassociated.of_clusters(
        [SimpleCluster(3), SimpleCluster(1, [{("a",): 1}])], PROMISE
    )
    assert sorted(reconstruct(release, 1)) == [(), (), (), ("a",)]


def test_an_empty_release_gives_no_records():
    assert len(reconstruct(Disassociated.of_clusters([], PROMISE), 1)) == 0


def test_terms_fill_records_that_would_be_empty():
    release = Disassociated.of_clusters([SimpleCluster(9, [{("a",): 2}], ["x", "y"])], PROMISE)
    for seed in range(20):
        assert all(reconstruct(release, seed))


def test_a_part_without_terms_gets_enough_shared_subrecords():
    """Counterexample A: the second part has three records and two subrecords of its own; the
    third must be {x}."""
    parts = [SimpleCluster(2, [{("a",): 2}]), SimpleCluster(3, [{("c",): 2}])]
    release = Disassociated.of_clusters([JointCluster([{("x",): 2}], parts)], PROMISE)
    for seed in range(50):
        world = list(reconstruct(release, seed))
        assert ("x",) in world
        assert () not in world


def test_a_part_may_only_be_filled_along_a_chain():
    """The first part can only take {v}, which the second may have to give, and the second only
    {w} instead, from the third."""
    parts = [SimpleCluster(2, [{("w",): 1}]), SimpleCluster(1), SimpleCluster(1, [{("c",): 1}])]
    release = Disassociated.of_clusters([JointCluster([{("v",): 1, ("w",): 1}], parts)], PROMISE)
    for seed in range(30):
        assert sorted(reconstruct(release, seed)) == [("c",), ("v",), ("w",), ("w",)]


def test_terms_are_in_as_many_records_as_asked_for():
    release = Disassociated.of_clusters([SimpleCluster(10, [{("a",): 10}], ["x"])], PROMISE)
    counts = Counter(
        int(reconstruct(release, seed, most_per_term=4).supports()[1]) for seed in range(400)
    )
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) > 60


@pytest.mark.parametrize(
    "clusters",
    [
        [SimpleCluster(2, [{("a",): 3}])],
        [SimpleCluster(3, [{("a",): 2}])],
        [SimpleCluster(3, [{("a",): 3}, {("a", "b"): 1}])],
        [SimpleCluster(3, [{("a",): 3}], ["a"])],
        [
            JointCluster(
                [{("a",): 2}], [SimpleCluster(2, [{("a",): 2}]), SimpleCluster(1, [{("b",): 1}])]
            )
        ],
        [JointCluster([{("a",): 1}], [SimpleCluster(2, [{("b",): 1}]), SimpleCluster(1)])],
    ],
)
def test_a_release_without_a_possible_original_is_refused(clusters):
    with pytest.raises(DataError, match="no possible original"):
        reconstruct(Disassociated.of_clusters(clusters, PROMISE), 1)


def test_numbers_below_one_are_refused():
    release = Disassociated.of_clusters([FIGURE_3], PROMISE)
    with pytest.raises(ParameterError):
        reconstruct(release, most_per_term=0)
    with pytest.raises(ParameterError):
        draw_worlds(release, reconstructions=0)


def test_all_places_are_equally_likely():
    random = np.random.default_rng(3)
    for size, count in ((5, 3), (5, 1), (200, 3)):
        many = np.full(6000, size)
        places = draw_places(
            np.zeros(6000, dtype=np.int64), many, np.full(6000, count), random
        ).reshape(6000, count)
        assert all(len(set(row)) == count for row in places.tolist())
        seen = np.bincount(places.ravel(), minlength=size)
        expected = 6000 * count / size
        assert abs(seen - expected).max() < 6 * expected**0.5


def test_reconstructing_keeps_the_vocabulary():
    release = Disassociated.of_clusters([FIGURE_3], PROMISE)
    assert isinstance(reconstruct(release, 1), Transactions)
    assert reconstruct(release, 1).vocabulary == release.items

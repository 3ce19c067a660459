"""Support bounds: every possible original lies within them, and they are exact where the release
is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from random import Random

import numpy as np
import pytest

from setveil.promises import KmAnonymity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstruct
from setveil.published.release import Support
from tests.oracle import worlds
from tests.oracle.disassociation import worlds as all_worlds
from tests.proofs import proof

PROMISE = KmAnonymity(k=2, m=2)


def holds(records: Iterable[Iterable[str]], itemset: Sequence[str]) -> int:
    return sum(set(itemset) <= set(record) for record in records)


def itemsets(items: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    for size in range(1, most + 1):
        yield from combinations(items, size)


def check(seed: int, records: int, items: int) -> None:
    chance = Random(seed)
    clusters, original = worlds.random_release(
        chance, chance.randint(1, records), chance.randint(1, items)
    )
    release = Disassociated.of_clusters(clusters, PROMISE)
    possible = [
        [record for part in original for record in part],
        *(list(reconstruct(release, seed + n, most_per_term=1 + n)) for n in range(2)),
    ]
    for itemset in itemsets(list(release.items), 4):
        bounds = release.support(itemset)
        assert bounds.lower <= bounds.guess <= bounds.upper
        for world in possible:
            assert bounds.lower <= holds(world, itemset) <= bounds.upper, (
                f"{clusters} {itemset} {bounds}"
            )


@proof(20_000)
def test_every_possible_original_lies_within_the_bounds(seeds):
    large = (14, 6) if seeds.start == 0 else (40, 9)
    for seed in seeds:
        check(seed, *large)


@proof(20_000)
def test_all_possible_originals_of_a_tiny_release_lie_within_the_bounds(seeds):
    for seed in seeds:
        chance = Random(f"tiny {seed}")
        clusters, _ = worlds.random_release(chance, chance.randint(1, 4), chance.randint(1, 4))
        release = Disassociated.of_clusters(clusters, PROMISE)
        possible = [
            [[set(record) for part in world for record in part] for world in all_worlds(cluster)]
            for cluster in clusters
        ]
        for itemset in itemsets([*release.items, "zebra"], 3):
            numbers = [[holds(world, itemset) for world in one] for one in possible]
            bounds = release.support(itemset)
            assert bounds.lower <= sum(map(min, numbers)), f"{clusters} {itemset} {bounds}"
            assert sum(map(max, numbers)) <= bounds.upper, f"{clusters} {itemset} {bounds}"


def released(*clusters: SimpleCluster | JointCluster) -> Disassociated:
    return Disassociated.of_clusters(clusters, PROMISE)


def test_items_of_one_chunk_are_counted_exactly():
    release = released(
        SimpleCluster(4, [{("a", "b"): 2, ("a",): 1}]), SimpleCluster(3, [{("a", "b", "c"): 3}])
    )
    assert release.support(["a", "b"]) == Support(5, 5, 5.0)
    assert release.support(["b", "a", "b"]) == Support(5, 5, 5.0)
    assert release.support(["a"]) == Support(6, 6, 6.0)
    assert release.support(["b", "c"]) == Support(3, 3, 3.0)


def test_items_of_two_chunks_overlap_at_least_where_the_cluster_is_too_small_for_both():
    assert released(SimpleCluster(5, [{("a",): 4}, {("b",): 3}])).support(["a", "b"]) == Support(
        2, 3, 2.4
    )
    assert released(SimpleCluster(9, [{("a",): 4}, {("b",): 3}])).support(["a", "b"]) == Support(
        0, 3, pytest.approx(4 / 3)
    )


def test_a_term_is_in_one_to_all_records_of_its_cluster():
    release = released(SimpleCluster(5, [{("a",): 4}], ["x", "y"]), SimpleCluster(2, [{("x",): 2}]))
    assert release.support(["x"]) == Support(3, 7, 3.0)
    assert release.support(["a", "x"]) == Support(0, 4, pytest.approx(0.8))
    assert release.support(["x", "y"]) == Support(0, 5, pytest.approx(0.2))
    assert released(SimpleCluster(1, [], ["x", "y"])).support(["x", "y"]) == Support(1, 1, 1.0)


def test_items_that_never_meet_have_no_support():
    release = released(SimpleCluster(4, [{("a",): 2, ("b",): 2}]), SimpleCluster(3, [{("c",): 3}]))
    assert release.support(["a", "b"]) == Support(0, 0, 0.0)
    assert release.support(["a", "c"]) == Support(0, 0, 0.0)


def test_unknown_items_have_no_support_and_no_items_that_of_all_records():
    release = released(SimpleCluster(4, [{("a",): 2}]))
    assert release.support(["a", "nothing"]) == Support(0, 0, 0.0)
    assert release.support([]) == Support(4, 4, 4.0)


def test_shared_subrecords_are_certain_in_themselves_and_spread_over_the_parts():
    parts = [SimpleCluster(4, [{("a",): 4}], ["x"]), SimpleCluster(6, [{("b",): 3}], ["x"])]
    release = released(JointCluster([{("s", "t"): 3, ("s",): 2}], parts))
    assert release.support(["s", "t"]) == Support(3, 3, 3.0)
    assert release.support(["s"]) == Support(5, 5, 5.0)
    assert release.support(["a", "s"]) == Support(0, 4, pytest.approx(2.0))
    assert release.support(["b", "s"]) == Support(0, 3, pytest.approx(1.5))
    assert release.support(["a", "x"]) == Support(1, 4, pytest.approx(1.0))


def test_parts_that_have_an_item_by_themselves_get_no_shared_one():
    parts = [SimpleCluster(4, [{("s",): 2}, {("a",): 4}]), SimpleCluster(3, [{("a",): 3}])]
    release = released(JointCluster([{("s",): 2}], parts))
    assert release.support(["s"]) == Support(4, 4, 4.0)
    assert release.support(["a", "s"]) == Support(4, 4, 4.0)


def test_what_is_expected_is_the_average_of_many_reconstructions():
    parts = [
        SimpleCluster(6, [{("a", "c"): 4, ("c",): 1}, {("b",): 3}], ["x"]),
        SimpleCluster(8, [{("a",): 5, ("b",): 3}], ["y", "z"]),
    ]
    release = released(JointCluster([{("s", "t"): 4, ("s",): 2}], parts))
    worlds_seen = [list(reconstruct(release, seed)) for seed in range(400)]
    for itemset in (
        ["a", "b"],
        ["a", "s"],
        ["b", "s", "t"],
        ["a", "c", "s"],
        ["x", "c"],
        ["a", "y"],
    ):
        average = sum(holds(world, itemset) for world in worlds_seen) / len(worlds_seen)
        assert release.guess(itemset) == pytest.approx(average, abs=0.25)


def test_the_example_of_the_paper_has_certain_pairs():
    cluster = SimpleCluster(
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
        ["ikea", "ruby", "viagra"],
    )
    release = released(cluster)
    assert release.support(["audi a4", "sony tv"]) == Support(3, 3, 3.0)
    assert release.support(["madonna", "audi a4"]) == Support(2, 3, pytest.approx(2.4))
    assert release.support(["ikea", "ruby"]).lower == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["groceries.csv.gz", "bms-webview-2.dat.gz", "retail.dat.gz"])
def test_the_supports_of_real_data_lie_within_the_bounds(shared_data, name):
    from setveil.io import read
    from setveil.methods.disassociation import Disassociation
    from setveil.metrics.itemsets import top_itemsets
    from setveil.metrics.queries import count_supports, draw_queries

    data = read(shared_data / name)
    release = Disassociation().anonymize(data, KmAnonymity(k=5, m=2)).without_alignment()
    for itemset, count in list(top_itemsets(data, 300))[:300]:
        assert release.support(itemset).lower <= count <= release.support(itemset).upper
    for size in (1, 2, 3):
        drawn = draw_queries(data, size, 200, np.random.default_rng(size))
        for row, count in zip(drawn.tolist(), count_supports(data, drawn).tolist(), strict=True):
            bounds = release.support([data.vocabulary[number] for number in row])
            assert bounds.lower <= count <= bounds.upper

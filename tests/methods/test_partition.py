"""Partition against its oracle, on random data and on real data."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from setveil.audit import verify
from setveil.data.transactions import Bags, Transactions
from setveil.engines.local import Local
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read
from setveil.methods.partition import Partition, classes
from setveil.metrics import measure
from setveil.promises import KAnonymity, KmAnonymity, VocabularyKAnonymity
from tests.oracle import partition as oracle
from tests.proofs import proof
from tests.strategies import data_with_tree


def plain_tree(tree: Hierarchy) -> oracle.Tree:
    """The same tree for the oracle; siblings in the same order."""
    order = sorted(range(len(tree)), key=lambda node: (tree.first[node], tree.depth[node]))
    return oracle.Tree(
        {
            tree.labels[node]: tree.labels[tree.parent[node]]
            for node in order
            if tree.parent[node] >= 0
        }
    )


def published(release) -> list[frozenset[str]]:
    return [frozenset(record) for record in release.classes.take(release.alignment)]


def pairs(records, images) -> Counter:
    """Which record became what; equal records are interchangeable."""
    return Counter(
        (frozenset(record), image) for record, image in zip(records, images, strict=True)
    )


@given(data_with_tree(max_records=40, max_leaves=14), st.integers(2, 6))
def test_the_release_equals_the_oracle_and_verifies(pair, k):
    data, tree = pair
    assume(len(tree) > 1 and (len(data) == 0 or len(data) >= k))
    release = Partition().anonymize(data, KAnonymity(k=k), tree)
    expected = oracle.partition([set(record) for record in data], k, plain_tree(tree))
    assert pairs(data, published(release)) == pairs(data, expected)
    assert verify(release, data).holds
    assert measure(release, data, ["ncp"])["ncp"] == pytest.approx(
        float(oracle.ncp([set(r) for r in data], expected, plain_tree(tree)))
    )


@proof(20_000)
def test_the_release_equals_the_oracle_in_random_cases_on_any_number_of_threads(seeds, monkeypatch):
    for seed in seeds:
        chance = random.Random(seed)
        tree = Hierarchy.from_edges(random_edges(chance))
        leaves = tree.labels[: tree.leaf_count]
        k = chance.randint(2, 6)
        least, most = chance.choice([0, 1, 1, 1]), chance.randint(1, 7)
        records = [
            set(chance.sample(leaves, min(len(leaves), chance.randint(least, most))))
            for _ in range(chance.randint(k, 40))
        ]
        monkeypatch.setattr(classes, "SMALLEST", chance.choice([1, 10, 1000]))
        data = Transactions.of(records)
        release = Partition().anonymize(
            data, KAnonymity(k=k), tree, engine=Local(chance.choice([1, 2, 3]))
        )
        images = published(release)
        assert pairs(records, images) == pairs(
            records, oracle.partition(records, k, plain_tree(tree))
        ), seed
        assert min(Counter(images).values()) >= k, seed
        assert verify(release, data).holds, seed


def random_edges(chance: random.Random) -> list[tuple[str, str]]:
    edges, level = [], ["r"]
    for _ in range(chance.randint(1, 4)):
        below = [
            (f"{node}.{i}", node)
            for node in level
            for i in range(chance.choice([0, 1, 2, 2, 3, 5]))
        ]
        edges += below
        level = [child for child, _ in below]
    return edges or [("r.0", "r")]


@given(
    data_with_tree(min_records=6, max_records=25),
    st.integers(2, 4),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_records_and_the_number_of_threads_do_not_matter(pair, k, chance):
    data, tree = pair
    order = list(range(len(data)))
    chance.shuffle(order)
    one = Partition().anonymize(data, KAnonymity(k=k), tree, engine=Local(1))
    other = Partition().anonymize(data.take(order), KAnonymity(k=k), tree, engine=Local(3))
    assert one == other


@given(data_with_tree(multiset=True, min_records=6, max_records=25), st.integers(2, 4))
def test_a_bag_is_grouped_like_its_set_and_keeps_the_smallest_counts_of_its_group(pair, k):
    data, tree = pair
    release = Partition().anonymize(data, KAnonymity(k=k), tree)
    sets = Partition().anonymize(data.sets(), KAnonymity(k=k), tree)
    assert pairs(data, published(release)) == pairs(data, published(sets))
    assert isinstance(release.classes, Bags)
    assert verify(release, data).holds
    for number in range(len(release.classes)):
        members = data.take(np.flatnonzero(release.alignment == number))
        for node, count in zip(
            release.classes.take([number]).items, release.classes.take([number]).counts, strict=True
        ):
            under = (tree.first[node] <= tree.leaf_numbers(data.vocabulary)) & (
                tree.leaf_numbers(data.vocabulary) < tree.stop[node]
            )
            sums = [
                members.take([i]).counts[under[members.take([i]).items]].sum()
                for i in range(len(members))
            ]
            assert count == min(sums)


def test_equal_sets_with_other_counts_are_chosen_by_their_counts_not_by_their_place():
    tree = Hierarchy.from_paths([("c", "N1", "N2"), ("a", "N1", "N2"), ("b", "N2")])
    rows = [list(text) for text in ("aab", "ab", "ab", "abbbccc")]
    made = [
        Partition().anonymize(Bags.of(order), VocabularyKAnonymity(k=2), tree)
        for order in (rows, rows[::-1])
    ]
    assert made[0] == made[1]
    assert verify(made[1], Bags.of(rows[::-1])).holds


def test_lg_bag_keeps_duplicates_that_all_records_of_the_group_share():
    tree = Hierarchy.from_paths(
        [("wine", "alcohol", "ALL"), ("vino", "alcohol", "ALL"), ("milk", "ALL")]
    )
    data = Bags.of([{"wine": 2, "vino": 1, "milk": 1}, {"vino": 2, "milk": 3}])
    release = Partition().anonymize(data, KAnonymity(k=2), tree)
    assert list(release.classes) == [("milk", "alcohol")]
    assert dict(
        zip(release.classes.items.tolist(), release.classes.counts.tolist(), strict=True)
    ) == {
        tree.nodes.number("alcohol"): 2,
        tree.nodes.number("milk"): 1,
    }


def test_too_few_empty_records_are_joined_by_the_shortest_others():
    tree = Hierarchy.balanced(Transactions.of([list("abcd")]).vocabulary, 2)
    data = Transactions.of([[], ["a"], ["b"], ["a", "b"], ["c", "d"], ["c", "d"], ["a", "c", "d"]])
    release = Partition().anonymize(data, KAnonymity(k=3), tree)
    images = published(release)
    assert images[:3] == [frozenset()] * 3
    assert frozenset() not in images[3:]
    assert verify(release, data).holds


def test_too_few_records_among_many_empty_ones_are_published_as_empty():
    tree = Hierarchy.balanced(Transactions.of([list("abcd")]).vocabulary, 2)
    release = Partition().anonymize(Transactions.of([[], [], [], ["a"]]), KAnonymity(k=3), tree)
    assert published(release) == [frozenset()] * 4


def test_k_anonymity_implies_km_anonymity():
    tree = Hierarchy.balanced(Transactions.of([list("abcd")]).vocabulary, 2)
    data = Transactions.of([["a", "b"], ["a"], ["c", "d"], ["c", "b"]])
    release = Partition().anonymize(data, KmAnonymity(k=2, m=2), tree)
    assert release.promise == KmAnonymity(k=2, m=2)
    assert verify(release, data).holds
    assert verify(release, data, promise=KAnonymity(k=2)).holds


@given(data_with_tree(min_records=6, max_records=25), st.integers(2, 4), st.integers(0, 40))
def test_the_size_of_the_tasks_does_not_matter(pair, k, size):
    data, tree = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "SMALLEST", size)
        small = Partition().anonymize(data, KAnonymity(k=k), tree)
    assert small == Partition().anonymize(data, KAnonymity(k=k), tree)


def test_progress_ends_at_all_records_and_may_stop_the_work():
    data = Transactions.of([[str(i % 7), str(i % 5 + 7)] for i in range(200)])
    tree = Hierarchy.balanced(data.vocabulary, 3)
    seen = []
    Partition().anonymize(
        data,
        KAnonymity(k=5),
        tree,
        progress=lambda done, total, stage: seen.append((done, total, stage)),
    )
    assert seen[-1] == (200, 200, "partitioning")

    def stop(done, total, stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Partition().anonymize(data, KAnonymity(k=5), tree, progress=stop)


@pytest.mark.parametrize(
    ("name", "k", "fanout", "figure"),
    [
        ("bms-webview-1", 10, 5, 5.28),
        ("bms-webview-2", 10, 5, 6.63),
        pytest.param("retail", 10, 5, 6.485, marks=pytest.mark.long),
        pytest.param("bms-webview-2", 10, 4, 6.3, marks=pytest.mark.long),
        pytest.param("bms-webview-2", 10, 6, 8.4, marks=pytest.mark.long),
        pytest.param("bms-webview-2", 10, 10, 10.6, marks=pytest.mark.long),
        pytest.param("bms-webview-2", 2, 5, 4.1, marks=pytest.mark.long),
        pytest.param("bms-webview-2", 5, 5, 5.7, marks=pytest.mark.long),
        pytest.param("bms-webview-2", 50, 5, 9.6, marks=pytest.mark.long),
    ],
)
def test_the_loss_on_real_data_is_the_known_one(shared_data, name, k, fanout, figure):
    data = read(shared_data / f"{name}.dat.gz")
    release = Partition().anonymize(
        data, KAnonymity(k=k), Hierarchy.balanced(data.vocabulary, fanout)
    )
    assert verify(release, data).holds
    assert 100 * measure(release, data, ["ncp"])["ncp"] == pytest.approx(figure, abs=0.1)


def test_a_natural_tree_with_a_fan_out_of_a_hundred_and_twenty_works(shared_data):
    data = read(shared_data / "foodmart1997-baskets.csv.gz")
    tree = Hierarchy.read(shared_data / "foodmart1997.hierarchy.csv")
    release = Partition().anonymize(data, KAnonymity(k=10), tree)
    assert verify(release, data).holds


def test_the_kernels_give_the_same_as_plain_python():
    """The paper's tables and small random data once more, with compilation switched off."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/papers/test_he2009.py",
        f"{__file__}::test_k_anonymity_implies_km_anonymity",
    ]
    command += [
        f"{__file__}::test_the_order_of_the_records_and_the_number_of_threads_do_not_matter"
    ]
    answer = subprocess.run(
        command,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout

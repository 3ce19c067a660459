"""The losses of disassociated releases against plain definitions."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.transactions import Transactions
from setveil.errors import MisfitError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics import METRICS, measure
from setveil.metrics.associations import (
    Deviation,
    Top,
    _top_of_levels,
    deviation,
    pair_error,
    pair_error_top,
    tkd,
    tkd_2,
    tkd_a,
    tkd_a_2,
    tkd_a_range,
    tkd_ml2,
    tkd_range,
    triple_error,
    triple_error_top,
)
from setveil.metrics.itemsets import top_itemsets_with_bounds
from setveil.metrics.state import draw_worlds
from setveil.metrics.terms import (
    chunked,
    pair_supports,
    ranked_items,
    re,
    re_a,
    re_a_top,
    re_top,
    tlost,
)
from setveil.promises import KAnonymity, KmAnonymity, LDiversity
from setveil.published.disassociated.clusters import SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstruct
from setveil.published.rows import stacked
from setveil.published.suppressed import Suppressed
from tests.oracle import associations as oracle
from tests.oracle import itemsets, worlds

PROMISE = KmAnonymity(k=2, m=2)
SEEDS = st.integers(0, 100_000)


def sample(seed: int) -> tuple[list[worlds.Cluster], Disassociated, Transactions]:
    """Clusters, the same as a release, and an original of it."""
    chance = Random(seed)
    clusters, parts = worlds.random_release(chance, chance.randint(1, 14), chance.randint(1, 6))
    release = Disassociated.of_clusters(clusters, PROMISE)
    return clusters, release, Transactions.of([sorted(record) for part in parts for record in part])


def as_sets(data: Transactions) -> list[tuple[str, ...]]:
    return list(data)


@given(SEEDS)
def test_certain_rows_are_the_subrecords_and_one_row_for_each_term(seed):
    clusters, release, _ = sample(seed)
    rows, counts = release.certain_rows()
    truth: Counter[tuple[str, ...]] = Counter()
    for row, count in zip(*oracle.certain_rows(clusters), strict=True):
        truth[tuple(sorted(row))] += count
    found: Counter[tuple[str, ...]] = Counter()
    for row, count in zip(rows, counts.tolist(), strict=True):
        found[tuple(sorted(row))] += count
    assert found == truth


counted = st.dictionaries(
    st.sampled_from("abcdefgh").map(lambda item: (item,)), st.integers(1, 4), max_size=8
)


@given(counted, counted, st.integers(1, 5))
def test_the_best_and_the_worst_way_to_break_ties_are_found(first, second, count):
    best, worst = oracle.deviation(Counter(first), Counter(second), count)
    found = deviation(Top.of(first, count), Top.of(second, count))
    assert (found.best, found.worst) == (pytest.approx(float(best)), pytest.approx(float(worst)))
    assert found.best <= found.middle <= found.worst


@given(SEEDS, st.integers(1, 3), st.integers(1, 2))
def test_the_deviation_of_what_is_certain_is_that_of_the_oracle(seed, count, least_size):
    clusters, release, original = sample(seed)
    rows, counts = oracle.certain_rows(clusters)
    before = itemsets.supports(as_sets(original), None, least_size)
    after = itemsets.supports(rows, counts, least_size)
    best, worst = oracle.deviation(
        *(Counter(dict(sorted(found.items()))) for found in (before, after)), count
    )
    found = tkd_a_range(release, original, least_size=least_size, count=count)
    assert (found.best, found.worst) == (pytest.approx(float(best)), pytest.approx(float(worst)))


@given(SEEDS, st.integers(1, 3))
def test_the_deviation_is_that_of_the_joined_reconstructions(seed, several):
    _, release, original = sample(seed)
    known = draw_worlds(release, seed=3, reconstructions=several)
    before = itemsets.supports(as_sets(original))
    after = itemsets.supports([record for world in known for record in world])
    top = deviation(Top.of(before, 5), Top.of(after, 5))
    assert tkd_range(release, original, seed=3, reconstructions=several, count=5) == top
    assert tkd(release, original, worlds=known, count=5) == top.middle


@given(SEEDS)
def test_relative_errors_are_those_of_the_oracle(seed):
    clusters, release, original = sample(seed)
    items = list(original.vocabulary)
    rows, counts = oracle.certain_rows(clusters)
    assert re_a(release, original) == pytest.approx(
        float(oracle.relative_error(as_sets(original), rows, counts, items))
    )
    assert re_a_top(release, original) == re_a(release, original)
    world = as_sets(reconstruct(release, 4))
    assert re(release, original, seed=4) == pytest.approx(
        float(oracle.relative_error(as_sets(original), world, [1] * len(world), items))
    )
    assert re_top(release, original, seed=4) == re(release, original, seed=4)


@given(SEEDS, st.integers(1, 4), st.integers(2, 3), st.integers(1, 3))
def test_the_error_of_frequent_itemsets_is_that_of_the_oracle(seed, count, size, several):
    _, release, original = sample(seed)
    known = draw_worlds(release, seed=3, reconstructions=several)
    truth = oracle.frequent_error(
        as_sets(original), [as_sets(world) for world in known], count, size
    )
    found = pair_error(release, original, count=count, size=size, worlds=known)
    assert found == pytest.approx(float(truth))


def test_items_that_are_gone_make_their_pairs_wrong_for_every_form():
    original = Transactions.of([["a", "b", "c"], ["a", "b", "c"], ["a", "b"]])
    release = Suppressed.of([["a", "b"]] * 3, KAnonymity(k=3))
    names = ["pair_error", "pair_error_top", "triple_error", "triple_error_top"]
    found = measure(release, original, names)
    assert found == dict(zip(names, [pytest.approx(2 / 3)] * 2 + [1.0] * 2, strict=True))
    empty = Transactions.of([["a"], []])
    alone = Suppressed.of([["a"], []], KAnonymity(k=2))
    for error in (pair_error, pair_error_top, triple_error, triple_error_top):
        assert error(alone, empty) == 0.0


@given(SEEDS, st.integers(2, 5))
def test_lost_terms_and_the_share_in_chunks_are_those_of_the_oracle(seed, k):
    clusters, release, original = sample(seed)
    assert tlost(release, original, k=k) == pytest.approx(
        float(oracle.tlost(clusters, as_sets(original), k))
    )
    assert chunked(release, original) == pytest.approx(
        float(oracle.chunked(clusters, as_sets(original)))
    )


@given(SEEDS)
def test_every_loss_lies_in_its_range(seed):
    _, release, original = sample(seed)
    for loss in (tkd, tkd_2, tkd_a, tkd_a_2, tlost, chunked):
        assert 0 <= loss(release, original) <= 1
    for error in (re, re_top, re_a, re_a_top):
        assert 0 <= error(release, original) <= 2


def test_a_release_in_one_chunk_loses_nothing():
    records = [["a", "b"], ["a", "b"], ["b", "c"], ["b", "c"]]
    release = Disassociated.of_clusters(
        [SimpleCluster(4, [{("a", "b"): 2, ("b", "c"): 2}])], PROMISE
    )
    original = Transactions.of(records)
    assert [
        loss(release, original)
        for loss in (tkd, tkd_2, tkd_a, tkd_a_2, re, re_top, re_a, re_a_top, tlost)
    ] == [0.0] * 9
    assert chunked(release, original) == 1.0


def test_ranks_are_by_support_and_then_by_the_vocabulary():
    data = Transactions.of(
        [[str(item) for item in range(250) if item % (number + 1) == 0] for number in range(3)]
    )
    assert [data.vocabulary[number] for number in ranked_items(data.supports(), 0)[:3]] == [
        "0",
        "6",
        "12",
    ]
    assert len(ranked_items(data.supports(), 200)) == 20
    assert (
        ranked_items(data.supports(), 200).tolist() != ranked_items(data.supports(), 240).tolist()
    )
    assert (
        ranked_items(data.supports(), 240).tolist() == ranked_items(data.supports(), 230).tolist()
    )
    assert len(ranked_items(Transactions.of([["a", "b"]]).supports(), 200)) == 2


def test_pair_supports_count_records_or_their_weights():
    data = Transactions.of([["a", "b"], [], ["a", "c"], ["b"], ["a", "b", "c"], ["c"], ["a", "b"]])
    table = pair_supports(data, np.array([0, 1, 2]))
    assert table.tolist() == [[4, 3, 2], [3, 4, 1], [2, 1, 3]]
    weighted = pair_supports(data, np.array([1, 0]), np.arange(1, 8))
    assert weighted.tolist() == [[17, 13], [13, 16]]


def test_several_worlds_are_joined_record_by_record():
    parts = [Transactions.of([["a"], ["b"]]), Transactions.of([["a", "b"], []])]
    assert list(stacked(parts)) == [("a",), ("b",), ("a", "b"), ()]
    assert stacked(parts[:1]) is parts[0]


TREE = Hierarchy.from_paths(
    [("beer", "Drink", "ALL"), ("wine", "Drink", "ALL"), ("milk", "Food", "ALL"), ("bag", "ALL")]
)


def test_levels_are_mined_one_by_one_and_compared_together():
    original = Transactions.of([["beer", "milk"], ["wine", "milk"], ["bag", "beer"]])
    release = Disassociated.of_clusters(
        [SimpleCluster(3, [{("milk",): 2, ("bag",): 1}, {("beer",): 2, ("wine",): 1}])], PROMISE
    )
    truth = {
        ("Drink",): 3,
        ("Food",): 2,
        ("bag",): 1,
        ("Drink", "Food"): 2,
        ("Drink", "bag"): 1,
        ("beer",): 2,
        ("wine",): 1,
        ("milk",): 2,
    }
    truth |= {("beer", "milk"): 1, ("milk", "wine"): 1, ("bag", "beer"): 1}
    for count in (1, 3, 5, 8, 20):
        assert _top_of_levels(original, TREE, count) == Top.of(truth, count)
    assert tkd_ml2(release, original, hierarchy=TREE, count=5, worlds=[original]) == 0.0


@given(SEEDS, st.integers(1, 30))
def test_a_hierarchy_of_one_level_gives_the_plain_deviation(seed, count):
    _, release, original = sample(seed)
    flat = Hierarchy.from_paths([(item, "ALL") for item in release.items])
    assert tkd_ml2(release, original, hierarchy=flat, count=count) == tkd(
        release, original, count=count
    )


@given(SEEDS, st.integers(1, 12))
def test_top_itemsets_come_with_their_bounds_in_the_order_of_what_is_certain(seed, count):
    _, release, _ = sample(seed)
    found = top_itemsets_with_bounds(release, count)
    assert len(found) <= count
    assert all(release.support(itemset) == bounds for itemset, bounds in found)
    assert [bounds.lower for _, bounds in found] == sorted(
        (bounds.lower for _, bounds in found), reverse=True
    )


def test_the_k_of_lost_terms_is_that_of_the_promise():
    original = Transactions.of([["a", "c"], ["a", "c"], ["a", "b"]])
    clusters = [SimpleCluster(3, [{("a",): 3}], ["b", "c"])]
    assert tlost(Disassociated.of_clusters(clusters, KmAnonymity(k=2, m=2)), original) == 0.5
    assert tlost(Disassociated.of_clusters(clusters, KAnonymity(k=3)), original) == 0.0
    with pytest.raises(ParameterError):
        tlost(Disassociated.of_clusters(clusters, LDiversity(l=2, sensitive=["a"])), original)


def test_data_without_items_has_nothing_to_lose():
    release = Disassociated.of_clusters([SimpleCluster(2)], PROMISE)
    original = Transactions.of([[], []])
    assert tkd_range(release, original) == Deviation(0.0, 0.0)
    assert (re(release, original), tlost(release, original), chunked(release, original)) == (
        0.0,
        0.0,
        1.0,
    )


def test_measure_takes_what_fits_the_form():
    _, release, original = sample(5)
    found = measure(release, original, seed=2)
    usual = [name for name, row in METRICS.items() if release.form in row.forms]
    assert list(found) == [name for name in usual if name != "tkd_ml2"]
    assert found["tkd"] == tkd(release, original, seed=2)
    assert found["re_a"] == re_a(release, original)
    flat = Hierarchy.from_paths([(item, "ALL") for item in release.items])
    assert list(measure(release, original, hierarchy=flat)) == usual
    assert measure(release, original, ["re"], seed=2, reconstructions=3) == {
        "re": re(release, original, seed=2, reconstructions=3)
    }


def test_every_measure_fits_some_form():
    assert all(row.forms or row.on_request for row in METRICS.values())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ncp", "a disassociated release has are, item_error, tkd"),
        ("tkd_ml2", "needs a hierarchy"),
        ("tdk", "one of columns"),
    ],
)
def test_measures_that_do_not_fit_are_refused(name, words):
    _, release, original = sample(5)
    with pytest.raises(ParameterError, match=words):
        measure(release, original, [name])


def test_an_original_of_another_size_is_refused():
    _, release, original = sample(5)
    with pytest.raises(MisfitError):
        measure(release, original.take(range(len(original) - 1)))

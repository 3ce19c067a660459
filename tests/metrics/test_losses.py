"""The losses: the paper's own figures, and the oracle's on random releases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.alignment.align import over
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError, ParameterError
from setveil.hierarchy.build import balanced
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics import METRICS, measure
from setveil.metrics import queries as metric_queries
from setveil.metrics.generalization import blm, class_sizes, distortion, lm, ncp
from setveil.metrics.queries import are, count_supports, draw_queries
from setveil.promises import KAnonymity
from setveil.published.generalized import Generalized
from tests.audit.releases import bags_of, pairs_of, parents_of, published_of, releases
from tests.oracle import losses as oracle
from tests.strategies import transactions

TABLE_2_TREE = Hierarchy.from_parents(
    ["ALL", "A", "B", "a1", "a2", "b1", "b2"], [-1, 0, 0, 1, 1, 2, 2]
)
TABLE_2 = [
    ["a1"],
    ["a1", "a2"],
    ["b1", "b2"],
    ["b1", "b2"],
    ["a1", "a2", "b2"],
    ["a1", "a2", "b2"],
    ["a1", "a2", "b1", "b2"],
]
LOCAL = [
    ["A"],
    ["A"],
    ["b1", "b2"],
    ["b1", "b2"],
    ["a1", "a2", "B"],
    ["a1", "a2", "B"],
    ["a1", "a2", "B"],
]
GLOBAL = [["A"], ["A"], ["B"], ["B"], ["A", "B"], ["A", "B"], ["A", "B"]]


@pytest.mark.parametrize(
    ("published", "loss"), [(LOCAL, 3.5 / 17), (GLOBAL, 8.5 / 17), (TABLE_2, 0.0)]
)
def test_the_loss_of_table_2_is_that_of_the_paper(published, loss):
    """[He2009] Table 2; every node below the root but the leaves covers half of the items."""
    release, original = (
        Generalized.of(published, TABLE_2_TREE, KAnonymity(k=2)),
        Transactions.of(TABLE_2),
    )
    assert ncp(release, original) == pytest.approx(loss)
    assert lm(release, original) == pytest.approx(loss * 2 / 3)
    assert measure(release.without_alignment(), original, ["ncp"]) == {"ncp": pytest.approx(loss)}


@given(releases())
def test_losses_of_sets_are_those_of_the_oracle(pair):
    release, original = pair
    pairs, parents = pairs_of(release, original, release.alignment), parents_of(release.hierarchy)
    assert ncp(release, original) == pytest.approx(float(oracle.ncp(pairs, parents)))
    assert (
        lm(release, original)
        == blm(release, original)
        == pytest.approx(float(oracle.lm(pairs, parents)))
    )
    assert distortion(release, original) == pytest.approx(float(oracle.distortion(pairs, parents)))


@given(releases(multiset=True))
def test_losses_of_bags_are_those_of_the_oracle(pair):
    release, original = pair
    pairs, parents = pairs_of(release, original, release.alignment), parents_of(release.hierarchy)
    assert ncp(release, original) == pytest.approx(float(oracle.ncp(pairs, parents, counted=True)))
    assert blm(release, original) == pytest.approx(float(oracle.lm(pairs, parents, counted=True)))
    assert distortion(release, original) == pytest.approx(
        float(oracle.distortion(pairs, parents, counted=True))
    )


@given(st.one_of(releases(), releases(multiset=True)))
def test_every_loss_lies_in_its_range(pair):
    release, original = pair
    found = measure(release.without_alignment(), original)
    counted = isinstance(release.classes, Bags)
    rows = [(name, row) for name, row in METRICS.items() if release.form in row.forms]
    assert list(found) == [name for name, row in rows if counted or not row.of_bags]
    assert all(0 <= found[name] <= 1 for name in ("ncp", "lm", "blm", "distortion"))
    assert all(0 <= found.get(name, 0) <= 1 for name in ("recall", "term_counts"))
    assert 0 <= found.get("sdist", 0) <= 20
    assert found["are"] >= 0
    sizes = found["class_sizes"]
    assert sizes["min"] <= sizes["median"] <= sizes["max"]


@given(releases())
def test_the_error_of_queries_is_that_of_the_oracle(pair):
    release, original = pair
    random, errors = np.random.default_rng(7), []
    records, published, parents = (
        bags_of(original),
        published_of(release),
        parents_of(release.hierarchy),
    )
    for size in (1, 2, 3):
        for row in draw_queries(original, size, 5, random).tolist():
            query = [original.vocabulary[number] for number in row]
            truth = oracle.support(records, query)
            errors.append(
                abs(truth - float(oracle.estimate(published, query, parents)))
                / max(truth, len(records) / 1000)
            )
    assert are(release, original, seed=7, queries=5) == pytest.approx(
        np.mean(errors) if errors else 0.0
    )


@given(transactions(min_records=1), st.integers(1, 3), st.integers(1, 5))
def test_supports_are_counted_right_across_blocks(data, size, block):
    drawn = draw_queries(data, size, 6, np.random.default_rng(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_queries, "_BLOCK_RECORDS", block)
        found = count_supports(data, drawn).tolist()
    assert found == [
        oracle.support(bags_of(data), [data.vocabulary[number] for number in row])
        for row in drawn.tolist()
    ]
    assert all(support > 0 for support in found)


def test_a_query_for_fewer_people_than_one_in_a_thousand_is_weighed_as_if_for_so_many(monkeypatch):
    """One of 3,000 people holds a1, half a person is expected: |1 - 1/2| / 3."""
    original = Transactions.of([["a1"]] + [["b1"]] * 2_999)
    release = Generalized.of([["A"]] + [["b1"]] * 2_999, TABLE_2_TREE, KAnonymity(k=2))
    rare = original.vocabulary.number("a1")
    monkeypatch.setattr(
        metric_queries,
        "draw_queries",
        lambda data, size, *_: np.full((int(size == 1), size), rare, dtype=np.int64),
    )
    assert are(release, original) == pytest.approx(0.5 / 3)


def test_a_release_of_the_data_as_it_is_answers_every_query_right():
    release = Generalized.of(TABLE_2, TABLE_2_TREE, KAnonymity(k=2))
    assert are(release, Transactions.of(TABLE_2)) == 0.0
    assert are(release, Transactions.of(TABLE_2)) == 0.0


def test_queries_of_a_size_that_no_record_has_are_left_out():
    original = Transactions.of([["a1"], ["a2"]])
    release = Generalized.of([["A"], ["A"]], TABLE_2_TREE, KAnonymity(k=2))
    assert are(release, original) == 0.0


def test_the_same_seed_gives_the_same_error():
    release, original = (
        Generalized.of(LOCAL, TABLE_2_TREE, KAnonymity(k=2)),
        Transactions.of(TABLE_2),
    )
    assert are(release, original, seed=3) == are(release, original, seed=3)
    assert measure(release, original, ["are"], seed=3)["are"] == are(release, original, seed=3)


@pytest.mark.parametrize("records", [[], [[], [], []]])
def test_data_without_occurrences_lost_nothing(records):
    release = Generalized.of(records, TABLE_2_TREE, KAnonymity(k=2))
    found = measure(release, Transactions.of(records))
    assert all(found[name] == 0.0 for name in ("ncp", "lm", "blm", "distortion", "are"))
    assert found["class_sizes"]["max"] == float(len(records))


def test_a_tree_of_one_leaf_costs_nothing():
    tree = Hierarchy.from_parents(["ALL", "a"], [-1, 0])
    release = Generalized.of([["ALL"], ["a"]], tree, KAnonymity(k=2))
    found = measure(release, Transactions.of([["a"], ["a"]]))
    assert (found["ncp"], found["lm"]) == (0.0, 0.0)


def test_a_suppressed_record_costs_all_its_occurrences():
    release = Generalized.of([[], ["a1"]], TABLE_2_TREE, KAnonymity(k=2))
    original = Transactions.of([["a1", "b1", "b2"], ["a1"]])
    assert (ncp(release, original), lm(release, original), distortion(release, original)) == (
        0.75,
        0.75,
        0.75,
    )


def test_a_release_of_sets_made_from_bags_covers_every_occurrence():
    release = Generalized.of([["A"]], TABLE_2_TREE, KAnonymity(k=2))
    assert ncp(release, Bags.of([{"a1": 3, "a2": 1}])) == 0.5


def test_equal_classes_are_one_class():
    release = Generalized.of([["A"], ["b1"], ["A"]], TABLE_2_TREE, KAnonymity(k=2))
    assert class_sizes(release, Transactions.of([["a1"], ["b1"], ["a2"]])) == {
        "min": 1.0,
        "median": 1.5,
        "mean": 1.5,
        "max": 2.0,
    }


def test_a_release_over_a_pruned_tree_is_measured_over_the_whole_one():
    original = Transactions.of([[str(n)] for n in range(30)])
    tree = balanced(original.vocabulary, fanout=5)
    whole = Generalized.of([[tree.path(str(n))[1]] for n in range(30)], tree, KAnonymity(k=5))
    pruned = over(whole, tree.pruned(whole.published_nodes())).without_alignment()
    assert pruned.hierarchy.leaf_count == 6
    assert measure(pruned, original) == measure(whole, original)
    assert ncp(pruned, original) == pytest.approx(5 / 30)
    assert are(pruned, original) == are(whole, original)
    with pytest.raises(MisfitError):
        measure(pruned, Transactions.of([[str(n)] for n in range(100, 105)] * 6))


def test_a_measure_that_does_not_exist_is_refused_with_those_that_do():
    release = Generalized.of([["A"]], TABLE_2_TREE, KAnonymity(k=2))
    with pytest.raises(
        ParameterError,
        match="'npc' is not allowed: it must be one of columns, column_ncp, are_columns, ncp, lm",
    ):
        measure(release, Transactions.of([["a1"]]), ["npc"])
    with pytest.raises(ParameterError, match="queries = 0"):
        are(release, Transactions.of([["a1"]]), queries=0)

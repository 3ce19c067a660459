"""The generalized form: equal records merged, a canonical order, nothing that reveals who is who."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.alignment.align import over
from setveil.data.transactions import Bags, Transactions
from setveil.errors import UnknownItemError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read_release, write
from setveil.methods import HgHs, Partition
from setveil.promises import KAnonymity, KmAnonymity
from setveil.published.generalized import Generalized
from setveil.published.rows import distinct_records
from tests.audit.releases import bags_of, releases
from tests.strategies import SEEDS, bags, transactions

TREE = Hierarchy.from_parents(["ALL", "A", "a1", "a2", "b"], [-1, 0, 1, 1, 0])


@given(st.one_of(transactions(), bags()))
def test_distinct_records_are_in_the_order_of_their_items_and_counts(data):
    distinct, member = distinct_records(data)
    assert distinct.take(member) == data
    counts = (
        distinct.counts if isinstance(data, Bags) else np.ones(len(distinct.items), dtype=np.int64)
    )
    rows = [
        list(zip(distinct.items[start:stop].tolist(), counts[start:stop].tolist(), strict=True))
        for start, stop in zip(distinct.indptr[:-1], distinct.indptr[1:], strict=True)
    ]
    assert all(first < second for first, second in zip(rows, rows[1:], strict=False))


def test_counts_above_255_sort_as_numbers():
    data = Bags.of([{"a": 256}, {"a": 1}, {"a": 255}])
    assert distinct_records(data)[0].counts.tolist() == [1, 255, 256]


@given(releases(), st.randoms())
def test_the_order_of_the_records_does_not_show_in_a_release(pair, random):
    release, _ = pair
    rows = [dict(record) for record in bags_of(release.classes.take(release.alignment))]
    random.shuffle(rows)
    again = Generalized.of(rows, release.hierarchy, release.promise)
    assert again == release
    assert again.classes == release.classes
    assert again.sizes.tolist() == release.sizes.tolist()


@given(st.one_of(releases(), releases(multiset=True)))
def test_all_records_are_given_each_as_often_as_it_stands(pair):
    release, original = pair
    records = release.records(seed=3)
    assert type(records) is type(original)
    assert len(records) == len(release) == len(original)
    assert Generalized.of_rows(records, release.hierarchy, release.promise, {}) == release
    assert records == release.records(seed=3)


def test_weights_are_added_when_equal_rows_are_merged():
    rows = Transactions.from_pairs(
        np.array([0, 1, 2]), TREE.nodes.encode(["A", "b", "A"]), TREE.nodes
    )
    release = Generalized.of_rows(
        rows,
        TREE,
        KAnonymity(k=2),
        {},
        alignment=np.array([2, 1, 0, 0]),
        weights=np.array([2, 1, 1]),
    )
    assert dict(zip(release.classes, release.sizes.tolist(), strict=True)) == {("A",): 3, ("b",): 1}
    assert [release.classes.record(number) for number in release.alignment] == [
        ("A",),
        ("b",),
        ("A",),
        ("A",),
    ]


@given(st.one_of(releases(), releases(multiset=True)))
def test_a_release_over_its_pruned_tree_and_back_is_the_same(pair):
    release, _ = pair
    pruned = over(release, release.hierarchy.pruned(release.published_nodes()))
    assert pruned == release
    back = over(pruned, release.hierarchy)
    assert back.classes == release.classes
    assert back.alignment.tolist() == release.alignment.tolist()


def test_releases_with_other_counts_or_sizes_differ():
    one, two = ({"A": 1}, {"A": 2})
    assert Generalized.of([one], TREE, KAnonymity(k=2), counted=True) != Generalized.of(
        [two], TREE, KAnonymity(k=2), counted=True
    )
    assert Generalized.of([["A"]], TREE, KAnonymity(k=2)) != Generalized.of(
        [["A"], ["A"]], TREE, KAnonymity(k=2)
    )


def test_a_label_that_the_tree_does_not_have_is_refused():
    with pytest.raises(UnknownItemError, match="'zebra'"):
        Generalized.of([["zebra"]], TREE, KAnonymity(k=2))


def test_what_anybody_may_have_links_nobody():
    release = Generalized.of([["A"], ["b"]], TREE, KAnonymity(k=2))
    assert release.alignment is not None
    assert release.without_alignment().alignment is None
    assert release.without_alignment() == release


def test_an_empty_release_is_a_release():
    release = Generalized.of([], TREE, KAnonymity(k=2))
    assert (len(release), len(release.classes), len(release.records())) == (0, 0, 0)


def test_a_group_of_which_an_item_is_suppressed_everywhere_may_have_been_in_any_record():
    release = Generalized.of([["a1"], ["a1"], ["b"]], TREE, KAnonymity(k=2), is_global=True)
    assert (release.support(["a1"]).lower, release.support(["a1"]).upper) == (2, 2)
    assert (release.support(["A"]).lower, release.support(["A"]).upper) == (2, 3)
    assert release.support_note(["a1"]) == ""
    assert release.support_note(["A"]).startswith("Part of A is not published.")
    assert release.support_note(["a2"]).startswith("a2 is not published.")


@settings(max_examples=10)
@given(seed=SEEDS)
@pytest.mark.parametrize("built", [True, False], ids=["pruned", "whole"])
@pytest.mark.parametrize(
    ("method", "promise"),
    [(HgHs(), KmAnonymity(k=3, m=2)), (Partition(), KAnonymity(k=3))],
    ids=["hghs", "partition"],
)
def test_the_support_of_every_node_of_the_original_is_within_the_bounds(
    method, promise, built, seed, tmp_path_factory
):
    random = Random(seed)
    data = Transactions.of(random.sample("abcdefghi", random.randint(0, 4)) for _ in range(20))
    tree = Hierarchy.balanced(data.vocabulary, fanout=random.choice([2, 3]))
    folder = tmp_path_factory.mktemp("release") / "it"
    write(method.anonymize(data, promise, tree), folder, public_items=not built)
    release = read_release(folder)
    for label in tree.labels:
        below = {item for item in data.vocabulary if label in tree.path(item)}
        found = release.support([label])
        assert found.lower <= sum(bool(below & set(record)) for record in data) <= found.upper

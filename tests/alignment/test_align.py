"""The alignment: found where there is one, refused with a witness where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.alignment import fitting
from setveil.alignment.align import align, check_alignment, representing_nodes
from setveil.alignment.flow import Matching
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError
from setveil.hierarchy.tree import Hierarchy
from setveil.promises import KAnonymity
from setveil.published.generalized import Generalized
from tests.audit.releases import bags_of, pairs_of, parents_of, published_of, releases
from tests.oracle.containment import assignable, fits
from tests.strategies import data_with_tree

TREE = Hierarchy.from_parents(
    ["ALL", "A", "B", "a1", "a2", "b1", "b2", "c"],
    [-1, 0, 0, 1, 1, 2, 2, 0],
)


def released(records: list, *, counted: bool = False) -> Generalized:
    return Generalized.of(records, TREE, KAnonymity(k=2), counted=counted).without_alignment()


def assert_valid(release: Generalized, original: Transactions, alignment: np.ndarray) -> None:
    assert np.bincount(alignment, minlength=len(release.classes)).tolist() == release.sizes.tolist()
    parents = parents_of(release.hierarchy)
    assert all(
        fits(record, published, parents)
        for record, published in pairs_of(release, original, alignment)
    )


@given(releases())
def test_a_release_of_sets_is_aligned_with_its_original(pair):
    release, original = pair
    assert_valid(release, original, align(release.without_alignment(), original))
    assert align(release, original) is release.alignment


@given(releases(multiset=True))
def test_a_release_of_bags_is_aligned_with_its_original(pair):
    release, original = pair
    assert_valid(release, original, align(release.without_alignment(), original))
    assert align(release, original) is release.alignment


@given(st.data(), st.booleans())
def test_any_release_is_aligned_exactly_when_some_assignment_exists(data, multiset):
    original, tree = data.draw(
        data_with_tree(multiset=multiset, min_records=1, max_records=5, max_leaves=4)
    )
    nodes = st.lists(st.sampled_from(tree.labels), max_size=3, unique=not multiset)
    rows = data.draw(st.lists(nodes, min_size=len(original), max_size=len(original)))
    release = Generalized.of(rows, tree, KAnonymity(k=2), counted=multiset)
    if assignable(bags_of(original), published_of(release), parents_of(tree)):
        assert_valid(release, original, align(release.without_alignment(), original))
    else:
        with pytest.raises(MisfitError) as caught:
            align(release.without_alignment(), original)
        assert caught.value.record is not None or caught.value.published is not None
    if all(
        fits(record, one, parents_of(tree))
        for record, one in pairs_of(release, original, release.alignment)
    ):
        check_alignment(release, original, release.alignment)
    else:
        with pytest.raises(MisfitError, match="does not generalize it"):
            check_alignment(release, original, release.alignment)


@given(releases(max_records=12), st.integers(1, 40))
def test_the_search_gives_the_same_classes_when_it_must_be_cut_into_parts(pair, most):
    release, original = pair
    table = fitting.ClassTable.of(release.classes, release.hierarchy)
    records, trie = fitting.LeafRecords.of(original, release.hierarchy), fitting.ClassTrie(table)
    whole = trie.fits(records, 0, len(original))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_MOST_STATES", most)
        parts = trie.fits(records, 0, len(original))
    assert [part.tolist() for part in parts] == [part.tolist() for part in whole]
    parents, classes = parents_of(release.hierarchy), bags_of(release.classes)
    expected = [
        (r, c)
        for r, record in enumerate(bags_of(original))
        for c, one in enumerate(classes)
        if one and fits(record, one, parents)
    ]
    assert list(zip(*(part.tolist() for part in whole), strict=True)) == expected


def test_a_record_takes_the_class_that_others_leave_to_it():
    original = Transactions.of([["a1", "a2"], ["a1", "a2"], ["a1", "b1"], ["b1"]])
    release = released([["A"], ["a1", "a2"], ["A", "B"], ["B"]])
    assert_valid(release, original, align(release, original))


def test_an_empty_published_record_represents_any_original_but_only_if_needed():
    original = Transactions.of([["a1"], ["b1"], []])
    release = released([["A"], [], []])
    assert [release.classes.record(number) for number in align(release, original)] == [
        ("A",),
        (),
        (),
    ]


def test_an_original_that_fits_no_published_record_is_the_witness():
    with pytest.raises(MisfitError, match="no published record generalizes") as caught:
        align(released([["A"], ["A"]]), Transactions.of([["a1"], ["a1", "b1"]]))
    assert caught.value.record == ("a1", "b1")
    assert "a1" not in str(caught.value)


def test_a_published_record_that_too_few_originals_fit_is_the_witness():
    with pytest.raises(
        MisfitError, match=r"a record is published 2 times, but it can come from only 1 original"
    ) as caught:
        align(released([["a1"], ["a1"], ["ALL"]]), Transactions.of([["a1"], ["a2"], ["a2"]]))
    assert caught.value.published == ("a1",)


def test_several_published_records_that_compete_for_too_few_originals_are_counted_together():
    original = Transactions.of([["a1", "a2", "b1", "b2"], ["c"], ["c"]])
    with pytest.raises(
        MisfitError,
        match=r"2 distinct records are published 2 times, but they can come from only 1",
    ):
        align(released([["a1", "a2", "B"], ["A", "b1", "b2"], ["ALL"]]), original)


def test_numbers_of_records_that_differ_are_named():
    with pytest.raises(MisfitError, match="1 record and the original has 2"):
        align(released([["A"]]), Transactions.of([["a1"], ["a2"]]))


def test_an_item_that_the_hierarchy_does_not_have_is_a_misfit_unless_it_is_suppressed():
    original = Transactions.of([["a1"], ["zebra"]])
    with pytest.raises(MisfitError, match="an item that is not in the hierarchy") as caught:
        align(released([["A"], ["ALL"]]), original)
    assert caught.value.record == ("zebra",)
    assert align(released([["A"], []]), original).tolist() == [1, 0]


def test_an_unknown_item_among_known_ones_is_a_misfit_too():
    for records in (
        [["a1", "zebra"], ["a1"]],
        [["a1"], ["a1", "zebra"]],
        [["aardvark", "a1"], ["a1"]],
    ):
        with pytest.raises(MisfitError, match="an item that is not in the hierarchy"):
            align(released([["A"], ["A"]]), Transactions.of(records))


def test_a_suppressed_record_with_an_unknown_item_leaves_the_others_in_place():
    original = Transactions.of([["aardvark", "a1"], ["b1"]])
    release = released([[], ["B"]])
    assert [release.classes.record(number) for number in align(release, original)] == [(), ("B",)]


def test_a_record_that_a_node_and_its_ancestor_share_between_them_is_no_image():
    """Taken leaf by leaf a1 lies under A and a2 under a2, yet a2 is covered twice."""
    release = Generalized.of([["A", "a2"]], TREE, KAnonymity(k=2))
    for one in (release, release.without_alignment()):
        with pytest.raises(MisfitError):
            align(one, Transactions.of([["a1", "a2"]]))


def test_an_inner_label_that_is_an_item_of_the_original_is_not_a_leaf():
    with pytest.raises(MisfitError):
        align(released([["A"], ["A"]]), Transactions.of([["a1"], ["A"]]))


def test_a_node_that_occurs_more_often_than_the_items_under_it_does_not_fit():
    original = Bags.of([{"a1": 1, "a2": 1}, {"a1": 2}])
    assert len(align(released([{"A": 2}, {"A": 2}], counted=True), original)) == 2
    with pytest.raises(MisfitError):
        align(released([{"A": 2}, {"A": 3}], counted=True), original)


def test_a_wrong_alignment_is_refused_with_the_record():
    original = Transactions.of([["a1"], ["b1"]])
    release = Generalized.of([["A"], ["B"]], TREE, KAnonymity(k=2))
    wrong = replace(release, alignment=release.alignment[::-1])
    with pytest.raises(MisfitError, match="does not generalize it") as caught:
        align(wrong, original)
    assert (caught.value.record, caught.value.published) == (("a1",), ("B",))
    with pytest.raises(
        MisfitError, match="a record is published 1 time but aligned with 0 originals"
    ):
        align(replace(release, alignment=np.array([1, 1])), original)
    with pytest.raises(MisfitError, match="one of 2 distinct published records"):
        align(replace(release, alignment=np.array([0, 2])), original)


def test_the_node_over_each_entry_is_known():
    original = Transactions.of([["a1", "a2", "b2"], ["b1"], []])
    release = Generalized.of([["A", "b2"], [], []], TREE, KAnonymity(k=2))
    nodes = representing_nodes(release, original)
    assert [TREE.labels[node] if node >= 0 else None for node in nodes] == ["A", "A", "b2", None]


@pytest.mark.parametrize("size", [1, 7, 3000])
def test_a_chain_that_only_one_long_augmenting_path_fills_is_filled(size):
    """Group i fits classes i and i + 1, and one class in the middle needs nothing, so every
    other choice is forced."""
    indptr = np.arange(0, 2 * size + 1, 2)
    classes = np.stack((np.arange(size), np.arange(1, size + 1)), axis=1).ravel()
    demand = np.ones(size + 1, dtype=np.int64)
    demand[size // 2] = 0
    matching = Matching(indptr, classes, np.ones(size, dtype=np.int64), demand)
    assert matching.fill() is None
    assert (
        np.bincount(classes, weights=matching.flow, minlength=size + 1).tolist() == demand.tolist()
    )


def test_a_planted_assignment_of_tight_numbers_is_always_found_again():
    """Supply and demand come from a hidden assignment, so every class can be filled."""
    random = np.random.default_rng(4)
    for _ in range(400):
        groups, classes = random.integers(4, 16, size=2)
        edges = random.random((groups, classes)) < 0.4
        planted = np.where(edges, random.integers(0, 6, size=edges.shape), 0)
        indptr = np.concatenate(([0], np.cumsum(edges.sum(axis=1))))
        supply, demand = (
            planted.sum(axis=1) + random.integers(0, 2, size=groups),
            planted.sum(axis=0),
        )
        matching = Matching(indptr, np.nonzero(edges)[1], supply, demand)
        assert matching.fill() is None
        assert matching.flow.min(initial=0) >= 0
        assert matching.left.min() >= 0
        assert (
            np.bincount(matching.classes, weights=matching.flow, minlength=classes).tolist()
            == demand.tolist()
        )
        assert (
            np.bincount(matching.owner, weights=matching.flow, minlength=groups) + matching.left
        ).tolist() == supply.tolist()


@given(st.data())
def test_the_flow_fills_all_classes_exactly_when_no_set_of_them_is_short(data):
    classes = data.draw(st.integers(1, 5))
    groups = data.draw(
        st.lists(
            st.lists(st.integers(0, classes - 1), unique=True).map(sorted), min_size=1, max_size=6
        )
    )
    supply = np.array(
        data.draw(st.lists(st.integers(1, 4), min_size=len(groups), max_size=len(groups)))
    )
    demand = np.array(data.draw(st.lists(st.integers(0, 5), min_size=classes, max_size=classes)))
    indptr = np.concatenate(([0], np.cumsum([len(group) for group in groups]))).astype(np.int64)
    matching = Matching(
        indptr, np.array([c for group in groups for c in group], dtype=np.int64), supply, demand
    )
    shortage = matching.fill()
    if shortage is None:
        assert (
            np.bincount(matching.classes, weights=matching.flow, minlength=classes).tolist()
            == demand.tolist()
        )
        assert (
            np.bincount(matching.owner, weights=matching.flow, minlength=len(groups))
            + matching.left
            == supply
        ).all()
        assert matching.left.min() >= 0
    else:
        chosen = set(shortage.classes.tolist())
        assert shortage.needed == demand[list(chosen)].sum()
        assert (
            shortage.fitting
            == sum(int(s) for group, s in zip(groups, supply, strict=True) if chosen & set(group))
            < shortage.needed
        )

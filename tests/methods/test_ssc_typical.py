"""What SSC publishes for its slots: terms that are not used up, or groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.audit import verify
from setveil.data.transactions import Bags
from setveil.errors import DataError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.ssc import SSC
from setveil.methods.ssc.clusters import Clusters, _shared_out
from setveil.metrics import measure
from setveil.promises import VocabularyKAnonymity
from setveil.published.typical_bags import TypicalBags
from tests.oracle import ssc_typical as oracle
from tests.strategies import data_with_tree

TWO = VocabularyKAnonymity(k=2)
LABELS = "abcdef"


def failed(verdict):
    return [check.name for check in verdict.checks if not check.holds]


@st.composite
def some_slots(draw):
    """Clusters of 1 to 4 members with any slots, and the bags in which each term occurs."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    slots = []
    for number, size in enumerate(sizes):
        for _ in range(draw(st.integers(0, 3))):
            terms = draw(st.lists(st.sampled_from(LABELS), min_size=size, max_size=size))
            slots.append((number, tuple(terms), draw(st.integers(1, 3))))
    bags = [{}, {}, {}, {}, {}, {}]
    for term in LABELS:
        for bag in draw(st.sets(st.integers(0, 5), min_size=1)):
            bags[bag][term] = draw(st.integers(1, 4))
    return sizes, slots, bags


def check_shared_out(drawn, halves):
    sizes, slots, bags = drawn
    data, bounds = Bags.of(bags), np.concatenate(([0], np.cumsum(sizes)))
    clusters = Clusters(
        np.arange(bounds[-1]),
        bounds,
        np.array([number for number, _, _ in slots], dtype=np.int64),
        np.array([times for _, _, times in slots], dtype=np.int64),
        data.vocabulary.encode([term for _, terms, _ in slots for term in terms]),
    )
    chosen = _shared_out(data, clusters, halves=halves).tolist()
    found = [None if item < 0 else data.vocabulary[item] for item in chosen]
    totals, people = Counter[str](), Counter(term for bag in bags for term in bag)
    for bag in bags:
        totals.update(bag)
    assert found == oracle.shared_out(slots, totals, people, halves)


@given(some_slots(), st.booleans())
def test_terms_are_those_that_the_oracle_chooses(drawn, halves):
    check_shared_out(drawn, halves)


@pytest.mark.proof
@settings(max_examples=20_000)
@given(some_slots(), st.booleans())
def test_terms_are_those_that_the_oracle_chooses_20_000_times(drawn, halves):
    check_shared_out(drawn, halves)


def test_a_term_that_is_used_up_leaves_its_place_to_another():
    tree = Hierarchy.from_paths([*((item, "A", "*") for item in "abc"), ("z", "*")])
    data = Bags.of([["a", "b", "z"], ["a", "c", "z"], ["a", "b", "b", "z"], ["a", "c", "c", "z"]])
    release = SSC().anonymize(data, VocabularyKAnonymity(k=4), tree)
    assert release.term_totals() == {"a": 4, "b": 4, "z": 4}
    rows = Bags.of([["b"], ["c"], ["b"], ["c"]])  # as many of each: half of the slots show each
    made = SSC().anonymize(rows, TWO, Hierarchy.from_paths([("b", "A", "*"), ("c", "A", "*")]))
    assert made.term_totals() == {"b": 2, "c": 2}


def check_mixed(data, tree, variant, k):
    """A group is the lowest node over its slot; half of the people have what is not a group."""
    method = SSC(typical="mixed", variant=variant)
    release = method.anonymize(data, VocabularyKAnonymity(k=k), tree)
    for known in (release, replace(release, matches=None), release.without_alignment()):
        verdict = verify(known, data, hierarchy=tree)
        assert verdict.holds, verdict
    assert release.sizes.min(initial=k) >= k
    other = SSC(variant=variant).anonymize(data, VocabularyKAnonymity(k=k), tree)
    assert verify(other, data, hierarchy=tree).holds
    mine, its = (measure(made, data, ["blm"], hierarchy=tree)["blm"] for made in (release, other))
    assert mine == pytest.approx(its) if variant == "best" else mine <= its + 1e-9
    for item in release.items:
        held = sum(item in bag for bag in data)
        if item in data.vocabulary:
            assert release.support([item]).lower <= held


@given(
    data_with_tree(multiset=True, min_records=3),
    st.sampled_from(["best", "paper"]),
    st.integers(2, 3),
)
def test_mixed_bags_verify_and_lose_no_more_than_terms(drawn, variant, k):
    check_mixed(*drawn, variant, k)


@pytest.mark.proof
@settings(max_examples=20_000)
@given(
    data_with_tree(multiset=True, min_records=3),
    st.sampled_from(["best", "paper"]),
    st.integers(2, 3),
)
def test_mixed_bags_verify_and_lose_no_more_than_terms_20_000_times(drawn, variant, k):
    check_mixed(*drawn, variant, k)


TREE = Hierarchy.from_paths(
    [
        ("wine", "Alcohol", "Food", "*"),
        ("beer", "Alcohol", "Food", "*"),
        ("rum", "Alcohol", "Food", "*"),
        ("milk", "Food", "*"),
        ("car", "*"),
    ]
)
DATA = Bags.of(
    [["wine", "rum"], ["wine", "milk"], ["beer", "milk"], ["beer", "rum"], ["rum", "rum"]]
)


def mixed_release():
    return SSC(typical="mixed").anonymize(DATA, VocabularyKAnonymity(k=5), TREE)


def test_a_group_is_shown_where_no_term_belongs_to_half_of_the_people():
    release = mixed_release()
    assert [dict.fromkeys(bag, 5) for bag in release.classes] == [{"Food": 5, "rum": 5}]
    assert release.support(["Food"]).lower == 5
    assert release.support(["rum"]).lower == 3
    assert release.facts == {"same_branch": True, "complete": True, "by_majority": True}


def test_an_item_that_fewer_than_half_of_the_people_have_is_refused():
    release = mixed_release()
    bag = TypicalBags.of_rows(
        Bags.of([["Food", "milk"]]),
        release.promise,
        release.method,
        alignment=np.zeros(5, dtype=np.int64),
        hierarchy=TREE,
        by_majority=True,
    )
    assert failed(verify(bag, DATA)) == ["items", "containment"]
    assert failed(verify(replace(bag, matches=release.matches), DATA)) == ["items", "containment"]


def test_items_by_majority_without_a_hierarchy_are_refused():
    with pytest.raises(DataError, match="items by majority need the hierarchy"):
        replace(mixed_release(), hierarchy=None)

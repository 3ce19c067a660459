"""Verifying typical bags: valid ones hold, and each kind of damage is found, with a witness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.audit import verify
from setveil.audit.typical_bags.pairing import unpaired
from setveil.data.transactions import Bags, Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.partition import Partition
from setveil.promises import KAnonymity, VocabularyKAnonymity
from setveil.published.generalized import Generalized
from setveil.published.typical_bags import Matches, TypicalBags
from tests.published.groups import GROUPS, ORIGINAL, TREE, publish

TYPICAL = ("majority", "mixed", "slots", "generalized")


def failed(verdict):
    return [check.name for check in verdict.failed]


@pytest.mark.parametrize("typical", TYPICAL)
def test_the_running_example_holds_with_all_that_is_known_of_it(typical):
    release = publish(typical=typical)
    verdict = verify(release, ORIGINAL, hierarchy=TREE)
    assert verdict.holds, verdict.text
    how = "in the same branch" if typical == "mixed" else "at most 4 steps from each other"
    assert how in verdict.checks[-1].text
    assert [check.name for check in verdict.checks] == [
        "structure",
        "vocabulary-k-anonymity",
        "records",
        "items",
        "containment",
    ]


@pytest.mark.parametrize("typical", TYPICAL)
@pytest.mark.parametrize("tree", [TREE, None])
def test_it_holds_with_the_alignment_alone_and_without_it(typical, tree):
    release = replace(publish(typical=typical), matches=None)
    assert verify(release, ORIGINAL, hierarchy=tree).holds
    verdict = verify(release.without_alignment(), ORIGINAL, hierarchy=tree)
    assert verdict.holds
    assert "not known" in verdict.checks[-1].text


def test_a_bag_that_occurs_too_rarely_is_the_witness():
    verdict = verify(publish(k=3))
    assert failed(verdict) == ["vocabulary-k-anonymity"]
    assert verdict.witness.text == "the record {Homo-milk, Raw-milk x2} occurs 2 times, not 3"
    assert not verdict.witness.private


def test_equal_items_with_other_counts_are_other_bags():
    release = TypicalBags.of([{"Wine": 2}, {"Wine": 1}], VocabularyKAnonymity(k=2))
    assert verify(release).witness.text == "the record {Wine} occurs 1 time, not 2"


def test_plain_bags_and_sets_can_be_asked_for_this_promise():
    promise = VocabularyKAnonymity(k=2)
    assert verify(Bags.of([["a", "a"], ["a", "a"]]), promise=promise).holds
    assert not verify(Bags.of([["a", "a"], ["a"]]), promise=promise).holds
    assert verify(Transactions.of([["a", "a"], ["a"]]), promise=promise).holds


@pytest.mark.parametrize("typical", TYPICAL)
def test_another_number_of_originals_is_found(typical):
    release = publish(typical=typical)
    fewer = ORIGINAL.take([0, 1, 2, 3])
    assert "records" in failed(verify(release.without_alignment(), fewer))
    assert "records" in failed(verify(release, fewer))


def test_an_item_that_no_original_has_is_found():
    release = TypicalBags.of([{"Wine": 1, "Rum": 1}] * 5, VocabularyKAnonymity(k=2))
    verdict = verify(release.without_alignment(), ORIGINAL)
    assert failed(verdict) == ["items"]
    assert verdict.witness.text == "Rum occurs 0 times in the originals, but is published 1 time"
    assert not verdict.witness.private


def test_an_item_published_more_often_than_in_the_originals_is_found_and_private():
    release = TypicalBags.of([{"Pants": 2}] * 5, VocabularyKAnonymity(k=2))
    verdict = verify(release.without_alignment(), ORIGINAL)
    assert failed(verdict) == ["items"]
    assert verdict.witness.private


def test_slots_that_hold_more_than_the_originals_have_are_found():
    groups = [([0, 1, 2], ["Vino Vino Vino", "Vino Vino Vino"]), GROUPS[1]]
    verdict = verify(publish(groups, "slots").without_alignment(), ORIGINAL)
    assert failed(verdict) == ["items", "containment"]
    assert verdict.witness.text == "Vino occurs 4 times in the originals, but is published 6 times"


def test_nodes_that_hold_more_than_the_originals_have_are_found():
    release = replace(
        TypicalBags.of([{"Footwear": 1}] * 5, VocabularyKAnonymity(k=2)),
        hierarchy=TREE,
        alignment=None,
    )
    verdict = verify(release, ORIGINAL)
    assert failed(verdict) == ["items", "containment"]
    assert verdict.witness.text == "3 original occurrences are under Footwear, but 5 are published"


def test_bags_longer_than_the_originals_are_found_without_an_alignment():
    release = TypicalBags.of(
        [{"Wine": 3, "Vino": 3}] * 2 + [{}] * 3, VocabularyKAnonymity(k=2)
    ).without_alignment()
    verdict = verify(release, ORIGINAL)
    assert failed(verdict) == ["containment"]
    assert (
        verdict.witness.text == "2 published bags with 6 occurrences or more, but 0 such originals"
    )


def test_slots_of_another_number_of_people_are_found():
    release = publish(typical="slots")
    forged = replace(release, sizes=release.sizes + 1)
    verdict = verify(forged)
    assert failed(verdict) == ["structure"]
    assert "its slots hold other numbers" in verdict.witness.text


def test_labels_that_are_no_nodes_are_found():
    release = replace(
        publish(typical="generalized"), hierarchy=Hierarchy.from_paths([("Wine", "Goods")])
    )
    assert failed(verify(release)) == ["structure"]


def test_a_bag_given_to_the_wrong_original_is_found():
    release = replace(publish(), matches=None)
    swapped = replace(release, alignment=release.alignment[[3, 1, 2, 0, 4]])
    verdict = verify(swapped, ORIGINAL, hierarchy=TREE)
    assert failed(verdict) == ["containment"]
    assert verdict.witness.private
    assert "cannot represent any item that is left in it" in verdict.witness.text


@pytest.mark.parametrize("typical", ["slots", "generalized"])
def test_slots_and_nodes_need_no_tree_to_find_it(typical):
    release = replace(publish(typical=typical), matches=None)
    swapped = replace(release, alignment=release.alignment[[3, 1, 2, 0, 4]])
    assert failed(verify(swapped, ORIGINAL)) == ["containment"]


def test_an_alignment_that_does_not_fit_the_sizes_is_found():
    release = publish()
    assert failed(verify(replace(release, alignment=np.zeros(5, dtype=np.int64)), ORIGINAL)) == [
        "containment"
    ]
    assert failed(verify(replace(release, alignment=np.full(5, 9)), ORIGINAL)) == ["containment"]


@pytest.mark.parametrize(
    ("groups", "part"),
    [
        (
            [([0, 1, 2], ["Wine Vino Wine", "Wine Vino Wine"]), GROUPS[1]],
            "2 occurrences of Wine are published for an original that has 1",
        ),
        (
            [
                ([0, 1, 2], ["Wine Vino Raw-milk", "Jackets Jackets Jackets"]),
                ([3, 4], ["Vino Pants"]),
            ],
            "more than 4 steps apart",
        ),
    ],
)
def test_matches_that_nobody_may_have_made_are_found(groups, part):
    verdict = verify(publish(groups), ORIGINAL, hierarchy=TREE)
    assert failed(verdict) == ["containment"]
    assert part in verdict.witness.text
    assert verdict.witness.private


@pytest.mark.parametrize("typical", TYPICAL)
def test_a_bag_that_does_not_show_its_slots_is_found(typical):
    other = publish(
        [
            (
                [0, 1, 2],
                [
                    "Wine Vino Wine",
                    "Wine Vino Vino",
                    "Jackets Jackets Jackets",
                    "Boots Shoes Shoes",
                ],
            ),
            ([3, 4], ["Raw-milk Raw-milk", "Raw-milk Homo-milk", "Vino Jackets"]),
        ],
        typical,
    )
    release = publish(typical=typical)
    verdict = verify(replace(other, matches=release.matches), ORIGINAL, hierarchy=TREE)
    assert failed(verdict) == ["containment"]
    assert verdict.witness.items


def test_people_who_do_not_share_their_slots_are_found():
    release = publish()
    matches = release.matches
    lost = Matches(matches.records[1:], matches.items[1:], matches.slots[1:])
    assert failed(verify(replace(release, matches=lost), ORIGINAL)) == ["containment"]
    parted = Matches(
        matches.records, matches.items, np.where(np.arange(len(matches)) == 0, 99, matches.slots)
    )
    assert failed(verify(replace(release, matches=parted), ORIGINAL)) == ["containment"]
    foreign = Matches(matches.records, matches.items + 50, matches.slots)
    assert failed(verify(replace(release, matches=foreign), ORIGINAL)) == ["containment"]


@pytest.mark.parametrize("typical", TYPICAL)
@given(data=st.data())
def test_one_changed_bag_is_always_refused(typical, data):
    """Moving one person to another bag, or one occurrence away, breaks the certificate."""
    release = publish(typical=typical)
    row = data.draw(st.integers(0, len(release.classes) - 1))
    entry = data.draw(
        st.integers(int(release.classes.indptr[row]), int(release.classes.indptr[row + 1]) - 1)
    )
    counts = release.classes.counts.copy()
    counts[entry] += data.draw(st.sampled_from([1, 2]))
    bags = Bags(release.classes.indptr, release.classes.items, release.classes.vocabulary, counts)
    verdict = verify(replace(release, classes=bags), ORIGINAL, hierarchy=TREE)
    assert not verdict.holds
    assert verdict.witness is not None


def test_empty_bags_can_represent_anyone():
    release = publish([([0, 1, 2], []), GROUPS[1]])
    assert release.empty == 3
    assert verify(release, ORIGINAL, hierarchy=TREE).holds
    assert verify(release.without_alignment(), ORIGINAL, hierarchy=TREE).holds


def test_a_release_of_nobody_holds():
    release = TypicalBags.of([], VocabularyKAnonymity(k=2))
    assert verify(release, Bags.of([])).holds


def test_sets_are_bags_in_which_everything_occurs_once():
    original = Transactions.of([["Wine"], ["Vino"]])
    promise = VocabularyKAnonymity(k=2)
    release = replace(TypicalBags.of([["Wine"], ["Wine"]], promise), epsilon=2)
    assert verify(release, original, hierarchy=TREE).holds


def test_partition_keeps_it_with_counts_and_the_verifier_counts_them():
    promise = VocabularyKAnonymity(k=2)
    release = Partition().anonymize(ORIGINAL, promise, TREE)
    verdict = verify(release, ORIGINAL)
    assert verdict.holds, verdict.text
    assert isinstance(release.classes, Bags)
    forged = Generalized.of(
        [{"Goods": 4}, {"Goods": 4}, {"Goods": 4}, {"Goods": 4}, {"Goods": 3}],
        TREE,
        promise,
        counted=True,
    )
    assert failed(verify(forged, ORIGINAL)) == ["vocabulary-k-anonymity"]


def test_partition_of_sets_under_this_promise_is_that_under_k_anonymity():
    sets = ORIGINAL.sets()
    assert Partition().anonymize(sets, VocabularyKAnonymity(k=2), TREE) == Partition().anonymize(
        sets, KAnonymity(k=2), TREE
    )
    assert verify(Partition().anonymize(sets, VocabularyKAnonymity(k=2), TREE), sets).holds


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.lists(st.integers(0, 3), max_size=4, unique=True)),
        max_size=5,
    ),
    st.lists(st.integers(0, 4), min_size=4, max_size=4),
)
def test_pairing_agrees_with_hall(left, capacity):
    supply, edges = [number for number, _ in left], [partners for _, partners in left]
    possible = all(
        sum(supply[at] for at in range(len(edges)) if chosen >> at & 1)
        <= sum(
            capacity[right]
            for right in {
                right for at in range(len(edges)) if chosen >> at & 1 for right in edges[at]
            }
        )
        for chosen in range(1 << len(edges))
    )
    assert (unpaired(edges, supply, capacity) is None) == possible


def test_pairing_does_not_count_one_by_one():
    assert unpaired([[0, 1], [0, 2], [0]], [10**15] * 3, [10**15] * 3) is None
    assert unpaired([[0, 1], [0, 2], [0]], [10**15, 10**15, 10**15 + 1], [10**15] * 3) == 2


def without_epsilon(groups=GROUPS):
    """A release as of the default variant of SSC, which has no epsilon."""
    return replace(publish(groups), epsilon=None, omega=None, same_branch=True)


def test_without_an_epsilon_items_must_share_a_branch_of_the_tree():
    release = without_epsilon()
    for known in (release, replace(release, matches=None), release.without_alignment()):
        verdict = verify(known, ORIGINAL, hierarchy=TREE)
        assert verdict.holds, verdict.text
        assert "in the same branch of the hierarchy below its root" in verdict.checks[-1].text


def test_items_with_only_the_root_in_common_are_found():
    crossed = [
        (
            [0, 1, 2],
            ["Wine Vino Wine", "Jackets Jackets Vino", "Boots Shoes Jackets", "Wine Vino Shoes"],
        ),
        GROUPS[1],
    ]
    release = without_epsilon(crossed)
    verdict = verify(release, ORIGINAL, hierarchy=TREE)
    assert failed(verdict) == ["containment"]
    assert (
        verdict.witness.text == "Jackets and Vino are in one slot, but have only the root in common"
    )
    assert verdict.witness.private
    assert verify(release, ORIGINAL).holds


def test_a_bag_of_another_branch_is_found_by_the_alignment_alone():
    rows = Bags.of([{"Wine": 2, "Jackets": 1}, {"Jackets": 1, "Shoes": 1}])
    release = TypicalBags.of_rows(
        rows,
        VocabularyKAnonymity(k=2),
        {},
        alignment=np.array([0, 0, 0, 1, 1]),
        same_branch=True,
    )
    verdict = verify(release, ORIGINAL, hierarchy=TREE)
    assert failed(verdict) == ["containment"]
    assert "cannot represent any item that is left in it" in verdict.witness.text


def test_an_item_that_none_of_its_originals_has_is_found_without_a_tree():
    rows = Bags.of([{"Wine": 2, "Jackets": 1}, {"Vino": 1, "Shoes": 1}])
    release = TypicalBags.of_rows(
        rows,
        VocabularyKAnonymity(k=2),
        {},
        alignment=np.array([0, 0, 0, 1, 1]),
        same_branch=True,
    )
    verdict = verify(release, ORIGINAL)
    assert failed(verdict) == ["containment"]
    expected = "the bag {Shoes, Vino} has Shoes more often than all its originals"
    assert verdict.witness.text == expected
    assert verdict.witness.private


def test_the_verdict_says_what_was_not_checked_without_a_tree():
    release = replace(without_epsilon(), matches=None)
    aligned, alone = (verify(each, ORIGINAL) for each in (release, release.without_alignment()))
    assert "each of its items is in at least one of its originals" in aligned.checks[-1].text
    for verdict in (aligned, alone):
        assert "was not checked, because that needs the hierarchy" in verdict.checks[-1].text

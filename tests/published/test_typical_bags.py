"""Typical bags: what they contain, what they leave out, and what they never reveal."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.promises import VocabularyKAnonymity
from setveil.published.typical_bags import Matches, TypicalBags

PROMISE = VocabularyKAnonymity(k=2)
BAGS = [{"wine": 2, "milk": 1}, {}, {"milk": 1, "wine": 2}, {"wine": 1, "milk": 1}]


def contents(release: TypicalBags) -> dict[object, int]:
    bounds = release.classes.indptr
    return {
        tuple(
            (release.items[item], int(count))
            for item, count in zip(
                release.classes.items[a:b], release.classes.counts[a:b], strict=True
            )
        ): size
        for a, b, size in zip(bounds, bounds[1:], release.sizes.tolist(), strict=False)
    }


def slotted(slots: list[dict[str, int]], rows: list[list[int]], sizes: list[int]) -> TypicalBags:
    """Rows of slot numbers, one row for each group."""
    names = Vocabulary([f"any {number}" for number in range(len(slots))])
    owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    bags = Bags.from_pairs(
        owners,
        np.array([slot for row in rows for slot in row], dtype=np.int32),
        names,
        size=len(rows),
    )
    return TypicalBags.of_rows(
        bags, PROMISE, {"name": "ssc"}, weights=np.array(sizes), slots=Bags.of(slots)
    )


def test_equal_bags_are_one_class_and_bags_with_other_counts_are_not():
    release = TypicalBags.of(BAGS, PROMISE)
    assert contents(release) == {
        (): 1,
        (("milk", 1), ("wine", 1)): 1,
        (("milk", 1), ("wine", 2)): 2,
    }
    assert len(release) == 4
    assert release.empty == 1
    assert [set(bag) for bag in release.classes.take(release.alignment)] == [
        set(bag) for bag in BAGS
    ]


def test_groups_count_as_many_people_as_they_have():
    rows = Bags.of([{"wine": 1}, {"milk": 2}, {"wine": 1}])
    release = TypicalBags.of_rows(rows, PROMISE, {}, alignment=np.array([0, 0, 1, 1, 1, 2, 2]))
    assert contents(release) == {(("milk", 2),): 3, (("wine", 1),): 4}
    assert release.alignment.tolist() == [1, 1, 0, 0, 0, 1, 1]
    assert TypicalBags.of_rows(rows, PROMISE, {}, weights=np.array([2, 3, 2])) == release


def test_items_that_do_not_occur_are_dropped_and_the_rest_is_sorted():
    rows = Bags.from_pairs(
        np.array([0, 0]), np.array([2, 0]), Vocabulary(["wine", "gone", "milk"]), size=2
    )
    release = TypicalBags.of_rows(rows, PROMISE, {})
    assert list(release.items) == ["milk", "wine"]


def test_the_order_of_the_originals_does_not_matter():
    assert TypicalBags.of(BAGS, PROMISE) == TypicalBags.of(BAGS[::-1], PROMISE)
    assert list(TypicalBags.of(BAGS, PROMISE).classes) == list(
        TypicalBags.of(BAGS[::-1], PROMISE).classes
    )
    assert TypicalBags.of(BAGS, PROMISE) != TypicalBags.of(BAGS[1:], PROMISE)
    assert TypicalBags.of(BAGS, PROMISE) != TypicalBags.of([set(bag) for bag in BAGS], PROMISE)


def test_slots_are_numbered_by_what_they_hold_not_by_the_groups():
    one = slotted(
        [{"wine": 2}, {"milk": 1, "soup": 1}, {"beer": 1, "wine": 1}], [[0, 1], [2]], [2, 2]
    )
    other = slotted(
        [{"beer": 1, "wine": 1}, {"wine": 2}, {"soup": 1, "milk": 1}], [[0], [1, 2]], [2, 2]
    )
    assert one == other
    assert list(one.items) == list(other.items) == ["1", "2", "3"]
    assert list(one.slots) == list(other.slots) == [("beer", "wine"), ("milk", "soup"), ("wine",)]
    assert list(one.classes) == list(other.classes)


def test_equal_slots_are_one_item_that_occurs_twice():
    release = slotted([{"wine": 2}, {"wine": 2}, {"unused": 7}], [[0, 1]], [2])
    assert contents(release) == {(("1", 2),): 2}
    assert "unused" not in release.slots.vocabulary


def test_slots_that_hold_something_else_make_another_release():
    assert slotted([{"wine": 2}], [[0]], [2]) != slotted([{"beer": 2}], [[0]], [2])


def test_each_published_item_needs_a_slot():
    with pytest.raises(DataError, match="1 slots for 2 published items"):
        TypicalBags.of_rows(Bags.of([["a", "b"]]), PROMISE, {}, slots=Bags.of([["wine"]]))


def test_what_is_private_can_be_taken_off():
    matches = Matches(np.array([0]), np.array([0], dtype=np.int32), np.array([0]))
    release = TypicalBags.of_rows(
        Bags.of([["a"]]), PROMISE, {}, alignment=np.array([0, 0]), matches=matches
    )
    bare = release.without_alignment()
    assert bare.alignment is None
    assert bare.matches is None
    assert bare == release


def test_matches_have_three_columns_of_one_length():
    with pytest.raises(DataError, match="a record, an item and a slot"):
        Matches(np.array([0]), np.array([0], dtype=np.int32), np.array([], dtype=np.int64))


def test_what_people_have_instead_of_the_published_items_is_counted():
    original = Bags.of([{"wine": 2, "milk": 1}, {"beer": 1, "wine": 1, "milk": 3}])
    release = TypicalBags.of([{"wine": 2, "milk": 1}] * 2, PROMISE)
    assert release.replaced(original) == (1, 6)
    assert release.replaced(original.sets()) == (2, 6)
    assert release.without_alignment().replaced(original) == (0, 0)


def test_all_bags_come_in_an_order_that_a_seed_fixes():
    release = TypicalBags.of(BAGS * 20, PROMISE)
    assert list(release.records(seed=3)) == list(release.records(seed=3))
    assert list(release.records(seed=3)) != list(release.records(seed=4))
    assert isinstance(release.records(seed=3), Bags)


def test_a_release_of_nobody_is_empty():
    release = TypicalBags.of([], PROMISE)
    assert len(release) == 0
    assert release.empty == 0
    assert contents(release) == {}

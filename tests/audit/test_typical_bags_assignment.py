"""Typical bags without an alignment: compared with all ways to give bags to originals."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random

import pytest

from setveil.audit import verify
from setveil.audit.typical_bags import pairing
from setveil.data.transactions import Bags
from setveil.hierarchy.tree import Hierarchy
from setveil.promises import VocabularyKAnonymity
from setveil.published.typical_bags import TypicalBags

TREE = Hierarchy.from_paths(
    [("a", "A", "ALL"), ("b", "A", "ALL"), ("c", "C", "ALL"), ("d", "C", "ALL"), ("e", "ALL")]
)
NEAR = [set("ab"), set("cd"), set("e")]
PROMISE = VocabularyKAnonymity(k=2)


def bags_of(published, epsilon=2):
    return TypicalBags.of_rows(Bags.of(map(list, published)), PROMISE, {}, epsilon=epsilon)


def contains(release, original, tree=TREE):
    checks = verify(release, Bags.of(map(list, original)), hierarchy=tree).checks
    return {check.name: check for check in checks}["containment"]


def represents(bag, own):
    """Whether each occurrence of a bag has another one of its group in the original."""
    return any(
        all(
            any({one, other} <= near for near in NEAR)
            for one, other in zip(bag, order, strict=False)
        )
        for order in permutations(own)
        if len(bag) <= len(own)
    )


def can_be_given(published, original):
    fits = [[represents(bag, own) for own in original] for bag in published]
    return any(
        all(fits[number][at] for number, at in enumerate(order))
        for order in permutations(range(len(original)))
    )


def compare(seed: int) -> str:
    random = Random(seed)
    size = random.randint(2, 4)
    original = ["".join(random.choices("abcde", k=random.randint(1, 4))) for _ in range(size)]
    known = sorted(set("".join(original)))
    near = {item: sorted(set(known) & group) for group in NEAR for item in group}
    published = ["".join(random.choice(near[item]) for item in own) for own in original]
    published = [bag[: random.randint(0, len(bag))] for bag in published]
    if random.random() < 0.6:
        at = random.randrange(size)
        published[at] = published[at][1:] + random.choice(known)
    expected = can_be_given(published, original)
    assert contains(bags_of(published), original).holds == expected, (published, original)
    return "can" if expected else "cannot"


def test_bags_are_matched_with_originals_exactly():
    kinds = Counter(map(compare, range(400)))
    assert min(kinds.values()) >= 50, kinds


def test_a_release_of_other_people_with_the_same_items_is_found():
    release = bags_of(["ac", "ac", "ee", "ee"])
    original = ["ae", "ae", "ce", "ce"]
    check = contains(release, original)
    assert not check.holds
    assert check.witness.private
    assert "can represent only 0 originals" in check.witness.text
    assert contains(release, original, tree=None).holds
    held = contains(release, ["bd", "ac", "ee", "ee"])
    assert held.holds
    assert "at most 2 steps away" in held.text
    assert "is not known" in held.text


def test_the_verdict_says_what_was_checked_of_large_data(monkeypatch):
    release, original = bags_of(["ac", "ac", "ee", "ee"]), ["bd", "ac", "ee", "ee"]
    monkeypatch.setattr(pairing, "MOST_WORK", 1)
    assert "too large to compare how often" in contains(release, original).text
    assert not contains(release, ["ae", "ae", "ce", "ce"]).holds
    monkeypatch.setattr(pairing, "MOST_PAIRS", 1)
    assert "too large to compare all bags" in contains(release, original).text
    assert contains(release, ["ae", "ae", "ce", "ce"]).holds


@pytest.mark.parametrize("slots", [True, False])
def test_slots_and_nodes_need_no_other_tree(slots):
    if slots:
        release = TypicalBags.of_rows(
            Bags.of([["1"], ["1"], ["2"], ["2"]]),
            PROMISE,
            {},
            slots=Bags.of([["a", "b"], ["c", "d"]]),
        )
    else:
        release = TypicalBags.of_rows(
            Bags.of([["A"], ["A"], ["C"], ["C"]]), PROMISE, {}, hierarchy=TREE
        )
    assert contains(release, ["a", "b", "c", "d"], tree=None).holds
    assert not contains(release, ["ac", "bd", "e", "e"], tree=None).holds

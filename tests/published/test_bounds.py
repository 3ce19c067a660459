"""Bounds and reconstructions of small releases against everything that they may have been made
from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from setveil.alignment.align import over
from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.tree import Hierarchy
from setveil.promises import Coherence, KAnonymity, VocabularyKAnonymity
from setveil.published.generalized import Generalized
from setveil.published.release import RecordRelease
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags
from tests.audit.releases import bags_of, parents_of
from tests.oracle import containment
from tests.oracle.originals import (
    Generalization,
    Record,
    Typical,
    completions,
    lowest_above,
    steps,
)
from tests.proofs import proof
from tests.strategies import CHANCES

UNSEEN = "zebra"


def random_tree(chance: Random, most: int) -> Hierarchy:
    """A tree of 1 to `most` nodes; nodes with one child, and a root alone, are among them."""
    size = chance.randint(1, most)
    parents = [-1, *(chance.randrange(node) for node in range(1, size))]
    return Hierarchy.from_parents([chr(97 + node) for node in range(size)], parents)


def apart(chance: Random, tree: Hierarchy, most: int) -> list[str]:
    """Up to `most` nodes, none above another."""
    chosen: list[str] = []
    for label in chance.sample(tree.labels, len(tree.labels)):
        if not any(label in tree.path(one) or one in tree.path(label) for one in chosen):
            chosen.append(label)
    return chosen[: chance.randint(0, most)]


def random_generalized(chance: Random, most: int = 6) -> Generalized:
    """A few distinct records of one cut or of any, as sets or bags, some of them empty."""
    tree, is_global, counted = (
        random_tree(chance, most),
        chance.random() < 0.5,
        chance.random() < 0.3,
    )
    cut, rows = apart(chance, tree, 4), []
    for _ in range(chance.randint(1, 3)):
        nodes = (
            [node for node in cut if chance.random() < 0.6] if is_global else apart(chance, tree, 3)
        )
        record = {node: chance.randint(1, 3) if counted else 1 for node in nodes}
        rows += [record] * chance.randint(1, 2)
    return Generalized.of(rows, tree, KAnonymity(k=2), counted=counted, is_global=is_global)


def oracle_of(release: Generalized) -> Generalization:
    tree = release.hierarchy
    return Generalization(
        classes_of(release), parents_of(tree), tree.labels[tree.root], release.is_global
    )


def classes_of(release: RecordRelease) -> list[tuple[containment.Bag, int]]:
    return list(zip(bags_of(release.classes), release.sizes.tolist(), strict=True))


def itemsets(labels: Sequence[str], most: int = 2) -> Iterator[tuple[str, ...]]:
    for size in range(most + 1):
        yield from combinations([*labels, UNSEEN], size)


def worlds_of(release: RecordRelease) -> Iterator[list[Record]]:
    """Some reconstructions, as sets."""
    for seed in range(3):
        world = release.reconstruct(seed)
        assert world == release.reconstruct(seed)
        assert len(world) == len(release)
        assert isinstance(world, Bags) == isinstance(release.classes, Bags)
        yield [frozenset(record) for record in world]


def check_generalized(chance: Random) -> None:
    release = random_generalized(chance)
    oracle = oracle_of(release)
    for asked in itemsets(release.hierarchy.labels, 3):
        found, (low, high) = release.support(asked), oracle.bounds(asked)
        assert found.lower <= low, (oracle, asked, found)
        assert high <= found.upper, (oracle, asked, found)
        assert found.lower <= found.guess <= found.upper
        if UNSEEN not in asked:
            assert (found.lower, found.upper) == (low, high), (oracle, asked, found)
    for world in worlds_of(release):
        assert oracle.allows(world), (oracle, world)
    if not release.is_global:
        published = [bag for bag, size in oracle.classes for _ in range(size)]
        made = bags_of(release.reconstruct(1))
        assert containment.assignable(made, published, oracle.parents)


@proof(6_000)
def test_the_bounds_of_generalized_records_are_those_over_all_possible_originals(seeds):
    for seed in seeds:
        check_generalized(Random(seed))


@given(CHANCES)
def test_the_bounds_of_any_generalized_records_are_those_over_all_possible_originals(chance):
    check_generalized(chance)


@pytest.mark.parametrize("block", range(6))
def test_bounds_hold_for_every_tree_of_which_the_published_part_is_all_that_is_seen(block):
    for seed in range(block * 15, block * 15 + 15):
        release = random_generalized(Random(f"part {seed}"), most=5)
        release = over(release, release.hierarchy.pruned(release.published_nodes()))
        oracle = oracle_of(release)
        trees = list(completions(oracle, UNSEEN))
        for asked in itemsets(release.hierarchy.labels):
            found = release.support(asked)
            bounds = [tree.bounds(asked) for tree in trees]
            low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
            assert found.lower <= low <= high <= found.upper, (oracle, asked, found)
            assert found.lower <= found.guess <= found.upper
            if UNSEEN not in asked:
                assert (found.lower, found.upper) == (low, high), (oracle, asked, found)
        for world in worlds_of(release):
            assert oracle.allows(world), (oracle, world)


@given(CHANCES)
def test_estimates_of_many_itemsets_are_the_expected_supports(chance):
    release = random_generalized(chance)
    if chance.random() < 0.5:
        release = over(release, release.hierarchy.pruned(release.published_nodes()))
    items = chance.sample([*release.hierarchy.labels, UNSEEN], min(3, len(release.hierarchy) + 1))
    asked = [pair for size in (1, 2) for pair in combinations(range(len(items)), size)]
    queries = np.array([[*pair, -1][:2] for pair in asked])
    expected = [release.guess([items[at] for at in pair]) for pair in asked]
    assert release.estimates(items, queries) == pytest.approx(expected)


@given(CHANCES)
def test_the_bounds_of_suppressed_records_are_those_over_all_possible_originals(chance):
    rows = [chance.sample("abc", chance.randint(0, 3)) for _ in range(chance.randint(0, 5))]
    least = chance.choice([0.0, 0.4])
    release = Suppressed.of(rows, Coherence(h=0.9, k=2, p=1, private=["flu"]), min_support=least)
    for asked in itemsets(["a", "b", "c", "flu"], 3):
        shown = set(asked) & set(release.items)
        held = sum(shown <= set(row) for row in rows)
        found = release.support(asked)
        assert (found.lower, found.upper) == (held if shown == set(asked) else 0, held)
        assert found.lower <= found.guess <= found.upper
    for world in worlds_of(release):
        assert Counter(world) == Counter(map(frozenset, rows))


def random_typical(chance: Random, typical: str) -> tuple[TypicalBags, Typical] | None:
    """Typical bags of one kind, with everything that they may represent; None if nothing fits."""
    tree, epsilon = random_tree(chance, 6), chance.choice([None, 2, 3, 4])
    parents, leaves = parents_of(tree), tree.labels[: tree.leaf_count]
    if len(leaves) > (2 if typical == "majority" else 4):
        return None
    slots = [dict(Counter(chance.choices(leaves, k=2))) for _ in range(3)]
    names = [str(number) for number in range(3)] if typical == "slots" else list(leaves)
    if typical in ("generalized", "mixed"):
        names = list(tree.labels)

    def fits(name: str, column: Sequence[str]) -> bool:
        if typical == "majority":
            return name in column
        if typical == "slots":
            times = len(column) // 2
            held = {item: count * times for item, count in slots[int(name)].items()}
            return Counter(column) == held
        if typical == "mixed" and name in leaves:
            branches = {containment.path(item, parents)[-2:][0] for item in column}
            return len(branches) == 1 and 2 * column.count(name) >= len(column)
        near = (
            typical == "mixed"
            or epsilon is None
            or max(steps(a, b, parents) for a in column for b in column) <= epsilon
        )
        return near and lowest_above(column, parents) == name

    rows, sizes = [], []
    for _ in range(chance.randint(1, 2)):
        rows.append(Counter(chance.choices(names, k=chance.randint(0, 2))))
        sizes.append(chance.choice([2, 4] if typical == "slots" else [2, 3]))
    data = Bags.of(rows)
    given = Bags(data.indptr, data.items, data.vocabulary, data.counts)
    held = Bags.of([slots[int(name)] for name in data.vocabulary]) if typical == "slots" else None
    release = TypicalBags.of_rows(
        given,
        VocabularyKAnonymity(k=2),
        {},
        weights=np.array(sizes),
        slots=held,
        hierarchy=tree if typical in ("generalized", "mixed") else None,
        by_majority=typical == "mixed",
        epsilon=None if typical == "mixed" else epsilon,
    )
    shown = bags_of(release.classes)
    if typical == "slots":
        number = {
            meaning: str(at)
            for at, slot in enumerate(slots)
            for meaning in [frozenset(slot.items())]
        }
        meaning = dict(zip(release.items, release.meanings(), strict=True))
        shown = [{number[meaning[name]]: count for name, count in bag.items()} for bag in shown]
    items = [*leaves, "other"] if typical == "majority" else leaves
    oracle = Typical(list(zip(shown, release.sizes.tolist(), strict=True)), items, fits)
    able = all(any(True for _ in oracle.groups(*one)) for one in oracle.classes)
    return (release, oracle) if able else None


@pytest.mark.parametrize("typical", ["majority", "mixed", "slots", "generalized"])
@pytest.mark.parametrize("block", range(2))
def test_typical_bags_are_within_their_bounds_whatever_they_represent(typical, block):
    tried = 0
    for seed in range(block * 60, block * 60 + 60):
        made = random_typical(Random(f"{typical} {seed}"), typical)
        if made is None:
            continue
        tried += 1
        release, oracle = made
        parents = parents_of(release.hierarchy) if release.hierarchy else {}
        labels = sorted({node for item in oracle.items for node in containment.path(item, parents)})
        for asked in itemsets(labels):
            below = [
                frozenset(item for item in oracle.items if label in containment.path(item, parents))
                for label in asked
            ]
            found, low = release.support(asked), oracle.least(below)
            assert found.lower <= low, (oracle, asked, found)
            assert found.lower <= found.guess <= found.upper == len(release)
            if len(asked) < 2 and typical in ("majority", "slots"):
                assert found.lower == low, (oracle, asked, found)
        for world in worlds_of(release):
            assert oracle.allows(world), (oracle, world)
    assert tried > 20


def test_slots_that_hold_one_item_each_are_certain_together():
    slots = Bags.of([{"wine": 2}, {"milk": 2}, {"milk": 1, "soup": 1}])
    rows = Bags.from_pairs(
        np.array([0, 0, 0]), np.arange(3, dtype=np.int32), Vocabulary("xyz"), size=1
    )
    release = TypicalBags.of_rows(
        rows, VocabularyKAnonymity(k=2), {}, weights=np.array([2]), slots=slots
    )
    assert release.support(["wine", "milk"]).lower == 2
    assert release.support(["wine", "soup"]).lower == 1

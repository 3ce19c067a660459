"""What methods that add noise count, what they spend, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import DiffPart, Frequent
from setveil.methods.diffpart import Taxonomy
from setveil.methods.frequent import method as frequent
from setveil.methods.frequent.contribution import pair_counts, shortened, smoothed
from setveil.promises import DifferentialPrivacy, KAnonymity
from setveil.published.ledger import exact, scale_for
from tests.methods.quicknoise import NoNoise, QuickNoise

ITEMS = [f"{number:02}" for number in range(12)]


def random_data(chance, most=40):
    weights = [1 / (number + 1) for number in range(len(ITEMS))]
    sizes = (chance.randint(0, 6) for _ in range(chance.randint(0, most)))
    return Transactions.of(set(chance.choices(ITEMS, weights, k=size)) for size in sizes)


def random_tree(chance):
    nodes, parents = list(ITEMS), {}
    while len(nodes) > 1:
        size = chance.randint(2, 7)
        group, nodes = nodes[:size], nodes[size:]
        parents |= dict.fromkeys(group, f"<{len(parents)}>")
        nodes.append(f"<{len(parents) - len(group)}>")
    return Hierarchy.from_edges(parents)


@pytest.mark.parametrize("part", range(4))
def test_the_ledger_adds_up_to_epsilon_in_random_settings(part):
    chance = Random(part)
    for _ in range(250):
        data, epsilon = (
            random_data(chance),
            chance.choice([0.1, 0.3, 0.7, 1, 3, chance.random() + 0.01]),
        )
        delta = chance.choice([0, 1e-6, chance.random() / 100])
        promise = DifferentialPrivacy(epsilon=epsilon, delta=delta)
        if chance.random() < 0.4:
            method = DiffPart(max_fanout=chance.randint(2, 8))
            made = method.anonymize(data, promise, random_tree(chance), noise=QuickNoise())
        else:
            method = Frequent(
                max_items=chance.choice([None, 1, 3, 50]),
                max_paired=chance.choice([None, 2, 5]),
                paired=chance.choice([2, 5, 100]),
            )
            domain = None if delta and chance.random() < 0.5 else ITEMS
            made = method.anonymize(data, promise, domain=domain, noise=QuickNoise())
        spent = sum(one.epsilon for one in made.ledger)
        assert spent <= exact(epsilon)
        assert spent >= exact(epsilon) * Fraction(1, 2)
        assert sum(one.delta for one in made.ledger) <= exact(delta)
        for one in made.ledger:
            assert Fraction(one.sensitivity) / Fraction(one.scale) <= one.epsilon
        verdict = verify(made, data)
        assert verdict.holds, verdict.text


def test_a_scale_is_never_rounded_down():
    chance = Random(1)
    for _ in range(2000):
        epsilon = Fraction(chance.randint(1, 10**9), chance.randint(1, 10**9))
        sensitivity = chance.randint(1, 500)
        assert Fraction(scale_for(epsilon, sensitivity)) * epsilon >= sensitivity


def test_without_noise_frequent_counts_items_and_pairs_exactly():
    chance = Random(3)
    for _ in range(30):
        data = random_data(chance, most=200)
        method = Frequent(max_items=12, max_paired=12)
        made = method.anonymize(
            data, DifferentialPrivacy(epsilon=50), domain=ITEMS, noise=NoNoise()
        )
        assert len(made) == made.people == len(data)
        for one in made.supports:
            assert one.support == one.counted == data.support(one.items)
            assert one.missed == one.noises == 0
        for one in made.supports:
            if len(one.items) == 1:
                assert made.records().support(one.items) == one.support


class Counting(NoNoise):
    """Remembers what was counted; records keep their first items, not random ones."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def laplace(self, counts, scale):
        self.seen.append(np.array(counts))
        return self.seen[-1].copy()

    def keys(self, size):
        return np.arange(size, dtype=np.uint64)


def test_a_record_changes_no_more_counts_than_the_ledger_says(monkeypatch):
    """All later counts depend on the ranking alone, which is the same here for both data sets."""
    chance, promise = Random(5), DifferentialPrivacy(epsilon=1)
    for _ in range(60):
        data = random_data(chance, most=30)
        if not len(data):
            continue
        order = np.array(chance.sample(range(len(ITEMS)), len(ITEMS)))
        monkeypatch.setattr(frequent, "ranks", lambda counts, order=order: order)
        method = Frequent(max_items=chance.randint(1, 4), max_paired=chance.randint(2, 4))
        gone = chance.randrange(len(data))
        less = data.take([number for number in range(len(data)) if number != gone])
        before, after = Counting(), Counting()
        made = method.anonymize(data, promise, domain=ITEMS, noise=before)
        method.anonymize(less, promise, domain=ITEMS, noise=after)
        for one, more, fewer in zip(made.ledger, before.seen, after.seen, strict=True):
            assert np.abs(more - fewer).sum() <= one.sensitivity


def test_without_noise_no_record_is_lost_that_is_not_said_to_be():
    """The count and the records that were cut are together at least the true support."""
    chance = Random(4)
    for _ in range(30):
        data = random_data(chance, most=200)
        method = Frequent(max_items=chance.randint(1, 4), max_paired=chance.randint(2, 4))
        promise = DifferentialPrivacy(epsilon=50)
        made = method.anonymize(data, promise, domain=ITEMS, noise=NoNoise())
        assert made.supports or not data.occurrences
        for one in made.supports:
            assert one.counted <= data.support(one.items) <= one.counted + one.missed


def test_without_noise_and_thresholds_diffpart_publishes_the_data(monkeypatch):
    monkeypatch.setattr("setveil.methods.diffpart.STEADY", 0.0)
    monkeypatch.setattr("setveil.methods.diffpart.math.log", lambda number: 0.0)
    chance = Random(8)
    for _ in range(60):
        data, tree = random_data(chance), random_tree(chance)
        method = DiffPart(max_fanout=chance.randint(2, 6))
        made = method.anonymize(data, DifferentialPrivacy(epsilon=1), tree, noise=NoNoise())
        assert sorted(map(sorted, made.records())) == sorted(map(sorted, data))
        assert made.people == len(data)


def test_a_wide_tree_is_divided_in_steps():
    tree = Hierarchy.from_paths([(str(number), "ALL") for number in range(500)])
    taxonomy = Taxonomy.of(tree, 10)
    assert max(map(len, taxonomy.children)) == 10
    leaves = [node for node, children in enumerate(taxonomy.children) if not children]
    assert sorted(taxonomy.first[leaves].tolist()) == list(range(500))
    for node, children in enumerate(taxonomy.children):
        bounds = [taxonomy.first[child] for child in children] + [taxonomy.stop[node]]
        for child, stop in zip(children, bounds[1:], strict=True):
            assert taxonomy.stop[child] == stop
    data = [["1"], ["2", "400"]] * 3000
    made = DiffPart().anonymize(data, DifferentialPrivacy(epsilon=1), tree)
    assert {("1",), ("2", "400")} <= set(made.classes)


def test_empty_parts_are_drawn_as_well():
    tree = Hierarchy.from_paths([(str(number), "ALL") for number in range(10)])

    class Generous(NoNoise):
        def passing(self, zeros, threshold, scale):
            assert zeros == 2**10 - 1 - 1
            return [threshold] * 5

    made = []

    class Leaves(Generous):
        def laplace(self, counts, scale):
            made.append(len(counts))
            return np.array(counts) + 1000

    release = DiffPart().anonymize(
        [["3"]] * 50, DifferentialPrivacy(epsilon=1), tree, noise=Leaves()
    )
    assert len(release.classes) == 1 + 1 + 5  # the empty record, the true one, and the drawn ones
    assert ("3",) in set(release.classes)


def test_records_keep_their_first_items():
    data = Transactions.of([["a", "b", "c"], ["c"], [], ["b", "c"]])
    rows, items = shortened(data, np.array([2, 1, 0])[data.items], 2)
    assert list(zip(rows.tolist(), items.tolist(), strict=True)) == [
        (0, 2),
        (0, 1),
        (1, 2),
        (3, 2),
        (3, 1),
    ]
    table = pair_counts(rows, items, 3)
    assert table.tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]]


def test_a_noisy_histogram_falls_after_its_peak():
    assert smoothed(np.array([5, 90, 40, 60, -3, 9]), 1.0).tolist() == [5, 90, 50, 50, 3, 3]
    assert smoothed(np.array([5, 90, 40, 60, -3, 9]), 2.0).tolist() == [0, 90, 50, 50, 0, 0]
    assert smoothed(np.array([-5, -9]), 2.0).tolist() == [0, 0]


def test_items_that_are_not_public_are_refused():
    promise = DifferentialPrivacy(epsilon=1)
    with pytest.raises(ParameterError, match="must be public knowledge"):
        Frequent().anonymize([["a"]], promise)
    with pytest.raises(UnknownItemError, match="the public list of items does not contain 'b'"):
        Frequent().anonymize([["a", "b"]], promise, domain=["a"])
    data = Transactions.of([["a"], ["b"]])
    for public in (True, False):
        tree = Hierarchy.balanced(
            data.vocabulary, 2, "frequency", data.supports(), public_items=public
        )
        with pytest.raises(ParameterError, match="order of frequency is made from the data"):
            DiffPart().anonymize(data, promise, tree)


def test_with_a_delta_items_are_found_privately():
    data = Transactions.of([["a", "b"]] * 4000 + [["rare"]])
    made = Frequent().anonymize(data, DifferentialPrivacy(epsilon=1, delta=1e-9))
    assert {"a", "b"} == set(made.items)
    found = next(one for one in made.ledger if one.counts == "domain")
    assert found.delta == exact(1e-9)
    assert found.threshold > 300
    with pytest.raises(ParameterError, match="must be public knowledge"):
        DiffPart().anonymize(
            data, DifferentialPrivacy(epsilon=1, delta=1e-9), Hierarchy.balanced(data)
        )


def test_other_promises_and_wrong_numbers_are_refused():
    with pytest.raises(ParameterError, match="keeps differential-privacy"):
        Frequent().anonymize([["a"]], KAnonymity(k=2), domain=["a"])
    for epsilon in (0, -1, float("nan"), float("inf"), 101):
        with pytest.raises(ParameterError, match="epsilon"):
            DifferentialPrivacy(epsilon=epsilon)
    for delta in (-0.1, 1, float("nan")):
        with pytest.raises(ParameterError, match="delta"):
            DifferentialPrivacy(epsilon=1, delta=delta)
    with pytest.raises(ParameterError, match="from 2 to 16"):
        DiffPart(max_fanout=17)

"""No results of the noise lose more than epsilon, whatever record is added; see `coupling.py`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from setveil.hierarchy.tree import Hierarchy
from setveil.methods import diffpart, private
from setveil.methods.frequent import method as frequent
from setveil.methods.private import Budget
from setveil.promises import DifferentialPrivacy
from setveil.published import ledger
from tests.methods.coupling import Case, Leak, TapedDiffPart, TapedFrequent, loss_of
from tests.proofs import proof

NUMBERS = [str(number) for number in (2, 3, 10, 11, 9, 100, 20, 1, 30, 4)]
ODD = ["07", "7", "+7", "x", "-1", "10a", "é", "e\u0301", "Z", "", "1_000", "²", " 3", "𝟟"]
"""Labels that are no whole numbers, look like one, or compare in surprising ways."""


def records_over(chance, items, most):
    """A few records; often many equal ones, so that counts are tied."""
    some = [chance.sample(items, chance.randint(0, min(len(items), 7))) for _ in range(most)]
    return [*some, *some[: chance.randint(0, most)]]


def finding_case(seed):
    """Items are found privately; the new record may have labels that nobody else has."""
    chance = Random(seed)
    items = chance.choice([NUMBERS, [*NUMBERS, *ODD[1:]], ODD[:9]])
    fresh = [label for label in [*ODD, "5", "500", "A", "ß", "~"] if label not in items]
    new = [*chance.sample(items, chance.randint(0, 6)), *chance.sample(fresh, chance.randint(0, 4))]
    return frequent_case(chance, items, new, delta=chance.choice([1e-9, 1e-6, 1e-3, 0.01, 0.3]))


def public_case(seed):
    """The list of items is public, and delta may be above 0 as well."""
    chance = Random(seed)
    items = chance.choice([NUMBERS, [*NUMBERS, *ODD[1:]], ODD[:9]])
    new = chance.sample(items, chance.randint(0, len(items)))
    case = frequent_case(chance, items, new, delta=chance.choice([0, 0, 1e-6]))
    return replace(case, domain=items)


def frequent_case(chance, items, new, delta):
    records = records_over(chance, items, chance.randint(0, 12))
    method = TapedFrequent(
        max_items=chance.choice([None, 1, 2, 3]),
        max_paired=chance.choice([None, 2, 3]),
        paired=chance.choice([2, 3, 5, 100]),
    )
    return Case(
        method=method,
        promise=DifferentialPrivacy(epsilon=chance.choice([0.3, 1, 3, 40]), delta=delta),
        records=records,
        new=new,
        at=chance.randint(0, len(records)),
        seed=chance.getrandbits(40),
    )


def dividing_case(seed):
    """DiffPart, down a tree that is public."""
    chance = Random(seed)
    leaves = [f"leaf {label}" for label in (*NUMBERS[:6], *ODD[:4])]
    nodes, parents = list(leaves), {}
    while len(nodes) > 1:
        size = chance.randint(2, 4)
        group, nodes = nodes[:size], nodes[size:]
        name = f"<{len(parents)}>"
        parents |= dict.fromkeys(group, name)
        nodes.append(name)
    records = records_over(chance, leaves, chance.randint(0, 10))
    return Case(
        method=TapedDiffPart(max_fanout=chance.randint(2, 4)),
        promise=DifferentialPrivacy(epsilon=chance.choice([0.3, 1, 3])),
        records=records,
        new=chance.choice([*records[:2], chance.sample(leaves, chance.randint(0, 5))]),
        at=chance.randint(0, len(records)),
        seed=chance.getrandbits(40),
        tree=Hierarchy.from_edges(parents),
    )


def of_person(make):
    """The same with a new person of several records, often alike."""

    def case(seed):
        made, chance = make(seed), Random(seed)
        most = chance.randint(2, 4)
        some = [made.new, *made.records[:2], made.new[:2], []]
        others = [chance.choice(some) for _ in range(chance.randint(1, most - 1))]
        return replace(made, promise=made.promise.for_people(most), others=others)

    return case


KINDS = {"finding": finding_case, "public": public_case, "dividing": dividing_case}
KINDS |= {f"{kind} of a person": of_person(make) for kind, make in KINDS.items()}
each_kind = pytest.mark.parametrize("kind", KINDS)


def leaks(make, seeds):
    """What is wrong with some cases, one by one."""
    for seed in seeds:
        try:
            loss_of(make(seed))
        except Leak as leak:
            yield f"case {seed}: {leak}"


@each_kind
@proof(7_000, quick=100)
def test_no_results_lose_more_than_was_promised(kind, seeds):
    assert list(leaks(KINDS[kind], seeds)) == []


def test_labels_of_items_that_are_not_published_change_nothing():
    """Ties of noisy counts were once broken by an order that is numeric if all labels are numbers,
    so that one record with another label changed which items of all others were counted."""
    pairs = [[str(number), str(number + 1)] for number in range(9, 1_000, 10)]
    case = Case(
        method=TapedFrequent(max_items=1, max_paired=2, paired=2),
        promise=DifferentialPrivacy(epsilon=1, delta=1e-6),
        records=pairs * 3,
        new=["x"],
        at=0,
        seed=0,
    )
    assert all(loss_of(replace(case, seed=seed)).news == [1] for seed in range(4))


def test_the_test_reaches_the_limits():
    """Some records lose all of epsilon, some all but a little of delta, and nothing is idle."""
    tapes = [loss_of(finding_case(seed)) for seed in range(60)]
    full = [abs(tape.losses["items"]) for tape in tapes if "items" in tape.losses]
    assert max(full) > 3
    assert max(len(tape.news) for tape in tapes) >= 4
    assert sum("pairs" in tape.losses for tape in tapes) > 20
    walks = [loss_of(dividing_case(seed)) for seed in range(40)]
    assert sum(tape.losses.get("leaves", 0) != 0 for tape in walks) > 5
    assert max(abs(tape.losses.get("partitions", 0)) for tape in walks) > 0.3


def forgotten_records(monkeypatch):
    monkeypatch.setattr(
        Budget, "most", property(lambda self: 1, lambda self, most: None), raising=False
    )


def test_noise_for_one_record_of_a_person_with_several_is_caught(monkeypatch):
    forgotten_records(monkeypatch)
    for kind in ("finding of a person", "public of a person", "dividing of a person"):
        assert any(leaks(KINDS[kind], range(60)))


def lower_threshold(monkeypatch):
    honest = frequent.threshold_for
    monkeypatch.setattr(frequent, "threshold_for", lambda *given: honest(*given) - 1)


def undivided_delta(monkeypatch):
    honest = frequent.threshold_for
    monkeypatch.setattr(
        frequent,
        "threshold_for",
        lambda epsilon, delta, most: honest(epsilon, min(delta * 5, Fraction(9, 10)), most),
    )


def half_the_noise(monkeypatch):
    honest = ledger.scale_for
    for place in (ledger, diffpart):
        monkeypatch.setattr(place, "scale_for", lambda *given: honest(*given) / 2)


def forgotten_mechanism(monkeypatch):
    honest = Budget.count

    def count(self, what, counts, share, **more):
        found = honest(self, what, counts, share, **more)
        if what == "lengths":
            self.ledger.pop()
        return found

    monkeypatch.setattr(Budget, "count", count)


def extra_mechanism(monkeypatch):
    honest = Budget.count

    def count(self, what, counts, share, **more):
        if what == "lengths":
            self.noise.laplace(counts, float(1 / (self.epsilon * Fraction(1, 25))))
        return honest(self, what, counts, share, **more)

    monkeypatch.setattr(Budget, "count", count)


def order_of_all_labels(monkeypatch):
    monkeypatch.setattr(private, "by_code_point", lambda records: records)


FAULTS = [
    (lower_threshold, "finding"),
    (undivided_delta, "finding"),
    (order_of_all_labels, "finding"),
    (half_the_noise, "finding"),
    (half_the_noise, "public"),
    (half_the_noise, "dividing"),
    (forgotten_mechanism, "finding"),
    (forgotten_mechanism, "public"),
    (extra_mechanism, "public"),
]


@pytest.mark.parametrize(
    ("fault", "kind"), FAULTS, ids=[f"{fault.__name__}, {kind}" for fault, kind in FAULTS]
)
def test_planted_faults_are_found(monkeypatch, fault, kind):
    fault(monkeypatch)
    assert next(leaks(KINDS[kind], range(300)), None)

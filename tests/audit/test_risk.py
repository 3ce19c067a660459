"""Risks are those of a plain computation, for every kind of knowledge."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.audit.attack.attack import attack, view_of
from setveil.audit.attack.knowing import Knowledge, Source
from setveil.audit.attack.risk import Holders
from setveil.errors import ParameterError
from tests.oracle import risks as oracle
from tests.proofs import proof

ITEMS = "abcde"
TREE = sv.Hierarchy.from_paths(
    [("a", "A", "ALL"), ("b", "A", "ALL"), ("c", "C", "ALL"), ("d", "C", "ALL"), ("e", "ALL")]
)
BELOW = {
    label: set(TREE.labels[TREE.first[n] : TREE.stop[n]]) for n, label in enumerate(TREE.nodes)
}


def some_people(rng, least, most):
    share = rng.choice((0.3, 0.5))
    made = ([i for i in ITEMS if rng.random() < share] for _ in range(rng.randint(least, most)))
    return [record or ["e"] for record in made]


def fits(record, known, lacking):
    """The published labels leave it open that the person has what is known."""
    if record and any(BELOW[label] == {item} for label in record for item in lacking):
        return False
    return not record or all(any(item in BELOW[label] for label in record) for item in known)


def released(seed):
    """People, a release of theirs, and the record that was published for each."""
    rng = Random(seed)
    people = some_people(rng, 4, 10)
    release = sv.Partition().anonymize(people, sv.KAnonymity(k=2), TREE)
    published = [tuple(release.classes[number]) for number in release.alignment.tolist()]
    return rng, people, release, published


def measured(row):
    """The averages and the largest risks of a row."""
    risk = row.risk
    averages = {
        "unique": risk.unique_before.value,
        "unchanged": risk.unchanged.value,
        "prosecutor": row.success.value,
        "journalist": risk.journalist.value,
        "marketer": risk.marketer.value,
    }
    return averages, row.largest, risk.journalist_largest


def compare(row, cases, people, published, population):
    """Each person who is in the cases is as likely, whatever number of cases they have."""
    assert row.exact
    counts = Counter(person for person, _, _ in cases)
    times = np.lcm.reduce(list(counts.values()))
    equal = [case for case in cases for _ in range(times // counts[case[0]])]
    averages, prosecutor, journalist = oracle.risks(equal, people, published, population, fits)
    found, largest, reached = measured(row)
    assert found == pytest.approx({name: float(value) for name, value in averages.items()})
    assert (largest, reached) == pytest.approx((float(prosecutor), float(journalist)))


def row_of(found, kind, items=None, knowledge=None):
    chosen = [row for row in found.rows if row.kind == kind and row.items == items]
    return next(row for row in chosen if knowledge in (None, row.knowledge))


@proof(5_000, 60)
def test_risks_are_those_of_the_oracle(seeds):
    for seed in seeds:
        rng, people, release, published = released(seed)
        population = people + some_people(rng, 0, 6)
        owners = [rng.randrange(-1, len(people)) for _ in range(4)]
        said = [rng.sample(ITEMS, rng.randint(1, 3)) for _ in owners]
        owners[0] = 0
        source = Source("hearsay", sv.Transactions.of(said), np.array(owners))
        knowledge = Knowledge(
            items=(2,), sources=[source], population=sv.Transactions.of(population)
        )
        found = attack(release, sv.Transactions.of(people), knows=knowledge, seed=seed)
        everybody = range(len(people))
        pairs = [(p, c, ()) for p in everybody for c in combinations(people[p], 2)]
        if pairs:
            compare(row_of(found, "items", 2), pairs, people, published, population)
            rare = [
                (p, oracle.rarest(people, p, 2, ITEMS), ())
                for p in everybody
                if len(people[p]) >= 2
            ]
            compare(row_of(found, "rarest", 2), rare, people, published, population)
        whole = [(p, people[p], ()) for p in everybody]
        compare(row_of(found, "items"), whole, people, published, population)
        heard = [
            (owner, items, ()) for owner, items in zip(owners, said, strict=True) if owner >= 0
        ]
        compare(row_of(found, "source"), heard, people, published, population)


def test_the_release_is_the_population_if_none_is_given():
    _, people, release, _ = released(5)
    for row in attack(release, sv.Transactions.of(people), seed=1).rows:
        assert row.risk.population is None
        assert row.risk.journalist == row.success
        assert row.risk.journalist_largest == pytest.approx(row.largest)


def test_a_population_without_the_people_of_the_data_is_refused():
    _, people, release, _ = released(5)
    knowledge = Knowledge(population=sv.Transactions.of([["a"]]))
    with pytest.raises(ParameterError, match="must contain everybody in the data"):
        attack(release, sv.Transactions.of(people), knows=knowledge, seed=1)


def test_knowledge_that_fits_nobody_finds_nobody():
    people = [["a"], ["a"], ["c"], ["c"]]
    release = sv.Suppressed.of(people, sv.KmAnonymity(k=2, m=1))
    source = Source("hearsay", sv.Transactions.of([["a", "c"]]), np.array([0]))
    found = attack(release, sv.Transactions.of(people), knows=Knowledge(sources=[source]), seed=1)
    row = row_of(found, "source")
    assert (row.success.value, row.risk.marketer.value) == (0.25, 0.0)
    assert row.risk.unique_before.value == 0.0
    assert not row.within
    assert "true in 0.0 %" in next(f.text for f in found.findings if "hearsay" in f.name)


def test_sampled_risks_contain_the_exact_ones():
    rng = Random(3)
    people = [rng.sample("abcdefghijklmnop", 8) for _ in range(60)]
    release = sv.Suppressed.of(people, sv.KmAnonymity(k=2, m=1))
    data = sv.Transactions.of(people)
    exact = row_of(attack(release, data, knows=[3], trials=100_000, seed=1), "items", 3)
    drawn = row_of(attack(release, data, knows=[3], trials=400, seed=1), "items", 3)
    assert exact.exact
    assert not drawn.exact
    for name in ("unique_before", "unchanged", "journalist", "marketer"):
        sampled, true = getattr(drawn.risk, name), getattr(exact.risk, name).value
        assert sampled.low <= true <= sampled.high


def test_marketer_risk_of_typical_bags_counts_only_links_to_the_own_bag():
    """A person's own bag need not be among those that show most of what is known."""
    less = 0
    for seed in range(12):
        rng = Random(seed)
        bags = sv.Bags.of(some_people(rng, 8, 14))
        release = sv.SSC().anonymize(bags, sv.VocabularyKAnonymity(k=2), TREE)
        row = row_of(attack(release, bags, knows=[1], seed=seed), "items", 1)
        view, chances = view_of(release, bags), []
        for person, own in enumerate(bags):
            links = []
            for item in sorted(own):
                places = view.places((bags.vocabulary.numbers[item],)).tolist()
                size = sum(int(release.sizes[place]) for place in places)
                links.append(1 / size if release.alignment[person] in places else 0)
            if links:
                chances.append(sum(links) / len(links))
        assert row.risk.marketer.value == pytest.approx(sum(chances) / len(chances))
        less += row.risk.marketer.value < row.success.value - 1e-9
    assert less


def test_those_who_have_some_items_and_lack_others_are_counted_as_in_a_plain_count():
    for seed in range(100):
        rng = Random(seed)
        people = some_people(rng, 1, 12)
        data = sv.Transactions.of(people)
        numbers, found = data.vocabulary.numbers, Holders(data)
        for known in combinations(numbers, min(2, len(numbers))):
            for lacking in set(numbers) - set(known):
                asked = tuple(map(numbers.get, known)), (numbers[lacking],)
                assert len(found.of(*asked)) == oracle.holders(people, known, (lacking,))
        assert len(found.of(())) == len(people)
        assert len(found.of((-1,))) == 0

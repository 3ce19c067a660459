"""An attack counts candidates as plain oracles do, and never beats the promise within it."""

from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.audit.attack.attack import attack
from setveil.audit.attack.draws import Pool
from setveil.audit.attack.rows import view_rows
from setveil.audit.attack.statistics import Sample, mean_margin, median_ranks, share_interval
from setveil.audit.attack.table import ATTACKS, NOT_ATTACKED, view_of
from setveil.errors import DataError, MisfitError, ParameterError
from setveil.io.releases.folder import FORMS
from tests.audit.disassociations import effort, invented, projected, released
from tests.oracle import attacks as oracle
from tests.oracle import disassociation, placements

TREE = sv.Hierarchy.from_paths(
    [("a", "A", "ALL"), ("b", "A", "ALL"), ("c", "C", "ALL"), ("d", "C", "ALL"), ("e", "ALL")]
)
BELOW = {
    label: set(TREE.labels[TREE.first[n] : TREE.stop[n]]) for n, label in enumerate(TREE.nodes)
}
KM = sv.KmAnonymity(k=2, m=2)


def random_data(seed, least=4, most=12):
    rng = Random(seed)
    share = rng.choice((0.3, 0.5))
    records = [
        [i for i in "abcde" if rng.random() < share] for _ in range(rng.randint(least, most))
    ]
    return sv.Transactions.of([record or ["e"] for record in records])


def numbered(data, items):
    return tuple(sorted(data.vocabulary.numbers[item] for item in items))


def test_every_form_can_be_attacked():
    assert ATTACKS.keys() | NOT_ATTACKED.keys() == FORMS.keys()


def test_an_attack_on_synthetic_records_is_refused_with_the_reason():
    release = sv.Synthetic.of([["a"]], sv.DifferentialPrivacy(epsilon=1.0))
    with pytest.raises(DataError, match="no record of a synthetic release belongs to a person"):
        view_of(release, sv.Transactions.of([["a"]]))


@pytest.mark.parametrize("method", [sv.Partition(), sv.Apriori(), sv.MHgHs()])
@pytest.mark.parametrize("seed", range(12))
def test_candidates_of_generalized_records_are_those_of_the_oracle(method, seed):
    data = random_data(seed)
    promise = sv.KAnonymity(k=2) if isinstance(method, sv.Partition) else KM
    release = method.anonymize(data, promise, TREE)
    view = view_of(release, data)
    rows = [set(record) for record in release.records(0)]
    gone = release.suppressed_items(data)
    local = not release.is_global
    items = list(data.vocabulary)
    for known in [k for size in (1, 2) for k in combinations(items, size)]:
        wanted = oracle.candidates(rows, BELOW, known, suppressed=gone, empty_is_anybody=local)
        assert view.candidates(numbered(data, known)) == max(wanted, 1), known
        for item in set(items) - set(known):
            fewer = oracle.candidates(
                rows, BELOW, known, (item,), suppressed=gone, empty_is_anybody=local
            )
            assert view.candidates(numbered(data, known), numbered(data, [item])) == max(fewer, 1)
        if wanted and all(rows):
            found = view.beliefs(numbered(data, known))
            true = oracle.beliefs(rows, BELOW, known, suppressed=gone, items=items)
            for item in set(items) - set(known):
                assert found[data.vocabulary.numbers[item]] == pytest.approx(true[item])


@pytest.mark.parametrize("seed", range(25))
def test_candidates_of_suppressed_records_are_those_of_the_oracle(seed):
    data = random_data(seed)
    try:
        release = sv.Suppression().anonymize(data, sv.Coherence(h=0.9, k=2, p=2, private=["e"]))
    except sv.SetveilError:
        pytest.skip("this data cannot keep the promise")
    view, rows = view_of(release, data), [set(record) for record in release.records(0)]
    below = {item: {item} for item in release.items}
    gone = release.suppressed_items(data)
    for known in combinations(data.vocabulary, 2):
        wanted = oracle.candidates(rows, below, known, suppressed=gone)
        assert view.candidates(numbered(data, known)) == max(wanted, 1)


def small_clusters(seed):
    rng = Random(seed)
    clusters = projected(rng, 2, 5)[0] if seed % 2 else invented(rng, 2, careful=True)
    release = released(clusters, KM)
    if max(map(effort, clusters)) > 6 or not sv.verify(release).checks[0].holds:
        return None
    worlds = [disassociation.worlds(cluster) for cluster in clusters]
    return (clusters, release, worlds) if all(worlds) else None


def some_original(release):
    """Records with the items of a release, as many as it has; what is in them does not matter."""
    return sv.Transactions.of([list(release.items)] * len(release))


def test_candidates_of_clusters_are_the_most_records_of_a_world():
    exact = fewer = 0
    for seed in range(120):
        made = small_clusters(seed)
        if made is None:
            continue
        _, release, worlds = made
        data = some_original(release)
        view = view_of(release, data)
        for known in [k for size in (1, 2, 3) for k in combinations(data.vocabulary, size)]:
            most = sum(disassociation.most_records(world, known) for world in worlds)
            if most:
                found = view.candidates(numbered(data, known))
                assert found <= most, (seed, known)
                exact, fewer = exact + (found == most), fewer + (found < most)
    assert exact > 400
    assert fewer < 0.02 * exact


def overlaps(cluster):
    """Whether a shared chunk has an item that a cluster below lists too."""
    if "size" in cluster:
        return False
    shared = {item for chunk in cluster["shared"] for items, _ in chunk for item in items}
    below = any(shared & disassociation.terms_of(part) for part in cluster["parts"])
    return below or any(map(overlaps, cluster["parts"]))


def test_beliefs_in_clusters_are_shares_of_all_placements():
    compared = 0
    for seed in range(120):
        made = small_clusters(seed)
        if made is None or any(map(overlaps, made[0])):
            continue
        clusters, release, _ = made
        ways = list(placements.placements(clusters))
        if len(ways) > 3000:
            continue
        data = some_original(release)
        view, items = view_of(release, data), list(data.vocabulary)
        for known in [k for size in (0, 1, 2) for k in combinations(items, size)]:
            fits = [record for way in ways for record in way if set(known) <= record]
            if not fits:
                continue
            found = view.beliefs(numbered(data, known))
            for item in set(items) - set(known):
                share = sum(item in record for record in fits) / len(fits)
                assert found[data.vocabulary.numbers[item]] == pytest.approx(share), (seed, known)
                compared += 1
            if known:
                mean = max(len(fits) / len(ways), 1)
                assert view.likely(numbered(data, known)) == pytest.approx(mean)
    assert compared > 500


METHODS = {
    "partition": (sv.Partition(), sv.KAnonymity(k=3), TREE),
    "apriori": (sv.Apriori(), sv.KmAnonymity(k=3, m=2), TREE),
    "hghs": (sv.HgHs(), sv.KmAnonymity(k=3, m=2), TREE),
    "suppression": (sv.Suppression(), sv.Coherence(h=0.9, k=3, p=2, private=["e"]), None),
    "disassociation": (sv.Disassociation(max_cluster=5), sv.KmAnonymity(k=3, m=2), None),
    "safe": (sv.Disassociation(safe=True), sv.KmAnonymity(k=3, m=2), None),
    "ssc": (sv.SSC(), sv.VocabularyKAnonymity(k=3), TREE),
}


@pytest.mark.parametrize("name", METHODS)
def test_nobody_beats_the_promise_with_what_it_covers(name):
    method, promise, tree = METHODS[name]
    tried = 0
    for seed in range(20):
        data = random_data(seed, 6, 20)
        data = sv.Bags.of(list(data)) if name == "ssc" else data
        try:
            release = method.anonymize(data, promise, tree)
        except sv.SetveilError:
            continue
        found = attack(release, data, trials=2000, seed=seed)
        assert found.holds, (seed, [row for row in found.rows if row.within and row.fewest < 3])
        for row in found.rows:
            if row.within:
                assert row.success.value <= 1 / 3 + 1e-12
                assert row.exact or row.kind == "lacking"
                assert row.fewer.value == 0
        tried += 1
    assert tried >= 10


def test_a_release_that_breaks_its_promise_is_caught():
    rows = [["A", "e"], ["A"], ["C"], ["C"], ["A"]]
    data = sv.Transactions.of([["a", "e"], ["a"], ["c"], ["d"], ["b"]])
    release = sv.Generalized.of(rows, TREE, sv.KAnonymity(k=2))
    found = sv.attack(release, data, knows=[1])
    assert not found.holds
    assert found.rows[0].fewest == 1


def test_more_knowledge_than_promised_may_leave_a_person_alone():
    words = ["abc", "abd", "acd", "bcd", "ab", "cd", "ac", "bd", "ad", "bc"]
    data = sv.Transactions.of(map(list, words))
    release = sv.Apriori().anonymize(
        data, sv.KmAnonymity(k=2, m=2), sv.Hierarchy.from_paths([(item, "ALL") for item in "abcd"])
    )
    rows = {row.items: row for row in attack(release, data).rows if row.kind == "items"}
    assert rows[2].within
    assert not rows[3].within
    assert rows[3].alone.value == 1.0
    assert rows[3].success.value == 1.0


def test_two_releases_together_narrow_people_down():
    data = sv.Transactions.of([["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]])
    one = sv.Generalized.of([["a", "C"]] * 2 + [["b", "C"]] * 2, TREE, sv.KAnonymity(k=2))
    two = sv.Generalized.of([["A", "c"], ["A", "d"]] * 2, TREE, sv.KAnonymity(k=2))
    assert sv.attack(one, data).holds
    assert sv.attack(two, data).holds
    found = sv.attack(one, data, other=two, knows=[2])
    both = next(row for row in found.rows if row.kind == "both")
    assert both.alone.value == 1.0
    assert found.findings[-1].name == "intersection"


def test_a_second_release_of_other_people_is_refused():
    data = sv.Transactions.of([["a"], ["a"], ["b"], ["b"]])
    one = sv.Generalized.of([["a"], ["a"], ["b"], ["b"]], TREE, sv.KAnonymity(k=2))
    other = sv.Generalized.of([["a"], ["a"]], TREE, sv.KAnonymity(k=2))
    with pytest.raises(MisfitError, match="it has 2 records and the original has 4"):
        sv.attack(one, data, other=other)
    bags = sv.TypicalBags.of(list(data), sv.VocabularyKAnonymity(k=2)).without_alignment()
    with pytest.raises(DataError, match="which person of the original is where in this other"):
        sv.attack(one, data, other=bags)


def test_another_original_is_refused():
    data = sv.Transactions.of([["a"], ["a"], ["b"], ["b"]])
    other = sv.Transactions.of([["a", "c"], ["c"], ["d"], ["b"]])
    for release in (
        sv.Generalized.of(list(data), TREE, sv.KAnonymity(k=2)).without_alignment(),
        sv.Suppressed.of(list(data), sv.KAnonymity(k=2)),
        sv.Disassociation().anonymize(data, KM),
    ):
        with pytest.raises(MisfitError):
            sv.attack(release, other)
        with pytest.raises(MisfitError):
            sv.attack(release, data.take([0, 1, 2]))


def test_homogeneity_is_found_where_all_candidates_share_a_private_item():
    data = sv.Transactions.of([["a", "e"], ["a", "e"], ["b", "c"], ["b", "d"]])
    release = sv.Suppressed.of(list(data), sv.KAnonymity(k=2))
    found = sv.attack(release, data, knows=1, private=["e"])
    row = found.rows[0]
    assert row.private is not None
    assert row.private.certain.value == pytest.approx(0.25)  # of people: those with a, by that a
    homogeneity = next(one for one in found.findings if one.name == "homogeneity")
    assert homogeneity.figures["private"].value == row.private.certain.value


def test_knowing_the_method_leaves_fewer_candidates_for_items_without_counts():
    cluster = {"size": 6, "chunks": [[[["a"], 4]]], "terms": ["x", "y"]}
    release = released([cluster], sv.KmAnonymity(k=3, m=2))
    data = sv.Transactions.of([["a", "x"], ["a", "y"], ["a"], ["a"], ["x"], ["y"]])
    view = view_of(release, data)
    known = view.knowing_method()
    assert known is not None
    assert view.candidates(numbered(data, ["x"])) == 6
    assert known.candidates(numbered(data, ["x"])) == 2
    assert known.knowing_method() is None


def test_any_form_with_certain_rows_has_a_view():
    data = random_data(3)
    release = sv.Suppression().anonymize(data, sv.Coherence(h=1, k=2, p=1))
    view = view_rows(release, data)
    assert view.candidates(()) == len(data)
    assert view.beliefs(()).shape == (len(data.vocabulary),)


def test_a_form_without_an_attack_is_refused(monkeypatch):
    monkeypatch.delitem(ATTACKS, "suppressed")
    release = sv.Suppressed.of([["a"], ["a"]], sv.KAnonymity(k=2))
    with pytest.raises(DataError, match="there is no attack for the form suppressed"):
        sv.attack(release, [["a"], ["a"]])


@pytest.mark.parametrize("knows", ["1,x", "0", [], "", 0, 2.5, "1000000"])
def test_numbers_of_known_items_are_checked(knows):
    release = sv.Suppressed.of([["a"], ["a"]], sv.KAnonymity(k=2))
    with pytest.raises(ParameterError):
        sv.attack(release, [["a"], ["a"]], knows=knows)


def test_draws_are_exact_if_they_are_few_and_weigh_people_equally():
    data = sv.Transactions.of([["a", "b", "c"], ["a"], []])
    found = Pool(data, np.ones(3, dtype=bool)).draws(1, 100, np.random.default_rng(0))
    assert found.sample.exact
    assert found.people == 2
    assert sorted(found.sample.weights.tolist()) == [1 / 6, 1 / 6, 1 / 6, 1 / 2]
    whole = Pool(data, np.ones(3, dtype=bool)).draws(None, 100, np.random.default_rng(0))
    assert [draw.known for draw in whole.draws] == [(0, 1, 2), (0,)]


def test_random_draws_are_items_of_their_person():
    data = random_data(1, 200, 200)
    pool = Pool(data, np.ones(len(data.vocabulary), dtype=bool))
    found = pool.draws(2, 150, np.random.default_rng(0))
    assert not found.sample.exact
    for draw in pool.with_lacking(found, np.random.default_rng(1)).draws:
        own = data.items[data.entries(draw.record)].tolist()
        assert set(draw.known) <= set(own)
        assert draw.lacking[0] not in own
        assert set(pool.others(draw).tolist()) == set(own) - set(draw.known)


@pytest.mark.parametrize(("hits", "draws"), [(0, 10), (3, 20), (20, 20), (7, 300), (150, 300)])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(hits, draws):
    low, high = share_interval(hits, draws)

    def at_most(number, p):
        return sum(comb(draws, i) * p**i * (1 - p) ** (draws - i) for i in range(number + 1))

    if hits:
        assert 1 - at_most(hits - 1, low) == pytest.approx(0.025, rel=1e-6)
    if hits < draws:
        assert at_most(hits, high) == pytest.approx(0.025, rel=1e-6)


def test_intervals_contain_the_truth_as_often_as_they_say():
    rng, missed = np.random.default_rng(5), 0
    for _ in range(400):
        values = rng.beta(0.4, 2.0, size=200)
        mean = Sample(np.full(200, 1 / 200), exact=False).mean(values)
        missed += not mean.low <= 0.4 / 2.4 <= mean.high
    assert missed <= 20
    assert mean_margin(100, 0.25) < 0.15
    low, high = median_ranks(1000)
    assert 400 < low < 500 < high < 600

"""An attack counts candidates as plain oracles do, and never beats the promise within it."""

from __future__ import annotations

import re
from itertools import combinations
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given, reject, settings

import setveil as sv
from setveil.audit.attack.attack import ATTACKS, NOT_ATTACKED, attack, view_of
from setveil.audit.attack.draws import Pool, Sample, mean_margin, median_ranks, share_interval
from setveil.audit.attack.rowview import view_rows
from setveil.errors import DataError, MisfitError, ParameterError
from setveil.io.releases.folder import FORMS
from setveil.report.attack import report_attack
from tests.audit.disassociations import effort, invented, projected, released
from tests.oracle import attacks as oracle
from tests.oracle import disassociation, placements
from tests.strategies import SEEDS

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
@settings(max_examples=12)
@given(seed=SEEDS)
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


@settings(max_examples=25)
@given(seed=SEEDS)
def test_candidates_of_suppressed_records_are_those_of_the_oracle(seed):
    data = random_data(seed)
    try:
        release = sv.Suppression().anonymize(data, sv.Coherence(h=0.9, k=2, p=2, private=["e"]))
    except sv.SetveilError:
        reject()  # this data cannot keep the promise
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


def test_as_many_records_could_contain_the_items_as_in_the_world_with_the_most():
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
                found = view.possible(numbered(data, known))
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
                mean = len(fits) / len(ways)
                assert view.expected(numbered(data, known)) == pytest.approx(mean)
    assert compared > 500


METHODS = {
    "partition": (sv.Partition(), sv.KAnonymity(k=3), TREE),
    "apriori": (sv.Apriori(), sv.KmAnonymity(k=3, m=2), TREE),
    "hghs": (sv.HgHs(), sv.KmAnonymity(k=3, m=2), TREE),
    "suppression": (sv.Suppression(), sv.Coherence(h=0.9, k=3, p=2, private=["e"]), None),
    "disassociation": (sv.Disassociation(arrangement=5), sv.KmAnonymity(k=3, m=2), None),
    "safe": (sv.Disassociation(arrangement="safe"), sv.KmAnonymity(k=3, m=2), None),
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
    assert rows[None].knowledge == "all items"
    assert rows[2].within
    assert not rows[3].within
    assert rows[3].alone.value == 1.0
    assert rows[3].success.value == 1.0


PATIENTS = [["a", "b", f"code-{number}"] for number in range(6)]
PATIENTS += [["a", "c", "flu"], ["a", "c", "cold"]] * 3


def test_private_items_that_are_known_and_unique_records_are_part_of_an_attack_on_coherence():
    private = {item for record in PATIENTS for item in record[2:]}
    promise = sv.Coherence(h=0.6, k=3, p=2, private=private)
    release = sv.Suppressed.of(PATIENTS, promise)
    assert sv.verify(release).holds
    found = attack(release, sv.Transactions.of(PATIENTS), private=promise.private)
    rows = {row.knowledge: row for row in found.rows}
    assert rows["2 public items"].within
    assert rows["2 public items"].alone.value == 0
    for known in ("1 private item", "all private items", "all items"):
        assert not rows[known].within
        assert rows[known].alone.value == pytest.approx(
            0.5
        )  # six of twelve have a code that nobody else has
    unique = next(one for one in found.findings if one.name == "unique")
    assert unique.text.startswith("6 of 12 published records occur once: ")
    assert "6 of 8 private items occur in one published record only" in unique.text
    assert unique.figures["private"].value == 6 / 8
    assert found.holds


def test_without_private_items_no_row_is_about_them():
    found = attack(
        sv.Suppressed.of(PATIENTS, sv.KmAnonymity(k=2, m=1)), sv.Transactions.of(PATIENTS)
    )
    assert {row.sort for row in found.rows} == {"item"}
    assert "all items" in [row.knowledge for row in found.rows]


FORMS_MADE = {
    "generalized": lambda data: sv.Apriori().anonymize(data, sv.KmAnonymity(k=2, m=1), TREE),
    "identical": lambda data: sv.Partition().anonymize(data, sv.KAnonymity(k=2), TREE),
    "suppressed": lambda data: sv.Suppression().anonymize(
        data, sv.Coherence(h=0.9, k=2, p=1, private=["e"])
    ),
    "bags": lambda data: sv.SSC().anonymize(data, sv.VocabularyKAnonymity(k=2), TREE),
    "clusters": lambda data: sv.Disassociation(arrangement=5).anonymize(data, KM),
    "nothing": lambda data: sv.Generalized.of([["ALL"]] * len(data), TREE, sv.KAnonymity(k=2)),
}


@pytest.mark.parametrize("name", FORMS_MADE)
@pytest.mark.parametrize("seed", [2, 3, 11])
def test_the_sentences_name_the_worst_rows_of_the_tables(name, seed):
    """Read as a person would: the largest figures of each table, and whether it is promised."""
    data = random_data(seed, 12, 20)
    data = sv.Bags.of(list(data)) if name == "bags" else data
    found = attack(FORMS_MADE[name](data), data, trials=400, seed=seed, private=frozenset("e"))
    text = {one.title: one.text for one in report_attack(found).sections}
    lines = [re.split(r"  +", line) for line in text["Candidates"].splitlines()]
    columns = {column: at for at, column in enumerate(lines[0])}
    promised = {line[0]: line[columns["covered"]] for line in lines[1:]}
    checks = [("Risk", "success", "Linkability"), ("Risk", "after", "Singling out")]
    checks += [("Belief in a further item of the person", "with it", "Inference")]
    for table, column, answer in checks:
        rows = [re.split(r"  +", line) for line in text.get(table, "").splitlines()]
        at = rows[0].index(column) if rows else 0
        for covered in ("yes", "no") if column != "after" else ("no",):
            some = [row for row in rows[1:] if promised[row[0]] == covered and row[at] != "-"]
            if some:
                most = max(float(row[at].split()[0]) for row in some)
                worst = [row for row in some if float(row[at].split()[0]) == most]
                assert any(row[at] in text[answer] for row in worst), (answer, text[answer], worst)
                assert any(row[0] in text[answer] for row in worst), (answer, text[answer], worst)


def test_a_piece_may_be_likelier_than_promised_though_the_promise_holds_and_the_report_says_so():
    """The piece with p and q is in the third part for certain, and there are few others with x."""
    parts = [
        {"size": 10, "chunks": [[[["p"], 10]]], "terms": []},
        {"size": 10, "chunks": [[[["q"], 10]]], "terms": []},
        {"size": 3, "chunks": [[[["w"], 3]]], "terms": []},
    ]
    shared = [[["p", "q", "x"], 1], [["p", "x"], 1], [["q", "x"], 1], [["p", "q"], 1]]
    release = released([{"shared": [shared], "parts": parts}], KM)
    assert sv.verify(release).holds
    people = [*["p"] * 10, *["q"] * 9, "pqx", "pqwx", "qwx", "pqw"]
    found = sv.attack(release, sv.Transactions.of(map(list, people)))
    row = next(row for row in found.rows if row.items == 2 and row.within)
    assert (row.possible, round(row.largest, 3)) == (2, 0.857)
    assert found.holds
    first = report_attack(found).sections[0]
    assert first.holds is None
    assert "but some pieces are likelier than 1 in 2 to be a person's" in first.title


def test_what_a_person_lacks_is_beyond_the_promise_unless_records_are_identical():
    """Nobody else is known to have a and to lack b: k^m-anonymity does not promise more."""
    data = sv.Transactions.of([["a", "b"], ["a", "b"], ["a"], ["c"], ["c"]])
    release = sv.Suppressed.of(list(data), sv.KmAnonymity(k=2, m="all"))
    assert sv.verify(release).holds
    found = attack(release, data, knows=[1])
    lacking = next(row for row in found.rows if row.kind == "lacking")
    assert (lacking.within, lacking.fewest) == (False, 1)
    assert found.holds
    assert "1 of 5 published records occurs once" in found.findings[-1].text
    data = sv.Transactions.of([["a"], ["a"], ["c"], ["c"]])
    alike = attack(sv.Suppressed.of(list(data), sv.KAnonymity(k=2)), data, knows=[1])
    assert "lacking" in [row.kind for row in alike.rows]
    assert all(row.within for row in alike.rows)
    assert "unique" not in [one.name for one in alike.findings]


def test_a_belief_that_falls_is_not_said_to_rise():
    data = sv.Transactions.of([["a"], ["b"], ["a"], ["b"], ["a", "b"], ["a", "b"]])
    found = attack(sv.Suppressed.of(list(data), sv.KmAnonymity(k=2, m=1)), data, knows=[1])
    said = report_attack(found).values["answers"]["Inference"]
    row = found.rows[0].further
    assert row.belief.value < row.base.value
    assert "falls from" in said


def test_an_attack_on_a_release_that_contains_nothing_is_not_praised():
    data = sv.Transactions.of([["a"], ["c"]])
    found = attack(FORMS_MADE["nothing"](data), data)
    first = report_attack(found).sections[0]
    assert found.holds
    assert first.holds is None
    assert "but the release contains nothing" in first.title


def test_two_releases_together_narrow_people_down():
    data = sv.Transactions.of([["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]])
    one = sv.Generalized.of([["a", "C"]] * 2 + [["b", "C"]] * 2, TREE, sv.KAnonymity(k=2))
    two = sv.Generalized.of([["A", "c"], ["A", "d"]] * 2, TREE, sv.KAnonymity(k=2))
    assert sv.attack(one, data).holds
    assert sv.attack(two, data).holds
    found = sv.attack(one, data, other=two, knows=[2])
    both = next(row for row in found.rows if row.kind == "both")
    assert both.alone.value == 1.0
    assert both.knowledge == "2 items and a 2nd release"
    assert "intersection" in [one.name for one in found.findings]


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
    view, known = view_of(release, data), numbered(data, ["x"])
    assert view.candidates(known) == view.possible(known) == 6
    assert view.possible(known, knowing_method=True) == 2
    found = {one.name: one for one in sv.attack(release, data).findings}
    assert found["minimality"].figures["fewer"].value > 0
    assert "no success of linking" in found["expected"].text


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

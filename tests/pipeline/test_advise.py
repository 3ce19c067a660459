"""Advice: the promise against what is feared, the method that loses least, and tuning."""

from __future__ import annotations

import shlex

import pytest

import setveil as sv
from setveil.cli import answer
from setveil.errors import ParameterError
from setveil.pipeline import trials as searching
from setveil.pipeline.advise import fears, job_from
from setveil.pipeline.trials import CLEARLY, USES, Search, Way, judge_of, sample_of, ways_for
from setveil.promises import PROMISES

DATA = sv.Transactions.of(
    [["wine", "beer"], ["wine", "beer", "rum"], ["milk"], ["milk", "tea"], ["tea", "rum"]] * 6
)
TREE = sv.Hierarchy.from_paths(
    [(i, "alcohol", "all") for i in ("wine", "beer", "rum")]
    + [(i, "soft", "all") for i in ("milk", "tea")]
)


def test_each_promise_but_an_addition_is_the_answer_to_one_fear():
    assert fears() == {kind.fear: kind for kind in PROMISES.values() if kind.fear}
    # A part of others; asked for by its numbers; shown by the columns that are named.
    others = {"l-diversity", "differential-privacy", "columns"}
    assert {kind.model for kind in fears().values()} == PROMISES.keys() - others
    assert all(kind.feared for kind in fears().values())


@pytest.mark.parametrize(
    ("words", "model", "methods"),
    [
        ({}, "km-anonymity", {"disassociation", "suppression"}),
        ({"fear": "everything", "k": 3}, "k-anonymity", {"partition"}),
        ({"fear": "some", "m": 1}, "km-anonymity", {"disassociation", "suppression"}),
        ({"fear": "links", "private": ["rum"], "h": 0.9}, "coherence", {"suppression"}),
        ({"fear": "counts"}, "vocabulary-k-anonymity", {"partition", "ssc"}),
        ({"promise": "k-anonymity"}, "k-anonymity", {"partition"}),
        ({"k": 3, "hierarchy": TREE}, "km-anonymity", {"disassociation", "mhghs", "apriori", "hghs", "partition", "suppression"}),
    ],
)  # fmt: skip
def test_the_promise_follows_the_fear_and_all_its_methods_are_tried(words, model, methods):
    found = sv.advise(DATA, **words)
    assert found.promise.model == model
    assert {trial.way.method.name for trial in found.trials} == methods


def test_data_with_counts_is_advised_a_promise_that_covers_counts():
    bags = sv.Bags.of(
        [{"wine": 2, "beer": 1}, {"wine": 2, "beer": 1}, {"milk": 1}, {"milk": 3}] * 5
    )
    assert sv.advise(bags, k=2).promise.covers_counts
    assert sv.advise(bags, k=2, m=2).promise.model == "km-anonymity"


@pytest.mark.parametrize("keep", USES)
def test_the_best_trial_is_the_one_with_the_least_loss_and_its_loss_is_measured(keep):
    found = sv.advise(DATA, keep=keep, k=3, hierarchy=TREE)
    losses = [trial.loss for trial in found.trials if trial.loss is not None]
    assert found.best.loss * (1 - CLEARLY) <= min(losses)
    best = found.best.way
    release = best.method.anonymize(DATA, best.promise, TREE)
    assert sv.measure(release, DATA, USES[keep].measure)[USES[keep].measure] == found.best.loss


def test_the_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sv.write(DATA, "baskets.csv")
    for words in (
        {},
        {"fear": "everything", "k": 3},
        {"fear": "links", "private": ["rum"], "h": 0.9},
    ):
        command = sv.advise("baskets.csv", **words).command
        assert answer([*shlex.split(command)[1:], "--force"]) == 0
        assert sv.verify("release", "baskets.csv").holds


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"keep": "beauty"}, "choose one of items"),
        ({"fear": "spiders"}, "choose one of everything"),
        ({"fear": "links", "private": ["vodka"]}, "vodka"),
        ({"k": 1}, "k = 1"),
        ({"fear": "everything", "m": 2}, "m"),
        ({"beauty": 1}, "no such parameter"),
    ],
)
def test_what_makes_no_sense_is_refused(words, text):
    with pytest.raises(sv.SetveilError, match=text):
        sv.advise(DATA, **words)


def test_if_nothing_can_be_promised_the_reason_is_given():
    with pytest.raises(sv.SetveilError, match="only 30 records"):
        sv.advise(DATA, k=31)


def test_numbers_that_are_not_given_are_named():
    assert set(sv.advise(DATA).usual) == {"k", "m"}
    assert set(sv.advise(DATA, k=2).usual) == {"m"}
    assert job_from(DATA, {"fear": "everything"}).promise == sv.KAnonymity(k=5)


def test_only_ways_that_are_still_good_are_tried_on_more_records(monkeypatch):
    monkeypatch.setattr(searching, "ROUNDS", (10, 20))
    ways = ways_for(sv.KmAnonymity(k=2, m=2), has_tree=True)
    losses = {way.method.name: loss for loss, way in enumerate(ways, 1)}
    seen = []

    def judge(release, data):
        seen.append((release.method["name"], len(data)))
        return losses[release.method["name"]]

    found = Search(data=DATA, tree=TREE, judge=judge).rounds(ways)
    assert [name for name, size in seen if size == 20] == [ways[0].method.name, ways[1].method.name]
    assert found[0].way is ways[0]
    assert found[0].records == 20
    assert len(found) == len(ways)


def test_a_method_that_is_second_with_its_defaults_is_tuned_too(monkeypatch):
    """With its defaults SSC loses as much as Partition; with other parameters it loses less."""
    words = [f"w{number}" for number in range(8)]
    bags = sv.Bags.of([{words[i % 8]: 2, words[(i * 3 + 1) % 8]: 1} for i in range(40)])
    found = sv.advise(bags, k=4, keep="associations", hierarchy="balanced:2")
    tried = {trial.way.method.name for trial in found.trials if trial.way.method != sv.SSC()}
    assert {"partition", "ssc"} == tried
    assert {t.way.method.typical for t in found.trials if t.way.method.name == "ssc"} == {
        "majority",
        "mixed",
        "slots",
        "generalized",
    }


def test_samples_are_the_same_for_the_same_seed():
    first, second = sample_of(DATA, 10, 3), sample_of(DATA, 10, 3)
    assert list(first) == list(second)
    assert len(first) == 10
    assert sample_of(DATA, 30) is DATA


WAY = Way(method=sv.Disassociation(), promise=sv.KmAnonymity(k=2, m=2))


def searching_for(loss, data=DATA):
    """A search that judges a release of so many records by its method alone."""

    def judge(release, records):
        return loss(release.method, len(records))

    return Search(data=data, tree=None, judge=judge)


def test_all_combinations_are_tuned_but_what_was_given():
    search = Search(data=DATA, tree=None, judge=judge_of(USES["associations"]))
    found = search.tune(WAY)
    assert [trial.loss for trial in found] == sorted(trial.loss for trial in found)
    values = [(t.way.method.arrangement, t.way.method.share_lost) for t in found]
    assert len(values) == len(set(values)) == 17
    kept = search.tune(WAY, {"arrangement"})
    assert {trial.way.method.arrangement for trial in kept} == {"search"}


def test_a_setting_that_only_wins_on_a_sample_is_not_chosen(monkeypatch):
    """On 20 records small clusters lose least, on all 30 the default does."""
    monkeypatch.setattr(searching, "ROUNDS", (10, 20))

    def loss(method, records):
        small = method.get("arrangement") == "small"
        return 0.2 if small == (records < 30) else 0.25

    search = searching_for(loss)
    tuned = search.tune(WAY)
    assert tuned[0].way.method.arrangement == "small"
    found = search.final(tuned, [WAY])
    assert found[0].way == WAY
    assert found[0].records == 30
    assert len(found) == len(tuned)
    assert sum(trial.records == 30 for trial in found) <= searching.FINALISTS + 1


def test_the_defaults_are_in_the_final_however_they_did_on_a_sample(monkeypatch):
    monkeypatch.setattr(searching, "ROUNDS", (10, 20))

    def loss(method, records):
        usual = method.get("arrangement") == "search" and not method.get("share_lost")
        return {True: 0.9 if records < 30 else 0.1, False: 0.3}[usual]

    search = searching_for(loss)
    assert search.final(search.tune(WAY), [WAY])[0].way == WAY


@pytest.mark.parametrize(("other", "chosen"), [(0.99, "search"), (0.97, 100)])
def test_other_parameters_must_be_clearly_better_than_the_usual_ones(other, chosen):
    def loss(method, records):
        return other if method.get("arrangement") == 100 else 1.0

    search = searching_for(loss)
    assert search.final(search.tune(WAY), [WAY])[0].way.method.arrangement == chosen


def test_the_final_has_no_more_occurrences_than_is_affordable(monkeypatch):
    monkeypatch.setattr(searching, "ROUNDS", (5, 10))
    monkeypatch.setattr(searching, "AFFORDABLE", DATA.occurrences // 2)
    search = searching_for(lambda method, records: 0.5)
    assert search.final(search.tune(WAY), [WAY])[0].records == 15
    monkeypatch.setattr(searching, "AFFORDABLE", 1)
    search = searching_for(lambda method, records: 0.5)
    assert search.final(search.tune(WAY), [WAY])[0].records == 10


@pytest.mark.parametrize(
    ("records", "sizes"), [(30, [30]), (5_000, [5_000]), (20_522, [4_000, 20_522])]
)
def test_a_round_uses_all_records_if_there_are_not_many_more(records, sizes):
    data = sv.Transactions.of([["a"]] * records)
    search = Search(data=data, tree=None, judge=judge_of(USES["items"]))
    assert search._sizes([WAY]) == sizes


def test_anonymize_tunes_and_says_what_it_has_changed():
    done = sv.anonymize(DATA, k=2, m=2, method="disassociation", tune="associations", seed=0)
    assert done.verdict.holds
    assert any(note.startswith("Tuned for associations") for note in done.notes)
    plain = sv.anonymize(DATA, k=2, m=2, method="disassociation", seed=0)
    names = ["pair_error"]
    assert (
        sv.measure(done.release, DATA, names)["pair_error"]
        <= sv.measure(plain.release, DATA, names)["pair_error"]
    )
    none = sv.anonymize(DATA, k=2, hierarchy=TREE, tune="counts")
    assert any("no parameters to tune" in note for note in none.notes)
    with pytest.raises(ParameterError, match="choose one of items"):
        sv.anonymize(DATA, k=2, m=2, tune="beauty")


def test_every_value_that_is_tuned_is_allowed_by_its_method():
    from dataclasses import replace

    for kind in sv.METHODS.values():
        for name, values in kind.tunes.items():
            assert getattr(kind(), name) in values
            for value in values:
                assert getattr(replace(kind(), **{name: value}), name) == value


def test_the_command_reads_the_data_as_the_advice_did(tmp_path):
    lines = ["Sales of May", "", "order,product", *(f"{n % 20},{n % 7}" for n in range(80))]
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = sv.advise(path, k=2, m=1, record="order", item="product")
    assert found.command.endswith("--record order --item product")
    assert any("2 rows above" in str(note) for note in found.notes)


def test_trials_of_private_methods_are_means_of_draws_and_need_no_list_of_items():
    from setveil.pipeline.trials import DRAWS, Way, try_way
    from setveil.report.advice import report_advice

    losses = iter([0.9, 0.1, 0.8, 0.2, 0.5])
    data = sv.Transactions.of([["a", "b"], ["b", "c"]] * 9)
    way = Way(method=sv.Frequent(), promise=sv.DifferentialPrivacy(epsilon=2))
    assert try_way(way, data, None, lambda release, sample: next(losses)).loss == 0.5
    assert next(losses, None) is None
    found = sv.advise(data, promise="differential-privacy", epsilon=2)
    report = "\n".join(section.text for section in report_advice(found).sections)
    assert f"the mean of {DRAWS} draws of the noise" in report
    assert "not covered by epsilon" in report


@pytest.mark.parametrize(
    ("promise", "expected"),
    [
        (sv.KAnonymity(k=5), "a smaller k"),
        (sv.KmAnonymity(k=5, m=2), "a smaller k or fewer known items (m)"),
        (sv.DifferentialPrivacy(epsilon=1), "a larger epsilon"),
    ],
)
def test_advice_names_only_what_the_promise_has(promise, expected):
    assert promise.easing == expected

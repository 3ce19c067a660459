"""Releases that follow another one: what both differ in keeps the promise, or it is refused."""

from __future__ import annotations

import random

import pytest

import setveil as sv
from setveil import Coherence, Hierarchy, KmAnonymity, anonymize, verify
from setveil.audit.series import check_after
from setveil.errors import DataError, InfeasibleError, ParameterError
from setveil.pipeline.apply import AfterJob, _made, apply
from setveil.pipeline.registering.booking import Book
from setveil.pipeline.stages import Stages
from setveil.published.rows import relabeled
from tests.oracle.series import faults, rare
from tests.proofs import proof

PATHS = [("a", "G", "ALL"), ("b", "G", "ALL"), ("c", "H", "ALL"), ("d", "H", "ALL"), ("e", "ALL")]
TREE = Hierarchy.from_paths(PATHS)
ABOVE = {"a": "G", "b": "G", "c": "H", "d": "H", "e": "ALL", "G": "ALL", "H": "ALL"}
METHODS = (sv.Apriori, sv.HgHs, sv.MHgHs, sv.Suppression)
BASE = [["a", "c"], ["b", "d"], ["e"]] * 5


def rows_of(release):
    pairs = zip(release.classes, release.sizes.tolist(), strict=True)
    return [record for record, size in pairs for _ in range(size)]


def random_records(rng, size):
    return [rng.sample("abcde", rng.randint(0, 3)) for _ in range(size)]


def random_pair(rng):
    """A data set, and what became of it: people left, joined or changed, or all are others."""
    first = random_records(rng, rng.randint(4, 24))
    if rng.random() < 0.15:
        return first, random_records(rng, rng.randint(4, 24))
    second = [record for record in first if rng.random() < rng.choice([1, 0.95, 0.7])]
    joined = random_records(rng, rng.choice([0, 1, 1, 3, 8]))
    copies = rng.choice([1, 1, 3, 4])
    return first, second + [record for record in joined for _ in range(copies)]


def made_after(first, data):
    job = AfterJob(release=first, data=data, unknown="drop")
    return _made(job, Stages(None), Book(job)).release


@proof(20_000, quick=60)
def test_a_release_after_another_keeps_the_promise_in_both_differences(seeds):
    for seed in seeds:
        rng = random.Random(seed)
        data, later = random_pair(rng)
        k, m, method = rng.choice([2, 3]), rng.choice([1, 2]), rng.choice(METHODS)()
        tree = None if isinstance(method, sv.Suppression) else TREE
        if len(data) < k or len(later) < k:
            continue
        first = method.anonymize(data, KmAnonymity(k=k, m=m), tree)
        second = made_after(first, later)
        shown = rows_of(first), rows_of(second)
        assert faults(*shown, ABOVE, k, m) == [], seed
        assert rare(list(map(frozenset, shown[1])), k, m) == [], seed
        assert all(check.holds for check in check_after(second, first)), seed
        plain = apply(first, later, unknown="drop").release if seed % 40 == 0 else first
        planted = plain.like(added(plain, rng))
        wrong = faults(shown[0], rows_of(planted), ABOVE, k, m)
        assert all(check.holds for check in check_after(planted, first)) == (not wrong), seed


def added(release, rng):
    """The rows of a release, with one more or without some."""
    rows = rows_of(release)
    labels = sorted({label for record in rows for label in record})
    rows = rows[rng.choice([0, 0, 0, 1, 3]) :]
    rows += [rng.sample(labels, min(len(labels), rng.randint(0, 2)))] * rng.choice([0, 1, 2, 3])
    data = sv.Transactions.of(rows)
    return relabeled(data, release.items.encode(data.vocabulary.labels), release.items)


def test_one_newcomer_is_in_the_open_and_verify_names_the_record():
    first = anonymize(BASE, k=3, m=2, method="suppression").release
    second = apply(first, [*BASE, ["a", "c"]]).release
    verdict = verify(second, after=first)
    assert not verdict.holds
    failed = next(check for check in verdict.checks if not check.holds)
    assert failed.name == "joined"
    assert failed.witness.count == 1
    assert set(failed.witness.items) <= {"a", "c"}


def test_one_newcomer_is_held_back_and_three_are_published():
    first = anonymize(BASE, k=3, m=2, method="suppression").release
    one = anonymize([*BASE, ["a", "c"]], after=first)
    assert (len(one.release), one.verdict.holds) == (15, True)
    assert "1 record held back" in one.notes[0]
    three = anonymize([*BASE, *[["a", "c"]] * 3], after=first)
    assert len(three.release) == 18
    assert verify(three.release, after=first).holds


def test_the_rule_becomes_coarser_if_too_few_people_left():
    first = anonymize(BASE, k=3, m=2, method="suppression").release
    second = anonymize(BASE[1:], after=first)
    assert second.verdict.holds
    assert set(first.shown) - set(second.release.shown)
    assert "left out everywhere" in " ".join(map(str, second.notes))
    assert faults(rows_of(first), rows_of(second.release), {}, 3, 2) == []


def test_coherence_refuses_what_leaving_out_items_cannot_mend():
    promise = {"k": 3, "p": 1, "h": 0.7, "private": ["e"], "method": "suppression"}
    first = anonymize(BASE, **promise).release
    assert isinstance(first.promise, Coherence)
    assert anonymize([*BASE, ["e"]], after=first).verdict.holds
    with pytest.raises(InfeasibleError, match="of people who left or changed cannot keep"):
        anonymize(BASE[1:], after=first)


def test_a_raised_rule_is_accepted_and_a_finer_one_refused():
    promise = KmAnonymity(k=2, m=1)
    fine = sv.Generalized.of([["a"], ["a"], ["b"], ["b"]], TREE, promise, is_global=True)
    coarse = sv.Generalized.of([["G"]] * 4, TREE, promise, is_global=True)
    assert verify(coarse, after=fine).holds
    finer = verify(fine, after=coarse)
    assert [check.name for check in finer.checks if not check.holds] == ["rule"]


def test_files_of_a_series_are_verified_and_the_option_says_what_it_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n},{item}" for n, record in enumerate(BASE) for item in record]
    (tmp_path / "one.csv").write_text("\n".join(["record,item", *rows, ""]))
    (tmp_path / "two.csv").write_text("\n".join(["record,item", *rows, "99,a", "99,c", ""]))
    (tmp_path / "tree.csv").write_text("".join(f"{';'.join(path)}\n" for path in PATHS))
    anonymize("one.csv", output="r1", k=3, m=2, hierarchy="tree.csv", method="apriori")
    anonymize("two.csv", output="r2", after="r1", public_items=False)
    assert verify("r2", after="r1").holds
    with pytest.raises(ParameterError, match="takes promise, method and rule from the release"):
        anonymize("two.csv", output="r3", after="r1", k=5)


def test_forms_without_one_rule_are_refused_with_the_way_to_measure_them():
    first = anonymize(BASE, k=3, m=2, method="disassociation").release
    with pytest.raises(DataError, match=r"has no .*rule|no rule"):
        anonymize(BASE, after=first)
    with pytest.raises(DataError, match=r"no rule that another one could follow.*setveil attack"):
        verify(first, after=first)

"""A release that contains nothing, or promises nothing about private items, is never praised."""

from __future__ import annotations

from importlib.resources import files

import pytest

import setveil as sv
from setveil.pipeline.anonymize import anonymize
from setveil.report import PROMISE_HOLDS
from setveil.report.notebook import html
from setveil.web.tasks import Task
from setveil.web.tasks import anonymize as run_task

EMPTY, UNNAMED = "the release contains nothing", "it promises nothing about private items"
TREE = sv.Hierarchy.from_paths([("a", "A", "ALL"), ("b", "A", "ALL"), ("c", "ALL")])
ALL = sv.KAnonymity(k=2)

NOTHING = {
    "root": sv.Generalized.of([["ALL"], ["ALL"]], TREE, ALL),
    "root or empty": sv.Generalized.of([["ALL"], ["ALL"], [], []], TREE, ALL),
    "suppressed": sv.Suppressed.of([[], []], ALL),
    "bags": sv.TypicalBags.of([[], []], sv.VocabularyKAnonymity(k=2)),
    "clusters": sv.Disassociated.of_clusters(
        [{"size": 2, "chunks": [], "terms": []}], sv.KmAnonymity(k=2, m=1)
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_release_of_empty_records_keeps_its_promise_and_contains_nothing(name):
    verdict = sv.verify(NOTHING[name])
    assert verdict.holds
    assert verdict.mark is None
    assert verdict.to_dict()["gaps"] == [EMPTY]
    assert verdict.text.startswith(f"holds, but {EMPTY}: ")
    assert 'class="yes"' not in html(verdict)


@pytest.mark.parametrize("rows", [[["ALL"], ["ALL"], ["A"], ["A"]], [["c"], ["c"]]])
def test_one_record_that_says_something_is_enough(rows):
    verdict = sv.verify(sv.Generalized.of(rows, TREE, ALL))
    assert (verdict.gaps, verdict.mark) == ((), True)


def test_noisy_counts_without_records_are_something():
    promise = sv.DifferentialPrivacy(epsilon=1.0)
    noisy = sv.Frequent().anonymize([["a"]] * 50, promise, domain=["a"])
    assert noisy.supports
    assert EMPTY not in sv.verify(noisy).gaps


def test_a_release_that_fails_is_not_called_empty():
    verdict = sv.verify(sv.Suppressed.of([[]], ALL))
    assert verdict.mark is False
    assert verdict.text.startswith("DOES NOT HOLD: ")


def test_coherence_without_private_items_says_so_in_its_meaning_and_verdict():
    release = sv.Suppressed.of([["a"], ["a"]], sv.Coherence(h=0.8, k=2, p=1))
    assert "nothing is promised about" in release.describe()
    assert "private item" not in release.limits()
    assert sv.verify(release).gaps == (UNNAMED,)
    named = sv.Suppressed.of([["a"], ["a"]], sv.Coherence(h=0.8, k=2, p=1, private=["x"]))
    assert sv.verify(named).gaps == ()


def test_plain_data_without_items_contains_nothing():
    assert sv.verify([[], []], k=2).gaps == (EMPTY,)
    assert sv.verify([["a"], ["a"]], k=2).gaps == ()


def test_every_door_says_that_all_records_are_the_root(call, folder):
    words = ("-k", 6, "--hierarchy", "tree.csv")
    made = call("anonymize", "baskets.csv", "-o", "release", *words, "--report", "page.html")
    assert made.code == 0
    checked = call("verify", "release")
    public = call("report", "release", "-o", "public.html")
    for result in (made, checked, public):
        assert result.code == 0
        assert EMPTY in result.out
        assert "yes  " not in result.out
    assert call("verify", "release", "--json").json["gaps"] == [EMPTY]
    for page in ("page.html", "public.html"):
        text = (folder / page).read_text(encoding="utf-8")
        assert f'<p class="verdict">The promise holds, but {EMPTY}' in text
        assert 'class="verdict yes"' not in text


def test_parts_contain_nothing_only_if_none_of_them_contains_anything(call, folder):
    words = ("--engine", "blocks", "--hierarchy", "tree.csv", "--force")
    empty = call("anonymize", "baskets.csv", "-o", "release", "-k", 6, *words)
    full = call("anonymize", "baskets.csv", "-o", "full", "-k", 2, *words)
    assert EMPTY in empty.out
    assert EMPTY not in full.out
    assert EMPTY in call("verify", "release", "--engine", "blocks").out
    assert EMPTY not in call("verify", "full", "--engine", "blocks").out


def test_the_page_shows_it_without_the_colour_of_a_success(folder):
    words = {"data": "baskets.csv", "options": {"k": 6, "hierarchy": "tree.csv"}}
    found = run_task(Task(folder, words, lambda *_: None))
    assert found.verdict.mark is None
    assert EMPTY in found.verdict.titled(*PROMISE_HOLDS)
    template = files("setveil.web").joinpath("templates", "result.html").read_text("utf-8")
    assert 'class="verdict{{ " yes" if found.verdict.mark else "" }}"' in template


def test_a_useful_release_is_still_praised():
    outcome = anonymize([["a"], ["a"], ["b"], ["b"]], k=2, hierarchy=TREE)
    assert outcome.verdict.mark is True
    assert outcome.verdict.text.startswith("holds: ")

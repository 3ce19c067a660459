"""The public statement of what can be counted: true, the same on every engine, and verified."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.errors import InfeasibleError, ReleaseError
from setveil.io.releases.folder import ReleaseParts
from setveil.published.countable import Countable, Counting, Spread, counted_one_by_one
from tests.strategies import data_with_tree

PATHS = [("a", "ab", "all"), ("b", "ab", "all"), ("c", "cd", "all"), ("d", "cd", "all")]
KM, K = sv.KmAnonymity(k=2, m=2), sv.KAnonymity(k=2)
BAGS = sv.VocabularyKAnonymity(k=2)
METHODS = {
    "disassociation": (sv.Disassociation(), KM),
    "partition": (sv.Partition(), K),
    "apriori": (sv.Apriori(), KM),
    "mhghs": (sv.MHgHs(), KM),
    "suppression": (sv.Suppression(), KM),
    **{f"ssc {each}": (sv.SSC(typical=each), BAGS) for each in ("majority", "mixed", "slots")},
    "ssc generalized": (sv.SSC(typical="generalized"), BAGS),
    "ssc paper": (sv.SSC(variant="paper"), BAGS),
}


@pytest.mark.parametrize("name", METHODS)
@given(pair=data_with_tree())
@settings(max_examples=25, deadline=None)
def test_the_bounds_of_all_labels_at_once_are_those_of_each_support(name, pair):
    """A group with a single member may be known a little better than the statement says."""
    (method, promise), (data, tree) = METHODS[name], pair
    records = sv.Bags.of(data) if name.startswith("ssc") else sv.Transactions.of(data)
    try:
        release = method.anonymize(
            records, promise, None if promise is KM and not method.needs_hierarchy else tree
        )
    except InfeasibleError:
        return
    found = release.counting()
    lower, upper = found.bounds()
    labels = [label for label, n in zip(found.labels, found.shown, strict=True) if n]
    assert {*labels} == {*release.shown} or name == "ssc slots"
    slow = counted_one_by_one(release)
    ends = zip(slow.lower.tolist(), slow.upper.tolist(), strict=True)
    wanted, chains = dict(zip(slow.labels, ends, strict=True)), has_chains(release.tree)
    for label, least, most in zip(labels, lower.tolist(), upper.tolist(), strict=True):
        low, high = wanted[label]
        assert most == high, label
        assert least == low or (chains and least < low), label


def has_chains(tree: sv.Hierarchy | None) -> bool:
    """Whether a group of the tree has a single member."""
    inner = np.flatnonzero(tree.parent >= 0) if tree is not None else []
    return any(tree.widths[node] == tree.widths[tree.parent[node]] for node in inner)


def test_the_statement_counts_what_is_known_how_exactly():
    rows = [["a", "b"], ["a", "b"], ["a"], ["cd"], ["cd"], ["all"]]
    release = sv.Generalized.of(rows, sv.Hierarchy.from_paths(PATHS), K)
    found = Countable.of(release)  # the last may be anything, and so may the two that are c or d
    bounds = {"a": (3, 4), "b": (2, 3), "cd": (2, 3), "all": (6, 6)}
    assert found.frequent == ("a", "b", "cd", "all")
    width = sum((high - low) / high for low, high in bounds.values()) / 4
    assert found.labels == Spread(counted=4, exact=1, near=1, width=round(width, 4))
    assert found.pairs.counted == len(list(combinations("abc", 2)))  # nothing with `all`
    assert (
        found.sentences[0]
        == "4 items or groups can be counted, 1 exactly, 1 within 10 % or better."
    )


def test_parts_add_up_to_the_statement_of_the_whole():
    tree = sv.Hierarchy.from_paths(PATHS)
    first = sv.Generalized.of([["a"], ["a"], ["all"], ["all"]], tree, K)
    second = sv.Generalized.of([["ab"], ["ab"], ["c"], ["c"], [], []], tree, K)
    rows = [*first.records(0), *second.records(0)]
    whole = sv.Generalized.of(rows, tree, K).counting()
    parts = first.counting() + second.counting()
    assert bounds_of(parts) == bounds_of(whole)
    assert bounds_of(whole)["a"] == (2, 8)


def bounds_of(found: Counting) -> dict[str, tuple[int, int]]:
    labels = [label for label, n in zip(found.labels, found.shown, strict=True) if n]
    ends = zip(*(each.tolist() for each in found.bounds()), strict=True)
    return dict(zip(labels, ends, strict=True))


WORDS = [[f"w{(row * 7 + at * at) % 23}" for at in range(1 + row % 4)] for row in range(200)]


@pytest.mark.parametrize("method", ["disassociation", "partition"])
def test_every_engine_states_the_same_and_verify_repeats_it(tmp_path, method):
    how = {"k": 4, "method": method, "seed": 1}
    how |= {"m": 2, "max_part": 60} if method == "disassociation" else {"hierarchy": "balanced:3"}
    done = {}
    for engine in ("local", "blocks"):
        done[engine] = sv.anonymize(WORDS, output=tmp_path / engine, engine=engine, **how)
        stated = json.loads((tmp_path / engine / "release.json").read_text())["countable"]
        assert stated == done[engine].countable.to_dict()
        for where in ("local", "blocks"):
            verdict = sv.verify(tmp_path / engine, engine=where)
            assert verdict.holds
            assert verdict.checks[-1].name == "countable"
    assert sv.read_release(tmp_path / "local") == sv.read_release(tmp_path / "blocks")
    assert done["local"].countable == done["blocks"].countable
    assert method == "partition" or len(ReleaseParts(tmp_path / "blocks")) > 1


@pytest.mark.parametrize("engine", ["local", "blocks"])
@pytest.mark.parametrize("key", ["labels", "pairs", "frequent"])
def test_a_false_statement_is_refused_and_an_older_release_needs_none(tmp_path, key, engine):
    sv.anonymize(WORDS, k=4, m=2, max_part=60, output=tmp_path / "r", engine="blocks")
    place = tmp_path / "r" / "release.json"
    about = json.loads(place.read_text())
    stated = about["countable"]
    wrong = (
        stated[key][::-1]
        if key == "frequent"
        else {**stated[key], "exact": stated[key]["exact"] + 1}
    )
    place.write_text(json.dumps({**about, "countable": {**stated, key: wrong}}))
    verdict = sv.verify(tmp_path / "r", engine=engine)
    assert [check.name for check in verdict.failed] == ["countable"]
    assert not verdict.failed[0].private
    del about["countable"]
    place.write_text(json.dumps(about))
    assert [check.name for check in sv.verify(tmp_path / "r").failed] == ["countable"]
    place.write_text(json.dumps({**about, "format": 8}))  # which did not say it yet
    verdict = sv.verify(tmp_path / "r", engine=engine)
    assert verdict.holds
    assert "countable" not in [check.name for check in verdict.checks]


@pytest.mark.parametrize("value", [[], {}, "all", {"labels": 1, "pairs": 2, "frequent": []}, None])
def test_a_statement_of_another_shape_is_not_read(tmp_path, value):
    sv.anonymize(WORDS, k=4, m=2, output=tmp_path / "r")
    place = tmp_path / "r" / "release.json"
    about = json.loads(place.read_text())
    place.write_text(json.dumps({**about, "countable": value}))
    with pytest.raises(ReleaseError, match="countable"):
        sv.read_release(tmp_path / "r")


def test_noisy_counts_say_how_far_off_they_are(tmp_path):
    words = {"epsilon": 5, "public_items": True, "method": "frequent", "output": tmp_path / "r"}
    done = sv.anonymize([["a", "b"]] * 300 + [["a"]] * 200, **words)
    release = done.release
    margins = {1: "items", 2: "pairs"}
    assert done.countable.noise == {
        margins[size]: max(
            math.ceil(one.scale * math.log(20))
            for one in release.supports
            if len(one.items) == size
        )
        for size in {len(one.items) for one in release.supports}
    }
    assert "95 times of 100" in "\n".join(done.countable.sentences)
    assert sv.verify(tmp_path / "r").holds


def test_the_statement_is_shown_to_everybody(tmp_path, capfd, monkeypatch):
    from setveil.cli import answer

    monkeypatch.chdir(tmp_path)
    Path("data.dat").write_text("\n".join(map(" ".join, WORDS)) + "\n")
    assert answer(["anonymize", "data.dat", "-o", "r", "-k", "4", "-m", "2"]) == 0
    made = capfd.readouterr().out
    assert answer(["verify", "r"]) == 0
    checked = capfd.readouterr().out
    assert answer(["report", "r", "-o", "page.html"]) == 0
    page = Path("page.html").read_text()
    for sentence in Countable.of(sv.read_release("r")).sentences:
        assert all(sentence in " ".join(text.split()) for text in (made, checked, page))

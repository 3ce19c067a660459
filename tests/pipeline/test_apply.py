"""Apply: the rule of a release on other data, compared with a plain oracle."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.errors import DataError, OutputError, ParameterError, UnknownItemError
from tests.oracle.applying import applied, keeps_km

TREE = [
    ("beer", "Alcohol", "ALL"),
    ("wine", "Alcohol", "ALL"),
    ("milk", "Soft", "ALL"),
    ("tea", "Soft", "ALL"),
    ("pen", "Other", "ALL"),
]
MAY = [["beer", "milk"], ["wine", "milk"], ["beer", "tea"], ["wine", "tea"], ["milk"], ["milk"]]
PROMISE = sv.KmAnonymity(k=2, m=2)


@pytest.fixture
def may():
    tree = sv.Hierarchy.from_paths(TREE)
    return sv.MHgHs().anonymize(MAY, PROMISE, tree)


def published(release):
    return Counter(
        {
            frozenset(record): int(size)
            for record, size in zip(release.classes, release.sizes, strict=True)
        }
    )


@settings(max_examples=15)
@given(
    st.lists(
        st.lists(st.sampled_from([path[0] for path in TREE] + ["new"]), max_size=4),
        min_size=2,
        max_size=12,
    )
)
def test_the_cut_of_a_release_is_applied_as_the_oracle_does_and_judged_alike(june):
    tree = sv.Hierarchy.from_paths(TREE)
    may = sv.MHgHs().anonymize(MAY, PROMISE, tree)
    outcome = sv.apply(may, june, unknown="drop")
    expected = applied(june, TREE, may.shown)
    assert published(outcome.release) == Counter(map(frozenset, expected))
    assert outcome.verdict.holds == keeps_km(expected, 2, 2)
    repaired = sv.apply(may, june, unknown="drop", suppress=True)
    assert repaired.verdict.holds
    assert repaired.release.shown <= may.shown


def test_the_same_data_gives_the_same_release(may):
    outcome = sv.apply(may, MAY)
    assert outcome.verdict.holds
    assert outcome.release == may


def test_what_does_not_hold_is_counted_and_shown(may, tmp_path):
    june = [["beer"], ["wine"], ["milk", "beer"], ["milk"]]
    outcome = sv.apply(may, june, output=tmp_path / "june")
    assert not outcome.verdict.holds
    (failed,) = outcome.verdict.failed
    assert failed.name == "km-anonymity"
    assert "in all" not in failed.text
    assert not any("Each of the two releases keeps" in note for note in outcome.notes)
    assert failed.witness.count == 1
    assert "suppress=True leaves out more items" in outcome.notes[-1]
    assert list(tmp_path.iterdir()) == []


def test_items_that_the_release_does_not_cover_are_refused_by_number(may):
    with pytest.raises(UnknownItemError, match="does not cover 2 items of 4"):
        sv.apply(may, [["pen", "beer", "x"], ["wine", "x"]])
    outcome = sv.apply(may, [["pen", "beer", "x"], ["wine", "x"]], unknown="drop")
    assert outcome.verdict.holds
    assert outcome.notes[0].startswith("2 items of 4 that the release does not cover were left out")


def test_a_written_release_is_compared_with_the_data_it_was_applied_to(may, tmp_path):
    june = [["beer", "x"], ["wine"], ["milk"], ["milk"]]
    sv.write(may, tmp_path / "may")
    outcome = sv.apply(tmp_path / "may", june, unknown="drop", output=tmp_path / "june")
    assert outcome.output == tmp_path / "june"
    assert sv.verify(tmp_path / "june", original=june).holds
    assert not sv.verify(tmp_path / "june", original=MAY).fits_original


def test_a_new_item_gets_its_group_from_a_newer_hierarchy(may):
    newer = sv.Hierarchy.from_paths([*TREE, ("cider", "Alcohol", "ALL")])
    assert "Alcohol" in may.shown
    outcome = sv.apply(may, [["cider"], ["beer"]], hierarchy=newer)
    assert outcome.release.shown == {"Alcohol"}
    moved = sv.Hierarchy.from_paths(
        [("beer", "Soft", "ALL"), ("wine", "Alcohol", "ALL"), *TREE[2:]]
    )
    with pytest.raises(UnknownItemError, match="in other groups than the release: 'beer'"):
        sv.apply(may, MAY, hierarchy=moved)
    lacking = sv.Hierarchy.from_paths([("beer", "Drinks", "ALL"), ("milk", "Drinks", "ALL")])
    with pytest.raises(DataError, match="that the given hierarchy lacks"):
        sv.apply(may, MAY, hierarchy=lacking)


def test_the_items_that_were_suppressed_stay_suppressed():
    visits = [["a", "HIV"], ["a"], ["a", "b"], ["a"], ["a", "c"]]
    first = sv.anonymize(visits, k=2, p=2, h=0.5, private=["HIV"]).release
    assert first.shown == {"a", "HIV"}
    june = [["a", "b"], ["a", "b"], ["a", "HIV"], ["a"]]
    with pytest.raises(UnknownItemError, match="'b'; they were suppressed or are new"):
        sv.apply(first, june)
    outcome = sv.apply(first, june, unknown="drop")
    assert outcome.verdict.holds
    assert outcome.release.shown == {"a", "HIV"}
    breach = sv.apply(first, [["a", "HIV"], ["a", "HIV"], ["a"]])
    assert [check.name for check in breach.verdict.failed] == ["coherence"]


def test_rare_items_are_left_out_as_in_the_first_release():
    tree = [("a", "ALL"), ("b", "ALL"), ("c", "ALL")]
    first = sv.anonymize(
        [["a", "b"], ["a", "b"], ["c"]],
        k=2,
        m=1,
        min_people=2,
        hierarchy=sv.Hierarchy.from_paths(tree),
    )
    outcome = sv.apply(first.release, [["a"], ["a"], ["a", "b"]])
    assert outcome.release.min_people == 2
    assert outcome.release.shown == {"a"}
    less = sv.apply(first.release, [["a"], ["a"], ["a", "new"]], unknown="drop")
    assert less.release.min_people == 2
    assert "1 item that occurs in fewer than 2 records" in outcome.notes[0]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"k": 2, "hierarchy": "balanced:2"}, "generalized differently in different records"),
        ({"k": 2, "m": 2}, "its clusters were formed from its own records"),
        (
            {"k": 2, "method": "ssc", "hierarchy": "balanced:2"},
            "represent groups of its own people",
        ),
    ],
)
def test_a_release_without_one_rule_is_refused_with_the_reason(words, reason):
    release = sv.anonymize(MAY, **words).release
    with pytest.raises(DataError, match=reason):
        sv.apply(release, MAY)


def test_a_release_with_a_part_of_its_tree_needs_the_file_of_all_of_it(tmp_path):
    sv.anonymize(MAY, k=2, m=2, hierarchy="balanced:2", output=tmp_path / "may")
    with pytest.raises(DataError, match="only a part of its tree; give the file of the whole tree"):
        sv.apply(tmp_path / "may", MAY)
    with pytest.raises(ParameterError, match="a balanced tree over other items has other groups"):
        sv.apply(tmp_path / "may", MAY, hierarchy="balanced:2")


def test_wrong_words_are_refused(may, tmp_path):
    with pytest.raises(ParameterError, match="refuse or drop"):
        sv.apply(may, MAY, unknown="keep")
    with pytest.raises(ParameterError, match="did you mean 'unknown'"):
        sv.apply(may, MAY, unknwon="drop")
    with pytest.raises(ParameterError, match="a release or its folder"):
        sv.apply(MAY, MAY)
    with pytest.raises(OutputError, match="a release is a folder"):
        sv.apply(may, MAY, output=tmp_path / "june.csv")

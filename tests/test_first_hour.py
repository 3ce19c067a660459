"""What a new user meets: the method that is chosen, how useful the release is, and rare items."""

from __future__ import annotations

import pytest

import setveil as sv
from setveil.errors import ReleaseError
from setveil.io.releases.folder import ABOUT
from setveil.pipeline.names import chosen_method
from setveil.report.inspection import report_inspection
from setveil.report.outcome import report_outcome

TREE = "balanced:2"
BASKETS = [["beer", "wine"], ["beer", "wine"], ["beer", "tea"], ["beer", "tea"], ["milk"], ["milk"]]
NAMED = [*BASKETS, ["beer", "Ada"], ["beer", "Bob", "wine"]]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"k": 5}, "partition"),
        ({"k": 5, "hierarchy": TREE}, "partition"),
        ({"k": 5, "m": 2}, "disassociation"),
        ({"k": 5, "m": 2, "hierarchy": TREE}, "mhghs"),
        ({"k": 5, "m": "all", "hierarchy": TREE}, "partition"),
        ({"k": 5, "m": 2, "l": 2, "sensitive": ["HIV"]}, "disassociation"),
        ({"k": 5, "m": 2, "l": 2, "sensitive": ["HIV"], "hierarchy": TREE}, "disassociation"),
        ({"k": 5, "p": 2, "h": 0.5, "private": ["HIV"]}, "suppression"),
        ({"k": 5, "m": 2, "max_cluster": 50, "hierarchy": TREE}, "disassociation"),
        ({"k": 5, "epsilon": 4, "hierarchy": TREE}, "ssc"),
        ({"k": 5, "promise": "vocabulary-k-anonymity", "hierarchy": TREE}, "partition"),
    ],
)
def test_the_method_follows_the_promise_the_hierarchy_and_the_options(words, name):
    assert chosen_method(words)[0] == name


def test_the_chosen_method_is_named_with_its_reason():
    outcome = sv.anonymize(BASKETS, k=2, m=2, hierarchy=TREE)
    text = report_outcome(outcome).sections[0].text
    assert "by mhghs" in text
    assert "(chosen: it usually loses least of the methods that generalize" in text
    asked = sv.anonymize(BASKETS, k=2, m=2, hierarchy=TREE, method="mhghs")
    assert "chosen" not in report_outcome(asked).sections[0].text


def test_a_release_that_says_nothing_is_called_so_with_what_to_try():
    baskets = [[f"item {i}"] for i in range(40)]
    outcome = sv.anonymize(baskets, k=30, hierarchy="balanced:40")
    found = outcome.usefulness
    assert (found.silent, found.names, found.items, found.group) == (1.0, 0, 40, 40.0)
    assert found.is_poor
    report = {
        section.title.split(" (")[0]: section.text for section in report_outcome(outcome).sections
    }
    assert "100.0 % of the records say nothing." in report["Of little use"]
    assert "0 of 40 items are published under their own names" in report["Of little use"]
    assert "Try" in report


def test_what_to_try_is_measured_on_a_sample():
    baskets = [[f"a{i % 7}", f"b{i % 11}", f"c{i % 13}"] for i in range(400)]
    outcome = sv.anonymize(baskets, k=40, hierarchy="balanced:31")
    assert outcome.usefulness.is_poor
    assert outcome.advice[0].startswith("-k 40 -m 2 --method disassociation: ")
    assert outcome.advice[0].endswith(" pairs counted in a trial with 400 records")
    assert outcome.advice[-1].startswith("the settings of this run: ")


def test_a_useful_release_gets_no_advice():
    outcome = sv.anonymize([["beer", "wine"]] * 5, k=5, hierarchy=TREE)
    assert outcome.usefulness.top_items == (2, 2)
    assert outcome.usefulness.top_pairs == (1, 1)
    assert (outcome.usefulness.is_poor, outcome.advice) == (False, ())


def test_items_that_few_people_have_are_noted_where_they_are_published():
    outcome = sv.anonymize(NAMED, k=3, m=2)
    notes = " ".join(outcome.notes)
    assert "5 items that fewer than 3 people have are published as they are." not in notes
    assert "that fewer than 3 people have are published as they are" in notes
    assert "--min-people 3" in notes
    assert sv.anonymize(NAMED, k=2, m=2, min_people=2).notes == (
        "2 items that fewer than 2 people have were left out, 13.3 % of all occurrences; "
        "losses do not count them.",
    )


@pytest.mark.parametrize(
    "words",
    [
        {"k": 2, "m": 2},
        {"k": 2, "m": 2, "hierarchy": TREE},
        {"k": 2, "hierarchy": TREE},
        {"k": 2, "p": 1, "h": 1.0, "private": ["milk"]},
        {"k": 2, "method": "ssc", "hierarchy": TREE},
    ],
)
def test_rare_items_are_left_out_of_every_form_and_the_release_still_fits_its_original(
    words, tmp_path
):
    outcome = sv.anonymize(NAMED, min_people=2, output=tmp_path / "r", **words)
    assert outcome.verdict.holds
    written = "".join(path.read_text() for path in (tmp_path / "r").iterdir())
    assert "Ada" not in written
    assert "Bob" not in written
    assert sv.read_release(tmp_path / "r").min_people == 2
    found = sv.verify(tmp_path / "r", original=NAMED)
    assert found.keeps_promise
    assert found.fits_original
    sv.measure(tmp_path / "r", original=NAMED)


def test_a_forged_number_of_people_is_found(tmp_path):
    sv.anonymize(NAMED, k=2, m=2, min_people=2, output=tmp_path / "r")
    about = tmp_path / "r" / ABOUT
    text = about.read_text()
    about.write_text(text.replace('"min_people": 2', '"min_people": 1'))
    assert not sv.verify(tmp_path / "r", original=NAMED).fits_original
    about.write_text(text.replace('"min_people": 2', '"min_people": "2"'))
    with pytest.raises(ReleaseError, match="min_people"):
        sv.read_release(tmp_path / "r")


def test_what_is_said_of_a_release_is_true_of_it(tmp_path):
    def remark(outcome):
        return report_outcome(outcome).sections[-1].facts[0].remark

    plain = sv.anonymize(BASKETS, k=2, hierarchy=TREE, output=tmp_path / "a")
    noted = sv.anonymize(NAMED, k=3, m=2, output=tmp_path / "b")
    assert remark(plain) == "keeps the promise and contains nothing else of the original"
    assert remark(noted) == "keeps the promise; read the notes before you hand it over"


@pytest.mark.parametrize(("most", "noted"), [(1_000, True), (150, False)])
def test_a_record_that_is_far_too_long_for_one_person_is_noted(most, noted):
    data = [["a", "b"]] * 50 + [[f"i{number}" for number in range(most)]]
    titles = [section.title for section in report_inspection(sv.inspect(data, k=2)).sections]
    assert ("Note (private, not part of the release)" in titles) is noted

"""What a new user meets: the method that is chosen, how useful the release is, and rare items."""

from __future__ import annotations

import json

import pytest

import setveil as sv
from setveil.cli.anonymize import anonymize as command
from setveil.cli.complain import as_option
from setveil.errors import OutputError, ParameterError, ReleaseError
from setveil.io.releases.folder import ABOUT
from setveil.kernels import jit
from setveil.metrics.usefulness import Usefulness
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
        ({"k": 5, "m": 2, "arrangement": 50, "hierarchy": TREE}, "disassociation"),
        ({"k": 5, "variant": "paper", "term_epsilon": 4, "hierarchy": TREE}, "ssc"),
        ({"k": 5, "promise": "vocabulary-k-anonymity", "hierarchy": TREE}, "partition"),
    ],
)
def test_the_method_follows_the_promise_the_hierarchy_and_the_options(words, name):
    assert chosen_method(words)[0] == name


def test_the_chosen_method_is_named_with_its_reason():
    outcome = sv.anonymize(BASKETS, k=2, m=2, hierarchy=TREE)
    text = report_outcome(outcome).sections[0].text
    assert (
        "Chosen because it usually loses least of the methods that generalize; choose another"
        in text
    )
    asked = sv.anonymize(BASKETS, k=2, m=2, hierarchy=TREE, method="mhghs")
    assert report_outcome(asked).sections[0].title == "Anonymized: 6 records by mhghs"
    assert report_outcome(asked).sections[0].text == ""


def test_a_release_that_says_nothing_is_called_so_with_what_to_try():
    baskets = [[f"item {i}"] for i in range(40)]
    outcome = sv.anonymize(baskets, k=30, hierarchy="balanced:40")
    found = outcome.usefulness
    assert (found.silent, found.names, found.items, found.group) == (1.0, 0, 40, 40.0)
    assert found.is_poor
    report = {
        section.title.split(" (")[0]: section.text for section in report_outcome(outcome).sections
    }
    assert (
        "100.0 % of the records say nothing: only the root of the hierarchy"
        in report["Of little use"]
    )
    assert "0 of 40 items are published under their own names" in report["Of little use"]
    assert "Try" in report


def test_records_without_items_are_not_explained_by_a_hierarchy_that_is_not_used():
    data = [["a", "b"]] * 8 + [["c"]] * 2
    found = sv.anonymize(data, promise="coherence", k=5, p=1, h=0.9, private=["b"]).usefulness
    assert "20.0 % of the records say nothing: no item is left." in found.sentences


def test_what_to_try_is_measured_on_a_sample():
    baskets = [[f"a{i % 7}", f"b{i % 11}", f"c{i % 13}"] for i in range(400)]
    for kind in (sv.Disassociation, sv.MHgHs):
        kind.warmup()
    outcome = sv.anonymize(baskets, k=40, hierarchy="balanced:31")
    assert outcome.usefulness.is_poor
    assert outcome.advice[0].startswith(
        "k=40 m=2 promise='km-anonymity' method='disassociation' (a weaker promise): "
    )
    assert (
        outcome.advice[0]
        .text(as_option(command))
        .startswith(
            "-k 40 -m 2 --promise km-anonymity --method disassociation (a weaker promise): "
        )
    )
    assert outcome.advice[0].endswith(" pairs are estimated well in a trial with 400 records")
    assert outcome.advice[-1].startswith("the settings of this run: ")


def test_what_to_try_says_nothing_of_pairs_if_there_are_none():
    sv.Disassociation.warmup()
    outcome = sv.anonymize([[f"item {i}"] for i in range(60)], k=30, hierarchy="balanced:60")
    assert "20 of 20 frequent items are estimated well in a trial" in outcome.advice[0]


def test_what_would_have_to_be_compiled_is_named_but_not_tried(monkeypatch):
    def refuse(*arguments):
        raise jit.NotCompiledError

    monkeypatch.setattr("setveil.methods.disassociation.method.Disassociation._anonymize", refuse)
    baskets = [[f"a{i % 7}", f"b{i % 11}", f"c{i % 13}"] for i in range(400)]
    sv.MHgHs.warmup()
    outcome = sv.anonymize(baskets, k=40, hierarchy="balanced:31")
    *_, last, remedy = outcome.advice
    line = last.text(as_option(command))
    assert line.startswith("-k 40 -m 2 --promise km-anonymity --method disassociation (a weaker ")
    assert last.words["method"] == "disassociation"
    assert line.endswith(": not tried, as its first run takes longer")
    assert remedy.startswith("`setveil warmup` compiles everything once")


SEARCHES = [[f"w{i}"] * 3 + [f"w{i * i % 60}", f"w{7 * i * i % 60}"] for i in range(60)]


@pytest.mark.parametrize("method", ["ssc", "partition"])
def test_bags_of_which_little_is_left_are_called_so_with_what_to_try(method):
    words = {"k": 6, "promise": "vocabulary-k-anonymity", "hierarchy": TREE, "method": method}
    outcome = sv.anonymize(sv.Bags.of(SEARCHES), **words)
    found = outcome.usefulness
    assert found.unpublished == outcome.losses["distortion"] > 0.1
    assert found.is_poor
    text = "\n".join(section.text for section in report_outcome(outcome).sections)
    assert f"{100 * found.unpublished:.1f} % of the item occurrences are not published." in text
    assert ("of the published occurrences replace another item." in text) == (method == "ssc")
    tried = [line.split(":")[0] for line in outcome.advice]
    assert tried[-1] == "the settings of this run"
    assert "k=3 (a weaker promise)" in tried
    other = {"ssc": "partition", "partition": "ssc"}[method]
    same = f"k=6 promise='vocabulary-k-anonymity' method='{other}'"
    known = {same, "k=3 (a weaker promise)"}
    assert set(tried[:-1]) <= known
    assert all("of the occurrences lost" in line for line in outcome.advice)


def test_the_algorithm_of_the_paper_may_be_tried_with_a_larger_epsilon():
    words = {"k": 6, "promise": "vocabulary-k-anonymity", "hierarchy": TREE, "method": "ssc"}
    outcome = sv.anonymize(sv.Bags.of(SEARCHES), variant="paper", **words)
    text = "\n".join(section.text for section in report_outcome(outcome).sections)
    assert "items up to 4 steps away in the hierarchy" in text
    further = "term_epsilon=8 (items of less similar meaning may represent each other)"
    assert any(line.startswith(further) for line in outcome.advice)


def test_a_useful_release_gets_no_advice():
    outcome = sv.anonymize([["beer", "wine"]] * 5, k=5, hierarchy=TREE)
    assert outcome.usefulness.top_items == (2, 2)
    assert outcome.usefulness.top_pairs == (1, 1)
    assert (outcome.usefulness.is_poor, outcome.advice) == (False, ())


def test_what_was_measured_with_the_original_is_not_called_countable():
    """The estimates for the t are right, but the release does not show that: they may be in 12
    records."""
    rare = [f"t{number}" for number in range(40)]
    baskets = [["a", *rare], *[["a"]] * 3, *[["b"]] * 4, *[["c"]] * 4]
    outcome = sv.anonymize(
        baskets, k=4, m=2, method="disassociation", arrangement="safe", keep_unique=True
    )
    assert (outcome.countable.labels.counted, outcome.countable.labels.near) == (43, 3)
    said = " ".join(outcome.usefulness.sentences)
    assert "Estimates are within 10 % of the truth for 20 of the 20 most frequent items" in said
    assert "counted" not in said


@pytest.mark.parametrize(("pairs", "warned"), [(6, True), (10, False)])
def test_a_release_whose_items_can_be_estimated_but_not_their_pairs_is_said_to_be_so(pairs, warned):
    counted = {"top_items": (19, 20), "top_pairs": (pairs, 20)}
    found = Usefulness(silent=0.0, group=1.0, names=50, items=50, **counted)
    assert not found.is_poor
    warning = "Single items can be estimated from this release, most pairs cannot."
    assert (warning in found.sentences) == warned


def test_items_that_few_people_have_are_noted_where_they_are_published():
    outcome = sv.anonymize(NAMED, k=3, m=2)
    notes = " ".join(outcome.notes)
    assert "5 items that occur in fewer than 3 records are published as they are." not in notes
    assert "that occur in fewer than 3 records are published as they are" in notes
    assert "min_people=3" in notes
    assert "--min-people 3" in outcome.notes[-1].text(as_option(command))
    assert sv.anonymize(NAMED, k=2, m=2, min_people=2).notes == (
        "2 items that occur in fewer than 2 records were left out, 13.3 % of all occurrences; "
        "losses do not count them.",
        "The safe arrangement was taken: its error of the frequent pairs is expected to be within "
        "10 % of the least. It promises more: an item published with counts, apart from the known "
        "ones, is no likelier than 1/k, or than its share of all records if that is more.",
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


@pytest.mark.parametrize(("most", "noted"), [(1_000, True), (150, False)])
def test_a_record_that_is_far_too_long_for_one_person_is_noted(most, noted):
    data = [["a", "b"]] * 50 + [[f"i{number}" for number in range(most)]]
    report = report_inspection(sv.inspect(data, k=2))
    notes = [section.text for section in report.sections if section.title.startswith("Note")]
    assert any("One record has" in text for text in notes) is noted


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ({"k": 2, "hierarchy": TREE}, "beer, tea"),
        ({"k": 2, "m": 2}, "{beer, tea} in a cluster of 6 records"),
        ({"k": 2, "p": 1, "h": 1.0, "private": ["milk"]}, "beer, tea"),
        ({"k": 2, "method": "ssc", "hierarchy": TREE}, "beer, tea"),
    ],
)
def test_some_records_are_shown_before_and_after_whatever_the_form(words, shown):
    outcome = sv.anonymize(BASKETS, **words)
    assert ("beer", "tea") in {example.original for example in outcome.examples}
    report = report_outcome(outcome, show_examples=True).sections[-1]
    assert report.private
    pairs = [(fact.name, fact.value) for fact in report.facts]
    assert ("original", "beer, tea") in pairs
    assert ("published", shown) in pairs
    assert "Some records" not in report_outcome(outcome).sections[-1].title


def test_what_may_be_shared_says_nothing_of_the_original():
    outcome = sv.anonymize(NAMED, k=2, hierarchy=TREE)
    report = report_outcome(outcome)
    shared = report.part(private=False).sections
    assert [section.title.split(":")[0] for section in shared] == [
        "Anonymized",
        "Promised",
        "Not promised",
        "Verified",
        "What can be counted from it",
        "Nothing was written, because no output was asked for",
    ]
    text = " ".join(f"{each.text} {[fact.remark for fact in each.facts]}" for each in shared)
    assert "original" not in text
    assert {section.private for section in report.sections[len(shared) :]} == {True}


def test_the_folder_says_what_is_promised_and_what_is_not(tmp_path):
    outcome = sv.anonymize(BASKETS, k=2, m=2, output=tmp_path / "r")
    promise = json.loads((tmp_path / "r" / ABOUT).read_text())["promise"]
    assert promise["meaning"] == outcome.release.describe()
    assert promise["not_promised"] == outcome.release.limits()
    assert "may reveal who is in the data" in promise["not_promised"]
    text = (tmp_path / "r" / ABOUT).read_text().replace("may reveal who", "never reveals who")
    (tmp_path / "r" / ABOUT).write_text(text)
    with pytest.raises(ReleaseError, match="no setveil of its version wrote these words"):
        sv.read_release(tmp_path / "r")


def test_misspelled_names_are_answered_with_the_nearest_one(tmp_path):
    with pytest.raises(ParameterError, match="no item of this name; did you mean 'milk'"):
        sv.anonymize(BASKETS, k=2, p=1, h=0.5, private=["mlk"])
    with pytest.raises(ParameterError, match="no item of this name; did you mean 'wine'"):
        sv.anonymize(BASKETS, k=2, m=2, l=2, sensitive=["wnie"])
    tree = sv.Hierarchy.from_paths([("beer", "Alcohol", "*"), ("wine", "Alcohol", "*")])
    with pytest.raises(ParameterError, match="not have this node; did you mean 'Alcohol'"):
        sv.anonymize(
            [["beer"], ["wine"]], k=2, m=2, l=2, sensitive=["under:Alchohol"], hierarchy=tree
        )


@pytest.mark.parametrize("words", [["milk"], ["mi*"], ["under:Soft"], ["{file}"]])
def test_sensitive_items_are_named_as_private_ones_are(words, tmp_path):
    (tmp_path / "list.txt").write_text("milk\n")
    named = [word.format(file=tmp_path / "list.txt") for word in words]
    paths = [("beer", "A", "*"), ("wine", "A", "*"), ("milk", "Soft", "*"), ("tea", "T", "*")]
    baskets = [["beer", "milk"], ["beer"], ["wine", "milk"], ["wine"], ["tea"], ["tea"]] * 2
    how = {"hierarchy": sv.Hierarchy.from_paths(paths), "method": "disassociation"}
    outcome = sv.anonymize(baskets, k=2, m=2, l=2, sensitive=named, **how)
    assert outcome.release.promise.named_items["sensitive"] == {"milk"}


def test_a_file_name_for_a_release_folder_is_refused(tmp_path):
    for suffix, advice in {".jsonl": " with --format jsonl", ".dat.gz": "", ".csv": ""}.items():
        place = tmp_path / f"release{suffix}"
        with pytest.raises(OutputError, match="a release is a folder, and this is a file") as no:
            sv.anonymize(BASKETS, k=2, m=2, output=place)
        said = no.value.text(as_option(command))
        assert said.endswith(f"use --output {tmp_path / 'release'}{advice}")  # one that it can have
    assert list(tmp_path.iterdir()) == []


def test_a_release_of_one_group_is_of_no_use_even_if_all_items_are_equally_rare():
    baskets = [[f"item {i}"] for i in range(40)]
    found = sv.anonymize(baskets, k=30, hierarchy="balanced:40").usefulness
    assert found.top_items == (0, 20)  # the average of the group is right, but says nothing
    kept = sv.anonymize(baskets * 30, k=30, hierarchy="balanced:40").usefulness
    assert kept.top_items == (20, 20)
    assert not kept.is_poor


def test_records_that_become_empty_without_rare_items_are_counted():
    rows = [["a"], ["a"], ["a", "b"], ["rare"], []]
    (note,) = sv.anonymize(rows, k=2, m=1, min_people=2).notes
    assert note == (
        "2 items that occur in fewer than 2 records were left out, 40.0 % of all occurrences; "
        "losses do not count them. This leaves 1 of 5 records empty."
    )


def test_items_below_the_root_are_noted_with_the_remedy():
    rows = [["a", "b"], ["a", "b"], ["a", "new"], ["b"]]
    tree = sv.Hierarchy.from_paths([("a", "G", "ALL"), ("b", "G", "ALL")])
    done = sv.anonymize(rows, k=2, m=1, method="apriori", hierarchy=tree, unknown="root")
    note = next(note for note in done.notes if "not in the hierarchy" in note)
    assert note.text(as_option(command)).endswith("or leave it out with --unknown drop.")

"""Bags and vocabularies on the command line: anonymize, verify, measure and inspect."""

from __future__ import annotations

import json

import pytest

import setveil
from setveil.hierarchy.files import write_hierarchy
from tests.published.groups import ORIGINAL, TREE, publish

MODEL = "vocabulary-k-anonymity"


@pytest.fixture
def place(folder):
    """A folder with the running example, its tree, and a release of it."""
    setveil.write(ORIGINAL, "vocab.csv")
    write_hierarchy(TREE, "goods.csv")
    setveil.write(publish(), "release", seed=1)
    return folder


def test_bags_are_recognized_by_their_column_of_counts(call, place):
    found = call("inspect", "vocab.csv", "--json").json
    assert found["summary"]["occurrences"] == 22
    assert found["summary"]["counts"]["most"] == 2


def test_a_release_of_bags_is_made_verified_and_measured(call, place):
    made = call(
        "anonymize",
        "vocab.csv",
        "-o",
        "R",
        "-k",
        2,
        "--promise",
        MODEL,
        "--semantics",
        "goods.csv",
        "--json",
    )
    assert made.code == 0
    assert made.json["verdict"]["promise"]["model"] == MODEL
    assert {"blm", "recall", "sdist", "term_counts", "distortion"} <= set(made.json["losses"])
    about = json.loads((place / "R" / "release.json").read_text(encoding="utf-8"))
    assert about["promise"]["model"] == MODEL
    assert call("verify", "R", "--original", "vocab.csv").code == 0
    measured = call("measure", "R", "--original", "vocab.csv", "--json").json
    assert measured == made.json["losses"]


def test_what_is_kept_is_shown_apart_from_what_is_lost(call, place):
    out = call("measure", "release", "--original", "vocab.csv", "--hierarchy", "goods.csv").out
    lost, kept = out.split("Kept (private")
    assert {"blm", "sdist", "distortion"} <= set(lost.split())
    assert {"recall", "term_counts"} <= set(kept.split())
    assert (
        "Lost"
        not in call("measure", "release", "--original", "vocab.csv", "--metric", "recall").out
    )


def test_a_release_of_vocabularies_holds(call, place):
    assert call("verify", "release").code == 0
    assert call("verify", "release", "--original", "vocab.csv").code == 0
    assert (
        call("verify", "release", "--original", "vocab.csv", "--semantics", "goods.csv").code == 0
    )
    assert call("verify", "release", "-k", 3, "--promise", MODEL).code == 1


def test_the_alignment_compares_each_record_with_its_own(call, place):
    from setveil.io.releases.alignment import write_alignment

    write_alignment(publish(), ORIGINAL, "private.csv")
    options = ("--original", "vocab.csv", "--alignment", "private.csv", "--hierarchy", "goods.csv")
    held = call("verify", "release", *options)
    assert held.code == 0
    assert "can be paired with one occurrence in each of its" in held.err
    exact = setveil.measure(publish(), ORIGINAL, ["blm"], hierarchy=TREE)["blm"]
    assert call("measure", "release", *options, "--metric", "blm", "--json").json[
        "blm"
    ] == pytest.approx(exact)
    lines = (place / "private.csv").read_text(encoding="utf-8").splitlines()
    (place / "wrong.csv").write_text(
        "\n".join([lines[3], *lines[1:3], lines[0], lines[4]]) + "\n", encoding="utf-8"
    )
    refused = call(
        "verify",
        "release",
        "--original",
        "vocab.csv",
        "--alignment",
        "wrong.csv",
        "--hierarchy",
        "goods.csv",
        "--json",
    )
    assert refused.code == 1
    assert [check["name"] for check in refused.json["checks"] if not check["holds"]] == [
        "containment"
    ]


def test_one_changed_bag_is_refused(call, place):
    data = place / "release" / "data.csv"
    data.write_text(
        data.read_text(encoding="utf-8").replace("Homo-milk,1", "Homo-milk,2", 1), encoding="utf-8"
    )
    assert call("verify", "release").code == 3
    refused = call("verify", "release/data.csv", "-k", 2, "--promise", MODEL)
    assert refused.code == 1
    assert "occurs 1 time, not 2" in refused.err


def test_a_plain_file_of_bags_can_be_asked_for_the_promise(call, place):
    assert call("verify", "vocab.csv", "-k", 2, "--promise", MODEL).code == 1
    assert call("verify", "release/data.csv", "-k", 2, "--promise", MODEL).code == 0


def test_losses_that_need_a_tree_are_left_out_without_one(call, place):
    found = call("measure", "release", "--original", "vocab.csv", "--json").json
    assert set(found) == {"distortion", "recall", "term_counts", "class_sizes"}
    refused = call("measure", "release", "--original", "vocab.csv", "--metric", "blm")
    assert refused.code == 2
    assert "hierarchy" in refused.err


def test_what_is_left_out_without_a_tree_is_said(call, place):
    said = "blm and sdist: give the hierarchy with --hierarchy"
    assert said in " ".join(call("measure", "release", "--original", "vocab.csv").out.split())
    for more in (["--semantics", "goods.csv"], ["--metric", "recall"]):
        assert (
            "Not measured" not in call("measure", "release", "--original", "vocab.csv", *more).out
        )


def test_a_tree_is_for_vocabularies_with_their_original_alone(call, place):
    assert call("verify", "release", "--hierarchy", "goods.csv").code == 2
    call("anonymize", "baskets.csv", "-o", "other", "-k", 2, "--hierarchy", "tree.csv")
    assert call("verify", "other", "--original", "baskets.csv", "--hierarchy", "tree.csv").code == 2

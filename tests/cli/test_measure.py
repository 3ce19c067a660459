"""`setveil measure`: figures for people and for programs."""

from __future__ import annotations

import pytest

import setveil


@pytest.fixture
def release(call, folder):
    assert (
        call("anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "tree.csv").code
        == 0
    )
    return folder / "release"


def test_json_has_the_metrics_at_the_top(call, release):
    result = call("measure", "release", "--original", "baskets.csv", "--metric", "ncp", "--json")
    assert result.code == 0
    assert list(result.json) == ["ncp"]
    assert 0 <= result.json["ncp"] <= 1


def test_without_names_everything_that_applies_is_measured(call, release):
    figures = call("measure", "release", "--original", "baskets.csv", "--json").json
    expected = setveil.measure(setveil.read_release("release"), setveil.read("baskets.csv"))
    assert set(figures) == set(expected)
    assert figures["ncp"] == pytest.approx(expected["ncp"])


def test_the_figures_are_those_of_the_run(call, folder):
    run = call(
        "anonymize", "baskets.csv", "-o", "built", "-k", 2, "--hierarchy", "balanced:2", "--json"
    ).json
    measured = call("measure", "built", "--original", "baskets.csv", "--json").json
    assert measured["ncp"] == pytest.approx(run["losses"]["ncp"])


def test_text_says_that_the_figures_are_private(call, release):
    result = call("measure", "release", "--original", "baskets.csv")
    assert result.code == 0
    assert "private" in result.out
    assert "ncp" in result.out
    assert "%" in result.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["release"], 2, "Missing option '--original'"),
        (
            ["release", "--original", "baskets.csv", "--metric", "beauty"],
            2,
            "'beauty' is not one of",
        ),
        (["release", "--original", "none.csv"], 3, "none.csv"),
        (["none", "--original", "baskets.csv"], 3, "none is not a usable release"),
        (["baskets.csv", "--original", "baskets.csv"], 3, "baskets.csv is not a usable release"),
    ],
)
def test_wrong_input_gets_one_line(call, release, arguments, code, message):
    result = call("measure", *arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_an_original_with_other_records_is_refused(call, release, folder):
    (folder / "other.csv").write_text("customer,product\na,milk\n", encoding="utf-8")
    result = call("measure", "release", "--original", "other.csv")
    assert result.code == 3
    assert result.err.count("\n") == 1


def test_with_the_alignment_the_figures_are_exactly_those_of_the_run(call, folder):
    command = (
        "anonymize",
        "baskets.csv",
        "-o",
        "built",
        "-k",
        3,
        "--hierarchy",
        "balanced:2",
        "--alignment",
        "private.csv",
        "--json",
    )
    run = call(*command).json
    measured = call(
        "measure", "built", "--original", "baskets.csv", "--alignment", "private.csv", "--json"
    ).json
    assert measured == run["losses"]


def test_an_alignment_of_another_release_is_refused(call, release, folder):
    (folder / "private.csv").write_text("kefir\n" * 6, encoding="utf-8")
    result = call("measure", "release", "--original", "baskets.csv", "--alignment", "private.csv")
    assert (result.code, result.out) == (3, "")
    assert "line 1 of private.csv is not a record of the release" in result.err

"""`setveil hierarchy build`, `check` and `show`."""

from __future__ import annotations

import pytest

import setveil


def test_a_balanced_tree_is_built(call, folder):
    result = call("hierarchy", "build", "baskets.csv", "balanced:2", "-o", "built.csv")
    assert result.code == 0
    assert result.out == "built.csv: 4 leaves, 7 nodes, height 2\n"
    assert setveil.Hierarchy.read("built.csv").path("tea") == ("tea", "*2", "*")


def test_without_a_file_the_tree_goes_to_standard_output(call, folder):
    result = call("hierarchy", "build", "baskets.csv", "balanced:2")
    assert result.out.splitlines()[0] == "beer;*1;*"
    assert len(result.out.splitlines()) == 4


def test_a_tree_of_prefixes_is_built(call, folder):
    (folder / "codes.csv").write_text("record,item\n1,A00.1\n1,A00.2\n2,B1\n", encoding="utf-8")
    result = call("hierarchy", "build", "codes.csv", "prefix:1,3")
    assert result.code == 0
    assert "A00.1;A00;A;*" in result.out.splitlines()


def test_a_file_that_is_there_is_kept(call, folder):
    result = call("hierarchy", "build", "baskets.csv", "balanced:2", "-o", "tree.csv")
    assert result.code == 2
    assert "Alcohol" in (folder / "tree.csv").read_text(encoding="utf-8")
    assert (
        call("hierarchy", "build", "baskets.csv", "balanced:2", "-o", "tree.csv", "--force").code
        == 0
    )
    assert "Alcohol" not in (folder / "tree.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "recipe",
    ["balanced:1", "balanced:x", "balanced:2:odd", "prefix:a", "tree.csv", "balanced:2:numeric:3"],
)
def test_a_wrong_recipe_is_refused(call, nothing_new, recipe):
    result = call("hierarchy", "build", "baskets.csv", recipe, "-o", "built.csv")
    assert (result.code, result.out) == (2, "")
    assert recipe in result.err
    nothing_new()


def test_a_good_tree_has_no_errors(call, folder):
    result = call("hierarchy", "check", "tree.csv", "--data", "baskets.csv")
    assert result.code == 0
    assert "0 errors" in result.out


def test_every_fault_is_listed(call, folder):
    (folder / "bad.csv").write_text(
        "beer;Alcohol;ALL\nbeer;Drinks;ALL\nmilk;Other\n", encoding="utf-8"
    )
    result = call("hierarchy", "check", "bad.csv", "--data", "baskets.csv", "--json")
    assert result.code == 3
    assert result.json["usable"] is False
    kinds = {fault["kind"] for fault in result.json["faults"]}
    assert {"two parents", "two roots", "item without a leaf"} <= kinds
    text = call("hierarchy", "check", "bad.csv", "--data", "baskets.csv").out
    assert "'beer' has two parents" in text


def test_an_unusable_tree_names_the_command_that_lists_its_faults(call, folder):
    (folder / "tree.csv").write_text(
        "beer;Alcohol;ALL\nbeer;Drinks;ALL\nmilk;Other\n", encoding="utf-8"
    )
    result = call("anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "tree.csv")
    assert result.code == 3
    assert "`setveil hierarchy check` lists them" in result.err


def test_a_tree_is_shown_with_its_leaves_counted(call, folder):
    result = call("hierarchy", "show", "tree.csv", "--depth", 1)
    assert result.code == 0
    assert "Alcohol  (2 leaves)" in result.out
    assert "beer" not in result.out
    assert "beer" in call("hierarchy", "show", "tree.csv").out


def test_a_part_of_a_tree_is_shown(call, folder):
    result = call("hierarchy", "show", "tree.csv", "--node", "Soft")
    assert "milk" in result.out
    assert "beer" not in result.out
    missing = call("hierarchy", "show", "tree.csv", "--node", "Meat")
    assert missing.code == 3
    assert "'Meat'" in missing.err


def test_a_tree_over_data_is_shown_as_json(call, folder):
    shown = call(
        "hierarchy", "show", "balanced:2", "--data", "baskets.csv", "--depth", 1, "--json"
    ).json
    assert (shown["leaves"], shown["height"]) == (4, 2)
    assert [child["leaves"] for child in shown["tree"]["children"]] == [2, 2]


def test_a_tree_that_is_built_needs_data(call, folder):
    result = call("hierarchy", "show", "balanced:2")
    assert result.code == 2
    assert "name one with --data" in result.err


AMBIGUOUS = "beer,Alcohol\nwine,Alcohol\nAlcohol,ALL\nmilk,ALL\ntea,ALL\n"


def test_the_layout_of_a_file_may_be_said(call, folder):
    (folder / "pairs.csv").write_text(AMBIGUOUS, encoding="utf-8")
    told = call("hierarchy", "show", "pairs.csv", "--layout", "pairs", "--json")
    assert told.json["leaves"] == 4
    assert (
        call("hierarchy", "check", "pairs.csv", "--layout", "pairs", "--data", "baskets.csv").code
        == 0
    )
    assert call("hierarchy", "check", "pairs.csv", "--layout", "paths").code == 3
    command = ("anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "pairs.csv")
    assert call(*command, "--layout", "paths").code == 3
    assert call(*command, "--layout", "pairs").code == 0


def test_a_layout_without_a_file_is_refused(call, folder):
    result = call("hierarchy", "show", "balanced:5", "--data", "baskets.csv", "--layout", "pairs")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err == "setveil: --layout pairs is not allowed: only a hierarchy file has a layout\n"
    )

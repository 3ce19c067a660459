"""`setveil hierarchy build`, `check` and `show`."""

from __future__ import annotations

import pytest

import setveil


def test_a_balanced_tree_is_built(call, folder):
    result = call("hierarchy", "build", "baskets.csv", "balanced:2", "-o", "built.csv")
    assert result.code == 0
    assert result.out == "built.csv: 4 leaves, 7 nodes, height 2\n"
    assert setveil.Hierarchy.read("built.csv").path("tea") == ("tea", "tea..wine", "*")
    assert result.err.startswith("setveil: The groups of this tree mean little")


def test_without_a_file_the_tree_goes_to_standard_output(call, folder):
    result = call("hierarchy", "build", "baskets.csv", "balanced:2")
    assert result.out.splitlines()[0] == "beer;beer..milk;*"
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


def test_a_tree_of_positions_is_shown_with_the_range_of_each_group(call, folder):
    result = call("hierarchy", "show", "balanced:2", "--data", "baskets.csv", "--depth", 1)
    assert "*1  (2 leaves: beer..milk)" in result.out
    assert "mean little" in result.out


ICD9 = ["25000", "25001", "4019", "V5861", "E8490", "0389"]


@pytest.mark.parametrize(
    ("codes", "line", "said"),
    [
        (["E119", "E1121", "I10", "Z3A01"], "E1121;E112;E11;E;*", "look like ICD-10 codes"),
        (ICD9, "25000;2500;250;240-279;*", "look like ICD-9-CM codes"),
        (["A10BA02", "A10BB01", "C07AB02"], "A10BA02;A10BA;A10B;A10;A;*", "look like ATC codes"),
        (["1000", "2345", "9999", "31"], "1000;*", "The tree is flat: 4 of 4 codes share no"),
    ],
)
def test_codes_without_dots_get_the_groups_of_their_kind_or_a_warning(
    call, folder, codes, line, said
):
    rows = "".join(f"{number},{code}\n" for number, code in enumerate(codes))
    (folder / "codes.csv").write_text("record,item\n" + rows, encoding="utf-8")
    result = call("hierarchy", "build", "codes.csv", "prefix")
    assert line in result.out.splitlines()
    assert said in result.err
    assert said in call("hierarchy", "show", "prefix", "--data", "codes.csv").out


REPEATED = "item;group;area\nbeer;OTHER;A\nwine;OTHER;A\nmilk;OTHER;B\n"


def test_repeated_labels_and_missing_items_are_dealt_with_by_options(call, folder):
    (folder / "levels.csv").write_text(REPEATED, encoding="utf-8")
    result = call("hierarchy", "check", "levels.csv", "--data", "baskets.csv")
    assert result.code == 3
    assert "--qualify names such groups with their parent, as in 'A/OTHER'" in result.out
    more = ("--qualify", "--unknown", "root")
    result = call("hierarchy", "check", "levels.csv", "--data", "baskets.csv", *more)
    assert (result.code, "levels: item < group < area" in result.out) == (0, True)
    assert "1 item is not in the hierarchy: 'tea': placed below the root" in result.out
    job = ("anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "levels.csv")
    failed = call(*job)
    assert (failed.code, "--qualify" in failed.err) == (3, True)
    failed = call(*job, "--qualify")
    assert (failed.code, "--unknown root" in failed.err) == (3, True)
    done = call(*job, *more, "--save-job", "job.toml")
    assert done.code == 0
    assert "1 item is not in the hierarchy" in done.err
    assert call("verify", "release", "--original", "baskets.csv").code == 0
    assert call("run", "job.toml", "-o", "again").code == 0


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

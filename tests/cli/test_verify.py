"""`setveil verify`: the answer, the witness and the exit code."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def release(call, folder):
    assert (
        call(
            "anonymize",
            "baskets.csv",
            "-o",
            "release",
            "-k",
            2,
            "--hierarchy",
            "tree.csv",
            "--seed",
            1,
        ).code
        == 0
    )
    return folder / "release"


def test_a_release_holds_what_it_carries(call, release):
    result = call("verify", "release")
    assert result.code == 0
    assert "Verified: k-anonymity (k = 2)" in result.out
    assert result.err == ""


def test_a_wrong_original_is_not_a_broken_promise(call, release, folder):
    (folder / "other.csv").write_text("record,item\n1,absinthe\n2,absinthe\n", encoding="utf-8")
    result = call("verify", "release", "--original", "other.csv")
    assert result.code == 1
    assert result.out.startswith("yes  Verified: k-anonymity (k = 2)")
    assert "NO   Does not come from this original (private" in result.err


def test_with_the_original_containment_is_checked_too(call, release):
    result = call("verify", "release", "--original", "baskets.csv", "--json")
    assert result.code == 0
    assert {check["name"] for check in result.json["checks"]} >= {
        "k-anonymity",
        "records",
        "containment",
    }
    assert result.json["holds"] is True


@pytest.mark.parametrize("recipe", ["balanced:2", "prefix", "balanced:2:frequency"])
def test_a_pruned_tree_is_built_again_from_the_original(call, folder, recipe):
    assert call("anonymize", "baskets.csv", "-o", "built", "-k", 3, "--hierarchy", recipe).code == 0
    result = call("verify", "built", "--original", "baskets.csv")
    assert result.code == 0, result.out


def test_a_release_can_be_held_to_another_promise(call, release):
    result = call("verify", "release", "-k", 4)
    assert result.code == 1
    assert "Does not hold: k-anonymity (k = 4)" in result.out
    assert "witness" in result.out


def test_another_original_is_noticed(call, release, folder):
    (folder / "other.csv").write_text(
        "customer,product\n" + "".join(f"{c},milk\n" for c in "abcdef"), encoding="utf-8"
    )
    result = call("verify", "release", "--original", "other.csv")
    assert result.code == 1
    assert "containment" in result.err


def test_a_plain_file_needs_a_promise(call, folder):
    result = call("verify", "baskets.csv")
    assert (result.code, result.out) == (2, "")
    assert (
        "baskets.csv is a data file without a promise: say what to check, such as -k 10"
        in result.err
    )


def test_a_plain_file_that_does_not_hold_gives_a_witness(call, folder):
    result = call("verify", "baskets.csv", "-k", 2, "--json")
    assert result.code == 1
    witness = result.json["checks"][0]["witnesses"][0]
    assert sorted(witness["items"]) in (["beer", "tea"], ["tea", "wine"])
    assert witness["count"] == 1


def numbered(folder, header="record,item", extra=""):
    rows = ["1,a", "1,b", "2,a", "2,b", "3,a", "4,a"]
    text = "".join(f"{row}{extra}\n" for row in rows)
    (folder / "plain.csv").write_text(f"{header}\n{text}", encoding="utf-8")


def test_a_plain_file_may_hold(call, folder):
    numbered(folder)
    result = call("verify", "plain.csv", "-k", 2, "-m", 2)
    assert result.code == 0
    assert "the file has no columns besides records and items" in result.out


def test_a_column_that_identifies_people_is_a_fault(call, folder):
    result = call("verify", "baskets.csv", "-k", 2, "-m", 1)
    assert result.code == 1
    assert "the column customer identifies 6 records" in result.err


def test_a_time_that_was_left_in_a_column_is_a_fault(call, folder):
    numbered(folder, "record,item,time", ",2024-05-01 10:00:00")
    result = call("verify", "plain.csv", "-k", 2, "-m", 2, "--json")
    assert result.code == 1
    columns = result.json["checks"][-1]
    assert (columns["name"], columns["holds"]) == ("columns", False)
    assert [each["items"] for each in columns["witnesses"]] == [["time"]]


def test_a_plain_file_is_compared_with_its_original(call, folder):
    numbered(folder)
    (folder / "before.csv").write_text(
        "record,item\n1,a\n1,b\n2,a\n2,b\n3,a\n4,a\n4,c\n", encoding="utf-8"
    )
    assert call("verify", "plain.csv", "-k", 2, "-m", 2, "--original", "before.csv").code == 0
    with (folder / "before.csv").open("a", encoding="utf-8") as file:
        file.write("5,c\n")
    result = call("verify", "plain.csv", "-k", 2, "-m", 2, "--original", "before.csv")
    assert result.code == 1
    assert "4 records are published for 5 originals" in result.err


def test_violations_are_counted_and_as_many_witnesses_shown_as_asked_for(call, folder):
    options = ("-k", 2, "-m", 2, "--max-witnesses", 3, "--json")
    (folder / "many.dat").write_text("1 2\n1 3\n2 3\n1\n4\n", encoding="utf-8")
    check = call("verify", "many.dat", *options).json["checks"][0]
    assert check["violations"] == {"records": 4, "itemsets": 4}
    assert check["witnesses"][0]["items"] == ["4"]
    assert len(check["witnesses"]) == 3


def test_an_item_that_is_not_in_the_tree_is_a_fault(call, folder):
    (folder / "tree.csv").write_text("a;G;ALL\nb;G;ALL\nc;ALL\n", encoding="utf-8")
    (folder / "nodes.dat").write_text("G c\nG c\nG x\nG x\n", encoding="utf-8")
    options = ("-k", 2, "--hierarchy", "tree.csv")
    result = call("verify", "nodes.dat", *options, "--input-format", "fimi")
    assert result.code == 1
    assert "{x} is not in the hierarchy" in result.err


def test_a_name_that_is_not_there_is_called_so(call, folder):
    result = call("verify", "relase")
    assert (result.code, result.out) == (3, "")
    assert result.err == "setveil: relase is not a usable release: there is no such folder\n"


def test_a_folder_that_is_no_release_is_a_data_error(call, folder):
    (folder / "other").mkdir()
    result = call("verify", "other")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("setveil: other is not a usable release")
    assert result.err.count("\n") == 1


def test_a_changed_data_file_is_noticed(call, release):
    data = release / "data.csv"
    data.write_text(data.read_text(encoding="utf-8").replace("Alcohol", "beer"), encoding="utf-8")
    result = call("verify", "release")
    assert result.code == 3
    assert "data.csv" in result.err


def test_a_missing_file_of_a_release_is_noticed(call, release):
    (release / "data.csv").unlink()
    assert call("verify", "release").code == 3
    shutil.rmtree(release)
    assert call("verify", "release", "-k", 2).code == 3


def test_a_damaged_release_json_is_noticed(call, release):
    (release / "release.json").write_text(json.dumps(["not", "it"]), encoding="utf-8")
    result = call("verify", "release")
    assert result.code == 3
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--promise", "l-diversity", "-k", 2],
            "-k 2 is not allowed: l-diversity does not use it; k-anonymity, km-anonymity, "
            "coherence, columns and vocabulary-k-anonymity do",
        ),
        (
            ["--promise", "l-diversity", "--sensitive", "tea"],
            "-l is missing: l-diversity needs it (hide each sensitive item among at least this",
        ),
        (
            ["-k", 2, "-m", 2, "-l", 3],
            "--sensitive is missing: l-diversity needs it (the sensitive items)",
        ),
        (
            ["-k", 2, "-m", 2, "--sensitive", "tree.csv"],
            "-l is missing: l-diversity needs it (hide each sensitive item among at least this",
        ),
        (
            ["--promise", "k-anonymity", "-k", 2, "-l", 3, "--sensitive", "tree.csv"],
            "-l 3 is not allowed: k-anonymity does not use it; km-anonymity, l-diversity and columns do",
        ),
        (
            ["-k", 2, "-m", 2, "-l", 3, "--sensitive", "tea"],
            "not l-diversity",
        ),
    ],
)
def test_what_a_promise_lacks_is_asked_for(call, folder, arguments, message):
    result = call("verify", "baskets.csv", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.fixture
def aligned(call, folder):
    """A release over a tree that is published in part, with its private alignment."""
    command = (
        "anonymize",
        "baskets.csv",
        "-o",
        "built",
        "-k",
        2,
        "--hierarchy",
        "balanced:2",
        "--alignment",
        "private.csv",
    )
    assert call(*command).code == 0
    return folder / "private.csv"


def test_with_the_alignment_each_record_is_compared_with_its_own_original(call, aligned):
    result = call(
        "verify", "built", "--original", "baskets.csv", "--alignment", "private.csv", "--json"
    )
    assert (result.code, result.err) == (0, "")
    texts = {check["name"]: check["text"] for check in result.json["checks"]}
    assert (
        texts["containment"]
        == "each published record can be paired with one original (by the alignment of the release)"
    )


def test_an_alignment_that_gives_a_record_to_somebody_else_fails(call, aligned):
    lines = aligned.read_text(encoding="utf-8").splitlines()
    assert lines[0] != lines[2]
    lines[0], lines[2] = lines[2], lines[0]
    aligned.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = call(
        "verify", "built", "--original", "baskets.csv", "--alignment", "private.csv", "--json"
    )
    assert result.code == 1
    assert [check["name"] for check in result.json["checks"] if not check["holds"]] == [
        "containment"
    ]
    assert call("verify", "built", "--original", "baskets.csv").code == 0


def test_an_alignment_with_other_records_than_the_release_fails(call, aligned):
    lines = aligned.read_text(encoding="utf-8").splitlines()
    aligned.write_text("\n".join([lines[2], *lines[1:]]) + "\n", encoding="utf-8")
    assert (
        call("verify", "built", "--original", "baskets.csv", "--alignment", "private.csv").code == 1
    )
    aligned.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    assert (
        call("verify", "built", "--original", "baskets.csv", "--alignment", "private.csv").code == 1
    )
    aligned.write_text("\n".join([*lines[:-1], "beer,nonsense"]) + "\n", encoding="utf-8")
    result = call(
        "verify", "built", "--original", "baskets.csv", "--alignment", "private.csv", "--json"
    )
    assert result.code == 1
    failed = [check for check in result.json["checks"] if not check["holds"]]
    assert [(check["name"], check["witnesses"][0]["text"]) for check in failed] == [
        ("alignment", "line 6 of private.csv is not a record of the release")
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["built", "--alignment", "private.csv"],
            2,
            "it links each original to its published record: give a release and its --original",
        ),
        (
            ["built", "--alignment", "none.csv", "--original", "baskets.csv"],
            3,
            "none.csv: there is no such file",
        ),
        (
            ["built", "--alignment", "empty.csv", "--original", "baskets.csv"],
            3,
            "empty.csv: the file is empty; an alignment has a line",
        ),
        (
            ["baskets.csv", "-k", 2, "--alignment", "private.csv", "--original", "baskets.csv"],
            2,
            "give a release and its --original",
        ),
    ],
)
def test_an_alignment_needs_a_release_and_its_original(
    call, aligned, folder, arguments, code, message
):
    (folder / "empty.csv").write_text("", encoding="utf-8")
    result = call("verify", *arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_the_alignment_of_bags_is_read_with_their_counts(call, folder):
    rows = "".join(f"{record},beer,2\n{record},tea,1\n" for record in range(4))
    (folder / "bags.csv").write_text("record,item,count\n" + rows, encoding="utf-8")
    command = (
        "anonymize",
        "bags.csv",
        "-o",
        "release",
        "-k",
        2,
        "--hierarchy",
        "tree.csv",
        "--bags",
        "--alignment",
        "private.csv",
    )
    assert call(*command).code == 0
    result = call(
        "verify", "release", "--original", "bags.csv", "--bags", "--alignment", "private.csv"
    )
    assert result.code == 0, result.out + result.err


def test_an_engine_that_does_not_see_repeats_asks_for_sets_and_not_for_bags(call, folder):
    result = call("verify", "baskets.csv", "-k", 2, "--engine", "blocks")
    assert result.code == 2
    assert "--engine blocks is not allowed" in result.err
    assert "ignore repeats with --sets" in result.err
    assert "--bags" not in result.err


def test_sensitive_items_are_refused_by_name_where_records_are_compared_in_parts(call, folder):
    words = ["-k", 2, "-m", 2, "-l", 2, "--sensitive", "beer", "--engine", "blocks"]
    result = call("anonymize", "baskets.csv", "-o", "r", *words)
    assert result.code == 2
    assert result.err.startswith("setveil: --sensitive")
    assert "--engine local" in result.err

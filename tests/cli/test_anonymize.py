"""`setveil anonymize`: the release it writes, and everything it refuses."""

from __future__ import annotations

import csv
import json
import stat

import pytest

import setveil

GIVEN = ("--hierarchy", "tree.csv")


@pytest.fixture
def released(call, folder):
    assert call("anonymize", "baskets.csv", "-o", "release", "-k", 2, *GIVEN, "--seed", 1).code == 0
    return folder / "release"


def titles(text):
    return [line for line in text.splitlines() if line and not line.startswith(" ")]


def test_a_release_is_written_verified_and_explained(call, folder):
    result = call("anonymize", "baskets.csv", "-o", "release", "-k", 2, *GIVEN)
    assert result.code == 0
    assert titles(result.out) == [
        "Anonymized: 6 records by partition",
        "Promised: k-anonymity (k = 2)",
        "Not promised",
        "yes  Verified: k-anonymity (k = 2)",
        "What can be counted from it",
        "Written",
    ]
    assert titles(result.err) == [
        "yes  Comes from this original: each record generalizes its own (private, not part of the release)",
        "Read (private, not part of the release)",
        "Use (private, not part of the release)",
        "Lost (private, not part of the release)",
    ]
    assert "Each published record is identical to at least 1 other" in result.out
    assert "The release may reveal who is in the data" in result.out
    assert "Verified" in result.out
    assert "private" not in result.out
    assert setveil.verify(setveil.read_release("release"), setveil.read("baskets.csv")).holds


def test_the_folder_holds_data_tree_and_release_json_and_nothing_else(released, folder):
    assert sorted(path.name for path in released.iterdir()) == [
        "data.csv",
        "hierarchy.csv",
        "release.json",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["baskets.csv", "release", "tree.csv"]
    about = json.loads((released / "release.json").read_text(encoding="utf-8"))
    assert about["promise"]["model"] == "k-anonymity"
    assert about["promise"]["k"] == 2
    assert about["verified"] is True
    assert about["records"] == 6


def test_json_is_one_object_and_nothing_else(call, folder):
    result = call("anonymize", "baskets.csv", "-o", "release", "-k", 2, *GIVEN, "--json")
    assert result.code == 0
    assert result.err == ""
    assert result.json["verdict"]["holds"] is True
    assert result.json["release"] == "release"
    assert result.json["data"] == {"records": 6, "items": 4, "occurrences": 12}
    assert 0 <= result.json["losses"]["ncp"] <= 1


def test_json_says_what_is_promised_and_what_is_not(call, folder):
    told = call("anonymize", "baskets.csv", "-o", "release", "-k", 2, *GIVEN, "--json").json
    assert told["verdict"]["promise"]["meaning"].startswith(
        "Each published record is identical to at least 1 other"
    )
    assert told["not_promised"].startswith("An item that all 2 records share is revealed")


def test_all_items_may_be_spelled_as_people_do(call, folder):
    assert call("anonymize", "baskets.csv", "-o", "release", "-k", 2, "-m", "ALL", *GIVEN).code == 0
    wrong = call("anonymize", "baskets.csv", "-o", "other", "-k", 2, "-m", "some", *GIVEN)
    assert (wrong.code, "'some' is not a whole number or all" in wrong.err) == (2, True)


def test_with_m_the_promise_is_km_anonymity(call, folder):
    result = call("anonymize", "baskets.csv", "-o", "release", "-k", 2, "-m", 2, *GIVEN, "--json")
    assert result.json["verdict"]["promise"]["model"] == "km-anonymity"
    assert setveil.read_release("release").promise == setveil.KmAnonymity(k=2, m=2)


def test_a_built_tree_brings_the_hint_about_public_items(call, folder):
    text = call(
        "anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "balanced:2"
    ).out
    assert "--public-items" in text
    text = call(
        "anonymize",
        "baskets.csv",
        "-o",
        "whole",
        "-k",
        2,
        "--hierarchy",
        "balanced:2",
        "--public-items",
    ).out
    assert "--public-items" not in text
    whole = setveil.Hierarchy.read("whole/hierarchy.csv")
    assert whole.leaf_count == 4


@pytest.mark.parametrize("format", ["csv", "dat", "parquet"])
def test_the_data_file_has_the_format_that_was_asked_for(call, folder, format):
    assert (
        call("anonymize", "baskets.csv", "-o", "release", "-k", 2, *GIVEN, "--format", format).code
        == 0
    )
    assert (folder / "release" / f"data.{format}").is_file()
    assert setveil.verify(setveil.read_release("release"), setveil.read("baskets.csv")).holds


def test_the_same_seed_gives_the_same_bytes(call, folder):
    for name in ("one", "two"):
        assert call("anonymize", "baskets.csv", "-o", name, "-k", 2, *GIVEN, "--seed", 7).code == 0
    for file in ("data.csv", "hierarchy.csv", "release.json"):
        assert (folder / "one" / file).read_bytes() == (folder / "two" / file).read_bytes()


def test_the_number_of_threads_does_not_matter(call, folder):
    for threads in (1, 2):
        assert (
            call(
                "anonymize",
                "baskets.csv",
                "-o",
                f"t{threads}",
                "-k",
                2,
                *GIVEN,
                "--seed",
                7,
                "--threads",
                threads,
            ).code
            == 0
        )
    assert (folder / "t1" / "data.csv").read_bytes() == (folder / "t2" / "data.csv").read_bytes()


def test_the_alignment_has_the_published_record_of_each_record(call, folder):
    result = call(
        "anonymize", "baskets.csv", "-o", "release", "-k", 2, *GIVEN, "--alignment", "private.csv"
    )
    assert result.code == 0
    with open("private.csv", encoding="utf-8", newline="") as stream:
        lines = [tuple(line) for line in csv.reader(stream)]
    originals = list(setveil.read("baskets.csv"))
    assert len(lines) == len(originals)
    tree = setveil.Hierarchy.read("tree.csv")
    for published, original in zip(lines, originals, strict=True):
        assert all(set(tree.path(item)) & set(published) for item in original)
    assert sorted(lines) == sorted(setveil.read_release("release").records())
    assert stat.S_IMODE((folder / "private.csv").stat().st_mode) == 0o600


def test_standard_input_is_read(folder):
    import subprocess
    import sys

    command = [
        sys.executable,
        "-m",
        "setveil",
        "anonymize",
        "-",
        "-o",
        "release",
        "-k",
        "2",
        *GIVEN,
        "--json",
    ]
    done = subprocess.run(
        command, input=(folder / "baskets.csv").read_bytes(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["records"] == 6


def test_force_keeps_files_that_are_not_part_of_the_old_release(call, released):
    (released / "stray.txt").write_text("left by somebody", encoding="utf-8")
    result = call("anonymize", "baskets.csv", "-o", "release", "-k", 3, *GIVEN, "--force")
    assert result.code == 2
    assert "the release there also contains 'stray.txt'" in result.err
    assert (released / "stray.txt").exists()


def test_force_replaces_a_release_whole(call, released):
    assert call("anonymize", "baskets.csv", "-o", "release", "-k", 3, *GIVEN, "--force").code == 0
    assert sorted(path.name for path in released.iterdir()) == [
        "data.csv",
        "hierarchy.csv",
        "release.json",
    ]
    assert setveil.read_release(released).promise == setveil.KAnonymity(k=3)


def test_a_file_without_records_is_refused(call, folder):
    (folder / "empty.csv").write_text("record,item\n", encoding="utf-8")
    result = call("anonymize", "empty.csv", "-o", "release", "-k", 2, *GIVEN)
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("setveil: empty.csv: ")
    assert not (folder / "release").exists()


def test_bags_keep_how_often_an_item_occurs(call, folder):
    rows = "".join(f"{record},beer,2\n{record},tea,1\n" for record in range(4))
    (folder / "bags.csv").write_text("record,item,count\n" + rows, encoding="utf-8")
    assert call("anonymize", "bags.csv", "-o", "release", "-k", 2, *GIVEN, "--bags").code == 0
    release = setveil.read_release("release")
    assert isinstance(release.classes, setveil.Bags)
    assert release.classes.counts.tolist() == [2, 1]


WRONG = [
    pytest.param(
        ["baskets.csv", "-k", 7, *GIVEN],
        3,
        "the data has only 6 records: nobody can be hidden among 7",
        id="k above the number of records",
    ),
    pytest.param(
        ["baskets.csv", "-k", 1, *GIVEN],
        2,
        "-k 1 is not allowed: it must be a whole number of 2 or more",
        id="k = 1",
    ),
    pytest.param(
        ["baskets.csv", "-k", "x", *GIVEN], 2, "'x' is not a valid integer", id="k is no number"
    ),
    pytest.param(
        ["baskets.csv", *GIVEN],
        2,
        "say how many records each person is hidden among, such as -k 10",
        id="no k",
    ),
    pytest.param(
        ["baskets.csv", "-m", 2, *GIVEN],
        2,
        "km-anonymity needs it (hide each person among at least this many records)",
        id="m without k",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "-m", 2, "--promise", "k-anonymity", *GIVEN],
        2,
        "k-anonymity does not use it; km-anonymity and columns do",
        id="m too many",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2],
        2,
        "such as balanced:5; --method disassociation with -m 2 needs none",
        id="no hierarchy",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "--hierarchy", "none.csv"],
        3,
        "none.csv",
        id="hierarchy file missing",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "--hierarchy", "balanced:x"],
        2,
        "it must be a file, or balanced[:FANOUT",
        id="fan-out is no number",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "--hierarchy", "balanced:1"], 2, "2 or more", id="fan-out 1"
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "--hierarchy", "balanced:5:odd"],
        2,
        "it must be a file, or balanced[:FANOUT",
        id="unknown order",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "--hierarchy", "balanced:5:numeric"],
        2,
        "is not a whole number",
        id="order does not fit",
    ),
    pytest.param(["none.csv", "-k", 2, *GIVEN], 3, "none.csv", id="data missing"),
    pytest.param([".", "-k", 2, *GIVEN], 3, "different lines", id="a folder of other files"),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--record", "nobody"], 3, "nobody", id="no such column"
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--method", "magic"],
        2,
        "'magic' is not one of partition",
        id="unknown method",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--format", "xls"],
        2,
        "'xls' is not one of",
        id="unknown format",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--memory-limit", "lots"],
        2,
        "lots",
        id="memory limit is no size",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--threads", 0],
        2,
        "0 is not in the range x>=1",
        id="no threads",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--seed", -1],
        2,
        "-1 is not in the range x>=0",
        id="negative seed",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--alignment", "release/a.csv"],
        2,
        "must not be in the release folder",
        id="leak",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--alignment", "baskets.csv", "--force"],
        2,
        "this file is an input",
        id="input overwritten",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--alignment", "no/a.csv"],
        2,
        "does not exist",
        id="alignment in no folder",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--alignment", "-"],
        2,
        "cannot go to standard output",
        id="alignment nowhere",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "--hierarchy", "balance:5"],
        3,
        "no such file or recipe: it must be a file, or",
        id="no recipe",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, "--hierarchy", "prefix:0"],
        2,
        "--hierarchy prefix:0 is not allowed: the lengths",
        id="no length",
    ),
    pytest.param(
        ["baskets.csv", "-k", 2, *GIVEN, "--alignment", "tree.csv"],
        2,
        "this file is an input",
        id="tree overwritten",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG)
def test_wrong_input_gets_one_line_and_leaves_nothing(call, nothing_new, arguments, code, message):
    result = call("anonymize", *arguments, "-o", "release")
    assert result.code == code, result.err
    assert result.out == ""
    assert result.err.startswith("setveil: ")
    assert result.err.count("\n") == 1
    assert message in result.err
    nothing_new()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("tree.csv", "it exists and is not a folder"),
        (".", "an input file is in this folder"),
        ("no/release", "the folder no does not exist"),
        ("-", "cannot go to standard output"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_data_is_read(
    call, nothing_new, output, message
):
    result = call("anonymize", "missing.csv", "-k", 2, *GIVEN, "-o", output, "--force")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    nothing_new()


def test_a_release_that_is_there_is_kept(call, released):
    before = {path.name: path.read_bytes() for path in released.iterdir()}
    result = call("anonymize", "missing.csv", "-o", "release", "-k", 2, *GIVEN)
    assert result.code == 2
    assert (
        result.err
        == "setveil: cannot write release: a release exists there already; choose another name or allow overwriting with --force\n"
    )
    assert {path.name: path.read_bytes() for path in released.iterdir()} == before


def test_a_failure_with_force_keeps_the_old_release(call, released):
    before = {path.name: path.read_bytes() for path in released.iterdir()}
    assert call("anonymize", "baskets.csv", "-o", "release", "-k", 9, *GIVEN, "--force").code == 3
    assert {path.name: path.read_bytes() for path in released.iterdir()} == before


def test_items_without_a_leaf_are_named(call, folder, nothing_new):
    (folder / "tree.csv").write_text("beer;ALL\nwine;ALL\n", encoding="utf-8")
    result = call("anonymize", "baskets.csv", "-o", "release", "-k", 2, *GIVEN)
    assert result.code == 3
    assert result.err == (
        "setveil: the hierarchy has no leaf for 'milk', 'tea'; put such items below the root with "
        "--unknown root, or leave them out with --unknown drop\n"
    )
    assert not (folder / "release").exists()

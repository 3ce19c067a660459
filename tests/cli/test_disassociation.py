"""Disassociation on the command line: the release it writes, how it is verified and measured,
and everything that is refused."""

from __future__ import annotations

import json

import pytest

import setveil

DISASSOCIATE = (
    "anonymize",
    "baskets.csv",
    "-o",
    "release",
    "--method",
    "disassociation",
    "-k",
    2,
    "-m",
    2,
)
FIGURE_4 = '{"size":5,"chunks":[[[["a"],3]],[[["b","c"],3]]],"terms":[]}\n'


@pytest.fixture
def released(call, folder):
    result = call(*DISASSOCIATE)
    assert result.code == 0, result.err
    return folder / "release"


def test_the_alignment_shows_that_the_original_is_a_possible_world(call, folder):
    assert call(*DISASSOCIATE, "--alignment", "private.csv").code == 0
    assert (folder / "private.csv").stat().st_mode & 0o077 == 0
    verify = ("verify", "release", "--original", "baskets.csv")
    blind = call(*verify)
    assert blind.code == 0
    assert "was not checked" in blind.err
    seen = call(*verify, "--alignment", "private.csv")
    assert seen.code == 0
    assert "the original is one of the possible worlds" in seen.err
    lines = (folder / "private.csv").read_text().splitlines()
    (folder / "private.csv").write_text("\n".join(["9" * 9, *lines[1:], ""]))
    wrong = call(*verify, "--alignment", "private.csv")
    assert wrong.code == 1
    assert "line 1 of private.csv is not a cluster of the release" in wrong.err


def test_a_release_is_written_verified_and_measured(call, folder):
    result = call(*DISASSOCIATE)
    assert result.code == 0
    assert "Verified: km-anonymity (k = 2, m = 2)" in result.out
    assert "tkd" in result.err
    assert sorted(path.name for path in (folder / "release").iterdir()) == [
        "data.jsonl",
        "release.json",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["baskets.csv", "release", "tree.csv"]
    release = setveil.read_release("release")
    assert isinstance(release, setveil.Disassociated)
    assert release.promise == setveil.KmAnonymity(k=2, m=2)
    assert len(release) == 6


def test_the_folder_shows_no_person_no_order_and_no_loss(call, released, folder):
    text = "".join(path.read_text(encoding="utf-8") for path in released.iterdir())
    hidden = ["ann", "bob", "cem", "dee", "eve", "fay", "customer", "tkd", "seconds", "baskets.csv"]
    assert [word for word in hidden if f'"{word}"' in text] == []
    header, *rows = (folder / "baskets.csv").read_text(encoding="utf-8").splitlines()
    (folder / "baskets.csv").write_text(
        "\n".join([header, *reversed(rows)]) + "\n", encoding="utf-8"
    )
    before = {path.name: path.read_bytes() for path in released.iterdir()}
    assert call(*DISASSOCIATE, "--force", "--threads", 1).code == 0
    assert {path.name: path.read_bytes() for path in released.iterdir()} == before


def test_json_is_one_object_and_nothing_else(call, folder):
    result = call(*DISASSOCIATE, "--json", "--hierarchy", "tree.csv")
    assert (result.code, result.err) == (0, "")
    assert result.json["method"] == {
        "name": "disassociation",
        "arrangement": "search",
        "max_subrecord": None,
        "max_part": None,
        "refine": True,
        "share_lost": False,
    }
    assert {check["name"] for check in result.json["verdict"]["checks"]} >= {
        "structure",
        "km-anonymity",
        "world",
        "written",
    }
    assert "tkd_ml2" in result.json["losses"]
    assert [note[:24] for note in result.json["notes"]] == ["The arrangement taken is"]


def test_without_a_tree_what_needs_one_is_not_measured(call, folder):
    assert "tkd_ml2" not in call(*DISASSOCIATE, "--json").json["losses"]


def test_the_options_of_the_method_reach_it(call, folder):
    result = call(*DISASSOCIATE, "--arrangement", 3, "--no-refine", "--json")
    assert result.json["method"] == {
        "name": "disassociation",
        "arrangement": 3,
        "max_subrecord": None,
        "max_part": None,
        "refine": False,
        "share_lost": False,
    }
    assert setveil.read_release("release").method["arrangement"] == 3


def test_former_options_are_still_understood(call, folder):
    for old, new in (
        (["--max-cluster", 3], 3),
        (["--safe"], "safe"),
        (["--order", "paper"], "paper"),
    ):
        made = call(*DISASSOCIATE, *old, "--json", "--force")
        assert made.json["method"]["arrangement"] == new
    assert "--max-cluster" not in call("anonymize", "--help").out
    refused = call(*DISASSOCIATE, "--max-cluster", 3, "--safe", "--force")
    assert refused.code == 2
    assert "--safe is not allowed: it became a value of --arrangement" in refused.err


def test_the_parquet_twin_is_the_same_release(call, released, folder):
    result = call(*DISASSOCIATE[:3], "twin", *DISASSOCIATE[4:], "--format", "parquet")
    assert result.code == 0, result.err
    assert setveil.read_release("twin") == setveil.read_release("release")
    assert call("verify", "twin", "--original", "baskets.csv").code == 0


def test_help_takes_the_words_of_the_method(call):
    text = " ".join(call("anonymize", "--help").out.split())
    assert "--arrangement KIND|N" in text
    assert "--refine / --no-refine" in text
    assert "Only with --method disassociation: --arrangement KIND|N" in text


def test_sensitive_items_are_published_apart(call, folder):
    (folder / "sensitive.txt").write_text("tea\r\n\n  beer \n", encoding="utf-8")
    result = call(*DISASSOCIATE, "-l", 3, "--sensitive", "sensitive.txt")
    assert result.code == 0
    assert "Verified: km-anonymity (k = 2, m = 2, l = 3)" in result.out
    assert "1 record has only sensitive items" in result.err
    promise = setveil.read_release("release").promise
    assert promise.diversity == setveil.LDiversity(l=3, sensitive=["beer", "tea"])
    assert call("verify", "release").code == 0
    assert (
        call(
            "verify", "release", "--promise", "l-diversity", "-l", 3, "--sensitive", "sensitive.txt"
        ).code
        == 0
    )
    assert (
        call(
            "verify", "release", "--promise", "l-diversity", "-l", 7, "--sensitive", "sensitive.txt"
        ).code
        == 1
    )
    assert (
        call("verify", "release", "-k", 2, "-m", 2, "-l", 3, "--sensitive", "sensitive.txt").code
        == 0
    )


def test_sensitive_items_that_do_not_occur_are_noted(call, folder):
    (folder / "sensitive.txt").write_text("tea\nteaa\n", encoding="utf-8")
    note = "1 of 2 sensitive items does not occur in the data: 'teaa'. Are they spelled as in the data?"
    result = call(*DISASSOCIATE, "-l", 3, "--sensitive", "sensitive.txt", "--json")
    assert result.code == 0
    assert note in result.json["notes"]
    assert note in call(*DISASSOCIATE, "-l", 3, "--sensitive", "sensitive.txt", "--force").err
    asked = ("verify", "release", "-k", 2, "-m", 2, "-l", 3, "--sensitive", "sensitive.txt")
    assert call(*asked, "--json").json["notes"] == [note]
    assert note in call(*asked).err


def test_a_list_without_any_item_of_the_data_is_refused(call, folder, released):
    (folder / "other.txt").write_text("kefir\n", encoding="utf-8")
    for command in ([*DISASSOCIATE, "--force"], ["verify", "release", "-k", 2, "-m", 2]):
        result = call(*command, "-l", 2, "--sensitive", "other.txt")
        assert (result.code, result.out) == (3, "")
        assert result.err == "setveil: the data has none of the sensitive items: 'kefir'\n"


WRONG = [
    (
        ["-k", 2],
        2,
        "-m is missing: km-anonymity needs it (how many items of a person an adversary may know)",
    ),
    (
        ["-m", 2],
        2,
        "-k is missing: km-anonymity needs it (hide each person among at least this many records)",
    ),
    ([], 2, "-k is missing: say how many records each person is hidden among, such as -k 10"),
    (
        ["-k", 2, "--promise", "k-anonymity"],
        2,
        "--promise 'k-anonymity (k = 2)' is not allowed: the method disassociation keeps "
        "km-anonymity",
    ),
    (
        ["-k", 7, "-m", 2],
        3,
        "the data has only 6 records: nobody can be hidden among 7",
    ),
    (["-k", 2, "-m", 0], 2, "-m 0 is not allowed: it must be a whole number of 1 or more"),
    (
        ["-k", 3, "-m", 2, "--arrangement", 2],
        2,
        "--arrangement 2 is not allowed: it must be at least k = 3, the smallest cluster allowed",
    ),
    (
        ["-k", 2, "-m", 2, "--arrangement", "x"],
        2,
        "Invalid value for '--arrangement': 'x' is not a whole number or search or small or head or "
        "hubs or all or safe or paper (`setveil anonymize --help` shows what is allowed)",
    ),
    (
        ["-k", 2, "-m", 2, "--public-items"],
        2,
        "--public-items is not allowed: a disassociated release has no hierarchy to publish",
    ),
    (
        ["-k", 2, "-m", 2, "--format", "csv"],
        2,
        "--format csv is not allowed: choose one of jsonl, parquet for a disassociated release",
    ),
    (
        ["-k", 2, "-m", 2, "--layout", "pairs"],
        2,
        "--layout pairs is not allowed: only a hierarchy file has a layout",
    ),
    (
        ["-k", 2, "-m", 2, "-l", 2],
        2,
        "--sensitive is missing: l-diversity needs it (the sensitive items)",
    ),
    (
        ["-k", 2, "-m", 2, "--sensitive", "tree.csv"],
        2,
        "-l is missing: l-diversity needs it (hide each sensitive item among at least this many "
        "records)",
    ),
    (
        ["-k", 2, "-m", 2, "-l", 2, "--sensitive", "none.txt"],
        2,
        "--sensitive none.txt is not allowed: there is no file and no item of this name; give a "
        "file "
        "with one item per line, an item, a pattern such as 'dx:*', or under:NODE of the hierarchy",
    ),
    (
        ["-k", 2, "-m", 2, "-l", 2, "--sensitive", "empty.txt"],
        3,
        "empty.txt: the file lists no items; it must have one per line",
    ),
    (
        ["-k", 2, "-m", 2, "--hierarchy", "small.csv"],
        3,
        "the hierarchy has no leaf for 'milk', 'tea'; put such items below the root with --unknown "
        "root, or leave them out with --unknown drop",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_input_gets_one_line_and_leaves_nothing(call, folder, arguments, code, message):
    (folder / "empty.txt").write_text("\n", encoding="utf-8")
    (folder / "small.csv").write_text("beer;ALL\nwine;ALL\n", encoding="utf-8")
    before = sorted(path.name for path in folder.iterdir())
    result = call(
        "anonymize", "baskets.csv", "-o", "release", "--method", "disassociation", *arguments
    )
    assert (result.code, result.out, result.err) == (code, "", f"setveil: {message}\n")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["--arrangement", 5], "--arrangement 5"),
        (["--no-refine"], "--no-refine"),
        (["--arrangement", "paper"], "--arrangement paper"),
    ],
)
def test_an_option_of_another_method_is_refused_by_name(call, nothing_new, option, named):
    result = call(
        *("anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "tree.csv"),
        *("--method", "partition", *option),
    )
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"setveil: {named} is not allowed: the method partition does not use it; disassociation "
        "does\n"
    )
    nothing_new()


def test_only_disassociated_data_can_keep_l_diversity(call, folder):
    (folder / "sensitive.txt").write_text("tea\n", encoding="utf-8")
    result = call(
        "anonymize",
        "none.csv",
        "-o",
        "r",
        "-k",
        2,
        "-m",
        2,
        "-l",
        2,
        "--sensitive",
        "sensitive.txt",
        "--hierarchy",
        "tree.csv",
        "--method",
        "partition",
    )
    assert result.code == 2
    assert result.err == (
        "setveil: --promise 'l-diversity (l = 2)' is not allowed: the method partition does not keep "
        "l-diversity; disassociation and groups do\n"
    )


def test_too_few_records_that_hold_anything_are_refused(call, folder):
    (folder / "sparse.jsonl").write_text(
        '{"items": ["a"]}\n' + '{"items": []}\n' * 4, encoding="utf-8"
    )
    result = call(
        "anonymize", "sparse.jsonl", "-o", "release", "--method", "disassociation", "-k", 2, "-m", 2
    )
    assert (result.code, result.out) == (3, "")
    assert "only 1 record has items, but a cluster needs 2" in result.err
    assert not (folder / "release").exists()


def test_a_bare_file_of_clusters_is_verified(call, released, folder):
    data = (released / "data.jsonl").read_bytes()
    (folder / "clusters.jsonl").write_bytes(data)
    assert call("verify", "clusters.jsonl", "-k", 2, "-m", 2).code == 0
    assert call("verify", "clusters.jsonl", "-k", 2, "-m", 2, "--original", "baskets.csv").code == 0
    assert call("verify", "clusters.jsonl", "-k", 7, "-m", 2).code == 1
    result = call("verify", "clusters.jsonl")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err
        == "setveil: -k is missing: clusters.jsonl is a data file without a promise: say what to check, such as -k 10\n"
    )


def test_a_promise_that_fails_is_answered_with_the_itemset(call, folder):
    (folder / "figure4.jsonl").write_text(FIGURE_4, encoding="utf-8")
    result = call("verify", "figure4.jsonl", "-k", 3, "-m", 2, "--json")
    assert (result.code, result.err) == (1, "")
    failed = [check for check in result.json["checks"] if not check["holds"]]
    assert [check["name"] for check in failed] == ["km-anonymity"]
    assert failed[0]["witnesses"][0]["items"] == ["a", "b"]
    text = call("verify", "figure4.jsonl", "-k", 3, "-m", 2)
    assert text.code == 1
    assert "{a, b} occurs in at most 1 record of any possible original, not 3" in text.out


def test_clusters_come_through_a_pipe_too(folder):
    import subprocess
    import sys

    command = [sys.executable, "-m", "setveil", "verify", "-", "-k", "3", "-m", "2", "--json"]
    done = subprocess.run(command, input=FIGURE_4.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["holds"] is False


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (FIGURE_4 + "{", "clusters.jsonl, line 2: this line is not JSON"),
        (
            FIGURE_4.replace("5", "0"),
            "clusters.jsonl, line 1: the size of a cluster must be a whole number of 1 or more, "
            "not 0",
        ),
    ],
)
def test_a_damaged_file_of_clusters_is_a_data_error(call, folder, lines, message):
    (folder / "clusters.jsonl").write_text(lines, encoding="utf-8")
    result = call("verify", "clusters.jsonl", "-k", 3, "-m", 2)
    assert (result.code, result.out) == (3, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_a_changed_release_is_noticed(call, released):
    data = released / "data.jsonl"
    data.write_text(
        data.read_text(encoding="utf-8").replace('"size":6', '"size":5'), encoding="utf-8"
    )
    data.write_text(data.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    result = call("verify", "release")
    assert (result.code, result.out) == (3, "")
    assert result.err == (
        "setveil: release is not a usable release: data.jsonl was changed after the release was "
        "written (its sha256 differs)\n"
    )


def test_the_losses_may_be_averaged_over_reconstructions(call, released):
    result = call(
        "measure",
        "release",
        "--original",
        "baskets.csv",
        "--reconstructions",
        5,
        "--hierarchy",
        "tree.csv",
        "--json",
    )
    assert (result.code, result.err) == (0, "")
    original, tree = setveil.read("baskets.csv"), setveil.Hierarchy.read("tree.csv")
    assert result.json == setveil.measure(
        setveil.read_release("release"), original, reconstructions=5, hierarchy=tree
    )
    assert "tkd_ml2" not in call("measure", "release", "--original", "baskets.csv", "--json").json


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--metric", "ncp"],
            "--metric ncp is not allowed: a disassociated release has are, item_error",
        ),
        (["--metric", "tkd_ml2"], "--metric tkd_ml2 is not allowed: it needs a hierarchy"),
        (
            ["--reconstructions", 0],
            "Invalid value for '--reconstructions': 0 is not in the range x>=1",
        ),
        (
            ["--alignment", "a.csv"],
            "--alignment a.csv is not allowed: this release does not have one published record",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(call, released, arguments, message):
    result = call("measure", "release", "--original", "baskets.csv", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            ["--reconstructions", 3],
            "a generalized release shows its records, so nothing is reconstructed",
        ),
        (
            ["--hierarchy", "tree.csv"],
            "this generalized release contains the whole hierarchy it needs",
        ),
        (["--layout", "paths"], "this generalized release contains the whole hierarchy it needs"),
    ],
)
def test_options_for_disassociated_releases_are_refused_for_others(call, folder, option, message):
    assert (
        call("anonymize", "baskets.csv", "-o", "general", "-k", 2, "--hierarchy", "tree.csv").code
        == 0
    )
    result = call("measure", "general", "--original", "none.csv", *option)
    assert (result.code, result.out) == (2, "")
    assert message in result.err

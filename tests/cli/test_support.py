"""`setveil support` and `setveil reconstruct`: what an analyst asks of a disassociated release."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import setveil
from setveil.published.disassociated.clusters import SimpleCluster
from setveil.published.disassociated.reconstruct import world_seeds


@pytest.fixture
def release(folder):
    clusters = [
        SimpleCluster(5, [{("flu", "itunes"): 3, ("flu",): 1}, {("sony tv",): 3}], ["ikea"]),
        SimpleCluster(4, [{("flu",): 4}]),
    ]
    made = setveil.Disassociated.of_clusters(
        clusters, setveil.KmAnonymity(k=3, m=2), {"name": "by hand"}
    )
    setveil.write(made, "release")
    return made


def test_the_answer_has_bounds_and_what_is_expected(call, release):
    result = call("support", "release", "flu", "sony tv")
    assert (result.code, result.err) == (0, "")
    assert [line.rstrip() for line in result.out.splitlines()] == [
        "Records that contain {flu, sony tv}, of 9",
        "  at least  2    certain",
        "  expected  2.4  within 25 %, not determined by the release; an estimate: items of different "
        "pieces are taken",
        "                 as independent",
        "  at most   3    certain",
    ]


def test_json_has_the_same_as_the_library(call, release):
    result = call("support", "release", "ikea", "--json")
    assert result.json == {
        "records": 9,
        "items": ["ikea"],
        "lower": 1,
        "upper": 5,
        "expected": None,
        "accuracy": "not determined",
        "within": None,
        "standard_error": None,
        "determined": False,
        "unknown": [],
    }


def test_no_number_is_guessed_where_the_release_does_not_determine_it(call, release):
    lines = call("support", "release", "ikea", "sony tv").out.splitlines()
    open_because = "these items are in different pieces, or without counts"
    assert lines[2:] == [
        "  at least  0               certain",
        f"  expected  not determined  {open_because}",
        "  at most   3               certain",
    ]
    assert "  expected  3  exact" in call("support", "release", "flu", "itunes").out


def test_an_item_that_nobody_has_is_named(call, release):
    result = call("support", "release", "flu", "fluu")
    assert result.code == 0
    assert "The original does not contain 'fluu'; did you mean 'flu'?" in result.out
    assert call("support", "release", "fluu", "--json").json["unknown"] == ["fluu"]


def test_the_top_itemsets_come_with_bounds(call, release):
    result = call("support", "release", "--top", 2, "--least-size", 2, "--json")
    assert result.code == 0
    expected = setveil.top_itemsets_with_bounds(release, 2, least_size=2)
    assert result.json["itemsets"] == [
        {
            "items": list(items),
            "lower": found.lower,
            "upper": found.upper,
            "expected": pytest.approx(found.expected),
            "accuracy": found.accuracy,
            "within": pytest.approx(found.within, abs=1e-6),
            "standard_error": pytest.approx(found.standard_error, abs=1e-6),
            "determined": found.is_determined,
        }
        for items, found in expected
    ]
    assert "{flu, itunes}" in call("support", "release", "--top", 2, "--least-size", 2).out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["release"], 2, "Give the items to ask for, or --top with a number"),
        (["release", "flu", "--top", 3], 2, "Give the items to ask for, or --top with a number"),
        (["release", "flu", "--least-size", 2], 2, "--least-size is only used with --top"),
        (["release", "--top", 0], 2, "0 is not in the range x>=1"),
        (["none", "flu"], 3, "none is not a usable release: there is no such folder"),
    ],
)
def test_wrong_questions_get_one_line(call, release, arguments, code, message):
    result = call("support", *arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_every_form_can_be_asked_and_reconstructed(call, folder):
    made = ("anonymize", "baskets.csv", "-o", "general", "-k", 2, "--hierarchy", "tree.csv")
    assert call(*made).code == 0
    asked = call("support", "general", "beer", "--json").json
    assert asked["lower"] <= 3 <= asked["upper"]
    assert call("support", "general", "--top", 2).code == 0
    assert call("reconstruct", "general", "-o", "worlds").code == 0
    assert len(setveil.read(folder / "worlds" / "world-001.csv")) == 6


def test_reconstructions_are_those_of_the_library(call, release, folder):
    result = call("reconstruct", "release", "-o", "worlds", "-n", 3, "--seed", 5)
    assert (result.code, result.err) == (0, "")
    assert "world-001.csv to world-003.csv" in result.out
    names = ["world-001.csv", "world-002.csv", "world-003.csv"]
    assert sorted(path.name for path in (folder / "worlds").iterdir()) == [*names, "worlds.json"]
    for name, seed in zip(names, world_seeds(3, 5), strict=True):
        assert setveil.read(folder / "worlds" / name) == setveil.reconstruct("release", seed)
    about = json.loads((folder / "worlds" / "worlds.json").read_text(encoding="utf-8"))
    assert (about["worlds"], about["records"], about["seed"], about["files"]) == (3, 9, 5, names)


def test_the_twin_of_a_release_gives_the_same_reconstructions(call, release, folder):
    setveil.write(release, "twin", format="parquet")
    for name in ("release", "twin"):
        assert call("reconstruct", name, "-o", f"{name}-worlds", "--seed", 5).code == 0
    first, second = (
        (folder / f"{name}-worlds" / "world-001.csv").read_bytes() for name in ("release", "twin")
    )
    assert first == second


@pytest.mark.parametrize("format", setveil.FORMATS)
def test_reconstructions_may_have_any_format(call, folder, format):
    made = setveil.Disassociated.of_clusters(
        [SimpleCluster(4, [{("1", "2"): 3}], ["3"])], setveil.KmAnonymity(k=3, m=2)
    )
    setveil.write(made, "release")
    result = call(
        "reconstruct", "release", "-o", "worlds", "--seed", 1, "--format", format, "--json"
    )
    assert result.code == 0, result.err
    (name,) = result.json["files"]
    assert setveil.read(folder / "worlds" / name, format=format) == setveil.reconstruct(
        setveil.read_release("release"), 1
    )


def test_empty_records_of_a_reconstruction_are_kept(call, folder):
    made = setveil.Disassociated.of_clusters(
        [SimpleCluster(3), SimpleCluster(3, [{("a",): 3}])], setveil.KmAnonymity(k=2, m=1)
    )
    setveil.write(made, "release")
    assert call("reconstruct", "release", "-o", "worlds").code == 0
    assert sorted(setveil.read("worlds/world-001.csv")) == [(), (), (), ("a",), ("a",), ("a",)]


def test_reconstructions_that_are_there_are_kept(call, release, folder):
    assert call("reconstruct", "release", "-o", "worlds", "-n", 2).code == 0
    before = {path.name: path.read_bytes() for path in (folder / "worlds").iterdir()}
    result = call("reconstruct", "release", "-o", "worlds")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "setveil: cannot write worlds: a folder of reconstructions exists there already; choose "
        "another name or allow overwriting with --force\n"
    )
    assert {path.name: path.read_bytes() for path in (folder / "worlds").iterdir()} == before


def test_force_replaces_reconstructions_whole_and_nothing_else(call, release, folder):
    assert call("reconstruct", "release", "-o", "worlds", "-n", 2).code == 0
    assert call("reconstruct", "release", "-o", "worlds", "--force", "--format", "jsonl").code == 0
    assert sorted(path.name for path in (folder / "worlds").iterdir()) == [
        "world-001.jsonl",
        "worlds.json",
    ]
    before = {path.name: path.read_bytes() for path in (folder / "release").iterdir()}
    result = call("reconstruct", "release", "-o", "release", "--force")
    assert result.code == 2
    assert "not empty and not a folder of reconstructions" in result.err
    assert {path.name: path.read_bytes() for path in (folder / "release").iterdir()} == before


def test_an_item_that_a_format_cannot_hold_leaves_nothing(call, release, folder):
    result = call("reconstruct", "release", "-o", "worlds", "--format", "fimi")
    assert (result.code, result.out) == (3, "")
    assert "does not fit in a FIMI file" in result.err
    assert sorted(path.name for path in folder.iterdir()) == ["baskets.csv", "release", "tree.csv"]


@pytest.mark.skipif(os.name == "nt", reason="signals are sent in the manner of POSIX")
def test_an_interruption_leaves_no_reconstruction(release, folder):
    command = [
        sys.executable,
        "-m",
        "setveil",
        "reconstruct",
        "release",
        "-o",
        "worlds",
        "-n",
        "100000",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 300
        while not list(folder.glob(".setveil-*/*/world-*")):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (
        130,
        "",
        "setveil: interrupted, nothing half-written is left\n",
    )
    assert sorted(path.name for path in folder.iterdir()) == ["baskets.csv", "release", "tree.csv"]


def test_reconstructions_do_not_go_to_standard_output(call, folder):
    result = call("reconstruct", "release", "-o", "-")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err
        == "setveil: cannot write -: reconstructions are files in a folder and cannot go to standard output\n"
    )

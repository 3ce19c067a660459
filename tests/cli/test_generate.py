"""`setveil generate quest`, `shop` and `patients`, `demo` and `warmup`."""

from __future__ import annotations

import json

import pytest

import setveil


def test_quest_records_are_written(call, folder):
    result = call(
        "generate",
        "quest",
        "-o",
        "quest.dat",
        "--records",
        200,
        "--items",
        50,
        "--average-length",
        4,
        "--patterns",
        20,
    )
    assert result.code == 0
    assert result.out.startswith("quest.dat: 200 records, ")
    data = setveil.read("quest.dat")
    assert len(data) == 200
    assert len(data.vocabulary) <= 50


def test_a_shop_comes_with_a_tree_over_its_products(call, folder):
    assert (
        call(
            "generate",
            "shop",
            "-o",
            "shop.csv",
            "--records",
            300,
            "--hierarchy",
            "shop.hierarchy.csv",
        ).code
        == 0
    )
    data, tree = setveil.read("shop.csv"), setveil.Hierarchy.read("shop.hierarchy.csv")
    assert len(data) == 300
    assert len(tree.leaf_numbers(data.vocabulary)) == len(data.vocabulary)


def test_patients_come_as_people_or_as_stays_with_a_tree_over_the_codes(call, folder):
    made = ("generate", "patients", "--patients", 300, "--seed", 2, "-o")
    result = call(*made, "patients.csv", "--hierarchy", "codes.csv")
    assert result.out == "patients.csv: 300 patients, 537 stays\n"
    assert call(*made, "stays.csv.gz", "--stays").code == 0
    people = setveil.read("patients.csv", record="patient", item="codes")
    stays = setveil.read("stays.csv.gz", record="stay", item="codes", split="|")
    joined = setveil.read("stays.csv.gz", record="patient", item="codes", split="|")
    assert (len(people), len(stays)) == (300, 537)
    assert list(people) == list(joined)
    tree = setveil.Hierarchy.read("codes.csv")
    assert len(tree.leaf_numbers(people.vocabulary)) == len(people.vocabulary)


@pytest.mark.parametrize("kind", ["quest", "shop"])
def test_the_same_seed_gives_the_same_file(call, folder, kind):
    for name in ("one.csv", "two.csv"):
        assert call("generate", kind, "-o", name, "--records", 100, "--seed", 3).code == 0
    assert call("generate", kind, "-o", "other.csv", "--records", 100, "--seed", 4).code == 0
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
    assert (folder / "one.csv").read_bytes() != (folder / "other.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quest", "-o", "baskets.csv"], "cannot write baskets.csv: it exists already"),
        (
            ["shop", "-o", "new.csv", "--hierarchy", "tree.csv"],
            "cannot write tree.csv: it exists already",
        ),
        (
            ["shop", "-o", "baskets.csv", "--hierarchy", "new.csv"],
            "cannot write baskets.csv: it exists already",
        ),
        (["patients", "-o", "baskets.csv"], "cannot write baskets.csv: it exists already"),
        (
            ["patients", "-o", "new.parquet"],
            "cannot write new.parquet: patients are written as CSV; choose a name that ends in .csv",
        ),
        (
            ["patients", "-o", "new.csv", "--hierarchy", "./new.csv", "--force"],
            "cannot write new.csv: the tree would replace the data; give --hierarchy another name",
        ),
        (
            ["shop", "-o", "new.csv", "--hierarchy", "new.csv"],
            "cannot write new.csv: the tree would replace the data; give --hierarchy another name",
        ),
        (["quest", "-o", "quest.odd"], "its name does not show the format"),
        (["quest", "-o", "quest.dat", "--records", -1], "-1 is not in the range x>=0"),
        (["quest"], "Missing option '-o' / '--output'"),
    ],
)
def test_wrong_input_gets_one_line_and_leaves_nothing(call, nothing_new, arguments, message):
    result = call("generate", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1
    nothing_new()


def test_the_demo_does_every_step(call, folder):
    result = call("demo", "demo", "--records", 500)
    assert (result.code, result.err) == (0, "")
    assert "2 known items single out" in result.out
    assert "Verified: km-anonymity (k = 10, m = 2)" in result.out
    assert "Use (private" in result.out  # not: of little use
    place = folder / "demo"
    assert sorted(path.name for path in place.iterdir()) == [
        "private",
        "products.hierarchy.csv",
        "release",
        "setveil-demo.txt",
    ]
    assert setveil.verify(
        setveil.read_release(place / "release"), setveil.read(place / "private" / "baskets.csv")
    ).holds
    outcome = json.loads((place / "private" / "outcome.json").read_text(encoding="utf-8"))
    assert outcome["release"] == "demo/release"
    assert ".setveil-" not in result.out


def test_the_demo_replaces_itself_and_nothing_else(call, folder):
    assert call("demo", "demo", "--records", 400).code == 0
    assert call("demo", "demo", "--records", 500).code == 0
    assert len(setveil.read_release("demo/release")) == 500
    mine = folder / "mine"
    mine.mkdir()
    (mine / "precious.txt").write_text("keep me", encoding="utf-8")
    result = call("demo", "mine")
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert [path.name for path in mine.iterdir()] == ["precious.txt"]


def test_warmup_says_that_the_kernels_are_ready(call, folder):
    result = call("warmup")
    assert result.code == 0
    assert result.out.startswith("the kernels are ready, after ")


def test_one_record_is_no_records(call, folder):
    assert call(
        "generate", "quest", "-o", "one.dat", "--records", 1, "--items", 1, "--average-length", 1
    ).out == ("one.dat: 1 record, 1 item, 1 occurrence\n")
    log = call("generate", "querylog", "-o", "log.tsv", "--users", 1, "--topics", "catalogue")
    assert log.out.startswith("log.tsv: queries of 1 user, ")
    assert call(
        "hierarchy", "build", "one.dat", "balanced:2", "-o", "tree.hierarchy.csv"
    ).out.startswith("tree.hierarchy.csv: 1 leaf, ")

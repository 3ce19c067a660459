"""Coherence on the command line: private items by file, pattern and subtree; releases that are
read again; refusals."""

from __future__ import annotations

import json

import pytest

RECORDS = [
    record.split()
    for record in (
        "a c d f g Diabetes",
        "a b c f Hepatitis",
        "b d f x Hepatitis",
        "b c g y z HIV",
        "a c f g HIV",
    )
]


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    rows = [f"{number},{item}" for number, record in enumerate(RECORDS) for item in record]
    path.write_text("\n".join(["person,what", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def illnesses(tmp_path):
    path = tmp_path / "illnesses.txt"
    path.write_text("Diabetes\nHepatitis\n\nHIV\n", encoding="utf-8")
    return path


def published(folder):
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines()[1:]
    return {line.split(",")[1] for line in lines}


def test_a_release_is_written_verified_and_read_again(call, visits, illnesses, tmp_path):
    release = tmp_path / "release"
    options = ("--method", "suppression", "-k", 2, "-p", 2, "--h", 0.8, "--private", illnesses)
    made = call("anonymize", visits, "-o", release, *options)
    assert made.code == 0, made.err
    assert "Verified: coherence (h = 0.8, k = 2, p = 2)" in made.out
    assert sorted(path.name for path in release.iterdir()) == ["data.csv", "release.json"]
    assert published(release) == {"a", "c", "f", "g", "Diabetes", "Hepatitis", "HIV"}
    about = json.loads((release / "release.json").read_text(encoding="utf-8"))
    assert (about["form"], about["promise"]["private"]) == (
        "suppressed",
        ["Diabetes", "HIV", "Hepatitis"],
    )
    assert not {"x", "y", "z", "b", "d"} & set(json.dumps(about).replace('"', " ").split())
    assert call("verify", release, "--original", visits).code == 0
    measured = call("measure", release, "--original", visits, "--json")
    assert round(measured.json["distortion"], 4) == round(8 / 27, 4)


@pytest.mark.parametrize("format", ["fimi", "parquet"])
def test_other_formats_are_read_again(call, visits, illnesses, tmp_path, format):
    release = tmp_path / "release"
    options = ("-k", 2, "-p", 1, "--h", 0.8, "--private", illnesses, "--format", format)
    assert call("anonymize", visits, "-o", release, "--method", "suppression", *options).code == 0
    assert call("verify", release, "--original", visits).code == 0


def test_private_items_by_a_pattern(call, visits, tmp_path):
    options = (
        "--method",
        "suppression",
        "-k",
        2,
        "-p",
        2,
        "--h",
        0.8,
        "--private",
        "H*",
        "--private",
        "Dia*",
    )
    assert call("anonymize", visits, "-o", tmp_path / "release", *options).code == 0
    assert {"HIV", "Diabetes"} < published(tmp_path / "release")


def test_private_items_by_their_names(call, visits, tmp_path):
    options = (
        "-k",
        2,
        "-p",
        2,
        "--h",
        0.8,
        "--private",
        "HIV",
        "--private",
        "Hepatitis",
        "--private",
        "Diabetes",
    )
    assert (
        call(
            "anonymize", visits, "-o", tmp_path / "release", "--method", "suppression", *options
        ).code
        == 0
    )
    about = json.loads((tmp_path / "release" / "release.json").read_text("utf-8"))
    assert about["promise"]["private"] == ["Diabetes", "HIV", "Hepatitis"]
    wrong = call(
        "anonymize",
        visits,
        "-o",
        tmp_path / "other",
        "--method",
        "suppression",
        *options,
        "--private",
        "Flu",
    )
    assert (wrong.code, (tmp_path / "other").exists()) == (2, False)
    assert "--private Flu is not allowed: there is no file and no item of this name" in wrong.err


def test_private_items_that_are_left_out_as_too_rare_are_not_named_in_the_release(call, tmp_path):
    visits = tmp_path / "visits.dat"
    visits.write_text("1 2 700\n" * 9 + "1 2\n" * 30 + "1 2 777\n", encoding="utf-8")
    options = ("-k", 2, "-p", 2, "--h", 0.8, "--private", "7*")
    made = call(
        "anonymize",
        visits,
        "-o",
        tmp_path / "release",
        "--method",
        "suppression",
        *options,
        "--min-support",
        0.1,
    )
    assert made.code == 0, made.err
    assert not any("777" in path.read_text("utf-8") for path in (tmp_path / "release").iterdir())
    assert call("verify", tmp_path / "release", "--original", visits, "--json").code == 0
    assert call("verify", tmp_path / "release", "--original", visits, *options).code == 0


def test_private_items_under_a_node(call, visits, tmp_path):
    tree = tmp_path / "tree.csv"
    illnesses = "".join(f"{item};Illness;ALL\n" for item in ("Diabetes", "Hepatitis", "HIV"))
    tree.write_text(
        illnesses + "".join(f"{item};Activity;ALL\n" for item in "abcdfgxyz"), encoding="utf-8"
    )
    options = (
        "--method",
        "suppression",
        "-k",
        2,
        "-p",
        2,
        "--h",
        0.8,
        "--private",
        "under:Illness",
        "--hierarchy",
        tree,
    )
    made = call("anonymize", visits, "-o", tmp_path / "release", *options)
    assert made.code == 0, made.err
    about = json.loads((tmp_path / "release" / "release.json").read_text(encoding="utf-8"))
    assert about["promise"]["private"] == ["Diabetes", "HIV", "Hepatitis"]
    assert call("verify", tmp_path / "release", *options[2:]).code == 0
    assert call("verify", visits, *options[2:]).code == 1


def test_the_options_of_the_method_reach_it(call, visits, illnesses, tmp_path):
    options = ("--method", "suppression", "-k", 2, "-p", 2, "--h", 0.8, "--private", illnesses)
    assert call("anonymize", visits, "-o", tmp_path / "all", *options, "--score", "rmall").code == 0
    assert published(tmp_path / "all") == {"Diabetes", "Hepatitis", "HIV"}
    assert (
        call(
            "anonymize",
            visits,
            "-o",
            tmp_path / "some",
            *options,
            "--no-restore",
            "--min-support",
            0.7,
            "--search",
        ).code
        == 0
    )
    about = json.loads((tmp_path / "some" / "release.json").read_text(encoding="utf-8"))
    assert about["method"] == {
        "name": "suppression",
        "score": "mm/il",
        "restore": False,
        "search": True,
        "weights": "occurrences",
        "min_support": 0.7,
    }


def test_the_loss_is_explained_privately(call, visits, illnesses, tmp_path):
    options = (
        "--method",
        "suppression",
        "-k",
        2,
        "-p",
        2,
        "--h",
        0.8,
        "--private",
        illnesses,
        "--explain",
    )
    shown = call("anonymize", visits, "-o", tmp_path / "one", *options).err
    assert "Why so much is lost (private, not part of the release)" in shown
    assert "minimal moles of 2 items: 6 rare, 1 breach" in shown
    told = call("anonymize", visits, "-o", tmp_path / "two", *options, "--json").json["explanation"]
    assert (told["private"], told["costs"][0]["item"]) == (True, "b")
    assert not any(
        "minimal" in path.read_text(encoding="utf-8") for path in (tmp_path / "two").iterdir()
    )
    refused = call(
        "anonymize",
        visits,
        "-o",
        tmp_path / "three",
        "-k",
        2,
        "--hierarchy",
        "balanced:2",
        "--explain",
    )
    assert (refused.code, "has nothing to explain" in refused.err) == (2, True)


def test_the_alignment_of_a_suppressed_release(call, visits, illnesses, tmp_path):
    private = tmp_path / "private.csv"
    options = (
        "--method",
        "suppression",
        "-k",
        2,
        "-p",
        2,
        "--h",
        0.8,
        "--private",
        illnesses,
        "--alignment",
        private,
    )
    assert call("anonymize", visits, "-o", tmp_path / "release", *options).code == 0
    assert private.read_text(encoding="utf-8").splitlines()[2] == "Hepatitis,f"
    assert (
        call("verify", tmp_path / "release", "--original", visits, "--alignment", private).code == 0
    )


def test_any_file_can_be_verified_with_a_list_of_private_items(call, visits, illnesses):
    found = call("verify", visits, "-k", 2, "-p", 2, "--h", 0.8, "--private", illnesses, "--json")
    assert found.code == 1
    assert found.json["checks"][0]["witnesses"][0]["items"] == ["x"]
    assert call("verify", visits, "-k", 2, "-p", 1, "--h", 0.5, "--private", "H*").code == 1


def test_a_list_that_names_nothing_of_the_file_is_refused_and_a_part_of_it_noted(
    call, visits, tmp_path
):
    listed = tmp_path / "list.txt"
    listed.write_text("Cholera\n", encoding="utf-8")
    refused = call("verify", visits, "-k", 2, "-p", 1, "--h", 0.8, "--private", listed)
    assert (refused.code, "none of the private items" in refused.err) == (3, True)
    listed.write_text("Cholera\nHIV\n", encoding="utf-8")
    found = call("verify", visits, "-k", 2, "-p", 1, "--h", 0.8, "--private", listed, "--json")
    assert "'Cholera'" in found.json["notes"][0]


def test_no_solution_is_one_line_with_the_item_its_share_and_h(call, visits, illnesses, tmp_path):
    options = ("--method", "suppression", "-k", 2, "-p", 1, "--h", 0.3, "--private", illnesses)
    refused = call("anonymize", visits, "-o", tmp_path / "release", *options)
    assert refused.code == 3
    assert refused.err.count("\n") == 1
    assert "'HIV' is in 40 % of all 5 records, more than h = 30 %" in refused.err
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-k", 2, "-p", 2, "--private", "H*"), "--h is missing: coherence needs it"),
        (("-k", 2, "--h", 0.5), "-p is missing: coherence needs it"),
        (
            ("-k", 2, "-p", 2, "--h", 0.5, "--private", "nowhere.txt"),
            "there is no file and no item of this name",
        ),
        (
            ("-k", 2, "-p", 2, "--h", 0.5, "--private", "Q*"),
            "no item of the data matches this pattern",
        ),
        (
            ("-k", 2, "-p", 2, "--h", 0.5, "--private", "under:Illness"),
            "give the hierarchy of this node with --hierarchy",
        ),
        (
            ("-k", 2, "-m", 2, "-p", 2, "--h", 0.5),
            "coherence does not use it; km-anonymity and columns do",
        ),
        (("-k", 2, "-p", 2, "--h", 7), "--h 7 is not allowed"),
    ],
)
def test_what_is_missing_or_wrong_is_named(call, visits, tmp_path, options, words):
    refused = call(
        "anonymize", visits, "-o", tmp_path / "release", "--method", "suppression", *options
    )
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert words in refused.err


def test_listed_items_that_do_not_occur_are_noted(call, visits, tmp_path):
    listed = tmp_path / "list.txt"
    listed.write_text("HIV\nCholera\n", encoding="utf-8")
    options = ("--method", "suppression", "-k", 2, "-p", 1, "--h", 0.8, "--private", listed)
    assert (
        "1 of 2 private items does not occur in the data: 'Cholera'"
        in call("anonymize", visits, "-o", tmp_path / "release", *options).err
    )


def test_the_note_on_rare_items_says_when_they_are_the_private_ones(call, folder):
    rows = [f"{number},a\n{number},code-{number}\n" for number in range(4)]
    rows += [f"{number},a\n{number},flu\n" for number in range(4, 10)]
    (folder / "visits.csv").write_text("patient,code\n" + "".join(rows), encoding="utf-8")
    words = ("-k", 3, "-p", 1, "--h", 0.8, "--method", "suppression", "--keep-unique")
    made = call("anonymize", "visits.csv", "-o", "out", *words, "--private", "code-*")
    assert made.code == 0, made.shown
    assert "4 items that occur in fewer than 3 records are published as they are" in flat(made.err)
    assert "All are private items: somebody who knows that a person has such" in flat(made.err)


def flat(text):
    return " ".join(text.split())

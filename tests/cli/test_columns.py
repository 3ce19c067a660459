"""Tables of people with columns beside the items, from the command line, job files and Python."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import setveil as sv

HOW = ["--column", "born", "--column", "sex", "--column", "place"]
TREE = ["--column-hierarchy", "place", "prefix:1"]


@pytest.fixture
def people(tmp_path):
    """Forty people with columns that depend on each other, and a few missing values."""
    rows = ["patient,born,sex,place,codes"]
    for at in range(40):
        born = "" if at == 7 else str(1930 + at % 20)
        codes = "|".join(sorted({"abcdef"[at % 6], "abc"[at % 3], "flu"}))
        rows.append(f"{at},{born},{'FM'[at % 2]},{1 + at % 3}0{at % 4},{codes}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_columns_are_published_verified_and_read_back(call, people, tmp_path):
    release = tmp_path / "release"
    made = call("anonymize", people, "-o", release, *HOW, *TREE, "-k", 4, "-m", 2, "--json")
    found = json.loads(made.out)
    assert found["verdict"]["holds"]
    assert found["method"]["name"] == "groups"
    assert sorted(found["reading"]["ignored"]) == []
    assert any("Dropped, so not published: 'patient'" in note for note in found["notes"])
    assert any("'born' has no value in 1 row" in note for note in found["notes"])
    assert "patient" not in (release / "release.json").read_text()
    original = ["--original", people, *HOW, *TREE]
    assert call("verify", release, *original).code == 0
    read = sv.read_release(release)
    assert [column.name for column in read.columns] == ["born", "sex", "place"]
    assert len(read) == 40


def test_a_job_file_and_python_make_the_same_release(call, people, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    job = tmp_path / "job.toml"
    words = [*HOW, *TREE, "-k", 4, "-m", 2, "--columns-matter", 0.8, "--seed", 1]
    call("anonymize", people, "-o", one, *words, "--save-job", job)
    call("run", job, "-o", other)
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()
    frame = pd.read_csv(people, dtype={"place": str})
    frame["codes"] = frame["codes"].str.split("|")
    made = sv.anonymize(
        frame,
        item="codes",
        record="patient",
        columns=["born", "sex", "place"],
        column_hierarchies={"place": "prefix:1"},
        k=4,
        m=2,
        columns_matter=0.8,
    )
    assert made.verdict.holds
    assert made.release == sv.read_release(one)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--column", "nothing"], "there is no column 'nothing' for the column"),
        (["--column", "codes"], "cannot be both the item and beside the items"),
        (["--promise", "columns"], "name the columns that are published beside items"),
        (["--column", "sex", "--method", "partition"], "the method partition keeps"),
        (["--column", "sex", "--within", "partition"], "needs a hierarchy over the items"),
        (["--column", "sex", "--columns-matter", "2"], "it must be a number from 0 to 1"),
        (["--column", "sex", "--engine", "blocks", "--memory", "1KB"], "may take 1KB"),
        (
            ["--column", "place", "--column-hierarchy", "place", "prefix:x"],
            "--column-hierarchy place prefix:x is not allowed: it must be a file, or balanced",
        ),
        (
            ["--column", "sex", "--column-hierarchy", "place", "any"],
            "it is not one of the columns that are named with --column: 'sex'",
        ),
        (["--column-hierarchy", "sex", "any"], "name the columns that have a hierarchy with"),
        (["--column", "sex", "--column-hierarchy", "sex", "no.csv"], "there is no such file"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(call, people, tmp_path, words, said):
    release = tmp_path / "release"
    answer = call("anonymize", people, "-o", release, "-k", 4, "-m", 2, *words)
    assert answer.code in (2, 3)
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not release.exists()


def test_the_release_on_blocks_has_the_files_of_the_local_engine(call, people, tmp_path):
    words = ["anonymize", people, *HOW, *TREE, "-k", 4, "-m", 2, "--seed", 1]
    assert call(*words, "-o", tmp_path / "here").code == 0
    assert call(*words, "-o", tmp_path / "there", "--engine", "blocks").code == 0
    files = sorted((tmp_path / "here").iterdir())
    assert [file.name for file in files] == sorted(p.name for p in (tmp_path / "there").iterdir())
    for file in files:
        assert file.read_bytes() == (tmp_path / "there" / file.name).read_bytes()


def test_inspect_names_the_columns_and_the_command_that_publishes_them(call, people):
    (note,) = (note for note in sv.inspect(people).notes if note.startswith("Not read"))
    assert "'born' (20 numbers), 'sex' (2 words), 'place' (12 numbers)" in note
    assert note.endswith("-k 5 -m 2 --column born --column sex --column place")
    assert "patient" not in note
    assert "Not read" in call("inspect", people).shown
    shown = call("inspect", people, *HOW).shown
    assert "Not read" not in shown
    assert "The columns alone single out 100.0 % of the people, without any item" in shown


def test_a_column_that_is_kept_as_it_is_becomes_items(call, people, tmp_path):
    kept = ["--column", "born", "--column", "sex", "--column-hierarchy", "sex", "keep"]
    release = tmp_path / "release"
    made = call("anonymize", people, "-o", release, *kept, "-k", 4, "-m", 2, "--json")
    found = json.loads(made.out)
    assert found["verdict"]["holds"]
    assert any("each is one of the items that somebody may know" in n for n in found["notes"])
    read = sv.read_release(release)
    assert [column.name for column in read.columns] == ["born"]
    for sex in ("sex=F", "sex=M"):
        found = read.support([sex])
        assert found.lower <= 20 <= found.upper
    assert call("verify", release, "--original", people, *kept).code == 0


def test_a_report_leaves_out_what_only_the_records_of_groups_show(call, people, tmp_path):
    """Each group has a cut of its own, and nobody knows which record is of which group."""
    release, report = tmp_path / "release", tmp_path / "report.html"
    how = ["--column", "sex", "--within", "mhghs", "--hierarchy", "balanced:3", "-k", 4, "-m", 2]
    assert call("anonymize", people, "-o", release, *how).code == 0
    made = call("report", release, "--original", people, "--column", "sex", "-o", report)
    assert made.code == 0, made.err
    assert "distortion" not in report.read_text(encoding="utf-8")


def test_a_comparison_shows_what_columns_cost_the_items(call, people, tmp_path):
    weights = ["--columns-matter", "0,1", "--workers", 0]
    words = ["--methods", "groups", *HOW, *TREE, "-k", 4, "-m", 2, *weights]
    assert call("compare", people, *words, "-o", tmp_path / "compared").code == 0
    report = (tmp_path / "compared" / "report.html").read_text(encoding="utf-8")
    assert "Columns or items?" in report
    assert "at each dot: how much columns matter" in report


def test_sensitive_items_are_hidden_among_l_people_within_groups(call, people, tmp_path):
    words = [*HOW, *TREE, "-k", 4, "-m", 2, "-l", 6, "--sensitive", "f"]
    release = tmp_path / "release"
    found = json.loads(call("anonymize", people, "-o", release, *words, "--json").out)
    assert found["verdict"]["holds"]
    assert [c["name"] for c in found["verdict"]["checks"] if "divers" in c["name"]] == [
        "l-diversity"
    ]
    read = sv.read_release(release)
    assert min(read.group_sizes) >= 6
    assert read.promise.diversity == sv.LDiversity(l=6, sensitive=["f"])
    assert call("verify", release, "--original", people, *HOW, *TREE).code == 0
    stricter = sv.Columns(k=4, m=2, diversity=sv.LDiversity(l=6, sensitive=["flu"]))
    assert "l-diversity" in [
        c.name for c in sv.verify(read, promise=stricter).checks if not c.holds
    ]
    refused = call("anonymize", people, "-o", tmp_path / "no", *words, "--within", "suppression")
    assert refused.code == 2
    assert "does not keep l-diversity" in refused.err

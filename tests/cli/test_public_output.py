"""What `anonymize`, `apply` and `run` print to standard output depends on the release alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import setveil as sv
from setveil.published.countable import Countable
from setveil.report.outcome import report_outcome

TREE = "a;ab;all\nb;ab;all\nc;cd;all\nd;cd;all\ne;e;all\n"
TWINS = {
    "partition": (
        "ab b a c d ad bcd ad",
        "bc a c bcd ab d a abd",
        ("-k", "2", "--hierarchy", "tree.csv"),
    ),
    "apriori": (
        "ac ad a d acd abc",
        "cd ad bc abc ad b",
        ("-k", "2", "-m", "2", "--hierarchy", "tree.csv"),
    ),
    "mhghs": (
        "bd c b bcd bd c",
        "d bcd bc bc b d",
        ("-k", "2", "-m", "2", "--hierarchy", "tree.csv"),
    ),
    "disassociation": ("d ab ad bc bd c", "d bd bcd a c b", ("-k", "3", "-m", "2")),
    "suppression": (
        "ade a ab b b",
        "ad a abe b b",
        ("-k", "2", "-p", "1", "--h", "0.9", "--private", "d"),
    ),
    "ssc": (
        "d ad bd a abd c d c",
        "c abc ad a bd d cd d",
        ("-k", "2", "--semantics", "tree.csv"),
    ),
}
"""By method: two originals, a word for each record, that it publishes alike."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tree.csv").write_text(TREE, encoding="utf-8")


def written(records: str) -> str:
    words = enumerate(records.split())
    lines = [f"{number},{item}" for number, word in words for item in word]
    Path("data.csv").write_text("\n".join(["record,item", *lines]) + "\n", encoding="utf-8")
    return "data.csv"


def files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.mark.parametrize("method", TWINS)
def test_originals_with_the_same_release_print_the_same(call, method):
    *originals, words = TWINS[method]
    found = []
    for records in originals:
        how = ("-o", "r", "--method", method, *words, "--force", "--seed", "1")
        done = call("anonymize", written(records), *how)
        assert done.code == 0, done.err
        found.append((done.out, files("r")))
    assert found[0] == found[1]


@pytest.mark.parametrize("engine", ["local", "blocks"])
def test_a_note_about_the_original_does_not_change_standard_output(call, engine):
    found = []
    for records in ("a a a a a a b b b", "a a a a a a b b bq"):  # q is left out, with a note
        how = ("-k", "3", "-m", "2", "--min-people", "2", "--force", "--engine", engine)
        done = call("anonymize", written(records), "-o", "r", *how)
        assert done.code == 0, done.err
        found.append((done.out, files("r"), "left out" in done.err))
    assert found[0][:2] == found[1][:2]
    assert (found[0][2], found[1][2]) == (False, True)


@pytest.mark.parametrize("verb", ["apply", "run"])
def test_the_other_ways_to_publish_print_the_same_too(call, verb):
    Path("top.csv").write_text("a;all\nb;all\nc;all\nd;all\n", encoding="utf-8")
    words = ("-k", "2", "-m", "2", "--method", "apriori", "--hierarchy", "top.csv", "--seed", "1")
    job = ("--save-job", "job.toml")
    assert call("anonymize", written("a b c d"), "-o", "rule", *words, *job).code == 0
    found = []
    for records in ("ab c d", "a b bc"):  # all items become the root
        written(records)
        apply = ("apply", "rule", "data.csv", "-o", "r", "--seed", "1", "--force")
        done = call(*(apply if verb == "apply" else ("run", "job.toml", "-o", "r", "--force")))
        assert done.code == 0, done.err
        found.append((done.out, files("r")))
    assert found[0] == found[1]


@pytest.mark.parametrize("engine", ["local", "blocks"])
def test_what_is_public_of_a_run_is_what_the_release_alone_shows(engine):
    records = [["a", "b"]] * 30 + [["c"]] * 30 + [["a", "d"]] * 30
    done = sv.anonymize(records, k=3, m=2, output="r", engine=engine)
    shown = {each.title: each for each in report_outcome(done).part(private=False).sections}
    release, alone = sv.read_release("r"), sv.verify("r")
    assert shown["Promised: km-anonymity (k = 3, m = 2)"].text == release.describe()
    assert shown["Not promised"].text == release.limits()
    said = {(fact.name, fact.remark) for fact in shown[f"Verified: {release.promise.title}"].facts}
    read_back = "the files, read back, contain exactly what was anonymized"
    checks = {(each.name, each.text) for each in alone.checks if each.name != "countable"}
    assert said == {*checks, ("written", read_back)}
    counted = "\n".join(Countable.of(release).sentences)
    assert shown["What can be counted from it"].text == counted

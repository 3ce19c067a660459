"""Tests of `setveil hierarchy edit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setveil import Hierarchy
from setveil.cli import answer
from setveil.hierarchy.editing import TreeDraft

TREE = 'beer;Alcohol;Drinks;ALL\nred wine;Alcohol;Drinks;ALL\nmilk;Drinks;ALL\n"salt, fine";ALL\na=b;ALL\n'


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("tree.csv").write_text(TREE, encoding="utf-8")
    return Path("tree.csv")


def edited(*words: str) -> Hierarchy:
    assert answer(["hierarchy", "edit", "tree.csv", *words, "-o", "new.csv", "--force"]) == 0
    return Hierarchy.read("new.csv")


@pytest.mark.usefixtures("tree")
def test_edits_are_made_in_the_order_in_which_they_are_given():
    words = ("--group", "beer,milk=Cold", "--move", 'red wine,"salt, fine"=Cold')
    made = edited(*words, "--rename", "Cold=Cold, or not", "--ungroup", "Drinks")
    assert made.path("salt, fine") == ("salt, fine", "Cold, or not", "ALL")
    swapped = edited("--rename", "Drinks=Cold", "--group", "beer=Drinks")
    assert swapped.path("beer") == ("beer", "Drinks", "Alcohol", "Cold", "ALL")


@pytest.mark.usefixtures("tree")
def test_labels_with_an_equals_sign_are_quoted():
    made = edited("--move", '"a=b"=Drinks', "--add", "tea,water=Drinks", "--add", "cake")
    assert made.path("a=b") == ("a=b", "Drinks", "ALL")
    assert (made.path("water"), made.path("cake")) == (("water", "Drinks", "ALL"), ("cake", "ALL"))


@pytest.mark.usefixtures("tree")
def test_with_data_missing_items_are_added_and_coverage_is_said(capsys):
    Path("data.csv").write_text("beer,tea\nmilk,oats\nbeer,milk\n", encoding="utf-8")
    reading = ("--data", "data.csv", "--input-format", "baskets")
    made = edited("--add-missing", *reading, "--move", "tea=Drinks", "--rename", "red wine=wine")
    assert made.path("tea") == ("tea", "Drinks", "ALL")
    assert made.path("wine") == ("wine", "Alcohol", "Drinks", "ALL")
    said = capsys.readouterr().err
    assert "setveil: It covers all 4 items of the data." in said
    Path("tree.csv").write_bytes(Path("new.csv").read_bytes())
    assert edited("--add-missing", *reading) == made


@pytest.mark.usefixtures("tree")
def test_a_log_of_the_page_is_made_again():
    draft = TreeDraft(Hierarchy.read("tree.csv"))
    draft.rename("Alcohol", "Spirits")
    draft.ungroup("Drinks")
    draft.undo()
    Path("edits.json").write_text(json.dumps(draft.log()), encoding="utf-8")
    assert edited("--edits", "edits.json") == draft.to_hierarchy()
    more = edited("--edits", "edits.json", "--rename", "Spirits=Booze")
    assert more.path("beer") == ("beer", "Booze", "Drinks", "ALL")


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--rename", "Drinks"], 2, "'Drinks' is not NODE=NAME"),
        (["--rename", "beer=ale"], 3, "'beer' is an item, and items keep their names"),
        (["--rename", "Drinks=milk"], 3, "there is already an item 'milk'"),
        (["--move", "Drinks=Alcohol"], 3, "'Drinks' cannot be moved into itself"),
        (["--add-missing"], 2, "name the data whose items are added with --data"),
        (["--edits", "nothing.json"], 3, "nothing.json: there is no such file"),
        (["--edits", "tree.csv"], 3, "tree.csv: this is not a log of edits"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_what_cannot_be_done_is_one_line_and_writes_nothing(capsys, words, code, problem):
    assert answer(["hierarchy", "edit", "tree.csv", *words, "-o", "new.csv"]) == code
    said = capsys.readouterr().err
    assert problem in said
    assert said.count("\n") == 1
    assert not Path("new.csv").exists()


@pytest.mark.parametrize("text", ['{"op": ["x"]}', '[{"op": ["x"]}]', "[1]", "null", "[[]]", "["])
@pytest.mark.usefixtures("tree")
def test_a_log_that_is_none_is_refused_by_name(capsys, text):
    Path("log.json").write_text(text, encoding="utf-8")
    assert answer(["hierarchy", "edit", "tree.csv", "--edits", "log.json"]) == 3
    assert capsys.readouterr().err == "setveil: log.json: this is not a log of edits\n"

"""Level tables as people have them: repeated labels, other columns, other languages, frames."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from setveil.errors import HierarchyError, ParameterError
from setveil.hierarchy.check import find_faults
from setveil.hierarchy.files import read_outline
from setveil.hierarchy.layouts import TreeOptions
from setveil.hierarchy.tree import Hierarchy

CARROTS = """item,group,department
baby carrots,CARROTS,VEGETABLES
big carrots,CARROTS,VEGETABLES
frozen carrots,CARROTS,FROZEN
cod,FISH,FROZEN
"""


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str) -> Path:
        place = tmp_path / "tree.csv"
        place.write_text(text, encoding="utf-8")
        return place

    return written


def test_a_label_of_two_groups_is_qualified_with_its_parent(write) -> None:
    tree = Hierarchy.read(write(CARROTS), qualify=True)
    assert tree.path("frozen carrots") == ("frozen carrots", "FROZEN/CARROTS", "FROZEN", "ALL")
    assert tree.path("cod") == ("cod", "FISH", "FROZEN", "ALL")
    assert find_faults(tree)[0].severity == "note"


def test_the_error_names_the_option_that_helps(write) -> None:
    with pytest.raises(HierarchyError, match=r"qualify=True names such groups.*VEGETABLES/CARROTS"):
        Hierarchy.read(write(CARROTS))
    with pytest.raises(HierarchyError, match=r"levels=\.\.\. chooses the columns"):
        Hierarchy.read(write(CARROTS))


def test_an_error_offers_to_qualify_items_that_are_in_several_groups(write):
    place = write("CARROTS;FRESH;ALL\nPEAS;FRESH;ALL\nCARROTS;FROZEN;ALL\nPEAS;FROZEN;ALL\n")
    with pytest.raises(HierarchyError, match="qualify=True moves such items below the lowest"):
        Hierarchy.read(place)
    assert Hierarchy.read(place, qualify=True).path("CARROTS")[-1] == "ALL"


def test_an_item_that_is_also_a_group_keeps_its_label(write) -> None:
    text = "item,group\nbeer,drinks\ncola,beer\ntea,drinks\nwine,beer\n"
    tree = Hierarchy.read(write(text), qualify=True)
    assert tree.path("beer") == ("beer", "drinks", "ALL")
    assert tree.path("cola") == ("cola", "ALL/beer", "ALL")
    padded = "milk;milk;Dairy;ALL\nbutter;milk;Dairy;ALL\nbread;bread;bread;ALL\n"
    tree = Hierarchy.read(write(padded), qualify=True)
    assert tree.path("milk") == ("milk", "Dairy/milk", "Dairy", "ALL")
    assert tree.path("bread") == ("bread", "ALL")


def test_an_item_in_several_groups_is_below_the_one_that_contains_them(write) -> None:
    text = "tea,HOT,DRINKS,SHOP\ntea,COLD,DRINKS,SHOP\ncola,COLD,DRINKS,SHOP\nsoap,CARE,HOME,SHOP\n"
    text += "cocoa,HOT,DRINKS,SHOP\n"
    place = write(text)
    assert Hierarchy.read(place, qualify=True).path("tea") == ("tea", "DRINKS", "SHOP")
    notes = find_faults(read_outline(place, TreeOptions(qualify=True)))
    assert notes[0].kind == "item in several groups"
    assert notes[0].labels == ("tea",)


def test_labels_that_repeat_at_other_levels_are_qualified_as_far_as_needed(write) -> None:
    text = "a;X;P;Q;ALL\nb;X;P;R;ALL\nc;Q;X;S;ALL\n"
    tree = Hierarchy.read(write(text), qualify=True)
    assert tree.path("a")[1:3] == ("Q/P/X", "Q/P")
    assert tree.path("b")[1:3] == ("R/P/X", "R/P")
    assert tree.path("c") == ("c", "X/Q", "S/X", "S", "ALL")
    assert len(set(tree.labels)) == len(tree)


def test_pairs_cannot_be_qualified(write) -> None:
    with pytest.raises(ParameterError, match="in pairs, a label is one node"):
        Hierarchy.read(write("child,parent\nmilk,Dairy\nDairy,ALL\n"), qualify=True)


MIXED = (
    "price,category,SKU,group\n1.5,Drinks,beer,Alcohol\n2.5,Drinks,tea,Hot\n1.5,Home,soap,Care\n"
)


@pytest.mark.parametrize(
    "levels", ["SKU,group,category", "sku, Group ,CATEGORY", "3,4,2", ["category", "group", "SKU"]]
)
def test_the_columns_of_a_level_table_can_be_chosen(write, levels) -> None:
    tree = Hierarchy.read(write(MIXED), levels=levels)
    assert tree.path("tea") == ("tea", "Hot", "Drinks", "ALL")


def test_wrong_columns_are_refused_with_a_near_match(write) -> None:
    with pytest.raises(
        ParameterError, match="'price', 'category', 'SKU', 'group'; did you mean gr"
    ):
        Hierarchy.read(write(MIXED), levels="SKU,groop")
    with pytest.raises(ParameterError, match="a column is named twice"):
        Hierarchy.read(write(MIXED), levels="SKU,sku")
    with pytest.raises(ParameterError, match="a file of pairs has no level columns"):
        Hierarchy.read(write(MIXED), levels="SKU,group", layout="pairs")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Artikel;Gruppe\nBier;Alkohol\nWein;Alkohol\nMilch;Kuh\n", ("Milch", "Kuh", "ALL")),
        ("Abteilung;Artikel\nA;Bier\nA;Milch\nB;Brot\n", ("Milch", "A", "ALL")),
        ("Kind;Eltern\nMilch;Kuh\nKuh;Alles\nBier;Alles\n", ("Milch", "Kuh", "Alles")),
        ("Eltern;Kind\nKuh;Milch\nAlles;Kuh\nAlles;Bier\n", ("Milch", "Kuh", "Alles")),
    ],
)
def test_a_header_in_another_language_is_a_header(write, text, path) -> None:
    assert Hierarchy.read(write(text)).path("Milch") == path


TABLES = {
    "levels": {"item": ["beer", "tea", "soap"], "group": ["Alcohol", "Hot", None]},
    "reversed": {"department": ["D", "D", "H"], "article": ["beer", "tea", "soap"]},
    "one root": {"sku": ["beer", "tea"], "group": ["A", "B"], "all": ["ALL", "ALL"]},
    "pairs": {"parent": ["ALL", "Drinks", "ALL"], "child": ["Drinks", "beer", "soap"]},
    "gaps": {"x": ["beer", "tea", "soap"], "y": [None, "Hot", "Care"], "z": ["P", "P", "Q"]},
}


@pytest.mark.parametrize("name", TABLES)
def test_a_frame_and_a_file_of_it_give_the_same_tree(name, tmp_path) -> None:
    frame = pd.DataFrame(TABLES[name])
    frame.to_csv(tmp_path / "table.csv", index=False)
    tree = Hierarchy.read(tmp_path / "table.csv")
    assert Hierarchy.from_paths(frame) == tree
    assert Hierarchy.from_paths(pl.DataFrame(TABLES[name])) == tree
    if name == "pairs":
        assert Hierarchy.from_edges(frame) == tree


def test_a_frame_takes_the_options_of_a_file() -> None:
    rows = [line.split(",") for line in CARROTS.splitlines()]
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    tree = Hierarchy.from_paths(frame, qualify=True)
    assert tree.path("big carrots")[1] == "VEGETABLES/CARROTS"
    assert Hierarchy.from_paths(frame, levels="item,department").path("cod") == (
        "cod",
        "FROZEN",
        "ALL",
    )


def test_a_root_that_is_called_parent_is_no_header_of_pairs(write) -> None:
    tree = Hierarchy.read(write("item;parent\nx;Group;parent\n"))
    assert tree.path("x") == ("x", "Group", "parent")
    assert tree.path("item") == ("item", "parent")

"""Every fault of a hierarchy is found, alone and among others."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.vocabulary import Vocabulary
from setveil.errors import HierarchyError
from setveil.hierarchy.check import Fault, find_faults, tree_of_edges, tree_of_paths
from setveil.hierarchy.outline import Outline
from setveil.hierarchy.tree import Hierarchy
from tests.strategies import trees


def kinds(faults: list[Fault], severity: str = "error") -> list[str]:
    return [fault.kind for fault in faults if fault.severity == severity]


def of_paths(*paths: tuple[str, ...], lines: list[int] | None = None) -> Outline:
    return Outline(paths, from_leaves=True, lines=lines)


def test_a_sound_tree_has_no_faults() -> None:
    edges = [("beer", "Alcohol"), ("wine", "Alcohol"), ("Alcohol", "ALL"), ("milk", "ALL")]
    assert find_faults(edges) == []
    assert find_faults(edges, Vocabulary(["beer", "milk", "wine"])) == []
    assert tree_of_edges(edges).path("wine") == ("wine", "Alcohol", "ALL")


@given(trees(chains=False, min_leaves=2))
def test_no_tree_has_faults_in_any_notation(tree: Hierarchy) -> None:
    items = Vocabulary(tree.labels[: tree.leaf_count])
    assert find_faults(tree, items) == []
    edges = list(dict.fromkeys(edge for path in tree.paths() for edge in pairwise(path)))
    assert find_faults(edges, items) == []
    assert tree_of_edges(edges) == tree


def test_two_roots_are_named() -> None:
    (fault,) = find_faults([("a", "X"), ("b", "X"), ("c", "Y"), ("d", "Y")])
    assert (fault.kind, fault.labels, fault.severity) == ("two roots", ("X", "Y"), "error")
    assert fault.sentence == "there must be one root, but there are two: 'X' and 'Y'"


def test_many_roots_are_counted_and_all_kept() -> None:
    (fault,) = [
        fault
        for fault in find_faults([(f"i{n}", f"R{n}") for n in range(9)])
        if fault.severity == "error"
    ]
    assert len(fault.labels) == 9
    assert fault.sentence.endswith("but there are 9: 'R0', 'R1', 'R2' and 6 more")


def test_a_node_with_two_parents_is_named_with_its_lines() -> None:
    outline = of_paths(
        ("a", "X", "ALL"),
        ("b", "Y", "ALL"),
        ("a", "Y", "ALL"),
        ("c", "X", "ALL"),
        lines=[1, 2, 5, 6],
    )
    (fault,) = find_faults(outline)
    assert (fault.kind, fault.labels) == ("two parents", ("a", "X", "Y"))
    assert fault.sentence == "'a' has two parents: 'X' (line 1) and 'Y' (line 5)"


def test_every_cycle_is_shown() -> None:
    faults = find_faults(
        [("a", "b"), ("b", "c"), ("c", "a"), ("p", "q"), ("q", "p"), ("x", "R"), ("y", "R")]
    )
    cycles = [fault for fault in faults if fault.kind == "cycle"]
    assert sorted(fault.labels for fault in cycles) == [("a", "b", "c"), ("p", "q")]
    assert cycles[0].sentence == "a cycle: 'a' -> 'b' -> 'c' -> 'a'"


def test_a_cycle_through_a_second_parent_is_found() -> None:
    faults = find_faults([("a", "R"), ("b", "a"), ("a", "b")])
    assert "cycle" in kinds(faults)
    assert "two parents" in kinds(faults)


def test_a_hierarchy_of_cycles_only_has_no_root() -> None:
    assert kinds(find_faults([("a", "b"), ("b", "a")])) == ["cycle", "no root"]


def test_items_without_a_leaf_are_listed() -> None:
    edges = [("a", "R"), ("b", "R")]
    (fault,) = find_faults(edges, Vocabulary(["a", "b", "c", "d"]))
    assert (fault.kind, fault.labels, fault.sentence) == (
        "item without a leaf",
        ("c", "d"),
        "2 items are not in the hierarchy: 'c' and 'd'",
    )


def test_leaves_without_an_item_are_a_note() -> None:
    (fault,) = find_faults([("a", "R"), ("b", "R")], Vocabulary(["a"]))
    assert (fault.kind, fault.labels, fault.severity) == ("leaf without an item", ("b",), "note")
    assert fault.sentence == "1 hierarchy item does not occur in the data: 'b'"


def test_an_item_that_is_an_inner_node_is_an_error() -> None:
    faults = find_faults(
        [("a", "X"), ("b", "X"), ("X", "R"), ("c", "R")], Vocabulary(["X", "a", "b", "c"])
    )
    assert [(fault.kind, fault.labels) for fault in faults] == [("item is an inner node", ("X",))]


def test_a_label_that_is_leaf_and_group_is_used_at_two_levels() -> None:
    (fault,) = find_faults(
        of_paths(
            ("Dairy", "ALL"), ("milk", "Dairy", "ALL"), ("cream", "Dairy", "ALL"), ("tea", "ALL")
        )
    )
    assert (fault.kind, fault.labels) == ("two levels", ("Dairy",))
    assert "as a leaf" in fault.sentence


def test_a_group_at_two_levels_is_found() -> None:
    faults = find_faults(of_paths(("a", "X", "ALL"), ("b", "X", "Y", "ALL"), ("c", "Y", "ALL")))
    levels = [fault for fault in faults if fault.kind == "two levels"]
    assert [fault.labels for fault in levels] == [("X",)]
    assert levels[0].sentence == "'X' is used at two levels: 1 and 2 steps below the root"


def test_empty_labels_are_found_where_they_matter() -> None:
    (fault,) = find_faults(
        of_paths(("a", "", "ALL"), ("b", "ALL", "", ""), ("", "ALL"), lines=[3, 4, 9])
    )
    assert (fault.kind, fault.sentence) == (
        "empty label",
        "2 lines have an empty label: lines 3 and 9",
    )


def test_an_empty_hierarchy_is_a_fault() -> None:
    assert kinds(find_faults([])) == ["no nodes"]


def test_a_repeated_line_is_a_note_and_a_single_child_too() -> None:
    faults = find_faults(of_paths(("a", "X", "ALL"), ("a", "X", "ALL"), ("b", "ALL")))
    assert [(fault.kind, fault.labels, fault.severity) for fault in faults] == [
        ("repeated line", ("a",), "note"),
        ("single child", ("X",), "note"),
    ]


def test_the_error_lists_every_fault() -> None:
    with pytest.raises(HierarchyError) as caught:
        tree_of_paths(
            [("a", "X", "ALL"), ("a", "Y", "ALL"), ("b", "Y", "TOP"), ("p", "q"), ("q", "p")]
        )
    assert len(caught.value.faults) == 6
    assert "and 5 more" in str(caught.value)


def test_padding_by_repeated_labels_and_empty_ends_is_ignored() -> None:
    padded = [
        ("milk", "milk", "Dairy", "ALL"),
        ("tea", "ALL", "ALL", "ALL"),
        ("cream", "Dairy", "ALL", ""),
    ]
    plain = [("milk", "Dairy", "ALL"), ("tea", "ALL"), ("cream", "Dairy", "ALL")]
    assert tree_of_paths(padded) == tree_of_paths(plain)


def test_a_root_may_be_its_own_parent_or_have_an_empty_one() -> None:
    plain = tree_of_edges([("a", "R"), ("b", "R")])
    assert tree_of_edges([("a", "R"), ("R", "R"), ("b", "R")]) == plain
    assert tree_of_edges([("a", "R"), ("b", "R"), ("R", "")]) == plain
    assert tree_of_edges([("R", "")]).labels == ("R",)


PLANTS = {
    "two parents": lambda leaf, inner, root: [(leaf, "<other>", root)],
    "two roots": lambda leaf, inner, root: [("<stray>", "<second root>")],
    "cycle": lambda leaf, inner, root: [("<p>", "<q>"), ("<q>", "<p>")],
    "two levels": lambda leaf, inner, root: [("<low>", leaf, "<mid>", root)],
    "empty label": lambda leaf, inner, root: [("<new>", "", root)],
}


@given(trees(min_leaves=2), st.sets(st.sampled_from(sorted(PLANTS)), min_size=1), st.data())
def test_every_planted_fault_is_found_among_others(
    tree: Hierarchy, planted: set[str], data: st.DataObject
) -> None:
    leaf = data.draw(st.sampled_from(tree.labels[: tree.leaf_count]))
    root = tree.labels[tree.root]
    lines = [line for kind in sorted(planted) for line in PLANTS[kind](leaf, "", root)]
    paths = data.draw(st.permutations([*tree.paths(), *lines]))
    items = Vocabulary([*tree.labels[: tree.leaf_count], "<unknown>"])
    found = kinds(find_faults(Outline(paths, from_leaves=True), items))
    assert planted <= set(found)
    assert "item without a leaf" in found
    with pytest.raises(HierarchyError):
        tree_of_paths(paths)

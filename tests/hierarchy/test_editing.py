"""Tests of editing a tree, against plain dicts that make a new tree for each edit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from io import StringIO
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil import Hierarchy, Transactions, Vocabulary
from setveil.errors import DataError, UnknownItemError
from setveil.hierarchy.editing import OPERATIONS, TreeDraft
from setveil.hierarchy.files import write_hierarchy
from tests.oracle import editing as plain
from tests.strategies import SEEDS, trees

NAMES = ("New", "Alcohol", " New ", "Food", "", "a", "<12>", "x;y")
DRINKS = (
    ("beer", "Alcohol", "Drinks", "ALL"),
    ("red wine", "Alcohol", "Drinks", "ALL"),
    ("milk", "Drinks", "ALL"),
    ("bread", "ALL"),
)


def drinks(data: object = None) -> TreeDraft:
    return TreeDraft(Hierarchy.from_paths(DRINKS), data)


def flat(items: Iterable[str], root: str = "ALL") -> TreeDraft:
    """A draft of items below one root, which are those of the data."""
    labels = list(items)
    return TreeDraft(Hierarchy.from_paths([(item, root) for item in labels]), labels)


def outline(draft: TreeDraft) -> list[str]:
    return [f"{'  ' * depth}{label}" for label, depth in draft.walk()]


def some_edit(random: Random, draft: TreeDraft) -> dict[str, Any]:
    """An edit of some nodes of a draft, which may not be allowed but often is."""
    labels = [label for label, _ in draft.walk()]
    groups = [label for label in labels if not draft.node(label).is_item] or labels
    empty = [label for label in groups if not draft.node(label).items]
    op = random.choice([*sorted(OPERATIONS), "move", "group"])
    may_fail = random.random() < 0.2
    nodes = random.choices(labels, k=random.randint(0 if may_fail else 1, 4))
    values = {
        "node": random.choice(labels if may_fail else groups),
        "to": random.choice(labels if may_fail else groups),
        "nodes": random.sample(empty, 1) if op == "remove" and empty else nodes,
        "name": random.choice(NAMES) if may_fail else f"group {random.randint(0, 99)}",
        "items": random.choices(("new 1", "new 2", "new 3", "Food", "a"), k=random.randint(0, 2)),
    }
    return {"op": op} | {field: values[field] for field in OPERATIONS[op]}


def edits(draft: TreeDraft) -> st.SearchStrategy[dict[str, Any]]:
    return st.integers(0, 2**32).map(lambda seed: some_edit(Random(seed), draft))


def plainly(tree: plain.Tree, edit: dict[str, Any], fixed: frozenset[str]) -> plain.Tree | None:
    """The tree after an edit; None if it is not allowed."""
    words = {name: value for name, value in edit.items() if name != "op"}
    if edit["op"] == "rename":
        words["fixed"] = fixed
    try:
        return getattr(plain, edit["op"])(tree, **words)
    except ValueError:
        return None


@given(st.data(), trees(), st.booleans())
def test_any_edits_do_what_plain_dicts_do(data, tree, knows_data):
    expected = plain.of_paths(list(tree.paths()))
    known = data.draw(st.sets(st.sampled_from(sorted(expected[1])))) if knows_data else None
    draft, history = TreeDraft(tree, known), [expected]
    for _ in range(data.draw(st.integers(0, 8))):
        step = data.draw(st.sampled_from(["edit", "edit", "edit", "undo"]))
        if step == "undo" and draft.can_undo:
            draft.undo()
            history.pop()
        else:
            edit = data.draw(edits(draft))
            fixed = history[-1][1] if known is None else history[-1][1] & known
            after = plainly(history[-1], edit, fixed)
            if after is None:
                with pytest.raises(DataError):
                    draft.apply(edit)
            else:
                draft.apply(edit)
                history.append(after)
        compare(draft, history[-1])
    check_history(draft, tree, known)


@given(seed=SEEDS)
def test_many_edits_do_what_plain_dicts_do(seed):
    random = Random(seed)
    labels = list(map(str, range(random.randint(3, 14))))
    tree = Hierarchy.balanced(labels, fanout=random.randint(2, 4))
    draft, history, made = TreeDraft(tree), [plain.of_paths(list(tree.paths()))], 0
    for _ in range(40):
        if draft.can_undo and random.random() < 0.1:
            draft.undo()
            history.pop()
        else:
            edit = some_edit(random, draft)
            after = plainly(history[-1], edit, history[-1][1])
            if after is None:
                with pytest.raises(DataError):
                    draft.apply(edit)
                continue
            draft.apply(edit)
            history.append(after)
            made += 1
        compare(draft, history[-1])
    assert made
    check_history(draft, tree, None)


def compare(draft: TreeDraft, expected: plain.Tree) -> None:
    assert list(draft.walk()) == list(plain.preorder(expected))
    for label, _ in draft.walk():
        node = draft.node(label)
        assert node.items == len(plain.items_below(expected, label))
        assert node.parent == plain.parent_of(expected, label)
        assert [child.label for child in draft.children(label)] == expected[0].get(label, [])
        assert list(draft.path(label)) == plain.above(expected, label)[-2::-1]
    made = draft.to_hierarchy()
    assert list(made.paths()) == plain.paths(expected)
    assert set(made.labels[: made.leaf_count]) == expected[1]


def check_history(draft: TreeDraft, tree: Hierarchy, known: object) -> None:
    log, now = json.loads(json.dumps(draft.log())), draft.to_hierarchy()
    again = TreeDraft.replay(tree, log, known)
    assert again.log() == log
    assert list(again.walk()) == list(draft.walk())
    assert (again.version, again.can_redo) == (draft.version, draft.can_redo)
    done = 0
    while draft.can_undo:
        draft.undo()
        done += 1
    assert list(draft.walk()) == list(TreeDraft(tree).walk())
    assert draft.to_hierarchy() == tree
    for _ in range(done):
        draft.redo()
    assert draft.to_hierarchy() == now


@given(st.data(), trees())
def test_an_edited_tree_is_written_and_read_again(tmp_path_factory, data, tree):
    draft = TreeDraft(tree)
    for _ in range(3):
        edit = data.draw(edits(draft))
        try:
            draft.apply(edit)
        except DataError:
            continue
    made, path = draft.to_hierarchy(), tmp_path_factory.mktemp("tree") / "tree.csv"
    write_hierarchy(made, path)
    assert Hierarchy.read(path) == made


@given(st.data(), trees())
def test_an_edit_that_is_refused_changes_nothing(data, tree):
    draft = TreeDraft(tree)
    before, edit = list(draft.walk()), data.draw(edits(draft))
    try:
        draft.apply(edit)
    except DataError:
        assert (list(draft.walk()), draft.version, draft.can_undo) == (before, 0, False)


def test_nodes_of_several_groups_are_grouped_below_what_contains_them_all():
    draft = drinks()
    draft.group(["beer", "milk"], "Cold")
    assert outline(draft)[:6] == [
        *("ALL", "  Drinks", "    Cold", "      beer", "      milk", "    Alcohol"),
    ]


def test_the_root_can_get_a_new_root_and_lose_it_again():
    draft = drinks()
    draft.group(["ALL"], "Everything")
    assert draft.root == "Everything"
    draft.ungroup("Everything")
    assert outline(draft) == outline(drinks())


def test_a_single_item_can_be_grouped_and_then_gets_company():
    draft = TreeDraft(Hierarchy.from_paths([("milk",)]))
    with pytest.raises(DataError, match=r"'milk' is an item .* group the item first"):
        draft.add(["beer"])
    draft.group(["milk"], "Drinks")
    draft.add(["beer"])
    assert outline(draft) == ["Drinks", "  milk", "  beer"]


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (("move", ["Drinks"], "Alcohol"), "'Drinks' cannot be moved into itself or into a group"),
        (("move", ["Drinks"], "Drinks"), "choose a group outside of it"),
        (("move", ["ALL"], "Drinks"), "'ALL' cannot be moved into itself"),
        (("move", ["milk"], "beer"), "'beer' is an item and cannot be filled; choose a group"),
        (("move", ["milk"], "Drinks"), "already directly below 'Drinks'"),
        (("move", [], "Drinks"), "no node is chosen"),
        (("rename", "Alcohol", "  "), "the name is empty; write a name"),
        (("rename", "Alcohol", "milk"), "already an item 'milk'"),
        (("rename", "Alcohol", "Drinks"), "already a group 'Drinks'"),
        (("rename", "Alcohol", "a\nb"), "not text; write it without line breaks"),
        (("rename", "Alcohol", "\ud800"), "not text"),
        (("rename", "milk", "Milk"), "'milk' is an item, and items keep their names"),
        (("rename", "Alcohl", "x"), "no node 'Alcohl'; did you mean 'Alcohol'?"),
        (("group", ["beer"], "ALL"), "already a group 'ALL'"),
        (("ungroup", "ALL"), "'ALL' is the root: without it the tree would have several"),
        (("ungroup", "beer"), "'beer' is an item and cannot be ungrouped"),
        (("add", ["milk"]), "has this label already: 'milk'"),
        (("add", []), "no item to add"),
        (("remove", ["Alcohol"]), "'Alcohol' has 2 items; only empty groups can be removed"),
        (("remove", ["beer"]), "'beer' is an item"),
    ],
)
def test_what_would_break_the_tree_is_refused_in_one_line(edit, problem):
    draft = drinks()
    with pytest.raises(DataError) as caught:
        getattr(draft, edit[0])(*edit[1:])
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert outline(draft) == outline(drinks())


def test_an_unknown_node_is_an_unknown_item():
    with pytest.raises(UnknownItemError):
        drinks().ungroup("nothing")


def test_an_item_that_the_data_does_not_have_can_be_renamed():
    draft = drinks(["beer", "bread", "milk", "wine"])
    assert draft.coverage().missing == ("wine",)
    draft.rename("red wine", "wine")
    assert draft.coverage().is_complete
    with pytest.raises(DataError, match="'beer' is an item of the data"):
        draft.rename("beer", "ale")


def test_coverage_says_what_is_missing_unused_and_empty():
    draft = drinks({"beer": 5, "Drinks": 2, "tea": 1, "cake": 3})
    draft.move(["beer", "red wine"], "Drinks")
    found = draft.coverage()
    assert (found.missing, found.shadowed, found.empty) == (
        ("cake", "tea"),
        ("Drinks",),
        ("Alcohol",),
    )
    assert set(found.unused) == {"red wine", "milk", "bread"}
    assert found.sentences() == (
        "The tree has 4 items in 3 groups.",
        "2 of 4 items of the data are not in the tree: 'cake', 'tea'",
        "1 of 4 items of the data is a group of the tree: 'Drinks'",
        "3 items of the tree do not occur in the data.",
        "1 group is empty and is left out of the file.",
    )
    assert "Alcohol" not in draft.to_hierarchy()
    draft.remove(["Alcohol"])
    assert draft.coverage().empty == ()


def test_occurrences_are_summed_and_follow_the_edits():
    data = Transactions.of([["beer", "milk"], ["beer"], ["bread", "red wine"]])
    draft = drinks(data)
    assert (draft.node("Drinks").occurrences, draft.node("Alcohol").occurrences) == (4, 3)
    draft.move(["bread"], "Alcohol")
    assert (draft.node("Drinks").occurrences, draft.node("ALL").occurrences) == (5, 5)
    draft.undo()
    assert draft.node("Drinks").occurrences == 4


def test_without_supports_occurrences_are_not_known():
    assert drinks(Vocabulary(["beer"])).node("ALL").occurrences is None
    assert drinks().node("beer").in_data is None
    assert drinks(["beer"]).node("beer").in_data is True


def test_search_ignores_case_and_shows_the_best_first():
    draft = flat(["red wine", "Wine", "wine gum", "beer"], root="Wines and more")
    found = draft.search("  WINE ", 3)
    assert found.total == 4
    assert [node.label for node in found.nodes] == ["Wine", "wine gum", "Wines and more"]
    assert draft.search("") == draft.search("zzz") == (0, ())


def test_children_come_in_pages():
    draft = flat(map(str, range(1000)))
    assert [node.label for node in draft.children("ALL", 998, 10)] == ["998", "999"]
    assert len(draft.children("ALL")) == 200
    with pytest.raises(ValueError, match="offset"):
        draft.children("ALL", -1)


def test_positions_leave_out_unknown_labels():
    assert drinks().positions(["milk", "bread", "nothing", "ALL"]) == {
        "milk": 1,
        "bread": 1,
        "ALL": 0,
    }


@pytest.mark.parametrize(
    "edit",
    [
        *(
            None,
            [],
            {},
            {"op": "explode"},
            {"op": "rename"},
            {"op": "rename", "node": 1, "name": "x"},
        ),
        *({"op": "move", "nodes": "beer", "to": "ALL"}, {"op": "move", "nodes": [1], "to": "ALL"}),
        {"op": "ungroup", "node": "Drinks", "more": 1},
    ],
)
def test_an_edit_of_the_wrong_shape_is_refused(edit):
    with pytest.raises(DataError, match=r"an edit is one of|the edit \w+ needs"):
        drinks().apply(edit)


def test_items_are_added_to_the_root_by_default():
    draft = drinks()
    draft.apply({"op": "add", "items": ["tea"]})
    assert draft.path("tea") == ("ALL", "tea")


@pytest.mark.parametrize(
    "log", [None, [], {}, "log", {"start": 1, "edits": 3, "done": 0, "version": 0}]
)
def test_a_log_of_the_wrong_shape_is_refused(log):
    with pytest.raises(DataError, match="not a log of edits"):
        TreeDraft.replay(Hierarchy.from_paths(DRINKS), log)


def test_a_log_of_another_tree_is_refused():
    log = flat(["beer"]).log()
    with pytest.raises(DataError, match="another tree"):
        TreeDraft.replay(Hierarchy.from_paths(DRINKS), log)


def test_what_was_undone_can_be_redone_after_a_restart():
    draft = drinks()
    draft.rename("Alcohol", "Spirits")
    draft.ungroup("Drinks")
    draft.undo()
    again = TreeDraft.replay(draft.start, draft.log())
    assert (again.version, again.can_undo, again.can_redo) == (3, True, True)
    again.redo()
    assert "Drinks" not in again


def test_a_new_edit_forgets_what_was_undone():
    draft = drinks()
    draft.ungroup("Drinks")
    draft.undo()
    draft.rename("Drinks", "Beverages")
    assert not draft.can_redo
    with pytest.raises(DataError, match="nothing to redo"):
        draft.redo()


def test_an_edited_tree_counts_as_the_users_own_and_an_unedited_one_as_it_was():
    tree = Hierarchy.balanced(["a", "b", "c", "d"], fanout=2)
    draft = TreeDraft(tree)
    assert draft.to_hierarchy() is tree
    draft.rename("*1", "First")
    assert draft.to_hierarchy().origin.kind == "given"


def test_a_hundred_thousand_nodes_and_a_very_deep_tree_can_be_edited():
    wide = TreeDraft(Hierarchy.balanced(range(80_000), fanout=5))
    wide.group([str(number) for number in range(0, 80_000, 9)], "Ninths")
    wide.rename("*1", "First")
    assert wide.node("Ninths").items == len(range(0, 80_000, 9))
    wide.undo()
    wide.undo()
    assert wide.node(wide.root).items == 80_000
    labels = list(map(str, range(3_000)))
    deep = TreeDraft(Hierarchy.from_parents(labels, [number - 1 for number in range(3_000)]))
    deep.group(["1500"], "Middle")
    assert len(deep.path("2999")) == 3_001
    text = StringIO()
    write_hierarchy(deep.to_hierarchy(), text)
    assert text.getvalue().startswith("2999;2998")

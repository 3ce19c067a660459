"""Tests of the routes of the hierarchy screen, and of its panel without a browser."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from setveil import Hierarchy
from setveil.hierarchy.editing import TreeDraft
from tests.web.treehost import Host, flat, hosted, tree_panel

PATHS = (
    ("beer", "Alcohol", "Drinks", "ALL"),
    ("red wine", "Alcohol", "Drinks", "ALL"),
    ("milk", "Drinks", "ALL"),
    ("bread", "ALL"),
)
SUPPORTS = {"beer": 7, "milk": 5, "bread": 3, "tea": 1}


@pytest.fixture
def host() -> Iterator[Host]:
    with hosted(TreeDraft(Hierarchy.from_paths(PATHS), SUPPORTS)) as host:
        yield host


def test_children_come_in_pages_with_their_positions(host):
    answer = host.get("children", node="Drinks", offset=1, limit=5)
    assert (answer["total"], answer["offset"], answer["version"]) == (2, 1, 0)
    (milk,) = answer["children"]
    assert milk == {
        "label": "milk",
        "parent": "Drinks",
        "is_item": True,
        "children": 0,
        "items": 1,
        "occurrences": 5,
        "in_data": True,
        "position": 1,
    }
    assert [node["label"] for node in host.get("children")["children"]] == ["Drinks", "bread"]


def test_search_gives_paths(host):
    answer = host.get("search", text="WINE", limit=1)
    assert answer["total"] == 1
    assert answer["found"][0]["path"] == ["ALL", "Drinks", "Alcohol", "red wine"]


def test_coverage_is_in_numbers_and_in_words(host):
    answer = host.get("coverage")
    assert (answer["missing"], answer["unused"]) == (["tea"], ["red wine"])
    assert "1 of 4 items of the data is not in the tree: 'tea'" in answer["sentences"]


def test_an_edit_says_what_changed_and_is_saved(host):
    status, answer = host.edit(
        op="rename", node="Alcohol", name="Spirits", open=["Alcohol", "gone"]
    )
    assert (status, answer["version"], answer["can_undo"], answer["can_redo"]) == (
        200,
        1,
        True,
        False,
    )
    assert answer["message"] == "Renamed 'Alcohol' to 'Spirits'."
    assert [node["label"] for node in answer["changed"]] == ["Spirits"]
    assert (answer["renamed"], answer["focus"]) == ({"Alcohol": "Spirits"}, "Spirits")
    assert {node["label"] for node in answer["open"]} == {"ALL", "Drinks", "Spirits"}
    assert [log["done"] for log in host.saved] == [1]
    again = TreeDraft.replay(host.draft.start, host.saved[-1], SUPPORTS)
    assert again.to_hierarchy() == host.draft.to_hierarchy()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"op": "move", "nodes": ["milk"], "to": "Alcohol"}, "Moved 'milk' into 'Alcohol'."),
        (
            {"op": "move", "nodes": ["milk", "bread"], "to": "Alcohol"},
            "Moved 2 nodes into 'Alcohol'.",
        ),
        ({"op": "group", "nodes": ["milk"], "name": "Dairy"}, "Added 'Dairy' and moved 1 node."),
        ({"op": "ungroup", "node": "Drinks"}, "Removed 'Drinks' and moved 2 nodes."),
        ({"op": "add"}, "Added 'tea'."),
    ],
)
def test_every_edit_is_said_in_words_and_can_be_taken_back(host, words, message):
    before = list(host.draft.walk())
    assert host.edit(**words)[1]["message"] == message
    status, answer = host.post("undo", {"version": 1})
    assert (status, answer["can_redo"], list(host.draft.walk())) == (200, True, before)
    assert answer["message"].startswith("Taken back. ")
    status, answer = host.post("redo", {"version": 2})
    assert (status, answer["message"]) == (200, f"Made again. {message}")


def test_all_empty_groups_are_removed_at_once(host):
    host.edit(op="move", nodes=["beer", "red wine"], to="ALL")
    assert host.get("coverage")["empty"] == ["Alcohol"]
    assert host.edit(op="remove")[1]["removed"] == ["Alcohol"]


def test_an_edit_of_an_old_version_is_refused(host):
    host.edit(op="ungroup", node="Alcohol")
    status, answer = host.edit(op="ungroup", node="Drinks", version=0)
    assert status == 409
    assert answer["remedy"] == "look at the tree as it is now and try again"
    assert "Drinks" in host.draft
    assert host.post("undo", {})[0] == 409
    assert len(host.saved) == 1


def test_of_many_edits_at_once_only_one_succeeds(host):
    answers = []

    def rename(number):
        answers.append(host.edit(op="rename", node="Drinks", name=f"Drinks {number}", version=0)[0])

    threads = [threading.Thread(target=rename, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, *[409] * 7]
    assert host.draft.version == 1


@pytest.mark.parametrize(
    ("path", "body", "problem"),
    [
        ("edit", b"", "the request is not a JSON object"),
        ("edit", b"[1]", "the request is not a JSON object"),
        ("edit", b"\xff", "the request is not a JSON object"),
        ("edit", b"[" * 100_000, "the request is not a JSON object"),
        ("edit", {"version": 0}, "an edit is one of move, rename"),
        (
            "edit",
            {"version": 0, "op": "rename", "node": "beer"},
            "the edit rename needs node (a text)",
        ),
        (
            "edit",
            {"version": 0, "op": "ungroup", "node": "x"},
            "the tree has no node 'x'",
        ),
        ("undo", {"version": 0}, "there is nothing to undo"),
        ("redo", {"version": 0}, "there is nothing to redo"),
        ("open", {"open": "ALL"}, "open must be a list"),
        ("open", {"reveal": 7}, "reveal must be the label of a node"),
        ("open", {"reveal": "nothing"}, "the tree has no node 'nothing'"),
    ],
)
def test_a_bad_request_gets_one_clear_line(host, path, body, problem):
    status, answer = host.post(path, body)
    assert status == 400
    assert problem in answer["error"]
    assert answer.keys() == {"error", "remedy"}
    assert host.saved == []


def test_an_edit_with_a_bad_list_of_open_nodes_changes_nothing(host):
    assert host.edit(op="ungroup", node="Drinks", open=3)[0] == 400
    assert "Drinks" in host.draft


@pytest.mark.parametrize(
    "words", [{"offset": -1}, {"limit": "many"}, {"node": "no"}, {"offset": "9" * 30}]
)
def test_a_bad_question_gets_one_clear_line(host, words):
    assert host.get("children", **words).keys() == {"error", "remedy"}


def test_a_very_long_request_is_refused(host, monkeypatch):
    monkeypatch.setattr("setveil.web.drafts.MOST_BYTES", 1_000)
    status, answer = host.edit(op="move", nodes=["milk"] * 1_000, to="ALL")
    assert (status, answer["error"]) == (400, "this edit is too long")


def test_without_a_draft_everything_is_not_found():
    with hosted(None) as host:
        assert host.get("children")["error"] == "there is no hierarchy here"
        assert host.post("edit", {})[0] == 404


def test_what_is_revealed_opens_everything_above_it(host):
    _, answer = host.post("open", {"open": [], "reveal": "beer"})
    assert [node["label"] for node in answer["open"]] == ["ALL", "Drinks", "Alcohol"]
    assert (answer["revealed"]["position"], answer["revealed"]["parent"]) == (0, "Alcohol")


def test_the_file_can_be_downloaded_and_read(host, tmp_path):
    host.edit(op="rename", node="Alcohol", name="Beer; wine")
    with urllib.request.urlopen(f"{host.address}/trees/1/download") as answer:
        assert answer.headers["Content-Disposition"] == 'attachment; filename="hierarchy.csv"'
        (tmp_path / "tree.csv").write_bytes(answer.read())
    assert Hierarchy.read(tmp_path / "tree.csv") == host.draft.to_hierarchy()
    assert host.get("edits") == host.draft.log()


def test_labels_of_any_kind_are_answered():
    with hosted(flat(["\ud800", "<b>", "a&b=c #1", "日本"])) as host:
        labels = [node["label"] for node in host.get("children")["children"]]
        assert labels == ["\ud800", "<b>", "a&b=c #1", "日本"]
        assert host.edit(op="group", nodes=["a&b=c #1", "\ud800"], name="ü")[0] == 200
        assert host.get("children", node="ü")["total"] == 2
        assert "cannot be written as UTF-8" in host.get("download")["error"]


class Tags(HTMLParser):
    """Checks that tags are closed in order, and collects their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag != "input":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_panel_is_well_formed_and_escaped_and_has_nothing_inline():
    draft = flat(["<script>", '"quoted"', "plain"])
    draft.group(["plain", "<script>"], "<i>Group</i>")
    html = tree_panel('/t/"1"/', draft)
    tags = Tags(html)
    assert tags.open == []
    assert not any(name == "style" or name.startswith("on") for name, _ in tags.attributes)
    assert "<script" not in html
    assert "<i>" not in html
    assert 'data-base="/t/&#34;1&#34;"' in html
    assert "<li>&lt;i&gt;Group&lt;/i&gt; (2 items)<ul>" in html


def test_the_outline_without_scripts_is_short():
    html = tree_panel("/t", flat(range(5_000)))
    assert html.count("<li>") < 300
    assert "And 4,801 nodes more." in html
    assert Tags(html).open == []

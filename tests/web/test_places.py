"""Files of this machine: what can be named, what a folder shows, and that nothing leads out."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import FileFormatError, ParameterError, SetveilError
from setveil.web.incoming import MOST_SHOWN, Places
from tests.web.serving import BASKETS, TREE, served


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """`home` may be read, `elsewhere` may not; links lead to both."""
    top = tmp_path_factory.mktemp("places").resolve()
    home, elsewhere = top / "home", top / "elsewhere"
    for folder in (home / "data" / "old", home / "own", home / ".hidden", elsewhere):
        folder.mkdir(parents=True)
    for file in ("baskets.csv", "Zebra.csv", ".secret.csv", "~tilde.csv", "data/in.csv"):
        (home / file).write_text(BASKETS, encoding="utf-8")
    (home / "own" / "key").write_text("secret", encoding="utf-8")
    (elsewhere / "secret.csv").write_text(BASKETS, encoding="utf-8")
    (home / "tab\there.csv").write_text("", encoding="utf-8")
    os.mkfifo(home / "pipe.csv")
    links = {
        "to-data": home / "data", "to-file.csv": home / "baskets.csv", "out": elsewhere,
        "out.csv": elsewhere / "secret.csv", "loop": home / "loop", "gone.csv": home / "gone",
        "to-own": home / "own", "up": top,
    }  # fmt: skip
    for name, target in links.items():
        (home / name).symlink_to(target)
    return home


@pytest.fixture(scope="module")
def places(tree):
    return Places((tree,), tree / "own")


def names(entries):
    return [entry.name for entry in entries]


def test_a_folder_shows_what_may_be_read_and_nothing_else(places, tree):
    found = places.listing()
    assert names(found.folders) == ["data", "to-data"]
    assert names(found.files) == ["baskets.csv", "to-file.csv", "Zebra.csv", "~tilde.csv"]
    assert found.files[0].size == len(BASKETS)
    assert found.files[1].path == tree / "baskets.csv"
    assert (found.folder, found.parent, found.more) == (tree, None, 0)
    inside = places.listing(str(tree / "to-data"))
    assert (inside.folder, inside.parent) == (tree / "data", tree)
    assert (names(inside.folders), names(inside.files)) == (["old"], ["in.csv"])


def test_a_part_of_a_name_finds_it(places):
    assert names(places.listing(wanted="ZEB").files) == ["Zebra.csv"]
    assert places.listing(wanted="nowhere").files == ()


def test_a_folder_with_very_many_files_says_how_many_are_left_out(tmp_path):
    for number in range(MOST_SHOWN + 7):
        (tmp_path / f"{number:04}.csv").touch()
    found = Places((tmp_path,), tmp_path / "own").listing()
    assert (len(found.files), found.more) == (MOST_SHOWN, 7)
    assert names(Places((tmp_path,), tmp_path / "own").listing(wanted="0506").files) == ["0506.csv"]


OUTSIDE = [
    *("/", "/etc", "..", "../elsewhere", "data/../../elsewhere", "out", "out/secret.csv", "up"),
    *("up/elsewhere", "loop", "to-own", "own", "own/key", "~root", "~nobody-of-this-name/x"),
]


@pytest.mark.parametrize("given", [*OUTSIDE, "a\0b"])
def test_nothing_outside_can_be_named_or_listed(places, given):
    for ask in (places.file, places.listing):
        with pytest.raises(ParameterError):
            ask(given)


@pytest.mark.parametrize("given", ["nowhere", "x" * 5_000, "baskets.csv/x", "gone.csv"])
def test_what_is_not_there_is_said_in_one_line(places, given):
    for ask in (places.file, places.listing):
        with pytest.raises(FileFormatError) as caught:
            ask(given)
        assert "\n" not in str(caught.value)


def test_a_folder_is_not_a_file_nor_a_file_a_folder(places):
    with pytest.raises(FileFormatError, match="this is a folder"):
        places.file("data")
    with pytest.raises(FileFormatError, match="cannot be opened"):
        places.listing("baskets.csv")
    with pytest.raises(FileFormatError, match="there is no such file"):
        places.file("pipe.csv")
    with pytest.raises(ParameterError, match="name a file"):
        places.file("  ")


PARTS = st.sampled_from(
    ["..", ".", "data", "old", "out", "up", "to-own", "own", "key", "loop", "in.csv", "elsewhere",
     "secret.csv", "home", "~", "", "baskets.csv", "to-data", "out.csv"]
)  # fmt: skip


@given(parts=st.lists(PARTS, min_size=1, max_size=7), absolute=st.booleans())
def test_no_way_of_writing_a_path_leads_out(places, tree, parts, absolute):
    given = "/".join([str(tree), *parts] if absolute else parts)
    for ask in (places.file, lambda path: places.listing(path).folder):
        try:
            found = ask(given)
        except SetveilError:
            continue
        real = os.path.realpath(found)
        assert os.path.commonpath([real, str(tree)]) == str(tree)
        assert not real.startswith(str(tree / "own"))
        assert str(found) == real


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "inside <b>").mkdir()
    (folder / "inside <b>" / "mine & yours.csv").write_text(BASKETS, encoding="utf-8")
    (folder / "inside <b>" / "tree.csv").write_text(TREE, encoding="utf-8")
    with served(folder) as page:
        yield page


def test_a_file_is_found_and_used(page):
    place, folder = page.project(), page.folder / "inside <b>"
    found = page.get(f"{place}/files").json
    assert [each["name"] for each in found["folders"]] == ["inside <b>"]
    assert (found["folder"], found["parent"]) == (str(page.folder), None)
    shown = page.ask_page(f"{place}/files", folder=str(folder))
    assert "inside &lt;b&gt;" in shown.text
    assert f'value="{folder}/mine &amp; yours.csv"'.replace("<b>", "&lt;b&gt;") in shown.text
    listed = page.ask_json(f"{place}/files", folder=str(folder))
    assert [each["name"] for each in listed["files"]] == ["mine & yours.csv", "tree.csv"]
    assert page.post(f"{place}/load/path", path=listed["files"][0]["path"]).status == 200
    assert page.get(f"{place}/load").json["file"] == "mine _ yours.csv"
    shown = page.ask_page(f"{place}/files", folder=str(folder), **{"for": "tree"})
    assert f'action="{place}/hierarchy/choose"' in shown.text
    assert 'name="kind" value="path"' in shown.text
    tree = listed["files"][1]["path"]
    assert page.post(f"{place}/hierarchy/choose", kind="path", path=tree).status == 200
    assert page.get(f"{place}/hierarchy").json["hierarchy"] == "tree.csv"


@pytest.mark.parametrize("folder", ["/etc", "..", "~/..", "data", "/proc/self", "nowhere", "\0"])
def test_no_folder_outside_is_shown(page, folder):
    place = page.project()
    shown = page.ask_page(f"{place}/files", folder=folder)
    assert shown.status == 400
    assert "passwd" not in shown.text
    twin = page.ask_json(f"{place}/files", folder=folder)
    assert "error" in twin
    assert twin["files"] == twin["folders"] == []

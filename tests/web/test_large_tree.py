"""A hierarchy of 100,000 nodes on the page itself: loaded, browsed, edited and saved."""

from __future__ import annotations

import re

import pytest

from setveil import Hierarchy
from setveil.hierarchy.files import write_hierarchy
from tests.web.serving import ended, served
from tests.web.visiting import Tab

ITEMS = 80_000
MOST_ROWS = 80  # in the document, however large the tree is
DATA = "record,item\n" + "".join(
    f"{record},{item}\n" for record in range(60) for item in (record % 4, 77_777, 79_999)
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    tree = Hierarchy.balanced([str(item) for item in range(ITEMS)], fanout=5)
    assert len(tree) > 100_000
    write_hierarchy(tree, folder / "large.csv")
    with served(folder) as page:
        yield page


@pytest.mark.long
def test_a_tree_of_100_000_nodes_is_loaded_browsed_edited_and_saved(browser, page, tmp_path):
    place = page.loaded(DATA)
    tab = Tab(browser, page)
    tab.go(f"{place}/hierarchy")
    tab.upload(page.folder / "large.csv", "Choose a hierarchy file")
    tab.tree_is_ready()
    tab.sees("The tree has 80,000 items")
    tab.accessible()
    edit(tab)
    tab.page.reload()
    tab.tree_is_ready()
    search(tab, "77777")
    assert tab.row("Sevens").count() == 1
    saved = tab.saved("Download the tree", tmp_path / "saved.csv")
    found = Hierarchy.read(saved)
    assert found.path("77777")[1] == "Sevens"
    assert found.path("0")[1] == "Sevens"
    assert set(found.path("79998")) & {"Pair"}
    runs_with_it(page, place)
    tab.close()


def edit(tab):
    """Search, scroll, rename, group, move and undo."""
    search(tab, "77777")
    tab.page.keyboard.press("ArrowLeft")  # its group
    tab.page.keyboard.press("F2")
    tab.answers("Sevens")
    tab.says("Renamed")
    search(tab, "0")
    tab.page.keyboard.press("Control+x")
    tab.says("Ready to move")
    search(tab, "Sevens")
    tab.page.keyboard.press("Control+v")
    tab.says("Moved '0' into 'Sevens'.")
    for share in (0.5, 1.0, 0.25):
        tab.page.locator(".tree-view").evaluate(
            "(view, share) => { view.scrollTop = share * view.scrollHeight }", share
        )
        tab.page.wait_for_function(
            "() => [...document.querySelectorAll('.tree-row')].every((row) => row.dataset.label)"
        )
        assert tab.page.locator(".tree-row").count() < MOST_ROWS
    search(tab, "79998")
    tab.page.keyboard.press("Shift+ArrowDown")
    tab.page.keyboard.press("Control+g")
    tab.answers("Pair")
    tab.says("Added 'Pair'")
    search(tab, "Sevens")
    tab.page.keyboard.press("F2")
    tab.answers("Eights")
    tab.says("Renamed")
    tab.page.keyboard.press("Control+z")
    tab.says("Taken back.")


def search(tab, label):
    """Go to a node by its label."""
    tab.page.get_by_role("searchbox").fill(label)
    name = tab.page.locator("strong", has_text=re.compile(f"^{label}$"))
    tab.page.locator(".tree-result", has=name).click()
    tab.page.wait_for_function("label => document.activeElement.dataset.label === label", arg=label)
    tab.page.get_by_role("button", name="Close").click()
    tab.row(label).focus()


def runs_with_it(page, place):
    """A release is made with the edited tree."""
    page.post(f"{place}/goal/choose", promise="k-anonymity")
    done = page.run(place, k=5, method="partition", seed=1)
    assert ended(done["status"])
    assert done["holds"] is True, done["error"]
    assert "edited-large.csv" in done["command"]

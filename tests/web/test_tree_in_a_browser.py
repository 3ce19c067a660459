"""Tests of the hierarchy panel in Chromium: mouse, keyboard, search, edits, a very large tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from setveil import Hierarchy
from setveil.hierarchy.editing import TreeDraft
from tests.web.treehost import Host, flat, hosted
from tests.web.visiting import LONG

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
playwright.expect.set_options(timeout=LONG)

PATHS = (
    ("beer", "Alcohol", "Drinks", "ALL"),
    ("red wine", "Alcohol", "Drinks", "ALL"),
    ("milk", "Drinks", "ALL"),
    ("bread", "ALL"),
    ("cake", "ALL"),
)
SUPPORTS = {"beer": 7, "milk": 5, "bread": 3, "cake": 2, "tea": 1}
MOST_ROWS = 80  # in the document, however large the tree is


@contextmanager
def visited(browser: Any, draft: TreeDraft, **options: Any) -> Iterator[tuple[Any, Host]]:
    """The page of a draft; afterwards nothing may have been logged, refused or fetched elsewhere."""
    with hosted(draft) as host:
        context = browser.new_context(**options)
        page = context.new_page()
        page.set_default_timeout(LONG)
        asked, logged = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.goto(host.address)
        page.wait_for_selector('.tree-panel[data-ready="yes"]')
        yield page, host
        context.close()
        outside = [url for url in asked if not url.startswith((host.address, "data:"))]
        # Chromium logs every answer with an error status; the tests that provoke one say so.
        logged = [line for line in logged if "the server responded with a status of 4" not in line]
        assert (outside, logged, host.reports) == ([], [], [])


def shop() -> TreeDraft:
    return TreeDraft(Hierarchy.from_paths(PATHS), SUPPORTS)


def row(page: Any, label: str) -> Any:
    return page.locator(f'.tree-row[data-label="{label}"]')


def go_to(page: Any, label: str) -> None:
    row(page, label).locator(".tree-name").click()
    expect_focus(page, label)


def expect_focus(page: Any, label: str) -> None:
    page.wait_for_function("label => document.activeElement.dataset.label === label", arg=label)


def expect_said(page: Any, text: str) -> None:
    playwright.expect(page.locator(".tree-message")).to_contain_text(text)


def answer(page: Any, name: str) -> None:
    page.locator(".tree-dialog input").fill(name)
    page.keyboard.press("Enter")


def test_the_tree_is_browsed_with_the_keyboard_alone(browser):
    with visited(browser, shop()) as (page, _):
        root = row(page, "ALL")
        assert root.get_attribute("aria-expanded") == "true"
        assert page.locator(".tree-row").count() == 4
        root.focus()
        page.keyboard.press("ArrowDown")
        expect_focus(page, "Drinks")
        drinks = row(page, "Drinks")
        assert [
            drinks.get_attribute(f"aria-{name}") for name in ("level", "setsize", "posinset")
        ] == [
            *("2", "3", "1"),
        ]
        page.keyboard.press("ArrowRight")
        playwright.expect(drinks).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("ArrowRight")
        expect_focus(page, "Alcohol")
        assert page.locator('.tree-row[tabindex="0"]').count() == 1
        page.keyboard.press("ArrowLeft")
        expect_focus(page, "Drinks")
        page.keyboard.press("ArrowLeft")
        playwright.expect(drinks).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("End")
        expect_focus(page, "cake")
        page.keyboard.press("Home")
        expect_focus(page, "ALL")
        page.keyboard.type("br")
        expect_focus(page, "bread")


def test_typing_finds_rows_that_are_not_open(browser):
    with visited(browser, shop()) as (page, _):
        row(page, "ALL").focus()
        page.keyboard.type("red")
        expect_focus(page, "red wine")


def test_rows_show_items_and_occurrences_and_what_is_not_in_the_data(browser):
    with visited(browser, shop()) as (page, _):
        assert row(page, "Drinks").locator(".tree-size").inner_text() == "3 items · 12×"
        page.get_by_role("searchbox").fill("wine")
        page.locator(".tree-result").click()
        playwright.expect(row(page, "red wine").locator(".tree-mark")).to_have_text(
            "not in the data"
        )


def test_search_reveals_a_node_and_chooses_all_that_was_found(browser):
    with visited(browser, shop()) as (page, host):
        page.get_by_role("searchbox").fill("BEER")
        page.locator(".tree-result").wait_for()
        assert "ALL › Drinks › Alcohol" in page.locator(".tree-result").inner_text()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect_focus(page, "beer")
        playwright.expect(row(page, "beer")).to_have_attribute("aria-selected", "true")
        page.get_by_role("searchbox").fill("k")
        page.get_by_role("button", name="Choose all 3").click()
        expect_said(page, "3 nodes chosen.")
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Group…").click()
        answer(page, "With k")
        expect_said(page, "Added 'With k' and moved 2 nodes.")
        # milk is below Drinks, so it moves with it
        assert [node.label for node in host.draft.children("With k")] == ["Drinks", "cake"]


def test_a_group_is_renamed_with_f2_and_undone_with_ctrl_z(browser):
    with visited(browser, shop()) as (page, host):
        go_to(page, "Drinks")
        page.keyboard.press("F2")
        answer(page, "Beverages")
        expect_focus(page, "Beverages")
        expect_said(page, "Renamed 'Drinks' to 'Beverages'.")
        assert host.tokens == ["secret"]
        page.keyboard.press("Control+z")
        expect_focus(page, "Drinks")
        page.keyboard.press("Control+Shift+z")
        expect_focus(page, "Beverages")
        assert host.draft.path("beer") == ("ALL", "Beverages", "Alcohol", "beer")


def test_a_name_that_is_taken_is_refused_in_words_and_nothing_changes(browser):
    with visited(browser, shop()) as (page, host):
        go_to(page, "Drinks")
        page.keyboard.press("F2")
        answer(page, "bread")
        expect_said(page, "There is already an item 'bread', and each label names one node; choose")
        assert host.draft.version == 0
        page.keyboard.press("F2")
        page.locator(".tree-dialog").wait_for()
        page.keyboard.press("Escape")
        expect_focus(page, "Drinks")


def test_chosen_rows_are_grouped(browser):
    with visited(browser, shop()) as (page, host):
        row(page, "bread").locator(".tree-name").click()
        page.keyboard.press("Shift+ArrowDown")
        playwright.expect(page.locator(".tree-chosen")).to_have_text("2 chosen: “bread”, “cake”")
        page.keyboard.press("Control+g")
        answer(page, "Bakery")
        expect_focus(page, "Bakery")
        assert [node.label for node in host.draft.children("Bakery")] == ["bread", "cake"]
        playwright.expect(row(page, "Bakery").locator(".tree-size")).to_have_text("2 items · 5×")


def test_nodes_are_moved_with_the_keyboard(browser):
    with visited(browser, shop()) as (page, host):
        go_to(page, "cake")
        page.keyboard.press("Control+x")
        expect_said(page, "Ready to move “cake”")
        assert "is-cut" in row(page, "cake").get_attribute("class")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
        expect_focus(page, "Drinks")
        page.keyboard.press("Control+v")
        expect_said(page, "Moved 'cake' into 'Drinks'.")
        expect_focus(page, "Drinks")
        assert host.draft.path("cake") == ("ALL", "Drinks", "cake")
        playwright.expect(row(page, "cake")).to_have_count(0)


def test_nodes_are_moved_with_the_buttons(browser):
    with visited(browser, shop()) as (page, host):
        row(page, "bread").locator(".tree-check").click()
        row(page, "cake").locator(".tree-check").click()
        page.get_by_role("button", name="Move…").click()
        row(page, "Drinks").locator(".tree-name").click()
        page.get_by_role("button", name="Move here").click()
        expect_said(page, "Moved 2 nodes into 'Drinks'.")
        assert host.draft.node("Drinks").items == 5


def test_nodes_are_dragged_into_a_group(browser):
    with visited(browser, shop()) as (page, host):
        row(page, "bread").drag_to(row(page, "Drinks"))
        expect_said(page, "Moved 'bread' into 'Drinks'.")
        assert host.draft.path("bread") == ("ALL", "Drinks", "bread")
        expect_focus(page, "Drinks")


def test_a_group_is_not_moved_into_itself(browser):
    with visited(browser, shop()) as (page, host):
        go_to(page, "Drinks")
        page.keyboard.press("Control+x")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expect_focus(page, "Alcohol")
        page.keyboard.press("Control+v")
        expect_said(page, "'Drinks' cannot be moved into itself or into a group below it; choose")
        assert host.draft.version == 0


def test_missing_items_are_added_and_coverage_follows(browser):
    with visited(browser, shop()) as (page, _):
        facts = page.locator(".tree-facts")
        playwright.expect(facts).to_contain_text(
            "1 of 5 items of the data is not in the tree: 'tea'"
        )
        page.get_by_role("button", name="Add missing items to the root").click()
        expect_focus(page, "tea")
        playwright.expect(facts).to_contain_text("It covers all 5 items of the data.")
        playwright.expect(page.locator('[data-act="add-missing"]')).to_be_hidden()


def test_two_tabs_do_not_overwrite_each_other(browser):
    with visited(browser, shop()) as (page, host):
        go_to(page, "Drinks")
        assert host.edit(op="rename", node="Drinks", name="Beverages")[0] == 200
        page.keyboard.press("F2")
        answer(page, "Liquids")
        expect_said(page, "The tree was edited elsewhere, perhaps in another tab; look at the tree")
        playwright.expect(row(page, "Beverages")).to_have_count(1)
        assert host.draft.version == 1


def test_a_tree_of_100_000_nodes_has_few_rows_and_finds_any_node(browser):
    draft = TreeDraft(Hierarchy.balanced(range(80_000), fanout=5))
    with visited(browser, draft) as (page, host):
        page.get_by_role("searchbox").fill("77777")
        page.locator(".tree-result").first.click()
        expect_focus(page, "77777")
        assert row(page, "77777").get_attribute("aria-level") == str(len(draft.path("77777")))
        playwright.expect(row(page, "77777")).to_be_in_viewport()
        assert page.locator(".tree-row").count() < MOST_ROWS
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("F2")
        answer(page, "Sevens")
        expect_focus(page, "Sevens")
        assert host.draft.path("77777")[-2] == "Sevens"


def test_a_group_of_50_000_children_scrolls_with_few_rows(browser):
    with visited(browser, flat(range(50_000))) as (page, host):
        view = page.locator(".tree-view")
        assert page.locator(".tree-row").count() < MOST_ROWS
        for share in (0.5, 0.123, 0.99):
            view.evaluate("(view, share) => { view.scrollTop = share * view.scrollHeight }", share)
            label = str(int(share * 50_000) + 2)
            playwright.expect(row(page, label)).to_be_in_viewport()
            assert page.locator(".tree-row").count() < MOST_ROWS
        row(page, "ALL").focus()
        page.keyboard.press("End")
        expect_focus(page, "49999")
        assert row(page, "49999").get_attribute("aria-posinset") == "50000"
        page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("Control+g")
        answer(page, "Last two")
        expect_focus(page, "Last two")
        assert [node.label for node in host.draft.children("Last two")] == ["49998", "49999"]


def test_labels_are_text_and_never_markup(browser):
    draft = flat(["<img src=x onerror=alert(1)>", "a & b", "x" * 3_000])
    with visited(browser, draft) as (page, _):
        assert row(page, "a & b").locator(".tree-name").inner_text() == "a & b"
        assert page.locator(".tree-view img").count() == 0
        page.get_by_role("searchbox").fill("<img")
        page.locator(".tree-result").wait_for()
        assert page.locator("img").count() == 0


def test_on_a_phone_nothing_is_wider_than_the_screen(browser):
    options = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
    with visited(browser, shop(), **options) as (page, _):
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert row(page, "Drinks").bounding_box()["height"] >= 44


def test_without_scripts_there_is_an_outline(browser):
    with hosted(shop()) as host:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(host.address)
        assert "Drinks (3 items)" in page.locator("main").inner_text()
        assert not page.locator(".tree-tools").is_visible()
        context.close()


def test_the_file_is_downloaded(browser, tmp_path):
    with visited(browser, shop()) as (page, host):
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Download").click()
        waiting.value.save_as(tmp_path / "tree.csv")
        assert Hierarchy.read(tmp_path / "tree.csv") == host.draft.start

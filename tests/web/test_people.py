"""What people do besides following the path: the keyboard alone, back, reload, folders, many tabs."""

from __future__ import annotations

import signal
import zipfile

import pytest

import setveil as sv
from tests.web.serving import BASKETS, served, start, stop
from tests.web.visiting import Tab, catch_worker

NAME = """() => {
  const at = document.activeElement;
  const label = at.labels?.length ? at.labels[0].textContent : at.getAttribute("aria-label");
  return (label || at.textContent).trim();
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    (folder / "shop data").mkdir()
    (folder / "shop data" / "baskets.csv").write_text(BASKETS, encoding="utf-8")
    with served(folder) as page:
        yield page


@pytest.fixture
def tab(browser, page):
    tab = Tab(browser, page)
    yield tab
    tab.close()


def reach(tab, name):
    """Press Tab until something with this name has the focus, and can be seen to have it."""
    seen = []
    for _ in range(120):
        tab.page.keyboard.press("Tab")
        seen.append(tab.page.evaluate(NAME))
        assert tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if seen[-1].startswith(name):
            return
    raise AssertionError(f"{name} cannot be reached: {seen}")


@pytest.mark.long
def test_the_whole_path_with_the_keyboard_alone(tab, tmp_path):
    keys = tab.page.keyboard
    keys.press("Tab")
    assert tab.page.evaluate(NAME) == "Skip to the content"
    reach(tab, "Name of the project")
    keys.type("By keys")
    reach(tab, "Start a new project")
    keys.press("Enter")
    tab.page.wait_for_url("**/load")
    reach(tab, "Look in my folders")
    keys.press("Enter")
    tab.page.wait_for_url("**/files?*")
    tab.accessible()
    reach(tab, "Folder shop data")
    keys.press("Enter")
    tab.page.get_by_role("heading", name="shop data").wait_for()
    reach(tab, "baskets.csv")
    keys.press("Enter")
    tab.page.get_by_role("heading", name="Read: 60 records").wait_for()
    tab.rests()
    reach(tab, "No, one each")
    keys.press("Enter")
    tab.sees("You said no.")
    for link, place in (
        ("Next: see who is exposed", "exposure"),
        ("Next: say what matters", "goal"),
    ):
        reach(tab, link)
        keys.press("Enter")
        tab.page.wait_for_url(f"**/{place}")
    reach(tab, "Size of the crowd (k)")
    keys.press("Control+a")
    keys.type("3")
    reach(tab, "Save and go on")
    keys.press("Enter")
    tab.page.wait_for_url("**/hierarchy")
    reach(tab, "Next: anonymize")
    keys.press("Enter")
    tab.page.wait_for_url("**/run")
    reach(tab, "Anonymize now")
    keys.press("Enter")
    tab.page.locator(".verdict").first.wait_for()
    tab.rests()
    reach(tab, "Next: compare with other settings")
    keys.press("Enter")
    tab.page.wait_for_url("**/compare")
    reach(tab, "Next: download")
    keys.press("Enter")
    tab.page.wait_for_url("**/download")
    reach(tab, "Download the release")
    with tab.page.expect_download() as waiting:
        keys.press("Enter")
    waiting.value.save_as(tmp_path / "release.zip")
    with zipfile.ZipFile(tmp_path / "release.zip") as packed:
        packed.extractall(tmp_path)
    assert sv.read_release(tmp_path / "release").promise.title == "km-anonymity (k = 3, m = 2)"


@pytest.mark.long
def test_back_and_reload_lose_nothing(tab):
    place = tab.served.loaded()
    tab.go(f"{place}/goal")
    tab.page.get_by_label("Size of the crowd (k)").fill("4")
    tab.click("Save and go on")
    tab.page.wait_for_url("**/hierarchy")
    tab.page.go_back()
    tab.page.wait_for_url("**/goal")
    assert tab.page.get_by_label("Size of the crowd (k)").input_value() == "4"

    caught = catch_worker(tab.served, lambda: tab.begin_run(place))
    here = tab.page.url
    tab.page.reload()
    tab.page.locator("[data-events]").wait_for()
    tab.page.go_back()
    tab.page.wait_for_url("**/run")
    tab.sees("Runs so far")
    tab.page.go_forward()
    tab.page.locator("[data-events]").wait_for()
    assert tab.page.url == here
    caught.resume()
    tab.page.locator(".verdict").first.wait_for()
    tab.page.reload()
    tab.sees("The promise holds: km-anonymity (k = 4, m = 2)")


@pytest.mark.long
def test_a_project_that_another_tab_deletes_is_gone_in_this_one(tab):
    place = tab.served.loaded()

    catch_worker(tab.served, lambda: tab.begin_run(place))
    tab.page.locator("[data-events]").wait_for()
    tab.served.post(f"{place}/delete")
    tab.sees("There is no such project. It may have been deleted.")
    tab.click("All projects", role="link")
    tab.sees("Start a new project")


@pytest.mark.long
def test_many_tabs_that_wait_for_a_job_do_not_block_each_other(browser, page):
    """A browser opens six connections to a server; a tab in the background must hold none."""
    place = page.loaded()
    tabs = [Tab(browser, page)]
    tabs += [Tab(browser, page, context=tabs[0].context) for _ in range(7)]

    caught = catch_worker(page, lambda: tabs[0].begin_run(place))
    here = tabs[0].page.url.removeprefix(page.url)
    for tab in tabs[1:]:
        tab.go(here)
        tab.page.locator("[data-events]").wait_for()
        tab.page.evaluate(HIDE)
    tabs[0].go(f"{place}/goal")
    tabs[0].sees("What do you fear?")
    caught.resume()
    tabs[-1].page.evaluate(SHOW)
    tabs[-1].page.locator(".verdict").first.wait_for()
    for tab in tabs:
        tab.check()
    tabs[0].context.close()


HIDE = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
SHOW = HIDE.replace("value: true", "value: false")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_page_that_is_asked_to_stop_has_ended_well(tmp_path, number):
    page = start(tmp_path)
    assert stop(page, number) == 0

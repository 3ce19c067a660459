"""A tab of Debian's Chromium that notes what a page asks for and complains about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.browser import chromium
from tests.web.accessibility import faults
from tests.web.serving import Served, ended, jobs_in

LONG = 150_000
"""Milliseconds that a job may take on a machine with much else to do."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@contextmanager
def opened_browser() -> Iterator[Any]:
    """A browser without a window; without Chromium the tests are skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """A tab that is signed in. `close` checks that the page has asked nobody else."""

    def __init__(self, browser: Any, served: Served, context: Any = None, **how: Any) -> None:
        self.served = served
        self.context = context or browser.new_context(accept_downloads=True, **how)
        self.page = self.context.new_page()
        self.page.set_default_timeout(LONG)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._logged)
        self.page.goto(served.full)
        self.page.wait_for_url(f"{served.url}/")

    def _logged(self, message: Any) -> None:
        expected = "the server responded with a status of 4" in message.text
        if message.type in ("error", "warning") and not expected:
            self.complaints.append(message.text)

    def go(self, path: str) -> None:
        self.page.goto(f"{self.served.url}{path}")

    def click(self, name: str, role: str = "button", **how: Any) -> None:
        self.page.get_by_role(role, name=name, **how).first.click()

    def sees(self, words: str) -> None:
        """Wait until the page shows these words."""
        self.page.get_by_text(words).first.wait_for()

    def rests(self) -> None:
        """Wait until no job runs any more."""
        self.page.wait_for_selector("[data-events]", state="detached")
        self.page.wait_for_load_state("load")

    def new_project(self) -> str:
        self.go("/")
        self.click("Start a new project")
        self.page.wait_for_url("**/load")
        return str(self.page.url).removeprefix(self.served.url).removesuffix("/load")

    def upload(self, path: Path, label: str = "Choose a file") -> None:
        self.page.get_by_label(label, exact=True).first.set_input_files(str(path))
        self.click("Load it")

    def begin_run(self, place: str) -> str:
        """Start a run of a project; the address that shows it."""
        self.go(f"{place}/run")
        self.click("Anonymize now")
        self.page.wait_for_url("**/runs/*")
        return str(self.page.url).removeprefix(self.served.url)

    def tree_is_ready(self) -> None:
        """Wait until the hierarchy can be browsed."""
        self.page.locator('.tree-panel[data-ready="yes"]').wait_for()

    def row(self, label: str) -> Any:
        """A row of the hierarchy."""
        return self.page.locator(f'.tree-row[data-label="{label}"]')

    def answers(self, name: str) -> None:
        """Type a name that the hierarchy asks for."""
        self.page.locator(".tree-dialog input").fill(name)
        self.page.keyboard.press("Enter")

    def says(self, words: str) -> None:
        """Wait until the hierarchy says what it did."""
        self.page.locator(".tree-message").get_by_text(words).wait_for()

    def saved(self, link: str, target: Path) -> Path:
        """Download a file."""
        with self.page.expect_download() as waiting:
            self.click(link, role="link")
        waiting.value.save_as(str(target))
        return target

    def accessible(self) -> None:
        """The page has no serious fault for people who cannot see it or use no mouse."""
        found = faults(self.page)
        assert not found, (self.page.url, found)

    def check(self) -> None:
        """Nobody else was asked, and nothing was refused or broken."""
        assert [
            url for url in self.asked if not url.startswith((self.served.url, "blob:", "data:"))
        ] == []
        assert self.complaints == []

    def close(self) -> None:
        self.check()
        self.context.close()


def catch_worker(served: Served, begin: Callable[[], str]) -> psutil.Process:
    """Stop the process of a job before it has ended. `begin` starts the job and returns an address
    that shows it; again if the job was too fast. Jobs of others may run, so only its own counts."""
    for _ in range(20):
        place = begin()
        while live := {id for id, status in jobs_in(served.get(place).json) if not ended(status)}:
            for each in workers(served, live):
                with suppress(psutil.NoSuchProcess):
                    each.suspend()
                    if each.status() == psutil.STATUS_STOPPED:
                        return each
    raise AssertionError("no job was slow enough to be caught")


def workers(served: Served, ids: Collection[str]) -> list[psutil.Process]:
    """The processes of jobs; the last word of their command is the folder of the job."""
    assert served.process is not None
    found = psutil.Process(served.process.pid).children()
    return [each for each in found if Path("".join(_command(each)[-1:])).name in ids]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []

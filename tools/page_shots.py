"""Takes the pictures of the page for the docs: `python -m tools.page_shots [FOLDER]`.

It starts `setveil serve`, goes the whole path on the built-in sample in Debian's Chromium, and
takes a picture of each step: for the docs in light colours, and with a folder also in dark ones and
on a phone, to be looked at."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
PICTURES = TOP / "docs" / "pictures"
WIDE, PHONE = {"width": 1080, "height": 900}, {"width": 390, "height": 844}
LONG = 90_000  # milliseconds for a job
TALLEST = 1500  # pixels of a picture for the docs
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def main(folder: Path | None) -> None:
    """Take all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with served() as url, browser() as chromium:
        visits = [(chromium.new_context(viewport=WIDE, color_scheme="light"), PICTURES, "")]
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            dark = chromium.new_context(viewport=WIDE, color_scheme="dark")
            phone = chromium.new_context(viewport=PHONE, color_scheme="light")
            visits += [(dark, folder, "-dark"), (phone, folder, "-phone")]
        for context, target, mark in visits:
            walk(context.new_page(), url, target, mark)


def walk(page: Any, url: str, target: Path, mark: str) -> None:
    """The whole path on the sample, with a picture of each step."""

    def shoot(name: str) -> None:
        page.wait_for_load_state("load")
        page.evaluate("scrollTo(0, 0)")
        size = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollHeight]")
        clip = {
            "x": 0,
            "y": 0,
            "width": size[0],
            "height": min(size[1], TALLEST if not mark else 6000),
        }
        page.screenshot(path=str(target / f"page-{name}{mark}.png"), clip=clip, full_page=True)

    def ended() -> None:
        page.wait_for_selector("[data-events]", state="detached", timeout=LONG)

    page.goto(url)
    shoot("home")
    page.get_by_label("Name of the project").fill("Baskets for the university")
    page.get_by_role("button", name="Start a new project").click()
    page.wait_for_url("**/load")
    shoot("load-empty")
    page.get_by_role("button", name="Baskets of a shop").click()
    page.get_by_role("heading", name="Read:").wait_for(timeout=LONG)
    ended()
    shoot("load")
    page.get_by_role("link", name="Next: see who is exposed").click()
    shoot("exposure")
    page.get_by_role("link", name="Next: say what matters").click()
    page.get_by_role("button", name="Try what suits my data").click()
    page.get_by_role("button", name="Use ", exact=False).last.wait_for(timeout=LONG)
    ended()
    shoot("goal")
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("button", name="Use products.hierarchy.csv").click()
    page.get_by_text("height", exact=False).first.wait_for(timeout=LONG)
    ended()
    shoot("hierarchy")
    page.get_by_role("button", name="Use no hierarchy").click()
    page.get_by_role("link", name="Next: anonymize").click()
    shoot("run")
    page.get_by_role("button", name="Anonymize now").click()
    page.locator("[data-events], .verdict").first.wait_for()
    shoot("progress")
    page.locator(".verdict").first.wait_for(timeout=LONG)
    page.get_by_role("button", name="Attack", exact=True).click()
    page.get_by_role("heading", name="Singling out").wait_for(timeout=LONG)
    ended()
    page.get_by_role("button", name="Count", exact=True).click()
    page.get_by_text("with the largest expected support", exact=False).wait_for(timeout=LONG)
    ended()
    shoot("result")
    page.get_by_role("link", name="Next: compare with other settings").click()
    page.get_by_label("Size of the crowd (k)").fill("3,5,10")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("heading", name="Methods and numbers compared").wait_for(timeout=LONG)
    ended()
    shoot("compare")
    page.get_by_role("link", name="Next: download").click()
    shoot("download")


@contextmanager
def served() -> Iterator[str]:
    """A page in a folder of its own, and its address."""
    folder = tempfile.mkdtemp()
    command = [sys.executable, "-m", "setveil", "serve", "--no-browser", "--port", "0"]
    command += ["--data-dir", f"{folder}/data"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[1]
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


@contextmanager
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield chromium
        chromium.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)

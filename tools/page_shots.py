"""Takes the pictures of the page for the docs: `python -m tools.page_shots [FOLDER]`.

It starts `setveil serve`, goes the whole path on the built-in sample in Debian's Chromium, and
takes a picture of each step: for the docs, or with a folder for somebody to look at, wide and on a
phone, in light and dark colours, also of a question and of runs in progress and that failed."""

from __future__ import annotations

import base64
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
PICTURES = TOP / "docs" / "pictures"
WIDE = {"width": 1040, "height": 900}
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
LONG = 300_000  # milliseconds for a job
TALLEST = 1300  # pixels of a picture for the docs
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def main(folder: Path | None) -> None:
    """Take all pictures."""
    with served() as url, browser() as chromium:
        looks = {"color_scheme": "light", "reduced_motion": "reduce"}  # no half-changed colours
        context = chromium.new_context(viewport=WIDE, **looks)
        page = context.new_page()
        page.goto(url)
        if folder is None:
            PICTURES.mkdir(exist_ok=True)
            walk(page, lambda name: for_docs(page, name))
            for place in PICTURES.glob("page-*.png"):
                shrink(page, place)
            return
        folder.mkdir(parents=True, exist_ok=True)
        walk(page, lambda name: in_all_looks(page, folder, name))
        trouble(page, lambda name: in_all_looks(page, folder, name))


def for_docs(page: Any, name: str) -> None:
    """The top of a screen, as the docs show it, if they do."""
    if f"page-{name}.png" not in (TOP / "docs" / "page.md").read_text(encoding="utf-8"):
        return
    page.evaluate("scrollTo(0, 0)")
    size = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], TALLEST)}
    page.screenshot(path=str(PICTURES / f"page-{name}.png"), clip=clip, full_page=True)


def in_all_looks(page: Any, folder: Path, name: str) -> None:
    """The whole screen, wide and on a phone, light and dark."""
    for size, viewport in SIZES.items():
        page.set_viewport_size(viewport)
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            page.screenshot(path=str(folder / f"{name}-{size}-{colours}.png"), full_page=True)
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")


def shrink(page: Any, place: Path) -> None:
    """Write a picture again with at most 256 colours, which takes a third of the room."""
    content = base64.b64encode(place.read_bytes()).decode()
    found = page.evaluate(COLOURS, content)
    pixels, palette = base64.b64decode(found["pixels"]), bytes(found["palette"])
    width, height = found["width"], found["height"]
    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    made = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    place.write_bytes(b"\x89PNG\r\n\x1a\n" + made)


COLOURS = """async (content) => {
  const image = new Image();
  image.src = "data:image/png;base64," + content;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const data = context.getImageData(0, 0, image.width, image.height).data;
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const key = (data[at] >> 3 << 10) | (data[at + 1] >> 3 << 5) | (data[at + 2] >> 3);
    const found = counts.get(key);
    if (found) found.n += 1;
    else counts.set(key, { n: 1, color: [data[at], data[at + 1], data[at + 2]] });
  }
  const kept = [...counts.entries()].sort((a, b) => b[1].n - a[1].n).slice(0, 256);
  const places = new Map(kept.map(([key], at) => [key, at]));
  const nearest = (r, g, b) => {
    let best = 0, least = Infinity;
    kept.forEach(([, { color }], at) => {
      const far = (color[0] - r) ** 2 + (color[1] - g) ** 2 + (color[2] - b) ** 2;
      if (far < least) { least = far; best = at; }
    });
    return best;
  };
  const pixels = new Uint8Array(data.length / 4);
  for (let at = 0; at < data.length; at += 4) {
    const key = (data[at] >> 3 << 10) | (data[at + 1] >> 3 << 5) | (data[at + 2] >> 3);
    if (!places.has(key)) places.set(key, nearest(data[at], data[at + 1], data[at + 2]));
    pixels[at / 4] = places.get(key);
  }
  let text = "";
  for (let at = 0; at < pixels.length; at += 8192)
    text += String.fromCharCode(...pixels.subarray(at, at + 8192));
  return { width: image.width, height: image.height, pixels: btoa(text),
           palette: kept.flatMap(([, { color }]) => color) };
}"""
"""Finds the colours of a picture, in the browser, which can read it."""


def walk(page: Any, picture: Callable[[str], None]) -> None:
    """The whole path on the sample, with a picture of each step."""

    def shoot(name: str, title: str = "") -> None:
        """A picture of this screen, or of the one with this title, which is about to open."""
        page.get_by_role("heading", level=1, name=title).first.wait_for(timeout=LONG)
        page.wait_for_load_state("load")
        picture(name)

    def ended() -> None:
        page.wait_for_selector("[data-events]", state="detached", timeout=LONG)

    shoot("home")
    page.get_by_label("Name of the project").fill("Baskets for the university")
    page.get_by_role("button", name="Start a new project").click()
    page.wait_for_url("**/load")
    shoot("load-empty")
    page.get_by_role("link", name="Look in my folders").click()
    shoot("files", "Find a file")
    page.go_back()
    page.get_by_role("button", name="Baskets of a shop").click()
    page.get_by_role("heading", name="Read:").wait_for(timeout=LONG)
    ended()
    shoot("load")
    page.get_by_role("link", name="Next: see who is exposed").click()
    shoot("exposure", "See who is exposed")
    page.get_by_role("link", name="Next: say what matters").click()
    page.get_by_role("button", name="Try what suits my data").click()
    page.get_by_role("button", name="Use ", exact=False).last.wait_for(timeout=LONG)
    ended()
    shoot("goal")
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("button", name="Use products.hierarchy.csv").click()
    page.locator(".tree-row").first.wait_for(timeout=LONG)
    ended()
    shoot("hierarchy")
    page.get_by_role("button", name="Use no hierarchy").click()
    page.get_by_role("link", name="Next: anonymize").click()
    shoot("run", "Anonymize")
    page.get_by_role("button", name="Anonymize now").click()
    page.locator("[data-events]").first.wait_for(timeout=LONG)
    shoot("progress")
    page.locator(".verdict").first.wait_for(timeout=LONG)
    shoot("result")
    for verb, button in {"attack": "Attack", "support": "Count"}.items():
        page.locator(f"#{verb} > summary").click()
        page.get_by_role("button", name=button, exact=True).click()
        page.locator(f"#{verb} summary", has_text="Ask again").wait_for(timeout=LONG)
        ended()
    shoot("asked")
    page.get_by_role("link", name="The full report, with charts").click()
    shoot("report", "The full report")
    page.go_back()
    page.get_by_role("link", name="Next: compare with other settings").click()
    page.get_by_label("Size of the crowd (k)").fill("3,10")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("heading", name="Methods and numbers compared").wait_for(timeout=LONG)
    ended()
    shoot("compare")
    page.get_by_role("link", name="Next: download").click()
    shoot("download", "Download")


def trouble(page: Any, picture: Callable[[str], None]) -> None:
    """What a person sees when the page asks, or cannot do what it was asked for."""
    rows = "".join(
        f"C{n % 40},B{n},{item}\n" for n in range(90) for item in ("tea", f"cake {n % 7}")
    )
    page.goto(page.url.split("/projects")[0])
    picture("home-used")
    page.get_by_role("button", name="Start a new project").click()
    page.wait_for_url("**/load")
    sent = {"name": "orders.csv", "mimeType": "text/csv"}
    content = f"customer,basket,item\n{rows}".encode()
    page.get_by_label("Choose a file", exact=True).first.set_input_files(
        {**sent, "buffer": content}
    )
    page.get_by_role("button", name="Load it").first.click()
    page.get_by_role("heading", name="Who is protected?").wait_for(timeout=LONG)
    page.wait_for_selector("[data-events]", state="detached", timeout=LONG)
    picture("question")
    page.locator(".answers button").first.click()
    page.get_by_role("link", name="Next: see who is exposed").wait_for(timeout=LONG)
    page.wait_for_selector("[data-events]", state="detached", timeout=LONG)
    project = page.url.removesuffix("/load")
    page.goto(f"{project}/goal")
    page.get_by_label("Size of the crowd (k)").fill("5000")
    page.get_by_role("button", name="Save and go on").click()
    page.wait_for_url("**/hierarchy")
    page.goto(f"{project}/run")
    page.get_by_role("button", name="Anonymize now").click()
    page.locator(".trouble").first.wait_for(timeout=LONG)
    picture("failed")


@contextmanager
def served() -> Iterator[str]:
    """A page in a folder of its own, and its address."""
    folder = tempfile.mkdtemp()
    for name in ("Documents", "Downloads"):
        Path(folder, name).mkdir()
    for name in ("baskets-2024.csv", "baskets-2025.csv", "products.hierarchy.csv"):
        Path(folder, name).write_text("record,item\n1,beer\n" * 900, encoding="utf-8")
    command = [sys.executable, "-m", "setveil", "serve", "--no-browser", "--port", "0"]
    command += ["--data-dir", f"{folder}/.setveil"]
    home = {**os.environ, "HOME": folder}  # so that no picture shows a path of this machine
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=home)
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

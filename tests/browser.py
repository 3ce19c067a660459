"""A headless Chromium: what a page shows, what it logs, and what it asks the network for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--disable-default-apps", "--hide-scrollbars",
)  # fmt: skip
BROWSER = "not an origin"
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Visit:
    """What happened when a page was opened."""

    dom: str
    console: list[str]
    """What the page logged, errors and refusals among it."""
    asked: list[str]
    """Every address outside this machine that was asked for."""


def chromium() -> str:
    """The browser; without one the test is skipped."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("Chromium is not on this machine (`make chromium` installs it)")
    return str(found)


def visit(page: Path, work: Path, *more: str) -> Visit:
    """Open a page from the disk."""
    log = work / "net.json"
    done = run(
        work, f"--log-net-log={log}", "--enable-logging=stderr", "--dump-dom", *more, uri=page
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    events = json.loads(log.read_text(encoding="utf-8", errors="replace"))["events"]
    return Visit(done.stdout, console, _asked(events))


def _asked(events: list[dict[str, Any]]) -> list[str]:
    """What pages asked for. The browser's own requests, which have no origin, do not count."""
    found = (event.get("params", {}) for event in events)
    by_pages = (each for each in found if each.get("initiator", BROWSER) != BROWSER)
    return sorted({str(each.get("url")) for each in by_pages})


def run(work: Path, *arguments: str, uri: Path) -> subprocess.CompletedProcess[str]:
    """Start the browser with a profile of its own."""
    profile = work / "profile"
    command = [chromium(), *FLAGS, f"--user-data-dir={profile}", *arguments, uri.as_uri()]
    env = {**os.environ, "HOME": str(work)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(profile, ignore_errors=True)
    return done

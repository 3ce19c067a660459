"""Write requirements-base.lock: the part of requirements.lock that setveil needs without extras."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FULL, BASE = ROOT / "requirements.lock", ROOT / "requirements-base.lock"

_TO_EDIT = ["editables"]
"""What hatchling asks for when it installs a package from the folder it is edited in."""


def base_lock() -> str:
    """The text of requirements-base.lock.

    It has the dependencies of pyproject.toml, what builds and installs the package, and whatever
    these need in turn. Each entry is copied from requirements.lock, so the two cannot disagree.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"], *_TO_EDIT]
    entries = _entries(FULL.read_text("utf-8"))
    needed = _closure(map(_name, wanted), entries)
    return "".join(text for text in entries if _name(text) in needed)


def _entries(lock: str) -> list[str]:
    """One text for each pinned version: its line, its hashes and who asks for it."""
    return re.findall(r"^\S.*\n(?:\s.*\n)*", lock, re.MULTILINE)


def _closure(wanted: Iterable[str], entries: list[str]) -> set[str]:
    """The names that are wanted, and all that they need. The lock says `via` whom each comes."""
    askers: dict[str, set[str]] = {}
    for entry in entries:
        via = re.findall(r"^    #(?: via)? +(\S+)", entry, re.MULTILINE)
        askers.setdefault(_name(entry), set()).update(map(_name, via))
    needed: set[str] = set()
    more = set(wanted)
    if absent := more - set(askers):
        raise SystemExit(f"requirements.lock lacks {', '.join(sorted(absent))}: run `make lock`")
    while more:
        needed |= more
        more = {name for name, by in askers.items() if by & more} - needed
    return needed


def _name(requirement: str) -> str:
    """The name at the start of a requirement, in the spelling of the lock."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", found.group()).lower() if found else ""


if __name__ == "__main__":
    BASE.write_text(base_lock(), encoding="utf-8", newline="\n")

"""Giving a file to the page, data or a hierarchy: dropped, named by path, or found in a folder."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from setveil.errors import SetveilError
from setveil.web.context import settings_of
from setveil.web.incoming import Entry, Listing, receive_bare, receive_form, safe_name
from setveil.web.ownfiles import about_file
from setveil.web.project import Project
from setveil.web.screens import Screen, step_frame
from setveil.words import plural


@dataclass(frozen=True)
class Use:
    """What a file is for, and who takes it."""

    name: str
    step: str
    upload: str
    path: str
    """Where the file, or its path, is sent."""
    title: str
    fields: dict[str, str] = field(default_factory=dict)
    """What the form with the path says besides."""
    where: str = ""
    """The folders whose files may be named, in words."""


USES = {
    "data": Use("data", "load", "load/file", "load/path", "Find a file"),
    "tree": Use(
        *("tree", "hierarchy", "hierarchy/file", "hierarchy/choose", "Find a hierarchy"),
        {"kind": "path"},
    ),
    "column": Use("column", "load", "load/column-tree", "", "A hierarchy of a column"),
}
_UNITS = ("", "KB", "MB", "GB", "TB")
WHY = "Files on this machine are read where they are, and are never changed."


@dataclass(frozen=True, kw_only=True)
class FilesScreen(Screen):
    """A folder of this machine."""

    template = "files.html"
    use: Use
    wanted: str
    places: dict[str, str]
    """The folders in which the page may look, and what they are called."""
    folder: str
    short: str
    parent: str | None
    folders: list[dict[str, Any]]
    files: list[dict[str, Any]]
    more: int


async def received(request: Request, project: Project) -> dict[str, Any]:
    """The name of a file that was dropped or chosen, and where it is."""
    receive = receive_bare if request.method == "PUT" else receive_form
    most = settings_of(request).max_upload
    folder = project.folder / "incoming"  # until `flow` takes it
    folder.mkdir(mode=0o700, exist_ok=True)
    name, place = await receive(request, folder, most)
    return {"name": name, **about_file(place)}


def named(request: Request, given: str) -> dict[str, Any]:
    """The name of a file on this machine, and where it is."""
    place = settings_of(request).places.file(given)
    return {"name": safe_name(place.name), **about_file(place)}


def use_of(request: Request, name: str) -> Use:
    """What a file is for, with the folders that it may be in."""
    roots, home = settings_of(request).places.roots, Path.home().resolve()
    named = ("your home folder" if root == home else _short(root) for root in roots)
    return replace(USES[name], where=" or ".join(named))


async def screen(request: Request, project: Project, error: SetveilError | None) -> FilesScreen:
    """What is in a folder of this machine, to choose a file."""
    asked = request.query_params
    use = USES["tree" if asked.get("for") == "tree" else "data"]
    places, wanted = settings_of(request).places, asked.get("name", "").strip()
    try:
        found = await run_in_threadpool(places.listing, asked.get("folder", ""), wanted)
    except SetveilError as wrong:
        found, error = Listing(places.roots[0], None, (), (), 0), wrong
    return FilesScreen(
        **step_frame(request, project, use.step, error) | {"title": use.title},
        why=WHY,
        use=use,
        wanted=wanted,
        places={str(root): _short(root) for root in places.roots},
        folder=str(found.folder),
        short=_short(found.folder),
        parent=str(found.parent) if found.parent else None,
        folders=[entry.to_dict() for entry in found.folders],
        files=[{**entry.to_dict(), "about": _about(entry)} for entry in found.files],
        more=found.more,
    )


def _about(entry: Entry) -> str:
    day = time.strftime("%d %B %Y", time.localtime(entry.modified))
    return f"{size_of(entry.size)}, {day}"


def size_of(size: int) -> str:
    """A number of bytes as people read it.

    Example:
        >>> size_of(0), size_of(999), size_of(1500), size_of(20_000_000)
        ('0 bytes', '999 bytes', '1.5 KB', '20 MB')
    """
    power = min((len(str(size)) - 1) // 3, 4)
    if power == 0:
        return plural(size, "byte")
    scaled = size / 1000**power
    return f"{scaled:.1f} {_UNITS[power]}" if scaled < 10 else f"{scaled:.0f} {_UNITS[power]}"


def _short(place: Path) -> str:
    """A path as people write it: the home folder is ~."""
    home = Path.home().resolve()
    if place == home:
        return "~ (your home folder)"
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)

"""Giving a file to the page, data or a hierarchy: dropped, named by path, or found in a folder."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import SetveilError
from setveil.report.markup import Markup, joined, tag
from setveil.web.context import project_of, settings_of
from setveil.web.forms import button, form_tag, text_field
from setveil.web.layout import STEPS, csrf_of, respond
from setveil.web.places import Entry, Listing, Places
from setveil.web.steps import step_screen
from setveil.web.store import Project
from setveil.web.uploads import receive_bare, receive_form, safe_name
from setveil.words import plural


@dataclass(frozen=True)
class Use:
    """What a file is for, and who takes it."""

    step: str
    upload: str
    path: str
    """Where the file, or its path, is sent."""
    title: str
    fields: dict[str, str] = field(default_factory=dict)
    """What the form with the path says besides."""


USES = {
    "data": Use("load", "load/file", "load/path", "Find a file"),
    "tree": Use(
        "hierarchy", "hierarchy/file", "hierarchy/choose", "Find a hierarchy", {"kind": "path"}
    ),
}
_UNITS = ("", "KB", "MB", "GB", "TB")
WHY = "Files on this machine are read where they are, and are never changed."


async def received(request: Request, project: Project) -> dict[str, str]:
    """The name and the path of a file that was dropped or chosen."""
    receive = receive_bare if request.method == "PUT" else receive_form
    most = settings_of(request).max_upload
    name, place = await receive(request, project.folder / "input", most)
    return {"name": name, "path": str(place)}


def named(request: Request, given: str) -> dict[str, str]:
    """The name and the path of a file on this machine."""
    place = settings_of(request).places.file(given)
    return {"name": safe_name(place.name), "path": str(place)}


def drop_form(request: Request, project: Project, use: str, label: str, *inside: Markup) -> Markup:
    """A place to drop a file, or to choose one."""
    place, mark = f"/projects/{project.id}/{USES[use].upload}", f"choose-{use}"
    return tag(
        "form",
        *inside,
        tag("label", label, for_=mark),
        tag("input", type="file", name="file", id=mark, required=True),
        button("Load it"),
        tag("progress", max=100, hidden=True, aria_label="Upload"),
        tag("p", role="status", aria_live="polite", data_stage=True, class_="hint"),
        method="post",
        action=f"{place}?csrf={csrf_of(request)}",
        enctype="multipart/form-data",
        class_="card drop",
        data_upload=place,
    )


def path_form(request: Request, project: Project, use: str, *inside: Markup) -> Markup:
    """A path to type, and the way to the folders."""
    where = f"It is read where it is, in {_roots_in_words(settings_of(request).places)}."
    return form_tag(
        f"/projects/{project.id}/{USES[use].path}",
        csrf_of(request),
        _hidden(USES[use].fields),
        *inside,
        tag("p", where),
        tag("p", tag("a", "Look in my folders", href=_browse(project, use), class_="button")),
        text_field("path", "Or type its path", required=True),
        button("Use this file", "quiet"),
        class_="card",
    )


async def browse(request: Request) -> Response:
    """What is in a folder of this machine, to choose a file."""
    project, asked = project_of(request), request.query_params
    use = "tree" if asked.get("for") == "tree" else "data"
    places, wanted = settings_of(request).places, asked.get("name", "").strip()
    wrong = None
    try:
        found = await run_in_threadpool(places.listing, asked.get("folder", ""), wanted)
    except SetveilError as error:
        found, wrong = Listing(places.roots[0], None, (), (), 0), error
    body = [
        _roots(project, use, places),
        *([] if wrong else [_listed(request, project, use, found, wanted)]),
        tag("p", tag("a", f"Back: {STEPS[USES[use].step].lower()}", href=_step(project, use))),
    ]
    screen = step_screen(
        request, project, USES[use].step, title=USES[use].title, why=WHY, body=body, error=wrong,
        values={} if wrong else _values(found, places),
    )  # fmt: skip
    return respond(request, screen)


def _roots(project: Project, use: str, places: Places) -> Markup:
    """The folders in which the page may look, if there are several."""
    if len(places.roots) == 1:
        return Markup("")
    links = (tag("li", _link(project, use, root, _short(root))) for root in places.roots)
    return tag("nav", tag("ul", *links, class_="row"), aria_label="Places", class_="places")


def _listed(request: Request, project: Project, use: str, found: Listing, wanted: str) -> Markup:
    """The folder, a filter, and its folders and files."""
    place = USES[use].path
    up = [_folder(project, use, "..", found.parent, "The folder above")] if found.parent else []
    folders = [_folder(project, use, entry.name, entry.path) for entry in found.folders]
    files = form_tag(
        f"/projects/{project.id}/{place}",
        csrf_of(request),
        _hidden(USES[use].fields),
        tag("ul", *up, *folders, *map(_file, found.files), class_="listing"),
    )
    nothing = not found.folders and not found.files
    empty = "Nothing here has such a name." if wanted else "There is nothing here to choose."
    more = f"And {plural(found.more, 'entry', 'entries')} more: filter by a part of the name."
    return tag(
        "section",
        tag("h2", _short(found.folder)),
        _filter(project, use, found.folder, wanted),
        files,
        tag("p", empty, class_="hint") if nothing else None,
        tag("p", more, class_="hint") if found.more else None,
        class_="card",
    )


def _filter(project: Project, use: str, folder: Path, wanted: str) -> Markup:
    return tag(
        "form",
        _hidden({"for": use, "folder": str(folder)}),
        text_field("name", "Filter by name", wanted, type="search"),
        button("Filter", "quiet"),
        method="get",
        action=f"/projects/{project.id}/files",
        role="search",
        class_="filter",
    )


def _folder(project: Project, use: str, name: str, place: Path, label: str = "") -> Markup:
    link = _link(project, use, place, f"{name}/", aria_label=label or f"Folder {name}")
    return tag("li", link, class_="folder")


def _file(entry: Entry) -> Markup:
    day = time.strftime("%d %B %Y", time.localtime(entry.modified))
    about = tag("span", f"{size_of(entry.size)}, {day}", class_="hint")
    return tag("li", tag("button", entry.name, type="submit", name="path", value=str(entry.path)),
               about, class_="file")  # fmt: skip


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


def _values(found: Listing, places: Places) -> dict[str, object]:
    return {
        "folder": str(found.folder),
        "parent": str(found.parent) if found.parent else None,
        "places": [str(root) for root in places.roots],
        "folders": [entry.to_dict() for entry in found.folders],
        "files": [entry.to_dict() for entry in found.files],
        "more": found.more,
    }


def _roots_in_words(places: Places) -> str:
    return " or ".join(
        "your home folder" if root == Path.home().resolve() else _short(root)
        for root in places.roots
    )


def _short(place: Path) -> str:
    """A path as people write it: the home folder is ~."""
    home = Path.home().resolve()
    if place == home:
        return "~ (your home folder)"
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)


def _link(project: Project, use: str, place: Path, words: str, **more: str) -> Markup:
    return tag("a", words, href=_browse(project, use, place), **more)


def _browse(project: Project, use: str, place: Path | None = None) -> str:
    asked = {"for": use} | ({} if place is None else {"folder": str(place)})
    return f"/projects/{project.id}/files?{urlencode(asked)}"


def _step(project: Project, use: str) -> str:
    return f"/projects/{project.id}/{USES[use].step}"


def _hidden(fields: dict[str, str]) -> Markup:
    return joined(*(tag("input", type="hidden", name=key, value=fields[key]) for key in fields))

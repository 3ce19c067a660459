"""The editor of hierarchies on the page: which draft a request is about, and where it is kept.

The editor is `setveil.web.tree`. A draft starts from the tree that was checked last; its edits are
kept next to it, so that they survive a restart, and become a file when a job needs the tree."""

from __future__ import annotations

import json
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount

from setveil.hierarchy.editing import TreeDraft
from setveil.hierarchy.files import read_hierarchy, write_hierarchy
from setveil.web import tree as editing
from setveil.web.context import chosen_tree, project_of, store_of
from setveil.web.store import Project, StoredJob
from setveil.web.tasks import BUILT, ITEMS

EDITS = "edits.json"


def routes() -> list[BaseRoute]:
    """The addresses of the editor, below those of a project."""
    return [Mount("/tree", routes=editing.routes(find, saved))]


async def draft_of(request: Request, project: Project) -> TreeDraft | None:
    """The tree to browse and edit, None if there is none; to read a very large one takes a second,
    while others are served."""
    return await run_in_threadpool(_draft, request, project)


def find(request: Request) -> TreeDraft | None:
    """The draft that a request is about."""
    return _draft(request, project_of(request))


def saved(request: Request, draft: TreeDraft) -> None:
    """Keep the edits; the tree of the project is the edited one from now on."""
    project = project_of(request)
    job = _job(request, project)
    assert job is not None
    (job.folder / EDITS).write_text(json.dumps(draft.log()), encoding="utf-8")
    tree = chosen_tree(project)
    if not tree.get("edited"):
        name = str(tree.get("name") or f"{tree['recipe'].split(':')[0]}.hierarchy.csv")
        name = name if name.startswith("edited-") else f"edited-{name}"
        place = project.folder / "input" / name
        project.state["tree"] = {"kind": "file", "name": name, "path": str(place), "edited": True}
        store_of(request).save(project)


async def keep_edits(request: Request, project: Project) -> None:
    """Write the edited tree as a file, before a job reads it or another tree takes its place."""
    tree = project.state.get("tree", {})
    draft = _draft(request, project) if tree.get("edited") else None
    if draft is None:
        return

    def write() -> None:
        write_hierarchy(draft.to_hierarchy(), Path(tree["path"]), force=True)

    await run_in_threadpool(write)


def _draft(request: Request, project: Project) -> TreeDraft | None:
    """The draft of a project, from memory or from its files."""
    job = _job(request, project)
    drafts: dict[str, tuple[str, TreeDraft]] = request.app.state.drafts
    if job is None:
        return None
    held = drafts.get(project.id)
    if held is None or held[0] != job.id:
        drafts[project.id] = held = (job.id, _restored(job))
    return held[1]


def _restored(job: StoredJob) -> TreeDraft:
    start = read_hierarchy(job.folder / BUILT, layout="paths")
    items = json.loads((job.folder / ITEMS).read_text(encoding="utf-8"))
    if not (job.folder / EDITS).exists():
        return TreeDraft(start, items)
    log = json.loads((job.folder / EDITS).read_text(encoding="utf-8"))
    return TreeDraft.replay(start, log, items)


def _job(request: Request, project: Project) -> StoredJob | None:
    """The check of the tree that is used; None if it did not work."""
    job = store_of(request).latest(project, "tree")
    usable = job is not None and job.status == "done" and (job.folder / BUILT).exists()
    return job if usable else None

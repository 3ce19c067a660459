"""The routes of the hierarchy screen: browse a tree in pages, search it, edit it, download it.

A draft starts from the tree that was checked last; its edits are kept next to it, so that they
survive a restart, and become a file when a job needs the tree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from setveil.errors import DataError, SetveilError, brief, spelled
from setveil.hierarchy.editing import Changed, TreeDraft
from setveil.hierarchy.files import read_hierarchy, write_hierarchy
from setveil.web.context import project_of, store_of
from setveil.web.project import Project
from setveil.web.store import StoredJob
from setveil.web.tasks import BUILT, ITEMS
from setveil.words import plural

Find = Callable[[Request], TreeDraft | None]
Saved = Callable[[Request, TreeDraft], None]

MOST_CHILDREN = 1_000
MOST_FOUND = 500
MOST_OPEN = 10_000  # how many open nodes a view may ask about
MOST_BYTES = 32_000_000  # the longest body: an edit may name 100,000 nodes
MOST_CHANGED = 100  # how many changed nodes an answer shows
EDITS = "edits.json"


def routes(find: Find, saved: Saved) -> list[Route]:
    """The routes, to be mounted below any prefix.

    Each edit sends the version of the tree that its tab has seen. If another tab was quicker, the
    answer is 409 and nothing changes. Requests are served one at a time, outside the event loop.

    Args:
        find: The draft that a request is about; None if there is none (404).
        saved: Called after each change, before the answer is sent, to keep `draft.log()`.
    """
    desk = _Desk(find, saved)
    return [
        Route("/children", desk.getter(_children)),
        Route("/search", desk.getter(_search)),
        Route("/coverage", desk.getter(_coverage)),
        Route("/edits", desk.getter(_edits)),
        Route("/download", desk.getter(_download)),
        Route("/open", desk.poster(_open), methods=["POST"]),
        Route("/edit", desk.poster(_edit, is_edit=True), methods=["POST"]),
        Route("/undo", desk.poster(partial(_again, "undo"), is_edit=True), methods=["POST"]),
        Route("/redo", desk.poster(partial(_again, "redo"), is_edit=True), methods=["POST"]),
    ]


class _StaleError(DataError):
    """An edit of a view that is no longer true."""


class _Desk:
    """Serves requests about drafts, one at a time: two tabs may edit the same one."""

    def __init__(self, find: Find, saved: Saved) -> None:
        self._find, self._saved, self._lock = find, saved, Lock()

    def getter(self, answer: Callable[[TreeDraft, Mapping[str, str]], Any]) -> Callable[..., Any]:
        """The endpoint of something that is read."""

        def endpoint(request: Request) -> Response:
            return self._answered(request, lambda draft: answer(draft, request.query_params))

        return endpoint

    def poster(
        self, answer: Callable[[TreeDraft, dict[str, Any]], Any], *, is_edit: bool = False
    ) -> Callable[..., Any]:
        """The endpoint of something that is sent as JSON."""

        async def endpoint(request: Request) -> Response:
            body = await _body(request)

            def work(draft: TreeDraft) -> Any:
                words = _json_object(body)
                if is_edit:
                    _check_edit(draft, words)
                result = answer(draft, words)
                if is_edit:
                    self._saved(request, draft)
                return result

            return await run_in_threadpool(self._answered, request, work)

        return endpoint

    def _answered(self, request: Request, work: Callable[[TreeDraft], Any]) -> Response:
        with self._lock:
            draft = self._find(request)
            if draft is None:
                remedy = "go back one step and load or build one"
                return _said({"error": "there is no hierarchy here", "remedy": remedy}, 404)
            try:
                result = work(draft)
            except SetveilError as error:
                stale = isinstance(error, _StaleError)
                return _said(_explained(error), 409 if stale else 400)
        return result if isinstance(result, Response) else _said(result)


def _children(draft: TreeDraft, words: Mapping[str, str]) -> object:
    label = words.get("node", draft.root)
    offset, limit = _number(words, "offset", 0), _number(words, "limit", MOST_CHILDREN)
    node, found = draft.node(label), draft.children(label, offset, min(limit, MOST_CHILDREN))
    children = [{**child.to_dict(), "position": offset + at} for at, child in enumerate(found)]
    shown = {"node": node.to_dict(), "offset": offset, "total": node.children}
    return {**_state(draft), **shown, "children": children}


def _search(draft: TreeDraft, words: Mapping[str, str]) -> object:
    limit = min(_number(words, "limit", 50), MOST_FOUND)
    found = draft.search(words.get("text", ""), limit)
    nodes = [{**node.to_dict(), "path": list(draft.path(node.label))} for node in found.nodes]
    return {**_state(draft), "total": found.total, "found": nodes}


def _coverage(draft: TreeDraft, _: Mapping[str, str]) -> object:
    return {**_state(draft), **draft.coverage().to_dict()}


def _edits(draft: TreeDraft, _: Mapping[str, str]) -> Response:
    return _file(json.dumps(draft.log(), indent=1) + "\n", "application/json", "edits.json")


def _download(draft: TreeDraft, _: Mapping[str, str]) -> Response:
    text = StringIO()
    write_hierarchy(draft.to_hierarchy(), text)
    return _file(text.getvalue(), "text/csv", "hierarchy.csv")


def _open(draft: TreeDraft, words: dict[str, Any]) -> object:
    """What a view must know to show the tree again: the nodes that are open in it."""
    reveal = words.get("reveal")
    if reveal is not None and not isinstance(reveal, str):
        raise DataError("reveal must be the label of a node")
    return {**_state(draft), **_opened(draft, _labels(words, "open"), reveal)}


def _edit(draft: TreeDraft, words: dict[str, Any]) -> object:
    edit = {name: value for name, value in words.items() if name not in ("version", "open")}
    if edit.get("op") == "add" and "items" not in edit:
        edit["items"] = list(draft.coverage().missing)
    if edit.get("op") == "remove" and "nodes" not in edit:
        edit["nodes"] = list(draft.coverage().empty)
    return _after(draft, draft.apply(edit), words, "")


def _again(verb: str, draft: TreeDraft, words: dict[str, Any]) -> object:
    said = {"undo": "Taken back. ", "redo": "Made again. "}[verb]
    return _after(draft, getattr(draft, verb)(), words, said)


def _after(draft: TreeDraft, changed: Changed, words: dict[str, Any], first: str) -> object:
    """What an edit changed, in nodes and in words, and what the view must know now."""
    opened = [changed.renamed.get(label, label) for label in _labels(words, "open")]
    touched = (*changed.added, *changed.renamed.values(), *changed.moved)[:MOST_CHANGED]
    labels = {name: value for name, value in asdict(changed).items() if name != "moved"}
    return {
        **_state(draft),
        **labels,
        "changed": [draft.node(label).to_dict() for label in touched],
        "message": first + _in_words(draft, changed),
        **_opened(draft, opened, changed.focus),
    }


def _opened(draft: TreeDraft, labels: Iterable[str], reveal: str | None) -> dict[str, object]:
    """The open nodes, those above the revealed one among them, with their positions."""
    above = () if reveal is None else draft.path(reveal)[:-1]
    wanted = dict.fromkeys([draft.root, *above, *labels])
    nodes = {label: draft.node(label) for label in wanted if label in draft}
    groups = [label for label, node in nodes.items() if not node.is_item]
    named = groups if reveal is None else [*groups, reveal]
    place = draft.positions([draft.root, *named])
    shown = {label: {**draft.node(label).to_dict(), "position": place[label]} for label in place}
    opened = [shown[label] for label in groups]
    revealed = None if reveal is None else shown[reveal]
    return {"root": shown[draft.root], "open": opened, "revealed": revealed}


def _in_words(draft: TreeDraft, changed: Changed) -> str:
    """What changed, as one sentence."""
    if changed.renamed:
        ((old, new),) = changed.renamed.items()
        return f"Renamed {brief(old)} to {brief(new)}."
    moved = len(changed.moved)
    for verb, labels in (("Added", changed.added), ("Removed", changed.removed)):
        if labels:
            end = f" and moved {plural(moved, 'node')}" if moved else ""
            what = brief(labels[0]) if len(labels) == 1 else plural(len(labels), "node")
            return f"{verb} {what}{end}."
    what = brief(changed.moved[0]) if moved == 1 else plural(moved, "node")
    return f"Moved {what} into {brief(draft.node(changed.moved[0]).parent)}."


def _state(draft: TreeDraft) -> dict[str, object]:
    return {"version": draft.version, "can_undo": draft.can_undo, "can_redo": draft.can_redo}


def _check_edit(draft: TreeDraft, words: Mapping[str, Any]) -> None:
    """Refuse what would fail after the edit was made, and edits of an outdated view."""
    _labels(words, "open")
    if words.get("version") != draft.version:
        problem = "the tree was edited elsewhere, perhaps in another tab"
        raise _StaleError(problem, remedy="look at the tree as it is now and try again")


def _labels(words: Mapping[str, Any], name: str) -> list[str]:
    found = words.get(name, [])
    is_list = isinstance(found, list) and all(isinstance(label, str) for label in found)
    if not is_list or len(found) > MOST_OPEN:
        raise DataError(f"{name} must be a list of at most {MOST_OPEN:,} labels")
    return list(found)


def _number(words: Mapping[str, str], name: str, default: int) -> int:
    text = words.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise DataError(f"{name} must be a whole number, not {brief(text)}")
    return int(text)


async def _body(request: Request) -> bytes | None:
    """The body of a request; None if it is too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            return None
    return bytes(body)


def _json_object(body: bytes | None) -> dict[str, Any]:
    if body is None:
        raise DataError("this edit is too long", remedy="choose fewer nodes at once")
    try:
        words = json.loads(body)
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, dict):
        raise DataError("the request is not a JSON object")
    return words


def _explained(error: SetveilError) -> dict[str, str]:
    remedy = spelled(error.remedy)
    return {"error": error.text().removesuffix(remedy).rstrip("; "), "remedy": remedy}


def _said(answer: object, status: int = 200) -> Response:
    # Escaped, because labels may have characters that UTF-8 does not.
    head = {"Cache-Control": "no-store"}
    return Response(json.dumps(answer), status, head, media_type="application/json")


def _file(text: str, kind: str, name: str) -> Response:
    head = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    try:
        return Response(text.encode("utf-8"), headers=head, media_type=kind)
    except UnicodeEncodeError:
        raise DataError("a label of the tree cannot be written as UTF-8") from None


def saved(request: Request, draft: TreeDraft) -> None:
    """Keep the edits; the tree of the project is the edited one from now on."""
    project = project_of(request)
    job = _job(request, project)
    assert job is not None
    (job.folder / EDITS).write_text(json.dumps(draft.log()), encoding="utf-8")
    tree = project.chosen_tree
    if not tree.get("edited"):
        name = str(tree.get("name") or f"{tree['recipe'].split(':')[0]}.hierarchy.csv")
        name = name if name.startswith("edited-") else f"edited-{name}"
        place = project.folder / "input" / name
        project.state["tree"] = {"kind": "file", "name": name, "path": str(place), "edited": True}
        store_of(request).save(project)


async def keep_edits(request: Request, project: Project) -> None:
    """Write the edited tree as a file, before a job reads it or another tree takes its place."""
    tree = project.state.get("tree", {})
    draft = draft_of(request, project) if tree.get("edited") else None
    if draft is None:
        return

    def write() -> None:
        write_hierarchy(draft.to_hierarchy(), Path(tree["path"]), force=True)

    await run_in_threadpool(write)


def draft_of(request: Request, project: Project | None = None) -> TreeDraft | None:
    """The draft of a project, from memory or from its files; None if its tree did not work. To read
    a very large one takes a second."""
    project = project or project_of(request)
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

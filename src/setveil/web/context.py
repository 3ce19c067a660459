"""What every screen asks for: the project of a request, its form, its files, its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from setveil.io.namelists import typed
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.advise import BUILT, USUAL, fears
from setveil.pipeline.names import chosen_method
from setveil.pipeline.stored import restored
from setveil.promises import PROMISES, Promise
from setveil.web.incoming import Places
from setveil.web.inputs import About, about_file, about_of, digest_of
from setveil.web.jobs import Queue
from setveil.web.security import may_change
from setveil.web.store import Project, Store, StoredJob

MOST_FORM = 1 << 20
TREE_WORDS = ("layout", "levels", "qualify", "unknown")
DEFAULT_FEAR = "some"


@dataclass(frozen=True)
class Settings:
    """What the page may do."""

    max_upload: int
    places: Places
    """The files that may be named by path."""


def store_of(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


def queue_of(request: Request) -> Queue:
    queue: Queue = request.app.state.queue
    return queue


def settings_of(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def project_of(request: Request) -> Project:
    """The project of the address."""
    found = store_of(request).project(request.path_params["project"])
    if found is None:
        raise HTTPException(404, "There is no such project. It may have been deleted.")
    return found


def job_of(request: Request, project: Project) -> StoredJob:
    """The job of the address, which must be one of the project."""
    found = store_of(request).job(request.path_params["job"])
    if found is None or found.project != project.id:
        raise HTTPException(404, "There is no such job. It may have been deleted.")
    return found


def found_of(job: StoredJob | None) -> Any:
    """What a job has found; None unless it is done, or if another version has stored it."""
    return None if job is None else restored(job.verb, job.result)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, after its check value."""
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > MOST_FORM:
            raise HTTPException(413, "This form is too large.")
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    form = dict(pairs)
    if not may_change(request, form):
        raise HTTPException(403, "This form lacks its check value. Load the page again.")
    return form


def data_of(project: Project) -> tuple[str, About] | None:
    """The name of the data and where it is; None as long as nothing is loaded.

    The bags of a query log take the place of the log."""
    state = project.state
    if state.get("terms"):
        log = state.get("source", {}).get("sha256")
        return "terms.csv", {"path": state["terms"], **({"log": log} if log else {})}
    source = state.get("source")
    if not source or state.get("contains") == "log":
        return None
    return source["name"], about_of(source)


def reading_of(project: Project) -> dict[str, Any]:
    """The words that say how to read the data; of records from a log, whether all are meant."""
    words = dict(project.state.get("reading", {}))
    if project.state.get("terms"):
        return {name: words[name] for name in ("keep_unique",) if name in words}
    return words


def tree_of(project: Project) -> tuple[str, About | None] | None:
    """The hierarchy: its name or recipe, and where it is if it is a file; None without one."""
    tree = chosen_tree(project)
    if tree.get("kind") == "recipe":
        return tree["recipe"], None
    if tree.get("kind") == "file":
        name, data = tree["name"], data_of(project)
        return (f"tree-{name}" if data and data[0] == name else name), about_of(tree)
    return None


def chosen_tree(project: Project) -> dict[str, Any]:
    """What the user chose as the hierarchy; if nothing, and the method needs one, what works."""
    state = project.state
    if uses_list(project):
        return {"kind": "file", **state["listed"]}
    if state.get("tree", {}).get("kind"):
        return dict(state["tree"])
    if not needs_tree(project):
        return {}
    offered = state.get("offered")
    return {"kind": "file", **offered} if offered else {"kind": "recipe", "recipe": BUILT}


def uses_list(project: Project) -> bool:
    """Whether a public list of items was pasted for the promise, in place of a hierarchy."""
    return bool(project.state.get("listed")) and adds_noise(promise_kind(project))


def needs_tree(project: Project) -> bool:
    """Whether the method that would run needs a hierarchy."""
    name = project.state.get("method") or chosen_method(promise_words_of(project))[0]
    return METHODS[name].needs_hierarchy


def tree_words(project: Project) -> dict[str, Any]:
    """The words of the hierarchy: which, and how to read it."""
    found = tree_of(project)
    if found is None:
        return {}
    given = chosen_tree(project)
    return {
        "hierarchy": found[0],
        **{name: given[name] for name in TREE_WORDS if given.get(name) is not None},
    }


def files_of(project: Project) -> dict[str, About]:
    """The files of a job under the names that the user knows; a tree that is edited on the page as
    it is now."""
    data, tree = data_of(project), tree_of(project)
    files = {} if data is None else {data[0]: data[1]}
    if tree is not None and tree[1] is not None:
        place = tree[1]["path"]
        now = {} if "size" in tree[1] else {**about_file(place), "sha256": digest_of(place)}
        files[tree[0]] = {**tree[1], **now}
    return files


def promise_kinds() -> dict[str, type[Promise]]:
    """The promises that a method can keep on its own, by name."""
    kept = {kind for method in METHODS.values() for kind in method.promises}
    return {model: kind for model, kind in PROMISES.items() if kind in kept}


def promise_kind(project: Project) -> type[Promise]:
    """The promise that the user chose, or what usually fits the data."""
    usual = fears()["counts" if project.state.get("bags") else DEFAULT_FEAR].model
    return promise_kinds()[str(project.state.get("promise") or usual)]


def adds_noise(kind: type[Promise]) -> bool:
    """Whether a promise is kept by noise."""
    return any(kind in method.promises and method.draws_noise for method in METHODS.values())


def promise_words_of(project: Project) -> dict[str, Any]:
    """The promise with its numbers; common values where the user has said nothing."""
    kind = promise_kind(project)
    given: Mapping[str, Any] = project.state.get("numbers", {}).get(kind.model, {})
    own = parameters(kind)
    usual = {
        name: value for name, value in {**USUAL, "epsilon": 1.0}.items()
        if name in own and own[name].required
    }  # fmt: skip
    return typed({"promise": kind.model, **usual, **given})


def anonymize_words(project: Project) -> dict[str, Any]:
    """Everything that `anonymize` needs to know but the data and where to write."""
    state = project.state
    words = {**reading_of(project), **promise_words_of(project)}
    if state.get("method"):
        words |= {"method": state["method"], **state.get("parameters", {}).get(state["method"], {})}
    return {**words, **state.get("publishing", {}), **tree_words(project)}

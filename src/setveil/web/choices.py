"""What the user has chosen: forms and advice put it into the state of a project, errors lead to its
fields, and commands say it without the page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from setveil.errors import ParameterError, SetveilError
from setveil.hierarchy.files import write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.namelists import typed
from setveil.io.releases.folder import release_formats
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.anonymize import job_from
from setveil.pipeline.commands import command_of_job, python_call
from setveil.pipeline.job import check_job
from setveil.pipeline.names import (
    READING,
    chosen_method,
    method_words,
    promise_from,
    promise_words,
    words_of,
)
from setveil.pipeline.trials import USES
from setveil.promises.promise import Promise
from setveil.web.context import store_of
from setveil.web.forms import Form, item_words, parameter_value, whole_number
from setveil.web.ownfiles import PUBLIC_LIST, about_file, with_files
from setveil.web.project import TREE_WORDS, Project, adds_noise, only_method, promise_kinds
from setveil.web.tasks import RELEASE
from setveil.web.wording import LABELS, label_of, line_of, text_of

FORMATS = {"": "as usual", **{name: name for name in release_formats()}}
_QUOTED = re.compile("“([^”]+)”")
_MEANT = {
    "nobody can be hidden among": "k",
    "the public list of items does not have": "public_list",
    "the list of items that may occur must be public": "public_list",
    "private item": "private",
    "sensitive item": "sensitive",
}
"""What lines say that do not name their field."""
Link = tuple[str, str]
"""The label of a field, and where it is."""


def choose(project: Project, form: Form) -> bool:
    """Put what is feared and what must be kept into the state; whether the promise is another."""
    before = project.promise_kind.model
    if form.get("promise") in promise_kinds(project.reading):
        project.state["promise"] = form["promise"]
    if form.get("keep") in USES:
        project.state["keep"] = form["keep"]
    is_new = project.promise_kind.model != before
    if is_new:
        project.state.pop("method", None)
    return is_new


def take(project: Project, form: Form) -> None:
    """Put what the form says into the state, if it makes sense."""
    kind = project.promise_kind
    state = project.state
    put_promise(state, kind, form)
    check_lists(project)
    name = str(state["method"])
    publishing: dict[str, Any] = {
        word: number for word in ("min_people", "seed") if (number := whole_number(word, form))
        is not None
    }  # fmt: skip
    if form.get("format") in FORMATS and form["format"]:
        publishing["format"] = form["format"]
    if form.get("public_items"):
        publishing["public_items"] = True
    state["publishing"] = publishing
    if adds_noise(kind) and "public_list" in form:
        items = item_words(form["public_list"])
        if items and state["method"] and METHODS[name].needs_hierarchy:
            allowed = f"{name} needs groups: leave it empty, and give a hierarchy of all items"
            raise ParameterError("public_list", f"{len(items)} items", allowed)
        state["listed"] = _listed(project, items, form.get("unknown", "")) if items else {}
    state.setdefault("promise", kind.model)
    promise_from({**project.promise_words})
    spoken(project)  # what the words mean is checked before they are kept


def put_promise(state: dict[str, Any], kind: type[Promise], form: Form) -> None:
    """Put the numbers of a promise, the method and its parameters into a state, unchecked."""
    numbers = {
        name: value
        for name, one in words_of(kind).items()
        if (value := parameter_value(one, form)) is not None
    }
    state["numbers"] = {**state.get("numbers", {}), kind.model: numbers}
    name = form.get("method", "") or only_method(kind)
    state["method"] = name if name in METHODS else ""
    if state["method"]:
        values = {
            word: value
            for word, one in parameters(METHODS[name]).items()
            if (value := parameter_value(one, form, f"{name}.")) is not None
        }
        state["parameters"] = {**state.get("parameters", {}), name: values}


def use_method(project: Project, given: Mapping[str, Any]) -> None:
    """Take a method with those of its parameters that are not the default."""
    name = str(given["name"])
    changed = {
        key: given[key] for key, one in parameters(METHODS[name]).items()
        if key in given and given[key] != one.default
    }  # fmt: skip
    project.state["method"] = name
    project.state.setdefault("parameters", {})[name] = changed


def changed_form(words: Mapping[str, Any], method: str, changes: Mapping[str, str]) -> Form:
    """The form of a run by a method, with some changes; another method has other parameters."""
    name = changes.get("method", method)
    old, own = parameters(METHODS[method]), parameters(METHODS[name])
    kept = {key: words[key] for key in words if key not in old or name == method}
    given = {**kept, **changes, "method": name}
    return {f"{name}.{key}" if key in own else key: text_of(given[key], "\n") for key in given}


def _listed(project: Project, items: list[str], unknown: str) -> dict[str, Any]:
    """A public list of items as a hierarchy without groups, in a file of the project."""
    root = next(name for name in ("all items", "*", "all of them") if name not in items)
    tree = Hierarchy.from_paths([(item, root) for item in dict.fromkeys(items)])
    digest = hashlib.sha256("\n".join(items).encode("utf-8", "surrogatepass")).hexdigest()
    place = project.folder / f"public-items-{digest[:16]}.csv"
    if not place.exists():
        write_hierarchy(tree, place)
    found = {"name": PUBLIC_LIST, "items": items, **about_file(place)}
    return {**found, "unknown": "drop"} if unknown == "drop" else found


def fields_in(line: str) -> list[str]:
    """The fields that an error names, in its order.

    Example:
        >>> fields_in("“Size of the crowd (k)” = 1 is not allowed: it must be 2 or more")
        ['k']
    """
    named = [_names()[label] for label in _QUOTED.findall(line) if label in _names()]
    meant = [name for words, name in _MEANT.items() if words in line]
    return list(dict.fromkeys([*meant, *named]))


def field_links(project: Project, line: str, run: str = "") -> list[Link]:
    """Where the fields are that an error names; `run` is the job that has failed."""
    return [(label_of(name), _place(project, name, run)) for name in fields_in(line)]


def marked_of(request: Request, project: Project, error: SetveilError | None) -> dict[str, str]:
    """The field that is wrong with the sentence that says so: that of the form, or that of the link
    that was followed, which may be wrong or not."""
    if isinstance(error, ParameterError):
        return {error.name: line_of(error)}
    name, run = (request.query_params.get(word, "") for word in ("field", "run"))
    job = store_of(request).job(run) if run else None
    if job is not None:
        line = job.error if job.project == project.id else ""
    else:
        line = line_of_choices(project) if name else ""
    return {name: line if name in fields_in(line) else ""} if name else {}


def check_choices(project: Project) -> None:
    """Refuse what does not fit together, before a job is made of it."""
    found = project.data
    if found is None:
        raise SetveilError("load the data first")
    check_lists(project)
    check_job(job_from(found[0], project.words))


def check_lists(project: Project) -> None:
    """Refuse a promise about items as long as none are named."""
    kind, given = project.promise_kind, project.promise_words
    for name, one in parameters(kind).items():
        if one.holds_items and not given.get(name):
            allowed = f"without them {kind.model} promises nothing; type or paste them"
            raise ParameterError(name, None, allowed)


def line_of_choices(project: Project) -> str:
    """What does not fit together, in a line; empty if all does."""
    try:
        check_choices(project)
    except SetveilError as error:
        return line_of(error)
    return ""


def _place(project: Project, name: str, run: str) -> str:
    step = "goal"
    if name in (*READING, "input_format"):
        step = "load"
    elif name in ("hierarchy", *TREE_WORDS) and not (name == "unknown" and project.uses_list):
        step = "hierarchy"
    method = project.method or chosen_method(project.promise_words)[0]
    field = f"{method}-{name}" if name in parameters(METHODS[method]) else name
    query = urlencode({"field": name, **({"run": run} if run else {})})
    return f"/projects/{project.id}/{step}?{query}#f-{field.replace('_', '-')}"


@cache
def _names() -> dict[str, str]:
    return {label_of(name): name for name in (*method_words(), *promise_words(), *LABELS)}


def spoken(project: Project, words: dict[str, Any] | None = None) -> dict[str, Any]:
    """The command that anonymizes the data of a project, and the same in Python."""
    data = "DATA" if project.data is None else project.data[0]
    words = {**with_files(project.words if words is None else typed(words)), "output": RELEASE}
    command = command_of_job(job_from(data, words))
    return {"command": command, "python": python_call("anonymize", data, **words)}


def spoken_if_fit(project: Project) -> dict[str, Any]:
    """The same; nothing as long as the choices do not fit together."""
    return {} if line_of_choices(project) else spoken(project)

"""What the user has settled: forms put it into the state of a project, and so does advice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from setveil.errors import ParameterError
from setveil.hierarchy.files import write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.folder import release_formats
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.names import promise_from, words_of
from setveil.pipeline.trials import USES
from setveil.promises.promise import Promise
from setveil.web.context import adds_noise, promise_kind, promise_kinds, promise_words_of
from setveil.web.equivalents import anonymize_command
from setveil.web.fixing import check_lists
from setveil.web.forms import Form, item_words, parameter_value, whole_number
from setveil.web.inputs import about_file
from setveil.web.lists import PUBLIC_LIST
from setveil.web.store import Project

FORMATS = {"": "as usual", **{name: name for name in release_formats()}}


def choose(project: Project, form: Form) -> bool:
    """Put what is feared and what must be kept into the state; whether the promise is another."""
    before = promise_kind(project).model
    if form.get("promise") in promise_kinds():
        project.state["promise"] = form["promise"]
    if form.get("keep") in USES:
        project.state["keep"] = form["keep"]
    is_new = promise_kind(project).model != before
    if is_new:
        project.state.pop("method", None)
    return is_new


def take(project: Project, form: Form) -> None:
    """Put what the form says into the state, if it makes sense."""
    kind = promise_kind(project)
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
    promise_from({**promise_words_of(project)})
    anonymize_command(project)  # what the words mean is checked before they are kept


def put_promise(state: dict[str, Any], kind: type[Promise], form: Form) -> None:
    """Put the numbers of a promise, the method and its parameters into a state, unchecked."""
    numbers = {
        name: value
        for name, one in words_of(kind).items()
        if (value := parameter_value(one, form)) is not None
    }
    state["numbers"] = {**state.get("numbers", {}), kind.model: numbers}
    name = form.get("method", "")
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
    return {f"{name}.{key}" if key in own else key: _text(given[key]) for key in given}


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


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)

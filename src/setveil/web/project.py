"""A project: one data set on its way to a release, and the words that its choices mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.io.namelists import typed
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.advise import BUILT, fears
from setveil.pipeline.names import USUAL, chosen_method
from setveil.promises import PROMISES, Promise
from setveil.web.ownfiles import About, about_file, about_of, digest_of

TREE_WORDS = ("layout", "levels", "qualify", "unknown")
DEFAULT_FEAR = "some"


@dataclass
class Project:
    """One data set on its way to a release; `state` has what the user chose so far."""

    id: str
    name: str
    created: float
    folder: Path
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> tuple[str, About] | None:
        """The name of the data and where it is; None as long as nothing is loaded.

        The bags of a query log take the place of the log."""
        state = self.state
        if state.get("terms"):
            log = state.get("source", {}).get("sha256")
            return "terms.csv", {"path": state["terms"], **({"log": log} if log else {})}
        source = state.get("source")
        if not source or state.get("contains") == "log":
            return None
        return source["name"], about_of(source)

    @property
    def reading(self) -> dict[str, Any]:
        """The words that say how to read the data; of records from a log, whether all are meant."""
        words = dict(self.state.get("reading", {}))
        if self.state.get("terms"):
            return {name: words[name] for name in ("keep_unique",) if name in words}
        return words

    @property
    def tree(self) -> tuple[str, About | None] | None:
        """The hierarchy: its name or recipe, and where it is if it is a file; None without one."""
        tree = self.chosen_tree
        if tree.get("kind") == "recipe":
            return tree["recipe"], None
        if tree.get("kind") == "file":
            name, data = tree["name"], self.data
            return (f"tree-{name}" if data and data[0] == name else name), about_of(tree)
        return None

    @property
    def chosen_tree(self) -> dict[str, Any]:
        """What the user chose as the hierarchy; if nothing but one is needed, what works."""
        state = self.state
        if self.uses_list:
            return {"kind": "file", **state["listed"]}
        if state.get("tree", {}).get("kind"):
            return dict(state["tree"])
        if not self.needs_tree:
            return {}
        offered = state.get("offered")
        return {"kind": "file", **offered} if offered else {"kind": "recipe", "recipe": BUILT}

    @property
    def uses_list(self) -> bool:
        """Whether a public list of items was pasted for the promise, in place of a hierarchy."""
        return bool(self.state.get("listed")) and adds_noise(self.promise_kind)

    @property
    def method(self) -> str:
        """The method that the user chose, if it keeps the promise, or the only one that does; empty
        for what suits it."""
        name, kind = str(self.state.get("method") or ""), self.promise_kind
        fits = name in METHODS and kind in METHODS[name].promises
        return name if fits else only_method(kind)

    @property
    def needs_tree(self) -> bool:
        """Whether the method that would run needs a hierarchy."""
        name = self.method or chosen_method(self.promise_words)[0]
        own = self.state.get("parameters", {}).get(name, {}) if self.method else {}
        return METHODS[name](**own).uses_hierarchy

    @property
    def tree_words(self) -> dict[str, Any]:
        """The words of the hierarchy: which, and how to read it."""
        found = self.tree
        if found is None:
            return {}
        given = self.chosen_tree
        return {
            "hierarchy": found[0],
            **{name: given[name] for name in TREE_WORDS if given.get(name) is not None},
        }

    @property
    def files(self) -> dict[str, About]:
        """The files of a job under the names that the user knows; a tree that is edited as it is
        now."""
        data, tree = self.data, self.tree
        files = {} if data is None else {data[0]: data[1], **self.column_files}
        if tree is not None and tree[1] is not None:
            place = tree[1]["path"]
            now = {} if "size" in tree[1] else {**about_file(place), "sha256": digest_of(place)}
            files[tree[0]] = {**tree[1], **now}
        return files

    @property
    def column_files(self) -> dict[str, About]:
        """The files with hierarchies of columns that are used."""
        used = {*self.reading.get("column_hierarchies", {}).values()}
        known = self.state.get("column_trees", {})
        return {name: about_of(known[name]) for name in known if name in used}

    @property
    def promise_kind(self) -> type[Promise]:
        """The promise that the user chose, or what usually fits the data."""
        kinds = promise_kinds(self.reading)
        usual = fears()["counts" if self.state.get("bags") else DEFAULT_FEAR].model
        chosen = str(self.state.get("promise") or usual)
        return kinds[chosen] if chosen in kinds else next(iter(kinds.values()))

    @property
    def promise_words(self) -> dict[str, Any]:
        """The promise with its numbers; common values where the user has said nothing."""
        kind = self.promise_kind
        given: Mapping[str, Any] = self.state.get("numbers", {}).get(kind.model, {})
        own = parameters(kind)
        usual = {
            name: value for name, value in {**USUAL, "epsilon": 1.0}.items()
            if name in own and own[name].required
        }  # fmt: skip
        return typed({"promise": kind.model, **usual, **given})

    @property
    def words(self) -> dict[str, Any]:
        """Everything that `anonymize` needs to know but the data and where to write."""
        state = self.state
        words = {**self.reading, **self.promise_words}
        if self.method:
            own = state.get("parameters", {}).get(self.method, {})
            words |= {"method": self.method, **own}
        return {**words, **state.get("publishing", {}), **self.tree_words}


def only_method(kind: type[Promise]) -> str:
    """The method for a promise about columns, if there is just one, so that its parameters are
    shown at once; else nothing."""
    fitting = [name for name, method in METHODS.items() if kind in method.promises]
    return fitting[0] if kind.shown_by and len(fitting) == 1 else ""


def promise_kinds(shown: Collection[str] = ()) -> dict[str, type[Promise]]:
    """The promises that a method can keep on its own, by name: those that one of the words `shown`
    is given for, such as `columns`, if there are some; else those that need no such word."""
    kept = {kind for method in METHODS.values() for kind in method.promises}
    meant = {kind for kind in kept if kind.shown_by and kind.shown_by in shown}
    fitting = meant or {kind for kind in kept if not kind.shown_by}
    return {model: kind for model, kind in PROMISES.items() if kind in fitting}


def adds_noise(kind: type[Promise]) -> bool:
    """Whether a promise is kept by noise."""
    return any(kind in method.promises and method.draws_noise for method in METHODS.values())

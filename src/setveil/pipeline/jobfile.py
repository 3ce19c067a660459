"""Job files: everything that one run needs to know as one TOML file.

Its keys are the words of the command line, so they come from the same tables as its options."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from setveil.disk import new_file
from setveil.engines.base import Progress
from setveil.errors import (
    FileFormatError,
    OutputError,
    ParameterError,
    SetveilError,
    brief,
    did_you_mean,
    spelled,
)
from setveil.hierarchy.columns import ANY, KEEP
from setveil.hierarchy.recipes import is_recipe
from setveil.io import FORMATS, read
from setveil.io.namelists import UNDER, Typed, is_pattern
from setveil.methods import METHODS
from setveil.parameters import About, Parameter, parameters, settled
from setveil.pipeline.anonymize import job_from, job_words, run
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.names import (
    OLD_ARRANGEMENTS,
    OLD_WORDS,
    READING,
    method_words,
    promise_words,
    renewed,
)
from setveil.pipeline.toml import toml_table, toml_value
from setveil.promises import PROMISES, Promise

_HEAD = "# A job of setveil: `setveil run` with the name of this file does it.\n"
_PLAIN = (str, int, float, bool)
_NOT_WRITTEN = {"force"}  # nothing may be replaced because a file says so


def read_job(path: Path | str) -> Job:
    """The job in a file; relative paths in it start at its folder.

    Raises:
        FileFormatError: if it is no TOML, or a key is unknown, missing or not allowed; it names the
            file and the key.
    """
    table, known = toml_table(Path(path)), job_keys()
    with in_job_file(path):
        words = renewed({_name(key, path, known): value for key, value in table.items()})
        words = {name: _checked(known[name], value) for name, value in words.items()}
        if "data" not in words:
            raise ParameterError("data", None, "name the data file")
        words = _moved(words, _Read(os.path.dirname(path)))
        return job_from(words.pop("data"), words)


def run_file(
    path: Path | str,
    *,
    output: Path | str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Do what a job file says; `output` replaces the release folder that it names."""
    job = read_job(path)
    with in_job_file(path):
        job = replace(job, output=job.output if output is None else output, force=force)
        if job.output is None:
            remedy = "name the release folder in the file, or with {output}"
            raise FileFormatError(path, "the key output is missing", remedy=remedy)
        return run(job, progress)


def job_text(job: Job, folder: Path | str = ".") -> str:
    """The text of the file of a job in a folder; relative paths are made to start there.

    Raises:
        ParameterError: if a part of the job cannot be written, such as data that is not a file.
    """
    words = _moved(_words(job), _Written(str(folder)))
    lines = [f"{_key(name)} = {toml_value(name, value)}" for name, value in words.items()]
    return _HEAD + "\n".join(lines) + "\n"


@contextmanager
def saved(job: Job, path: Path | str, *, force: bool = False) -> Iterator[None]:
    """The file of a job is written at once, and gets its name if the block succeeds."""
    place, text = Path(path), job_text(job, Path(path).parent)
    if job.output is not None and place.resolve().is_relative_to(Path(job.output).resolve()):
        problem = "a job file says how a release was made and must not be in its folder"
        raise OutputError(place, problem, remedy="choose another place")
    with new_file(place, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8")
        yield


def job_keys() -> dict[str, Parameter]:
    """Every word that a job file may have, and what it may be."""
    own = {name: one for name, one in parameters(Job).items() if name in job_words()}
    hints = get_type_hints(read, localns={"Transactions": object})
    reading = {name: _parameter(name, hints[name]) for name in READING}
    given = {
        "data": _parameter("data", str),
        "input_format": _parameter("input_format", Literal[tuple(FORMATS)]),
        **reading,
        "promise": _parameter("promise", Literal[tuple(PROMISES)]),
        **{name: word.parameter for name, word in promise_words().items()},
        "method": _parameter("method", Literal[tuple(METHODS)]),
        **{name: word.parameter for name, word in method_words().items()},
        **{name: one for name, one in own.items() if name not in _NOT_WRITTEN},
    }
    return {name: _writable(one) for name, one in given.items()}


@contextmanager
def in_job_file(path: Path | str) -> Iterator[None]:
    """Say which key of which file it is if a parameter is not allowed; advice names keys too."""
    try:
        yield
    except ParameterError as error:
        key, allowed = _key(error.name), spelled(error.allowed, as_key)
        allowed = allowed.replace("True or False", "true or false")
        if error.value is None:
            raise FileFormatError(path, f"the key {key} is missing: {allowed}") from None
        value = brief(error.value)
        shown = value.lower() if isinstance(error.value, bool) else value
        problem = f"{key} = {shown} is not allowed: {allowed}"
        raise FileFormatError(path, problem) from None
    except SetveilError as error:
        error.remedy = spelled(error.remedy, _as_key_or_option)
        raise


def as_key(name: str, value: str | None) -> str:
    """A parameter as a job file spells it.

    Example:
        >>> as_key("min_people", None), as_key("k", "10"), as_key("input_format", "csv")
        ('min-people', 'k = 10', 'input-format = "csv"')
    """
    if value is None:
        return _key(name)
    is_plain = value in ("True", "False") or value.isdigit()
    return f"{_key(name)} = {value.lower() if is_plain else json.dumps(value)}"


def _as_key_or_option(name: str, value: str | None) -> str:
    """As `as_key`; the options that every door of a job file has are left to the door."""
    if name in ("force", "output"):
        return f"{{{name}}}" if value is None else f"{{{name}={value}}}"
    return as_key(name, value)


class _Read(NamedTuple):
    """Paths of a job file become paths for this process."""

    folder: str

    def move(self, place: str) -> str:
        return os.path.join(self.folder, place)

    def is_list(self, item: str) -> bool:
        """Whether a word is a file with items; one that is a file elsewhere must not be read."""
        return os.path.isfile(self.move(item)) or os.path.isfile(item)


class _Written(NamedTuple):
    """Paths of this process become paths for a file in a folder."""

    folder: str

    def move(self, place: str) -> str:
        if os.path.isabs(place):
            return place
        head, tail = os.path.split(place)
        whole = os.path.join(os.path.realpath(head), tail)
        return os.path.relpath(whole, os.path.realpath(self.folder))

    def is_list(self, item: str) -> bool:
        return os.path.isfile(item)


def _name(key: str, path: Path | str, known: Mapping[str, Parameter]) -> str:
    name = key.replace("-", "_")
    if key == _key(name) and (OLD_WORDS.get(name, name) in known or name in OLD_ARRANGEMENTS):
        return OLD_WORDS.get(name, name)
    guess = did_you_mean(_key(name), map(_key, known))
    raise FileFormatError(path, f"a job has no key {brief(key)}", remedy=guess)


def _key(name: str) -> str:
    return name.replace("_", "-")


def _checked(parameter: Parameter, value: Any) -> Any:
    if not parameter.holds_items:
        return settled(parameter, value)
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ParameterError(parameter.name, value, "it must be a list of texts")
    return items


def _parameter(name: str, hint: Any) -> Parameter:
    kinds = get_args(hint) if get_origin(hint) is not Literal else ()
    return Parameter(name=name, kinds=kinds or (hint,), default=None, about=About(help=""))


def _writable(parameter: Parameter) -> Parameter:
    """The same parameter with only those types that a file can hold."""
    kinds = (kind for kind in parameter.kinds if kind in _PLAIN or get_origin(kind) is not None)
    return replace(parameter, kinds=tuple(kinds))


def _moved(words: Mapping[str, Any], way: _Read | _Written) -> dict[str, Any]:
    """The words with every path changed."""
    own, known = parameters(Job), job_keys()
    moved = dict(words)
    for name, value in words.items():
        is_path = name in ("hierarchy", "data") or (name in own and Path in own[name].kinds)
        if is_path and "\0" in str(value):
            raise ParameterError(name, value, "a path has no NUL character")
        if name == "hierarchy":
            moved[name] = moved_tree(value, way.move)
        elif name == "column_hierarchies":
            moved[name] = {
                one: tree if tree in (ANY, KEEP) else moved_tree(tree, way.move)
                for one, tree in value.items()
            }
        elif is_path:
            moved[name] = value if str(value) == "-" else way.move(str(value))
        elif known[name].holds_items:
            moved[name] = [
                way.move(item) if not item.startswith(UNDER) and way.is_list(item) else item
                for item in value
            ]
    return moved


def moved_tree(value: Path | str, move: Callable[[str], str]) -> str:
    if not is_recipe(value):
        place = move(str(value))
        return os.path.join(".", place) if is_recipe(place) else place
    kind, mark, folder = str(value).partition(":")
    return f"{kind}:{move(folder)}" if mark and kind.startswith("wordnet") else str(value)


def _words(job: Job) -> dict[str, Any]:
    """The words that describe a job, in the order of `job_keys`."""
    if not isinstance(job.data, str | Path):
        raise ParameterError("data", type(job.data).__name__, "only a job of a data file is saved")
    if not isinstance(job.hierarchy, str | Path | None):
        kind = type(job.hierarchy).__name__
        raise ParameterError("hierarchy", kind, "only a job with a hierarchy file is saved")
    own = parameters(Job)
    words = {"data": job.data, "promise": job.promise.model, "method": job.method.name}
    words |= {{"format": "input_format"}.get(name, name): job.reading[name] for name in job.reading}
    words |= _promise_words(job.promise, job.items)
    words |= _values(job.method)
    for name in job_words():
        value = getattr(job, name)
        words |= {} if value == own[name].default else {name: value}
    return {name: words[name] for name in job_keys() if words.get(name) is not None}


def _promise_words(promise: Promise, items: Mapping[str, Any]) -> dict[str, Any]:
    words: dict[str, Any] = {}
    for part in promise.parts:
        words |= {name: value for name, value in _values(part).items() if name in promise_words()}
    for name, found in promise.named_items.items():
        given = (_literal(one) if _is_plain(one) else one for one in items.get(name, ()))
        words[name] = [*given, *map(_literal, sorted(found))]
    return words


def _is_plain(word: str) -> bool:
    """Whether a word can only be an item, though a job file might take it for a file."""
    return isinstance(word, Typed) and not word.startswith(UNDER) and not is_pattern(word)


def _values(thing: Any) -> dict[str, Any]:
    """The parameters of a promise or a method as people write them."""
    return {
        name: parameter.about.shown(getattr(thing, name))
        for name, parameter in parameters(type(thing)).items()
    }


def _literal(item: str) -> str:
    """An item as a word that names it and nothing else."""
    if item.startswith(UNDER) or os.path.isfile(item):
        return f"[{item[0]}]{escape(item[1:])}"
    return escape(item)

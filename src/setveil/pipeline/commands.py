"""Commands that make a release again, from what the release and the job say."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from setveil.methods import METHODS
from setveil.parameters import Parameter, parameters
from setveil.pipeline.inputs import known_name
from setveil.pipeline.job import Job
from setveil.pipeline.names import method_words, promise_words
from setveil.promises.promise import Promise
from setveil.published import Release

MOST_ITEMS = 5  # how many named items a command spells out
_ASKED = {"hierarchy": "--hierarchy", "format": "--format", "min_people": "--min-people"}
_FLAGS = ("public_items", "qualify")
_WIDE = 88
_BESIDE = {"columns": "--column", "column_hierarchies": "--column-hierarchy"}
_READ = {
    **_BESIDE,
    "format": "--input-format",
    "bags": "--bags",
    "onehot": "--onehot",
    "header": "--header",
}


def command_of(release: Release, job: Job | None = None) -> str:
    """The command that makes a release like this one; DATA and TREE where the names are unknown.

    Example:
        >>> from setveil import Generalized, Hierarchy, KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> rows, method = [["Alcohol"], ["Alcohol"]], {"name": "partition"}
        >>> command_of(Generalized.of(rows, tree, KAnonymity(k=2), method=method))
        'setveil anonymize DATA -o RELEASE --method partition -k 2 --hierarchy TREE'
    """
    if job is not None:
        return command_of_job(job, release)
    words = ["setveil", "anonymize", "DATA", "-o", "RELEASE", *method_options(release.method)]
    words += [*promise_options(release.promise), *_tree(release)]
    return shlex.join(words)


def command_beside(data: str, columns: Mapping[str, str | None]) -> str:
    """The command that publishes columns beside the items of a file, some with a tree.

    Example:
        >>> command_beside("x.csv", {"city": "any"})
        'setveil anonymize x.csv -o RELEASE -k 5 -m 2 --column city --column-hierarchy city any'
    """
    words = ["setveil", "anonymize", data, "-o", "RELEASE", "-k", "5", "-m", "2"]
    for name, tree in columns.items():
        words += [_BESIDE["columns"], name]
        words += [_BESIDE["column_hierarchies"], name, tree] if tree else []
    return shlex.join(words)


def command_of_job(job: Job, made: Release | None = None) -> str:
    """The command that does a job; with what it has made, also the parameters that were chosen.

    Example:
        >>> from setveil.pipeline.anonymize import job_from
        >>> command_of_job(job_from("baskets.csv", {"k": 5, "m": 2, "output": "release"}))
        'setveil anonymize baskets.csv -o release --method disassociation -k 5 -m 2'
    """
    data = known_name(job.data) if isinstance(job.data, str) else "DATA"
    output = "RELEASE" if job.output is None else str(job.output)
    method = job.method.to_dict() if made is None else made.method
    promise = job.promise if made is None else made.promise
    words = ["setveil", "anonymize", data, "-o", output, *method_options(method)]
    words += [*promise_options(promise, job.items), *_job_words(job)]
    return shlex.join([*words, *reading_options(job.reading)])


def command_line(verb: str, *given: str, **words: Any) -> str:
    """The command of a verb with its arguments and options; None means not given.

    Example:
        >>> command_line("inspect", "my baskets.csv", k=5, input_format="csv", bags=False)
        "setveil inspect 'my baskets.csv' -k 5 --input-format csv --sets"
    """
    spelled = {**promise_words(), **method_words()}
    known = {name: word.parameter.option for name, word in spelled.items()}
    line = ["setveil", *verb.split(), *given]
    for name, value in words.items():
        option = known.get(name) or _BESIDE.get(name, f"--{name.replace('_', '-')}")
        if isinstance(value, Mapping):
            line += [word for pair in value.items() for word in (option, *map(str, pair))]
        elif isinstance(value, bool):
            negative = "--sets" if name == "bags" else f"--no-{option[2:]}"
            line.append(option if value else negative)
        elif value is not None:
            for one in value if isinstance(value, list | tuple) else [value]:
                line += [option, f"{one:g}" if isinstance(one, float) else str(one)]
    return shlex.join(line)


def python_call(verb: str, *given: Any, **words: Any) -> str:
    """The same in Python; None means not given.

    Example:
        >>> print(python_call("inspect", "baskets.csv", k=5))
        import setveil as sv
        <BLANKLINE>
        sv.inspect("baskets.csv", k=5)
    """
    parts = [*map(_literal, given)]
    parts += [f"{name}={_literal(value)}" for name, value in words.items() if value is not None]
    call = f"sv.{verb}({', '.join(parts)})"
    if len(call) > _WIDE:
        inside = "".join(f"    {part},\n" for part in parts)
        call = f"sv.{verb}(\n{inside})"
    return f"import setveil as sv\n\n{call}"


def _literal(value: Any) -> str:
    """A value as Python code, texts in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{_literal(name)}: {_literal(each)}" for name, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    return repr(value)


def method_options(method: Mapping[str, Any]) -> list[str]:
    """The method and those of its parameters that are not the default."""
    name = str(method.get("name", ""))
    if name not in METHODS:
        return ["--method", name] if name else []
    words = ["--method", name]
    for parameter in parameters(METHODS[name]).values():
        value = method.get(parameter.name, parameter.default)
        if value != parameter.default and not isinstance(value, Mapping):
            words += _option(parameter, value)
    return words


def promise_options(promise: Promise, items: Mapping[str, Any] | None = None) -> list[str]:
    """The numbers of a promise, and its items as they were named."""
    words: list[str] = []
    needs_name = promise.covers_counts
    for part in promise.of_people.parts:
        for name, parameter in parameters(type(part)).items():
            value = getattr(part, name)
            if isinstance(value, Promise) or value is None:
                continue
            if parameter.holds_items:
                words += _items(parameter, value, (items or {}).get(name, ()))
            elif value != parameter.default:
                words += _option(parameter, parameter.about.shown(value))
    return [*(["--promise", promise.model] if needs_name else []), *words]


def _option(parameter: Parameter, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [parameter.option if value else f"--no-{parameter.option[2:]}"]
    return [parameter.option, f"{value:g}" if isinstance(value, float) else str(value)]


def _items(parameter: Parameter, found: frozenset[str], named: Any) -> list[str]:
    words = list(named) or sorted(found)
    shown = words if len(words) <= MOST_ITEMS else ["LIST"]
    return [word for item in shown for word in (parameter.option, str(item))]


def tree_option(tree: str = "") -> list[str]:
    """The option for the hierarchy; TREE if its name is unknown."""
    return ["--hierarchy", tree or "TREE"]


def _tree(release: Release) -> list[str]:
    kind = METHODS.get(str(release.method.get("name")))
    words = tree_option() if kind is not None and kind.needs_hierarchy else []
    people = ["--min-people", str(release.min_people)] if release.min_people else []
    if release.promise.records_per_person > 1:
        most = str(release.promise.records_per_person)
        people += ["--person", "PERSON", "--record", "RECORD", "--records-per-person", most]
    return [*words, *people]


def _job_words(job: Job) -> Iterator[str]:
    for name, option in {**_ASKED, "seed": "--seed"}.items():
        value = getattr(job, name)
        if value is not None and value != 0:
            yield from (
                option,
                known_name(value) if isinstance(value, int | str) else _place(value),
            )
    yield from (f"--{name.replace('_', '-')}" for name in _FLAGS if getattr(job, name))
    for name in ("layout", "levels", "unknown"):
        value = getattr(job, name)
        if isinstance(value, str) and value != "refuse":
            yield from (f"--{name}", value)


def _place(value: object) -> str:
    from pathlib import Path

    return str(value) if isinstance(value, Path) else "TREE"


def reading_options(reading: Mapping[str, Any]) -> Iterator[str]:
    """How the data was read, as options."""
    for name, value in reading.items():
        option = _READ.get(name, f"--{name.replace('_', '-')}")
        if isinstance(value, bool):
            negative = "--sets" if name == "bags" else f"--no-{option[2:]}"
            yield option if value else negative
        else:
            pairs = value.items() if isinstance(value, Mapping) else ()
            for name, tree in pairs:
                yield from (option, name, known_name(tree) if isinstance(tree, str) else "TREE")
            plain = value if isinstance(value, list | tuple) else [value]
            for one in plain if not isinstance(value, Mapping) else ():
                yield from (option, str(one))

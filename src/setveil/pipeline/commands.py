"""Commands that make a release again, from what the release and the job say."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from setveil.data.people import PER_PERSON
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.inputs import known_name
from setveil.pipeline.job import Job
from setveil.pipeline.names import method_words, promise_words
from setveil.promises.promise import Promise
from setveil.published import Release

MOST_ITEMS = 5  # how many named items a command spells out
_WIDE = 88
_OPTIONS = {"columns": "--column", "column_hierarchies": "--column-hierarchy"}
"""How words are spelled that are not called like their option."""
_ASKED = ("hierarchy", "format", "min_people", "seed", "public_items", "qualify", "layout")


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
    kind = METHODS.get(str(release.method.get("name")))
    words += promise_options(release.promise)
    words += ["--hierarchy", "TREE"] if kind is not None and kind.needs_hierarchy else []
    words += options({"min_people": release.min_people or None})
    most = release.promise.records_per_person
    people = {"person": "PERSON", "record": "RECORD", PER_PERSON: most}
    return shlex.join([*words, *options(people if most is not None else {})])


def command_beside(data: str, columns: Mapping[str, str | None]) -> str:
    """The command that publishes columns beside the items of a file, some with a tree.

    Example:
        >>> command_beside("x.csv", {"city": "any"})
        'setveil anonymize x.csv -o RELEASE -k 5 -m 2 --column city --column-hierarchy city any'
    """
    words = ["setveil", "anonymize", data, "-o", "RELEASE", "-k", "5", "-m", "2"]
    for name, tree in columns.items():
        words += [_OPTIONS["columns"], name]
        words += [_OPTIONS["column_hierarchies"], name, tree] if tree else []
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
    words += promise_options(promise, job.items)
    asked = {name: getattr(job, name) for name in _ASKED}
    asked |= {"levels": job.levels} if isinstance(job.levels, str) else {}
    asked |= {"unknown": job.unknown} if job.unknown != "refuse" else {}
    words += options({name: value for name, value in asked.items() if value})
    return shlex.join([*words, *reading_options(job.reading)])


def command_line(verb: str, *given: str, **words: Any) -> str:
    """The command of a verb with its arguments and options; None means not given.

    Example:
        >>> command_line("inspect", "my baskets.csv", k=5, input_format="csv", bags=False)
        "setveil inspect 'my baskets.csv' -k 5 --input-format csv --sets"
    """
    return shlex.join(["setveil", *verb.split(), *given, *options(words)])


def options(words: Mapping[str, Any]) -> Iterator[str]:
    """Words as options; None means not given."""
    known = {**promise_words(), **method_words()}
    for name, value in words.items():
        option = known[name].parameter.option if name in known else f"--{name.replace('_', '-')}"
        yield from _option(_OPTIONS.get(name, option), value)


def reading_options(reading: Mapping[str, Any]) -> Iterator[str]:
    """How the data was read, as options."""
    return options({{"format": "input_format"}.get(name, name): reading[name] for name in reading})


def _option(option: str, value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        denied = "--sets" if option == "--bags" else f"--no-{option[2:]}"
        yield option if value else denied
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from (option, name, _shown(one))
    elif value is not None:
        for one in value if isinstance(value, list | tuple) else [value]:
            yield from (option, _shown(one))


def _shown(value: object) -> str:
    """A value; TREE for a tree without a name."""
    if isinstance(value, float):
        return f"{value:g}"
    return known_name(value) if isinstance(value, str | int | Path) else "TREE"


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
            words += _option(parameter.option, value)
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
                named = [*(items or {}).get(name, ())] or sorted(value)
                shown = named if len(named) <= MOST_ITEMS else ["LIST"]
                words += _option(parameter.option, [str(item) for item in shown])
            elif value != parameter.default:
                words += _option(parameter.option, parameter.about.shown(value))
    return [*(["--promise", promise.model] if needs_name else []), *words]

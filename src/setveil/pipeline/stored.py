"""What a verb has found as plain JSON values, and back: the page keeps these and words them when
somebody looks, so that better words also reach what was found earlier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from setveil.audit.attack.outcome import Attack
from setveil.audit.verdict import Verdict
from setveil.errors import Note
from setveil.methods import METHODS, Method
from setveil.pipeline.advise import Advice
from setveil.pipeline.compare import Comparison
from setveil.pipeline.dossier import Dossier
from setveil.pipeline.hierarchy import Checked, Proposal
from setveil.pipeline.inspect import Inspection
from setveil.pipeline.notes import Example
from setveil.pipeline.querylog import QuerylogResult
from setveil.pipeline.reconstruct import Reconstructions
from setveil.pipeline.support import Supports
from setveil.promises import PROMISES, Promise

VERSION = 2
"""Changes when values that an older version has stored can no longer be read."""


@dataclass(frozen=True, kw_only=True)
class Released:
    """What is kept of a run besides its files. Private."""

    values: Mapping[str, Any]
    """The outcome as JSON shows it."""
    verdict: Verdict
    dossier: Dossier | None = None
    """None if the release does not hold."""
    public: Dossier | None = None
    """What may be handed over with the release."""
    examples: tuple[Example, ...] = ()
    advice: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CheckedTree:
    """What was found in a hierarchy."""

    name: str
    checked: Checked | None = None
    """The faults of a file; None if the tree was built."""
    proposal: Proposal | None = None
    """Another way to read a file that is no tree."""
    values: Mapping[str, Any]
    """The size of the tree; empty if it is not usable."""


FOUND: dict[str, type] = {
    "querylog": QuerylogResult,
    "inspect": Inspection,
    "tree": CheckedTree,
    "advise": Advice,
    "anonymize": Released,
    "attack": Attack,
    "support": Supports,
    "reconstruct": Reconstructions,
    "compare": Comparison,
}
"""What each verb finds; the others find plain values."""


def stored(found: object) -> dict[str, Any]:
    """What was found, with the version that can read it."""
    return {"version": VERSION, "found": freeze(found)}


def restored(verb: str, values: Mapping[str, Any]) -> Any:
    """What a verb has found; None if another version has stored it in another way."""
    if values.get("version") != VERSION:
        return None
    try:
        return thaw(FOUND.get(verb, dict), values["found"])
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def freeze(value: Any) -> Any:
    """A value as JSON has it.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> freeze((KAnonymity(k=3), Note("see {k=2}")))
        [{'model': 'k-anonymity', 'records_per_person': None, 'k': 3}, {'note': 'see {k=2}'}]
    """
    if isinstance(value, Note):
        return {"note": value.template}
    if is_dataclass(value):
        tag = {"model": value.model} if isinstance(value, Promise) else {}
        tag |= {"name": value.name} if isinstance(value, Method) else {}
        kept = (each.name for each in fields(value) if each.init)
        return tag | {name: freeze(getattr(value, name)) for name in kept}
    if isinstance(value, Mapping):
        return {str(name): freeze(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [freeze(each) for each in value]
    if isinstance(value, np.generic):
        return value.item()
    return str(value) if isinstance(value, Path) else value


def thaw(kind: Any, value: Any) -> Any:
    """The value of a type that `freeze` has made plain.

    Example:
        >>> thaw(Promise, {"model": "k-anonymity", "k": 3})
        KAnonymity(k=3)
        >>> thaw(tuple[str, ...], ["as it is", {"note": "see {k=2}"}])
        ('as it is', 'see k=2')
    """
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        left = [each for each in inner if each is not NoneType]
        return thaw(left[0], value) if value is not None and len(left) == 1 else value
    if origin is str and isinstance(value, dict):
        return Note(value["note"])
    if origin in (Promise, Method):
        return _made(
            PROMISES[value["model"]] if origin is Promise else METHODS[value["name"]], value
        )
    if is_dataclass(origin):
        return _made(origin, value)
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1:] == (...,) else inner
        return tuple(thaw(each, one) for each, one in zip(kinds, value, strict=True))
    if isinstance(origin, type) and issubclass(origin, tuple):
        return origin(*map(thaw, _hints(origin).values(), value))
    if isinstance(origin, type) and issubclass(origin, Mapping) and inner:
        return {name: thaw(inner[1], each) for name, each in value.items()}
    if origin in (list, set, frozenset):
        return origin(thaw(inner[0], each) for each in value)
    return Path(value) if origin is Path else value


def _made(kind: Any, values: Mapping[str, Any]) -> Any:
    """What is missing is a field that came after the value was stored: it has its default."""
    hints = _hints(kind)
    known = (each.name for each in fields(kind) if each.init and each.name in values)
    return kind(**{name: thaw(hints[name], values[name]) for name in known})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)

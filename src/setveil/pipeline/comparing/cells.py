"""Cells: every combination of methods and parameters that a comparison asks for.

A word of a comparison may have several values. Each method takes the words that it or a promise of
it has, and gets one cell for each combination of their values; words of other methods do not
concern it, so that `-k 5,10 -m 2,3` gives partition and apriori what each can use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import NoneType
from typing import Any

from setveil.errors import ParameterError
from setveil.methods import METHODS, Method
from setveil.parameters import About, Parameter, parameters, settled
from setveil.pipeline.names import Words, method_words, promise_words, words_of
from setveil.published import Release


def _word(name: str, kind: type, help: str, least: int | None = None) -> Parameter:
    kinds, about = (kind, NoneType), About(help=help, least=least)
    return Parameter(name=name, kinds=kinds, default=None, about=about)


_GIVEN = (
    _word("sample", int, "Use so many records, drawn at random.", 1),
    _word(
        "min_people",
        int,
        "First leave out items that fewer people (or records) have; losses ignore them.",
        1,
    ),
    _word(
        "public_share",
        float,
        "Draw this share of the items at random; the others are private (coherence).",
    ),
    _word("reconstructions", int, "Average over so many reconstructions; 1 if not given.", 1),
)
_OF_ALL = ("sample", "min_people", "reconstructions")  # words that every method has
_TRUTHS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


@dataclass(frozen=True)
class Cell:
    """One combination: a method, its parameters and its promise, on one data set."""

    words: Mapping[str, Any]

    @property
    def method(self) -> str:
        return str(self.words["method"])

    def __str__(self) -> str:
        """The cell in a few words, such as `partition k=5`."""
        shown = {"method": "", "data": "", "hierarchy": ""}
        others = (f"{name}={value}" for name, value in self.words.items() if name not in shown)
        return " ".join([self.method, *others])


def axes() -> dict[str, Parameter]:
    """Every word that may have several values, besides `data`, `hierarchy` and `method`."""
    promised = {n: w.parameter for n, w in promise_words().items() if not w.parameter.holds_items}
    own = {name: word.parameter for name, word in method_words().items()}
    return {**{one.name: one for one in _GIVEN}, **promised, **own}


def item_words() -> list[str]:
    """The words that name items; all their values belong together."""
    return [name for name, word in promise_words().items() if word.parameter.holds_items]


def cells_of(words: Words) -> list[Cell]:
    """All cells that these words ask for, each once, in the order in which they are shown.

    Example:
        >>> words = {"methods": "partition,disassociation", "k": "5,10", "m": 2}
        >>> [str(cell) for cell in cells_of(words)][:3]
        ['partition k=5 m=2', 'partition k=10 m=2', 'disassociation k=5 m=2']
    """
    methods = _methods(words.get("methods"))
    known = axes()
    values = {
        name: values_of(known[name], words[name]) for name in known if words.get(name) is not None
    }
    found: dict[str, Cell] = {}
    for data in _several(words.get("data")):
        for method in methods:
            for cell in _of_method(method, data, values, words):
                found.setdefault(repr(sorted(cell.words.items(), key=str)), cell)
    return list(found.values())


def values_of(parameter: Parameter, given: object) -> tuple[Any, ...]:
    """The values of a word, each checked: from a list, or from a text with commas.

    Raises:
        ParameterError: if one of them is not allowed.
    """
    several = given.split(",") if isinstance(given, str) else given
    several = several if isinstance(several, list | tuple) else [several]
    made = [_value(parameter, one) for one in several]
    if not made:
        raise ParameterError(parameter.name, given, "name at least one value")
    return tuple(dict.fromkeys(made))


def _methods(given: object) -> list[str]:
    names, known = [str(name).strip() for name in _several(given)], ",".join(METHODS)
    if given is None or not names:
        allowed = f"name the methods to compare, such as partition,apriori; all: {known}"
        raise ParameterError("methods", None, allowed)
    for name in names:
        if name not in METHODS:
            raise ParameterError("methods", name, f"choose from {known}")
    return list(dict.fromkeys(names))


def _several(given: object) -> Sequence[Any]:
    if isinstance(given, str):
        return [one for one in given.split(",") if one]
    return listed(given)


def listed(given: Any) -> list[Any]:
    """Several values, or one; a comma may be part of it."""
    return list(given) if isinstance(given, list | tuple) else [given]


def _value(parameter: Parameter, given: object) -> Any:
    """One value; a text is read as what the parameter may be."""
    value: Any = given.strip() if isinstance(given, str) else given
    if isinstance(value, str) and value not in (*parameter.choices, *parameter.about.words):
        value = _read(parameter, value)
    settled(parameter, value)
    return parameter.about.shown(value)


def _read(parameter: Parameter, text: str) -> Any:
    if bool in parameter.kinds and text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    for kind in (int, float):
        if kind in parameter.kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _of_method(
    name: str, data: object, values: Mapping[str, tuple[Any, ...]], words: Words
) -> Iterator[Cell]:
    kind = METHODS[name]
    usable = _usable(kind)
    chosen = {axis: values[axis] for axis in values if axis in usable}
    trees = listed(words.get("hierarchy"))
    named = {item: words[item] for item in item_words() if words.get(item) and item in usable}
    for tree, *rest in product(trees if kind.needs_hierarchy else trees[:1], *chosen.values()):
        cell = {"data": data, "method": name, "hierarchy": tree, **named}
        cell |= dict(zip(chosen, rest, strict=True))
        cell |= {"promise": words["promise"]} if words.get("promise") else {}
        yield Cell({word: value for word, value in cell.items() if value is not None})


def _usable(kind: type[Method[Release]]) -> set[str]:
    """The words that a method, or a promise that it keeps, has."""
    promised = _promised(kind.promises) | _promised(kind.additions)
    allowed = {word for promise in kind.promises for word in parameters(promise)}
    found = (promised & (allowed | _promised(kind.additions))) | {*parameters(kind), *_OF_ALL}
    return found | ({"public_share"} if "private" in found else set())


def _promised(kinds: Iterable[Any]) -> set[str]:
    return {word for kind in kinds for word in words_of(kind)}

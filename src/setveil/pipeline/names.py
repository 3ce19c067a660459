"""Words to promises and methods: the same words on the command line, on a page and in Python.

A word is a parameter of a promise or a method, such as `k` or `restarts`. Every door gets its words
from the tables `PROMISES` and `METHODS`, so a new promise or method needs no change here."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

from setveil.data.people import PER_PERSON
from setveil.errors import ParameterError, did_you_mean
from setveil.methods import METHODS, Method
from setveil.parameters import Parameter, parameters
from setveil.promises import PROMISES, Promise
from setveil.published import Release

MOST_KNOWN = 3  # up to this m, methods that look at every set of m items are chosen
OLD_METHODS = {"coherence": "suppression"}  # former names of methods, which are still understood
_TABLES = ("split", "onehot", "header", "drop_record", "drop_column", "sheet")
_BESIDE = ("columns", "column_hierarchies")
READING = (
    *("record", "person", PER_PERSON, "item", "count", "bags", *_BESIDE, *_TABLES),
    *("encoding", "memory", "keep_unique"),
)
"""The options of `setveil.read` under the same name; its `format` is `input_format` here."""
OLD_WORDS = {"memory_limit": "memory"}  # former names of words, which are still understood
OLD_ARRANGEMENTS: Mapping[str, Mapping[object, str]] = {
    "max_cluster": {},
    "order": {"default": "search", "paper": "paper"},
    "safe": {False: "search", True: "safe"},
}
"""Former words for values of `arrangement`, and what their values are now; a number stays as it
is."""
USUAL: Mapping[str, Any] = {"k": 5, "m": 2, "p": 2, "h": 0.6}
"""The numbers of a promise that is proposed, where none are given."""

Words = Mapping[str, Any]


class Word(NamedTuple):
    """A parameter that a door offers, and the models or methods that have it."""

    parameter: Parameter
    owners: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A promise, and the items that were named for it and must be found in the data."""

    promise: Promise
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By parameter, such as `private`: files, items, patterns, or `under:NODE` of the hierarchy;
    empty where none were named."""


def promise_words() -> dict[str, Word]:
    """Every word that says what is promised."""
    return _owned({model: words_of(kind) for model, kind in PROMISES.items()})


def method_words() -> dict[str, Word]:
    """Every word that says how a method works."""
    return _owned({name: parameters(kind) for name, kind in METHODS.items()})


def words_of(kind: type[Promise]) -> dict[str, Parameter]:
    """The words of one promise, with those of the promises it may contain."""
    found: dict[str, Parameter] = {}
    for name, parameter in parameters(kind).items():
        inner = _inner(parameter)
        found |= {name: parameter} if inner is None else words_of(inner)
    return found


def promise_from(words: Words, kinds: Sequence[type[Promise]] = ()) -> Asked | None:
    """The promise that these words give; None if they give none.

    Args:
        words: All words of a command; None means not given, and other words do not matter.
        kinds: What may be meant if no promise is named: the first that fits; by default any."""
    if isinstance(words.get("promise"), Promise):
        return Asked(promise=words["promise"])
    given = {name: words[name] for name in promise_words() if not _is_missing(words.get(name))}
    model = words.get("promise")
    if model is None and not given:
        return None
    if model is not None and model not in PROMISES:
        raise ParameterError("promise", model, f"choose one of {', '.join(PROMISES)}")
    kind = PROMISES[model] if model else _meant(given, _fitting(words, kinds))
    for name, value in given.items():
        if name not in words_of(kind):
            raise ParameterError(name, value, _not_of(kind.model, promise_words()[name].owners))
    return Asked(promise=_built(kind, given), items=_items(kind, given))


def method_from(words: Words) -> Method[Release]:
    """The method that these words give, or the one that suits them.

    Raises:
        ParameterError: if there is no such method, or it does not have one of its words."""
    method = words.get("method") or chosen_method(words)[0]
    if isinstance(method, Method):
        return method
    name = OLD_METHODS.get(method, method) if isinstance(method, str) else method
    if not isinstance(name, str) or name not in METHODS:
        raise ParameterError("method", method, f"choose one of {', '.join(METHODS)}")
    given = _of_methods(words)
    for word, value in given.items():
        if word not in parameters(METHODS[name]):
            owners = method_words()[word].owners
            raise ParameterError(word, value, _not_of(f"the method {name}", owners))
    return METHODS[name](**given)


def renewed(words: Words) -> dict[str, Any]:
    """The words with former ones for an arrangement as they are called today; each may have a list
    of values.

    Example:
        >>> renewed({"k": 5, "max_cluster": 30, "safe": False})
        {'k': 5, 'arrangement': 30}
    """
    found = {name: value for name, value in words.items() if name not in OLD_ARRANGEMENTS}
    for name, table in OLD_ARRANGEMENTS.items():
        given = words.get(name)
        now = [_now(name, table, each) for each in (given if isinstance(given, list) else [given])]
        if given is None or now == ["search"]:
            continue
        if found.get("arrangement") is not None:
            allowed = "it became a value of {arrangement}, which can have one value only"
            raise ParameterError(name, given, allowed)
        found["arrangement"] = now if isinstance(given, list) else now[0]
    return found


def _now(name: str, table: Mapping[object, str], value: Any) -> Any:
    """What the value of a former word is today; a number of records stays as it is."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if value is None or (is_number and not table):
        return value
    if isinstance(value, str | bool) and value in table:
        return table[value]
    raise ParameterError(name, value, "use {arrangement}, of which it became a value")


def chosen_method(words: Words) -> tuple[str, str]:
    """The name of the method that suits the promise and the hierarchy, and why.

    A method that has all words of methods that are given comes first, then one that uses a
    hierarchy if there is one, then one that is meant for the promise.

    Example:
        >>> [chosen_method(words)[0] for words in ({"k": 5}, {"k": 5, "m": 2})]
        ['partition', 'disassociation']
        >>> chosen_method({"k": 5, "m": 2, "hierarchy": "balanced:5"})
        ('mhghs', 'it usually loses least of the methods that generalize')
    """
    given, has_tree = set(_of_methods(words)), words.get("hierarchy") is not None
    owners = {name: kind for name, kind in METHODS.items() if parameters(kind).keys() >= given}
    kinds = [promise for kind in owners.values() for promise in kind.promises]
    asked = promise_from(words, [kind for kind in PROMISES.values() if kind in kinds])
    promise = None if asked is None else asked.promise
    fitting = {name: kind for name, kind in owners.items() if promise and keeps(kind, promise)}

    def misfit(name: str) -> tuple[bool, bool, bool]:
        kind = fitting[name]
        lacks_tree = kind.needs_hierarchy and not has_tree
        ignores_tree = has_tree and not (kind.needs_hierarchy or kind.takes_hierarchy)
        return lacks_tree, ignores_tree, not _reason(kind, promise)

    name = min(fitting, key=misfit) if fitting else next(iter(METHODS))
    return name, _reason(METHODS[name], promise)


def reading_from(words: Words) -> dict[str, Any]:
    """The options of `setveil.read` among these words."""
    words = {new: words.get(old) for old, new in OLD_WORDS.items()} | {
        name: value for name, value in words.items() if not _is_missing(value)
    }
    given = {name: words[name] for name in READING if not _is_missing(words.get(name))}
    format = words.get("input_format")
    return given if format is None else {**given, "format": format}


def fields_from(
    verb: str,
    job: type[Any],
    words: Words,
    made: Collection[str] = ("release",),
    more: Collection[str] = (),
) -> dict[str, Any]:
    """The fields of a job that the words of a verb give, and how to read its data; None means not
    given. The fields in `made` are no words; `more` are words that others read."""
    own = {each.name for each in fields(job)} - {*made, "reading"}
    check_words(verb, words, {*own, *more})
    given = {name: words[name] for name in own if words.get(name) is not None}
    return {**given, "reading": reading_from(words)}


def check_words(verb: str, words: Words, known: Iterable[str]) -> None:
    """Refuse a word that a verb does not know."""
    known = {*known, *READING, *OLD_WORDS, "input_format"}
    for word, value in words.items():
        if word not in known:
            near = did_you_mean(word, known)
            allowed = f"{verb} has no such parameter{near and '; '}{near}"
            raise ParameterError(word, value, allowed)


def _of_methods(words: Words) -> dict[str, Any]:
    return {name: words[name] for name in method_words() if words.get(name) is not None}


def keeps(kind: type[Method[Release]], promise: Promise) -> bool:
    """Whether a method keeps a promise, with what was added to it."""
    added = {type(part) for part in promise.parts} - {type(promise)}
    return type(promise) in kind.promises and added <= {*kind.additions}


def _reason(kind: type[Method[Release]], promise: Promise | None) -> str:
    """Why a method is chosen for a promise; nothing if it is not meant for it."""
    if kind.needs_hierarchy and getattr(promise, "m", 0) > MOST_KNOWN:
        return ""
    return kind.chosen_for.get(type(promise), "")  # type: ignore[arg-type]


def _owned(tables: Mapping[str, Mapping[str, Parameter]]) -> dict[str, Word]:
    found: dict[str, Word] = {}
    for owner, words in tables.items():
        for name, parameter in words.items():
            first, owners = found.get(name, (parameter, ()))
            found[name] = Word(first, (*owners, owner))
    return found


def _inner(parameter: Parameter) -> type[Promise] | None:
    """The promise that a parameter may hold."""
    kinds = (kind for kind in parameter.kinds if isinstance(kind, type))
    return next((kind for kind in kinds if issubclass(kind, Promise)), None)


def _is_missing(value: object) -> bool:
    """Whether a word was not given; a list of items that is empty was not."""
    return value is None or (isinstance(value, list | tuple) and not value)


def _fitting(words: Words, kinds: Sequence[type[Promise]]) -> Sequence[type[Promise]]:
    """Those of some promises that may be meant: of a word that shows one, only that one."""
    found = kinds or tuple(PROMISES.values())
    shown = [kind for kind in PROMISES.values() if not _is_missing(words.get(kind.shown_by))]
    return shown or [kind for kind in found if not kind.shown_by] or found


def _meant(given: Collection[str], kinds: Sequence[type[Promise]]) -> type[Promise]:
    """The first promise that has all these words; one that needs no others comes first."""
    fitting = [kind for kind in kinds if words_of(kind).keys() >= set(given)]
    complete = (kind for kind in fitting if not _missing(kind, given))
    return next(complete, (fitting or list(kinds))[0])


def _missing(kind: type[Promise], given: Collection[str]) -> list[str]:
    return [name for name, one in parameters(kind).items() if one.required and name not in given]


def _built(kind: type[Promise], given: Words) -> Promise:
    """A promise from its words; the items that it names are left for when the data is known."""
    own = parameters(kind)
    for name in _missing(kind, given):
        help = own[name].about.help.rstrip(".")
        allowed = f"{kind.model} needs it ({help[:1].lower()}{help[1:]})"
        raise ParameterError(name, None, allowed)
    values: dict[str, Any] = {}
    for name, parameter in own.items():
        inner = _inner(parameter)
        if inner is not None and given.keys() & (words_of(inner).keys() - own.keys()):
            values[name] = _built(inner, given)
        elif name in given:
            values[name] = frozenset() if parameter.holds_items else given[name]
    return kind(**values)


def _items(kind: type[Promise], given: Words) -> dict[str, tuple[str, ...]]:
    """What was given for each set of items that a promise can have."""
    names = (name for name, parameter in words_of(kind).items() if parameter.holds_items)
    values = ((name, given.get(name, ())) for name in names)
    return {name: (value,) if isinstance(value, str) else tuple(value) for name, value in values}


def _not_of(owner: str, others: Sequence[str]) -> str:
    *most, last = others
    listed = f"{', '.join(most)} and {last} do" if most else f"{last} does"
    return f"{owner} does not use it; {listed}"


@dataclass(frozen=True, kw_only=True)
class MethodFacts:
    """One method, in words and names."""

    name: str
    about: str
    """What it does, in a sentence."""
    promises: list[str]
    needs_hierarchy: bool
    takes_hierarchy: bool
    """Whether a hierarchy is of use though it needs none."""
    draws_noise: bool
    reads: str
    form: str
    chosen_for: dict[str, str]
    """Why it is chosen if none is named, by the model of the promise."""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def list_methods() -> list[MethodFacts]:
    """All methods of the table.

    Example:
        >>> [method.name for method in list_methods() if not method.needs_hierarchy]
        ['disassociation', 'suppression', 'groups', 'frequent']
    """
    return [
        MethodFacts(
            name=name,
            about=first_sentence(kind.__doc__ or ""),
            promises=[promise.model for promise in (*kind.promises, *kind.additions)],
            needs_hierarchy=kind.needs_hierarchy,
            takes_hierarchy=kind.takes_hierarchy,
            draws_noise=kind.draws_noise,
            reads=kind.reads,
            form=kind.form,
            chosen_for={promise.model: why for promise, why in kind.chosen_for.items()},
        )
        for name, kind in METHODS.items()
    ]


def first_sentence(text: str) -> str:
    """The first paragraph of a docstring as one line, without the paper it cites."""
    return re.sub(r"\s*\[[A-Z]\w+\][^.]*$", "", " ".join(text.split("\n\n")[0].split()))

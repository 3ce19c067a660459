"""Fields of forms: made from the parameters of promises and methods, or from the ways to read a
file, and read back as words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.data.people import PER_PERSON
from setveil.errors import ParameterError
from setveil.io import FORMATS
from setveil.parameters import Parameter
from setveil.web.wording import label_of

WAYS = "One per line: an item, a pattern such as dx:*, or under:NODE of the hierarchy."
YES_NO = {"yes": "yes", "no": "no"}
Form = Mapping[str, str]
Field = dict[str, Any]
_MAYBE = {"": "find out", "yes": "yes", "no": "no"}
_BASES = {"": "if WordNet is installed", "none": "no, keep words as they are"}
_ROLES = {
    "person": "The column that says whose a row is; without a record column, each is one record.",
    "record": "The column that says which basket or stay a row belongs to.",
    "item": "The column with the item, or with a list of items.",
    "count": "The column that says how often, if there is one.",
}
_TEXTS = {
    PER_PERSON: "If people have several records: so many of each are published, at most.",
    "item_columns": "If each option has a column: Uses *; 12-30 (patterns, ranges, names).",
    "split": "What separates items within one cell, such as | ; none if a cell is one item.",
    "header": "Such as 3 if titles are above it; 1-2 joins two rows; no if there is none.",
    "drop_record": 'Rows with this record are left out: unknown; "" (no record).',
    "drop_column": "What is at this position of each line is left out: 1; 2; last.",
    "sheet": "Of a spreadsheet; the first by default.",
    "encoding": "Such as cp1252, if letters look wrong.",
}
_LISTS = ("item_columns", "drop_record", "drop_column")
_CHECKS = {
    "bags": "Whether it matters how often an item occurs in a record.",
    "onehot": "Whether each item has a column of its own, with 0 and 1.",
    "keep_unique": "Whether items that look like identifiers are meant, and may be published.",
}


def form_field(name: str, value: object = "", help: str = "", **more: Any) -> Field:
    """A field as the template takes it: its name, label, value, what it means, its `kind` (choice,
    lines, check, or a type of input), its `options` and attributes."""
    return {"name": name, "label": label_of(name), "value": value, "help": help, **more}


def parameter_field(
    parameter: Parameter, value: Any = None, prefix: str = "", *, optional: bool = False
) -> Field:
    """The field of a parameter of a promise or a method, whatever its type."""
    help = parameter.about.help.replace("`", "")
    default = None if parameter.required else parameter.default
    made = form_field(f"{prefix}{parameter.name}", label=label_of(parameter.name), help=help)
    if parameter.holds_items:
        return made | {"kind": "lines", "value": value or (), "help": f"{help} {WAYS}"}
    if parameter.choices and not parameter.words:
        options = {choice: choice for choice in parameter.choices}
        if default is None or not isinstance(default, str):
            options = {"": "as usual", **options}
        return made | {"kind": "choice", "value": str(value or default or ""), "options": options}
    if bool in parameter.kinds:
        usual = bool(default) if value is None else bool(value)
        return made | {"kind": "choice", "value": "yes" if usual else "no", "options": YES_NO}
    made |= {"value": parameter.about.shown(default if value is None else value)}
    made |= {"required": parameter.required and not optional}
    if parameter.words:
        *most, last = parameter.words
        words = f"{', '.join(most)} or {last}" if most else last
        return made | {"help": f"{help} A number, or {words}."}
    step = "1" if int in parameter.kinds and float not in parameter.kinds else "any"
    least = parameter.about.least
    return made | {"kind": "number", "step": step, "min": None if least is None else f"{least:g}"}


def parameter_value(parameter: Parameter, form: Form, prefix: str = "") -> Any:
    """What a form says about a parameter; None if nothing, or only its default."""
    given = form.get(f"{prefix}{parameter.name}", "").strip()
    if not given:
        return None
    if parameter.holds_items:
        return item_words(given)
    value: Any = given
    if bool in parameter.kinds:
        value = given == "yes"
    elif given.lower() in parameter.words:
        value = given.lower()
    elif parameter.words or not parameter.choices:
        value = _number(parameter, given)
    shown = parameter.about.shown(parameter.default)
    return None if not parameter.required and value == shown else value


def item_words(given: str) -> list[str]:
    """Items that a user has typed, one per line."""
    return [line.strip() for line in given.splitlines() if line.strip()]


def whole_number(name: str, form: Form, least: int = 0) -> int | None:
    """A whole number of a form; None if the field is empty."""
    given = form.get(name, "").strip().replace(",", "")
    if not given:
        return None
    if not given.isdecimal() or len(given) > 12 or int(given) < least:
        raise ParameterError(name, given, f"it must be a whole number of {least} or more")
    return int(given)


def _number(parameter: Parameter, given: str) -> int | float:
    try:
        if int in parameter.kinds and float not in parameter.kinds:
            return int(given)
        number = float(given)
    except ValueError:
        kind = "a whole number" if int in parameter.kinds else "a number"
        raise ParameterError(parameter.name, given, f"it must be {kind}") from None
    return int(number) if number.is_integer() and int in parameter.kinds else number


def reading_fields(words: Mapping[str, Any], columns: Sequence[str]) -> list[list[Field]]:
    """Which column is what, and other things that cannot always be seen."""
    if isinstance(words.get("item"), list):
        words = {**words, "item": "", "item_columns": words["item"]}
    formats = {"": "find out", **{name: name for name in FORMATS}}
    main = [_column(name, help, words, columns) for name, help in _ROLES.items()]
    more = [
        form_field("input_format", words.get("input_format", ""), kind="choice", options=formats)
    ]
    more += [
        form_field(name, _maybe(words.get(name)), help, kind="choice", options=_MAYBE)
        for name, help in _CHECKS.items()
    ]
    more += [form_field(name, _shown(words.get(name, "")), _TEXTS[name]) for name in _TEXTS]
    return [main, more]


def reading_words(form: Form) -> dict[str, Any]:
    """The words of the form that are given; what may be several is a list."""
    words: dict[str, Any] = {
        name: form[name].strip()
        for name in ("input_format", *_ROLES, *_TEXTS)
        if form.get(name, "").strip()
    }
    for name in words.keys() & set(_LISTS):
        several = [word.strip() for word in words[name].split(";") if word.strip()]
        words[name] = ["" if word == '""' else word for word in several]
    words |= {"item": words.pop("item_columns")} if "item_columns" in words else {}
    most = whole_number(PER_PERSON, form, 1)
    words |= {} if most is None else {PER_PERSON: most}
    answers = {"yes": True, "no": False}
    if words.get("header") in answers:
        words["header"] = answers[words["header"]]
    return words | {name: answers[form[name]] for name in _CHECKS if form.get(name) in answers}


def log_fields(words: Mapping[str, Any], columns: Sequence[str]) -> list[list[Field]]:
    """How records are made of a query log."""
    kinds = {"words": "words", "nouns": "nouns (needs WordNet)", "queries": "whole queries"}
    gaps = {
        "inf": "a user: one record of each",
        "30m": "a visit: a new record after a pause of 30 minutes",
    }
    given = str(words.get("gap", "inf"))
    gaps |= {given: gaps.get(given, given)}
    rare = "Terms that fewer users have are dropped: names and typing errors."
    visits = dict.fromkeys(gaps, "A user may have several, and each is protected on its own.")
    abouts = {**visits, "inf": ""}
    who: dict[str, Any] = {"label": "Who is protected?", "options": gaps, "abouts": abouts}
    main = [
        form_field("gap", given, kind="radios", **who),
        form_field("terms", str(words.get("terms", "words")), kind="choice", options=kinds),
        form_field("min_users", words.get("min_users", 1), rare, kind="number", min="1"),
    ]
    bases = {"label": "Base forms", "kind": "choice", "options": _BASES}
    more = [
        *(
            _column(name, "If it is not found by itself.", words, columns)
            for name in ("user", "text", "time")
        ),
        form_field("time_format", words.get("time_format", ""), "Such as iso."),
        form_field("wordnet", str(words.get("wordnet") or ""), "Reads cats as cat.", **bases),
        form_field("no_header", words.get("no_header"), kind="check"),
        form_field("keep_empty", words.get("keep_empty"), kind="check"),
    ]
    return [main, more]


def log_words(form: Form) -> dict[str, Any]:
    """The words of the form that are not the default."""
    if form.get("wordnet", "") not in _BASES:
        raise ParameterError("wordnet", form["wordnet"], "it is used if it is installed, or not")
    words: dict[str, Any] = {
        name: form[name].strip()
        for name in ("user", "text", "time", "time_format", "wordnet")
        if form.get(name, "").strip()
    }
    if form.get("terms", "words") != "words":
        words["terms"] = form["terms"]
    if form.get("gap", "inf") != "inf":
        words["gap"] = form["gap"]
    least = whole_number("min_users", form, 1)
    words |= {"min_users": least} if least is not None and least > 1 else {}
    return words | {name: True for name in ("no_header", "keep_empty") if form.get(name)}


def _column(name: str, help: str, words: Mapping[str, Any], columns: Sequence[str]) -> Field:
    """A column by its name, if the names are known; else by name or number."""
    given = str(words.get(name, ""))
    if not columns:
        return form_field(name, given, f"{help} A number counts from 1.")
    options = {"": "find out", **{column: column for column in columns}}
    return form_field(
        name, given, help, kind="choice", options=options | ({given: given} if given else {})
    )


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(word or '""' for word in value)
    return _maybe(value) if isinstance(value, bool) else value


def _maybe(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"

"""The forms that say how a file is read: as records of items, or as a query log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.io import FORMATS
from setveil.report.markup import Markup, joined, tag
from setveil.web.forms import Form, check_field, choice_field, text_field, whole_number
from setveil.web.wording import label_of

_MAYBE = {"": "find out", "yes": "yes", "no": "no"}
_ROLES = {
    "record": "The column that says which person or basket a row belongs to.",
    "item": "The column with the item, or with a list of items.",
    "count": "The column that says how often, if there is one.",
}
_TEXTS = {
    "split": "What separates items within one cell, such as | ; none if a cell is one item.",
    "drop_record": "Rows with this record are left out: a placeholder such as unknown.",
    "sheet": "Of a spreadsheet; the first by default.",
    "encoding": "Such as cp1252, if letters look wrong.",
}
_CHECKS = {
    "bags": "Whether it matters how often an item occurs in a record.",
    "onehot": "Whether each item has a column of its own, with 0 and 1.",
    "header": "Whether the first line has names, not data.",
}


def reading_form(words: Mapping[str, Any], columns: Sequence[str]) -> Markup:
    """Which column is what, and other things that cannot always be seen."""
    formats = {"": "find out", **{name: name for name in FORMATS}}
    main = [_column(name, help, words, columns) for name, help in _ROLES.items()]
    more = [
        choice_field(
            "input_format", label_of("input_format"), formats, words.get("input_format", "")
        ),
        *(
            choice_field(name, label_of(name), _MAYBE, _maybe(words.get(name)), help)
            for name, help in _CHECKS.items()
        ),
        *(
            text_field(name, label_of(name), words.get(name, ""), help)
            for name, help in _TEXTS.items()
        ),
    ]
    return joined(tag("div", *main, class_="grid"), tag("div", *more, class_="grid"))


def reading_words(form: Form) -> dict[str, Any]:
    """The words of the form that are given."""
    words: dict[str, Any] = {
        name: form[name].strip()
        for name in ("input_format", *_ROLES, *_TEXTS)
        if form.get(name, "").strip()
    }
    answers = {"yes": True, "no": False}
    return words | {name: answers[form[name]] for name in _CHECKS if form.get(name) in answers}


def log_form(words: Mapping[str, Any], columns: Sequence[str]) -> Markup:
    """How records are made of a query log."""
    kinds = {"words": "words", "nouns": "nouns (needs WordNet)", "queries": "whole queries"}
    gaps = {"inf": "one record for each user", "30m": "a new one after a pause of 30 minutes"}
    given = str(words.get("gap", "inf"))
    gaps |= {given: gaps.get(given, given)}
    shapes = {"": "if it is installed", "none": "not used"}
    main = [
        choice_field("terms", label_of("terms"), kinds, str(words.get("terms", "words"))),
        choice_field("gap", "Records", gaps, given, "Whether one user has one record or several."),
        text_field(
            "min_users", label_of("min_users"), words.get("min_users", 1),
            "Terms that fewer users have are dropped: names and typing errors.",
            type="number", min="1",
        ),
    ]  # fmt: skip
    more = [
        *(
            _column(name, "If it is not found by itself.", words, columns)
            for name in ("user", "text", "time")
        ),
        text_field(
            "time_format", label_of("time_format"), words.get("time_format", ""), "Such as iso."
        ),
        choice_field(
            "wordnet", "Base forms by WordNet", shapes, str(words.get("wordnet") or ""),
            "Reads cats as cat.",
        ),
        check_field("no_header", label_of("no_header"), bool(words.get("no_header"))),
        check_field("keep_empty", "Keep users without a term", bool(words.get("keep_empty"))),
    ]  # fmt: skip
    return joined(tag("div", *main, class_="grid"), tag("div", *more, class_="grid"))


def log_words(form: Form) -> dict[str, Any]:
    """The words of the form that are not the default."""
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


def _column(name: str, help: str, words: Mapping[str, Any], columns: Sequence[str]) -> Markup:
    """A column by its name, if the names are known; else by name or number."""
    given = str(words.get(name, ""))
    if not columns:
        return text_field(name, label_of(name), given, f"{help} A number counts from 1.")
    options = {
        "": "find out",
        **{column: column for column in columns},
        **({given: given} if given else {}),
    }
    return choice_field(name, label_of(name), options, given, help)


def _maybe(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"

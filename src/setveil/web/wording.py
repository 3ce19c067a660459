"""Errors and notes in the words of the page: parameters are named like their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from setveil.errors import (
    Note,
    ParameterError,
    SetveilError,
    brief,
    is_out_of_memory,
    spelled,
    system_problem,
)
from setveil.words import printable

_WAY = re.compile(r"^(\{[^}]*\}\s*)+")
LABELS = {
    "person": "Person column",
    "record": "Record column",
    "records_per_person": "Records per person",
    "item": "Item column",
    "count": "Count column",
    "bags": "Counts",
    "split": "Separator inside a cell",
    "onehot": "One column per item",
    "header": "Row with the column names",
    "drop_record": "Leave out records",
    "drop_column": "Leave out a position",
    "columns": "Columns beside the items",
    "column_hierarchies": "Hierarchies of columns",
    "columns_matter": "How much columns matter",
    "within": "Method for the items of a group",
    "keep_unique": "Publish items that look like identifiers",
    "sheet": "Sheet",
    "encoding": "Encoding",
    "input_format": "Format",
    "format": "Format of the release",
    "k": "Size of the crowd (k)",
    "m": "Items that may be known (m)",
    "l": "Records per sensitive item (l)",
    "p": "Public items that may be known (p)",
    "h": "Highest share (h)",
    "sensitive": "Sensitive items",
    "private": "Private items",
    "epsilon": "Privacy budget (epsilon)",
    "delta": "Chance of failure (delta)",
    "hierarchy": "Hierarchy",
    "layout": "Layout of the file",
    "levels": "Level columns",
    "qualify": "Name groups with their parent",
    "unknown": "Items that the hierarchy lacks",
    "seed": "Seed",
    "min_people": "Leave out rare items",
    "public_items": "The list of items is public",
    "public_list": "Public list of items",
    "tune": "Tune the method",
    "explain": "Explain the loss",
    "method": "Method",
    "promise": "Promise",
    "keep": "What must be kept",
    "knows": "Items that are known",
    "trials": "Records to draw",
    "items": "Items",
    "item_columns": "Several item columns",
    "user": "User column",
    "text": "Query column",
    "time": "Time column",
    "time_format": "Format of times",
    "no_header": "The file has no header",
    "gap": "Longest pause in a session",
    "terms": "What the items are",
    "min_users": "Least users per term",
    "stop_words": "Words to drop",
    "known": "Words to keep",
    "keep_empty": "Keep users without a term",
    "wordnet": "WordNet",
}
"""What the fields of the page are called; others are called like their parameter."""
_PHRASES = {
    ("arrangement", "search"): "the best arrangement",
    ("arrangement", "small"): "small clusters",
    ("arrangement", "head"): "frequent items above small clusters",
    ("arrangement", "hubs"): "frequent items in parts above small clusters",
    ("arrangement", "all"): "all records in one cluster",
    ("arrangement", "safe"): "the safe arrangement",
    ("arrangement", "paper"): "clusters joined as in the paper",
    ("share_lost", "True"): "counts for more items",
    ("refine", "False"): "clusters that are not joined",
}
"""What a parameter with a value is called, where that says more than the name of its field."""


def label_of(name: str) -> str:
    """The label of the field of a parameter.

    Example:
        >>> label_of("k"), label_of("max_cluster")
        ('Size of the crowd (k)', 'Max cluster')
    """
    return LABELS.get(name) or name.replace("_", " ").capitalize()


def as_field(name: str, value: str | None) -> str:
    """A parameter as the page spells it.

    Example:
        >>> as_field("record", None), as_field("min_people", "5")
        ('“Record column”', '“Leave out rare items” = 5')
        >>> as_field("arrangement", "safe"), as_field("arrangement", "30")
        ('the safe arrangement', 'clusters of at most 30 records')
    """
    if phrase := phrase_of(name, value):
        return phrase
    named = f"“{label_of(name)}”"
    words = {"True": "yes", "False": "no"}
    return named if value is None else f"{named} = {words.get(value, value)}"


def phrase_of(name: str, value: object) -> str:
    """What a parameter with a value is called; empty if its field says it as well."""
    if name == "arrangement" and str(value).isdecimal():
        return f"clusters of at most {int(str(value)):,} records"
    return _PHRASES.get((name, str(value)), "")


def text_of(value: object, between: str = ", ") -> str:
    """A value of a form as text."""
    if isinstance(value, list | tuple):
        return between.join(map(str, value))
    if isinstance(value, Mapping):
        return between.join(f"{name}: {each}" for name, each in value.items())
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def line_of(error: Exception, shown: Mapping[str, str] | None = None) -> str:
    """An error as one line; `shown` has names to show in place of paths."""
    return printable(" ".join(_named(_text(error), shown or {}).split()))


def asked_by(error: Exception, shown: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What is wrong, what to do with parameters in braces, and what each would give, so that the
    page can ask."""
    if isinstance(error, ParameterError):
        return {"problem": line_of(error, shown), "remedy": error.allowed}
    if not isinstance(error, SetveilError):
        return {}
    bare = copy(error)
    bare.remedy = ""
    place = _named(f"{getattr(error, 'path', '')}: ", shown or {})
    said = {"problem": line_of(bare, shown).removeprefix(place), "remedy": error.remedy}
    return {**said, "previews": getattr(error, "previews", {})}


def note_of(note: str) -> str:
    """A remark in the words of the page."""
    return note.text(as_field) if isinstance(note, Note) else note


def tips_of(advice: Sequence[str]) -> list[str]:
    """What to try, in the words of the page; what is not a `Note` is for a terminal.

    Example:
        >>> tips_of([Note("{k=5} {promise=k-anonymity} {method=partition} (weaker): 2 of 20")])
        ['k-anonymity by partition with k = 5 (weaker): 2 of 20']
    """
    return [_tip(each) for each in advice if isinstance(each, Note)]


def _tip(note: Note) -> str:
    words, rest = note.words, _WAY.sub("", note.template).lstrip()
    named = " by ".join(words.pop(name) for name in ("promise", "method") if name in words)
    numbers = ", ".join(
        phrase_of(name, value) or f"{_short(name)} = {value}" for name, value in words.items()
    )
    way = " with ".join(filter(None, (named, numbers)))
    return f"{way}{'' if rest.startswith(':') else ' '}{rest}".strip()


def _short(name: str) -> str:
    return name if len(name) == 1 else label_of(name).lower()


def words_in(note: str) -> dict[str, str]:
    """The parameters that a remark names with their values: what to settle to get what it says."""
    return note.words if isinstance(note, Note) else {}


def with_names(values: Any, shown: Mapping[str, str]) -> Any:
    """Values with names in place of paths, however deep they are nested."""
    if isinstance(values, str):
        return _named(values, shown)
    if isinstance(values, Mapping):
        return {with_names(key, shown): with_names(values[key], shown) for key in values}
    if isinstance(values, list | tuple):
        return [with_names(value, shown) for value in values]
    return values


def _text(error: Exception) -> str:
    if isinstance(error, ParameterError):
        allowed = spelled(error.allowed, as_field)
        if error.value is None:
            return f"“{label_of(error.name)}” is missing: {allowed}"
        given = error.value if isinstance(error.value, str | int | float) else brief(error.value)
        return f"“{label_of(error.name)}” = {given} is not allowed: {allowed}"
    if isinstance(error, SetveilError):
        return error.text(as_field)
    if is_out_of_memory(error):
        return "there is not enough memory for this data"
    if isinstance(error, OSError):
        return system_problem(error)
    return f"this is a bug in setveil, {type(error).__name__}: {error}"


def _named(words: str, shown: Mapping[str, str]) -> str:
    for path in sorted(shown, key=len, reverse=True):
        words = words.replace(path, shown[path])
    return words

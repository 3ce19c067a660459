"""Records that are so much longer than the others that they are perhaps not one person's."""

import re

import numpy as np

from setveil.data.arrays import Int64s
from setveil.errors import Note, brief

MANY, TIMES = 1_000, 100  # a record so long, and so many times longer than most, is doubtful
_MOST = 3  # how many of them are named
_SOME, _SOME_TIMES = 100, 20  # the same for a record that is called like a placeholder
_PLACEHOLDER = re.compile(
    r"-?[01](\.0+)?|(-?9{3,}|0{2,}|1{4,})(\.0+)?|n[./]?a\.?|#n/a|nan|nat|null|none|nil|unknown|"
    r"undefined|missing|anonymous|anon|guest|visitor|test|dummy|default|other|unbekannt|inconnu|"
    r"desconocido|x+|-+|\?+|\.+",
    re.IGNORECASE,
)


_TOTALS = frozenset(
    {"total", "totals", "grandtotal", "subtotal", "sum", "summe", "gesamt", "somme", "totale"}
)


def is_total(value: str) -> bool:
    """Whether a record without items is a line of sums rather than a person."""
    return "".join(filter(str.isalpha, value.casefold())) in _TOTALS


def total_note(value: str) -> str:
    """What to do about a line of sums."""
    text = f"The record {brief(value)} has no items: it seems to be a line of sums, not a person."
    return Note(f"{text} Leave it out with {{drop_record={value}}}.")


def far_too_long(lengths: Int64s) -> list[int]:
    """The records that are far longer than most, the longest first, a few at most."""
    if not len(lengths) or lengths.max() < MANY:
        return []
    least = max(MANY, TIMES * max(float(np.median(lengths)), 1.0))
    found = np.flatnonzero(lengths >= least)
    longest: list[int] = found[np.argsort(-lengths[found], kind="stable")][:_MOST].tolist()
    return longest


def perhaps_placeholder(lengths: Int64s) -> int | None:
    """The longest record if it is longer than most by enough to look at its name."""
    if not len(lengths) or lengths.max() < _SOME:
        return None
    is_long = lengths.max() >= _SOME_TIMES * max(float(np.median(lengths)), 1.0)
    return int(lengths.argmax()) if is_long else None


def is_placeholder(value: str) -> bool:
    """Whether a name is hardly ever one person's; 1 often is the first of many."""
    return bool(_PLACEHOLDER.fullmatch(value)) and value not in ("1", "1.0")


def long_record_note(lengths: Int64s, place: int, known: tuple[str, str] | None = None) -> str:
    """What to check about a long record; `known` is its column and what that says.

    The value is shown only if it looks like a placeholder: otherwise it may name a person."""
    most, median = int(lengths[place]), max(float(np.median(lengths)), 1.0)
    times = f"{most / median:,.0f} times the median"
    if known is None:
        text = f"One record has {most:,} items, {times}."
        return f"{text} Is it a placeholder, such as an unknown customer? Then leave its rows out."
    column, value = known
    text = f"One record has {most:,} rows, {times}."
    if _PLACEHOLDER.fullmatch(value):
        text += f" Its {column} is {brief(value)}, perhaps a placeholder for many people."
        return Note(f"{text} Leave its rows out with {{drop_record={value}}}.")
    text += " Is it a placeholder, such as an unknown customer?"
    return Note(f"{text} Then leave its rows out with {{drop_record}} and its {column}.")

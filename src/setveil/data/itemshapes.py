"""The shape of an item: what may tell identifiers from products, words and codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from setveil.errors import brief

CELLS = "several cells in one, as of a table"
"""An item with digits and a mark between cells, as if a line of a table was read as one item."""
DATED = "texts with dates in them"
_SHAPES = {
    "mail addresses": r"[^@\s]+@[^@\s]+\.[^@\s.]+",
    "dates or times": r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ,]+\d{1,2}:\d\d[\d:.]*\s*([AaPp]\.?[Mm]"
    r"\.?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(:\d\d([.,]\d+)?)?",
    "numbers with decimals": r"[-+]?[$€£¥]?\s?\d+([.,' ]\d+)*[.,]\d+\s?([$€£¥%]|[A-Z]{3})?",
    "hashes or UUIDs": r"(?=.*\d)(?=.*[a-fA-F])[{]?[0-9a-fA-F]{8}[0-9a-fA-F-]*[}]?",
    "numbers with separators, such as phone numbers": r"(?=(\D*\d){7})\+?\d?[(\d][\d() ./-]*\d",
    CELLS: r"(?=.*\d).*(\S[,;|\t][^\s\d]|[^\s\d][,;|\t]\S).*",
    DATED: r".*(?<!\d)(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})(?!\d).*",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _SHAPES.items()}
SPECIAL = re.compile(r"[\d@]")
"""What every identifier that has a shape has."""
_DIGITS, _RUNS = re.compile(r"\d+"), re.compile(r"[A-Za-z]+|\d+")
_CODE, _CODES = re.compile(r"[A-Za-z0-9_-]{10,}"), "codes of letters and digits"
_LONGEST = 24  # letters of a shape; a longer text is prose


def shape_of(label: str) -> str:
    """The shape of an item that may be an identifier: a name of `_SHAPES`, the number of its
    digits, or its text with each number as `#`; nothing if it has no digits.

    Example:
        >>> [shape_of(each) for each in ("milk", "100017", "ORD-2024-17", "anna@example.org")]
        ['', '6', 'ORD-#-#', 'mail addresses']
    """
    if label.isdecimal():
        return str(len(label))
    if not SPECIAL.search(label) or len(label) > 200:
        return ""
    for name, pattern in _PATTERNS.items():
        if pattern.fullmatch(label):
            return name
    if _CODE.fullmatch(label) and len(_RUNS.findall(label)) > 3:
        return _CODES
    marked = _DIGITS.sub("#", label)
    return marked if "#" in marked and len(marked) <= _LONGEST else ""


def described(shape: str) -> str:
    """What items of this shape are, in words."""
    if shape.isdecimal():
        return f"numbers of {shape} digit{'s' * (shape != '1')}"
    return shape if shape in (*_SHAPES, _CODES) else f"of the shape {brief(shape)} (# is a number)"


_JOINTS = re.compile(
    r"\s*(\n|<br\s*/?>|\]\s*\[|\)\s*\(|-?>|[^\w\s.'’\"()\[\]{}<>-]+|_)\s*"
    r"|(\t|[ \u00a0]{2,}|\s-\s|\s(?:and|und|et|y|e|or|oder|o|ou)\s)"
)
_TRIED, _SHARED = 2, 0.5


def joint_of(labels: Collection[str], least: float) -> str | None:
    """What joins several items in one, if most of these labels seem to be whole sets.

    They have the same parts again and again, and many parts are first in one and later in another;
    the parts of a path of groups, or of a name and its size, keep their places.

    Args:
        labels: Some items.
        least: The share of the parts that must have been in both places.

    Example:
        >>> joint_of(["tea / milk", "milk", "milk / soap", "soap / tea", "soap"], 0.1)
        '/'
        >>> joint_of(["tea, black", "tea, green", "milk", "tea", "soap, black"], 0.1)
    """
    marks: Counter[str] = Counter(
        mark
        for label in labels
        for mark in {bare.strip("\r") or blank for bare, blank in _JOINTS.findall(label)}
    )
    for mark, times in marks.most_common(_TRIED):
        split = [[part.strip(" []()\r\n") for part in label.split(mark)] for label in labels]
        if 2 * times >= len(labels) and _are_sets(split, least):
            return mark
    return None


def _are_sets(labels: list[list[str]], least: float) -> bool:
    several = [parts for parts in labels if len(parts) > 1 and all(map(_has_letter, parts))]
    first = {parts[0] for parts in labels}
    later = {part for parts in several for part in parts[1:]}
    times = Counter(part for parts in several for part in {*parts})
    shared = sum(number for number in times.values() if number > 1)
    both = len(first & later) >= max(1, least * len(first | later))
    return both and 2 * len(several) >= len(labels) and shared >= _SHARED * times.total()


def _has_letter(part: str) -> bool:
    return any(map(str.isalpha, part))

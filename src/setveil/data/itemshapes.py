"""The shape of an item: what may tell identifiers from products, words and codes."""

from __future__ import annotations

import re

from setveil.errors import brief

CELLS = "several cells in one, as of a table"
"""An item with digits and a mark between cells, as if a line of a table was read as one item."""
_SHAPES = {
    "mail addresses": r"[^@\s]+@[^@\s]+\.[^@\s.]+",
    "dates or times": r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ,]+\d{1,2}:\d\d[\d:.]*\s*([AaPp]\.?[Mm]"
    r"\.?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(:\d\d([.,]\d+)?)?",
    "numbers with decimals": r"[-+]?[$€£¥]?\s?\d+([.,' ]\d+)*[.,]\d+\s?([$€£¥%]|[A-Z]{3})?",
    "hashes or UUIDs": r"(?=.*\d)(?=.*[a-fA-F])[{]?[0-9a-fA-F]{8}[0-9a-fA-F-]*[}]?",
    "numbers with separators, such as phone numbers": r"(?=(\D*\d){7})\+?\d?[(\d][\d() ./-]*\d",
    CELLS: r"(?=.*\d).*(\S[,;|\t][^\s\d]|[^\s\d][,;|\t]\S).*",
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

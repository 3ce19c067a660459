"""Cells of a table that hold several items, or say whether a record has an item."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from setveil.errors import ParameterError

LIST, WHOLE = "list", "none"
"""The words for `split` that are not marks: lists in brackets, and cells that are one item."""

_BRACKETS = {"[": "]", "{": "}", "(": ")"}
_NAMED = re.compile(r"\A(?:set|frozenset|array|list|tuple)\s*(?=\()")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ELEMENTS = {
    mark: re.compile(
        rf"\s*(?:(?P<quoted>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<bare>[^'\"{mark}][^{mark}]*)|)"
        rf"\s*(?P<end>[{mark}]|\Z|(?=['\"]))",
        re.DOTALL,
    )
    for mark in ",;|"
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_NUMBERS = re.compile(r"[-+.\de]+(?:\s+[-+.\de]+)*", re.ASCII)
"""NumPy writes arrays of numbers without commas."""
_MISSING = frozenset({"", "None", "null", "NULL", "nan", "NaN"})
_SURE_MARKS = "|;"
"""Marks that items rarely contain; a comma may be part of an item, or a line end of an address."""
_WORDS = {"\\n": "\n", "\\t": "\t"}
"""How marks are written that no command line can show."""
_LEAST_SHARE = 0.5

_YES = {*["1", "1.0", "1,0", "true", "t", "yes", "y", "x", "ja", "oui", "si", "sí", "✓", "✔"]}
_YES |= {"checked", "selected"}
_NO = {*["0", "0.0", "0,0", "false", "f", "no", "n", "nein", "non", "-"], ""}
_NO |= {"unchecked", "not checked", "not selected"}
PRESENCE: dict[object, bool] = {
    spelling: word in _YES
    for word in _YES | _NO
    for spelling in (word, word.upper(), word.capitalize(), word.title())
} | {None: False, 0: False, 1: True}
"""What a cell of a one-hot table means; True and 1.0 equal 1."""


class Mark(NamedTuple):
    """What separates the items within a cell."""

    mark: str
    sure: bool
    """Whether it can hardly mean anything else."""


def check_split(split: object) -> None:
    """Refuse what cannot separate items."""
    if split is not None and (not isinstance(split, str) or not split):
        allowed = "it must be what separates the items of a cell, such as |, or list, or none"
        raise ParameterError("split", split, allowed)


def splitter(mark: str) -> Callable[[str], list[str]]:
    """A function that gives the items of a cell.

    Raises:
        ValueError: when that function is given a list that is damaged or nested.

    Example:
        >>> splitter("|")("wine| red wine|"), splitter("list")("['a', \\"b's\\"]")
        (['wine', 'red wine'], ['a', "b's"])
        >>> splitter(",")('milk, "butter, salted"')
        ['milk', 'butter, salted']
    """
    if mark == LIST:
        return _listed
    if mark == WHOLE:
        return lambda cell: [cell] if cell else []
    return lambda cell: _split(cell, _WORDS.get(mark, mark))


def guess_mark(cells: Iterable[str]) -> Mark | None:
    """What separates the items within these cells; None if each seems to be one item.

    Example:
        >>> guess_mark(["a|b", "c"]), guess_mark(["['a', 'b']", "[]"]), guess_mark(["a", "b c"])
        (Mark(mark='|', sure=True), Mark(mark='list', sure=True), None)
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    if filled and all(map(_is_bracketed, filled)):
        return _mark_of_lists(filled)
    for mark in (*_SURE_MARKS, *_WORDS, ","):
        several = sum(_WORDS.get(mark, mark) in cell.strip(mark) for cell in filled)
        if several and several >= _LEAST_SHARE * len(filled):
            return Mark(mark, mark in _SURE_MARKS)
    return None


def are_sets(cells: Iterable[str], mark: str) -> bool:
    """Whether cells are rather sets than single items with marks, such as paths of groups: there
    are no more different parts than different cells, and some are first here and later there.

    Example:
        >>> are_sets(["a|b", "b", "b|c", "c|a"], "|"), are_sets(["x", "x|a", "x|b", "y|c"], "|")
        (True, False)
    """
    split = splitter(mark)
    found = {tuple(split(cell)) for cell in cells if cell.strip()}
    first = {parts[0] for parts in found if parts}
    later = {part for parts in found for part in parts[1:]}
    return len(first | later) <= len(found) and bool(first & later)


def _is_bracketed(cell: str) -> bool:
    cell = _NAMED.sub("", cell)
    return len(cell) > 1 and cell[0] in "[{" and cell[-1] == _BRACKETS[cell[0]]


def _mark_of_lists(cells: Sequence[str]) -> Mark | None:
    """Lists in brackets; without quotes their mark is the most frequent one."""
    try:
        has_items = any(len(_listed(cell)) > 1 for cell in cells)
    except ValueError:
        return None
    quoted = any(_QUOTED.search(cell) for cell in cells)
    text = "".join(cells)
    mark = max(",;|", key=text.count)
    if not quoted and text.count(mark) and mark != ",":
        return Mark(mark, True)
    return Mark(LIST, True) if has_items or quoted else None


def _split(cell: str, mark: str) -> list[str]:
    text = cell.strip()
    if len(text) > 1 and text[0] in "[{" and text[-1] == _BRACKETS[text[0]]:
        text = text[1:-1]
    if '"' in text and '"' not in mark:
        parts = _outside_quotes(text, mark)
    else:
        parts = text.split(None if mark == " " else mark)
    return [part.strip() for part in parts if part.strip()]


def _outside_quotes(text: str, mark: str) -> list[str]:
    """The parts between marks; one that is in double quotes as a whole may contain the mark."""
    separator = re.compile(r"\s+" if mark == " " else re.escape(mark))
    quoted = re.compile(rf'\s*"((?:[^"]|"")*+)"\s*?(?:{separator.pattern}|\s*\Z)')
    parts, place = list[str](), 0
    while place < len(text):
        if found := quoted.match(text, place):
            parts.append(found[1].replace('""', '"'))
            place = found.end()
            continue
        end = separator.search(text, place)
        parts.append(text[place : end.start()] if end else text[place:])
        place = end.end() if end else len(text)
    return parts


def _listed(cell: str) -> list[str]:
    """The items of a list as JSON, Python, NumPy or PostgreSQL writes it."""
    text = _unwrapped(cell)
    bare = _QUOTED.sub("", text)
    if any(bracket in bare for bracket in "[]{}"):
        raise ValueError("a list is not closed, or has a list in it")
    if _NUMBERS.fullmatch(text):
        return text.split()
    mark = next((mark for mark in ",;|" if mark in bare), ",")
    found, place = list[str](), 0
    while place < len(text):
        element = _ELEMENTS[mark].match(text, place)
        if element is None or element.end() == place:
            raise ValueError("the list is damaged")
        place = element.end()
        if element["quoted"] is not None:
            found.append(unquoted(element["quoted"]))
        elif (element["bare"] or "").strip() not in _MISSING:
            found.append(element["bare"].strip())
    return [item for item in found if item]


def _unwrapped(cell: str) -> str:
    """The inside of a list: without brackets, and without the word of a Python type."""
    text = cell.strip()
    while text:
        inner = _NAMED.sub("", text)
        if inner[0] not in _BRACKETS or inner[-1] != _BRACKETS[inner[0]]:
            return text
        was_named, text = inner != text, inner[1:-1].strip()
        if not was_named:
            return text
    return text


def unquoted(element: str) -> str:
    """What is in quotes, with escapes as in Python and JSON."""
    inner = element[1:-1]
    if "\\" not in inner:
        return inner
    text = _ESCAPE.sub(_character, inner)
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("half of a surrogate pair is not a character") from None


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _ESCAPED.get(found[4], found[4])
    number = int(code, 16)
    if number > 0x10FFFF:
        raise ValueError("an escape is not a character")
    return chr(number)

"""A plain reader of ARFF, by the rules in `docs/formats/arff.md`: `ValueError` if one is broken.

It reads a text letter by letter; each record is a set of items."""

from __future__ import annotations

import re

from tests.oracle.readers import Unsure

_WIDE = re.compile(r"[^\s,{}%](?: \s|[^\S\n ])\s*[^\s,{}%]")
"""Two words with more than one blank, or another, between them: perhaps one value."""
_IN_QUOTES = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_YES = {"1", "1.0", "true", "t", "yes", "y", "x"}
_NO = {"0", "0.0", "false", "f", "no", "n", "-"}
_BLANKS = " \t"
_IDS = {"id", "record", "customer", "user", "patient", "order", "transaction", "person"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
Token = tuple[str, bool]
"""A text, and whether it is a sign (a comma or a brace) and no value."""


def arff(content: bytes, *, leave_out: bool = False) -> list[set[str]]:
    """The records of a relation without a record attribute."""
    text = content.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    attributes: list[tuple[str, list[str] | None]] = []
    records: list[set[str]] = []
    in_data = False
    if any(_WIDE.search(_IN_QUOTES.sub("q", line)) for line in text.split("\n")):
        raise Unsure("is it one value?")
    for line in map(str.strip, text.split("\n")):
        word = re.split(r"[\s%]", line, maxsplit=1)[0].lower()
        if not in_data and word in ("@relation", "@data"):  # what follows means nothing
            in_data = word == "@data"
            continue
        tokens = _tokens(line)
        if not tokens:
            continue
        if in_data:
            records.append(_record(attributes, tokens, line, leave_out))
        elif word == "@attribute":
            attributes.append(_attribute(tokens))
        else:
            raise ValueError("not a head")
    _check(attributes, records, in_data, leave_out)
    return records


def _check(attributes, records, in_data, leave_out) -> None:  # type: ignore[no-untyped-def]
    names = [name for name, _ in attributes]
    if not in_data or not names or len(set(names)) < len(names):
        raise ValueError("not a relation")
    if not leave_out and any(map(_is_other, attributes)):
        raise ValueError("an attribute is no item")
    if all(map(_is_other, attributes)):
        raise ValueError("no items")
    for attribute in attributes:
        if not _is_other(attribute) and len(attribute[1]) > max(20, len(records) / 10):
            raise ValueError("many values")


def _is_other(attribute: tuple[str, list[str] | None]) -> bool:
    name, values = attribute
    plain = "".join(letter for letter in name.casefold() if letter.isalnum())
    return values is None or (not _is_yes_or_no(values) and plain in _IDS)


def _is_yes_or_no(values: list[str]) -> bool:
    return all(_word(value) in _YES | _NO for value in values)


def _word(value: str) -> str:
    return value.lower() if value in (value.lower(), value.upper(), value.capitalize()) else value


def _tokens(line: str) -> list[Token]:
    """Values in quotes or without, and signs, up to a comment. Blanks inside a bare value count."""
    found: list[Token] = []
    place = 0
    while place < len(line):
        letter = line[place]
        if letter == "%":
            break
        if letter.isspace():
            place += 1
        elif letter in ",{}":
            found.append((letter, True))
            place += 1
        elif letter in "'\"":
            value, place = _quoted(line, place)
            found.append((value, False))
        else:
            end = place
            while end < len(line) and line[end] not in ",{}%'\"" and not line[end].isspace():
                end += 1
            found.append((line[place:end], False))
            place = end
    return found


def _quoted(line: str, start: int) -> tuple[str, int]:
    letters: list[str] = []
    place = start + 1
    while place < len(line) and line[place] != line[start]:
        if line[place] != "\\":
            letters.append(line[place])
            place += 1
            continue
        code = line[place + 1 : place + 2]
        size = {"u": 4, "U": 8, "x": 2}.get(code, 0)
        digits = line[place + 2 : place + 2 + size]
        if (
            size
            and len(digits) == size
            and all(each in "0123456789abcdefABCDEF" for each in digits)
        ):
            letters.append(chr(int(digits, 16)))
            place += 2 + size
        elif code:
            letters.append(_ESCAPES.get(code, code))
            place += 2
        else:
            raise ValueError("a quote is not closed")
    if place >= len(line):
        raise ValueError("a quote is not closed")
    text = "".join(letters)
    return text.encode("utf-16", "surrogatepass").decode("utf-16"), place + 1


def _attribute(tokens: list[Token]) -> tuple[str, list[str] | None]:
    if len(tokens) < 3 or tokens[1][1] or not tokens[1][0]:
        raise ValueError("no name")
    name = tokens[1][0]
    if tokens[2] != ("{", True):
        if tokens[2][0].lower() not in ("numeric", "real", "integer", "string", "date"):
            raise ValueError("no kind")
        return name, None
    if tokens[-1] != ("}", True):
        raise ValueError("a brace is not closed")
    values = _listed(tokens[3:-1])
    if "?" in values or len(set(values)) < len(values):
        raise ValueError("bad values")
    return name, values


def _listed(tokens: list[Token]) -> list[str]:
    """Values with commas between them; bare words side by side are one value."""
    values: list[str] = []
    part: list[str] = []
    for text, is_sign in [*tokens, (",", True)]:
        if not is_sign:
            part.append(text)
        elif text != "," or not part:
            raise ValueError("an empty value")
        else:
            values.append(" ".join(part))
            part = []
    return values


def _record(attributes, tokens, line, leave_out) -> set[str]:  # type: ignore[no-untyped-def]
    if tokens[0] == ("{", True):
        if tokens[-1] != ("}", True):
            raise ValueError("a brace is not closed")
        row = {at: values[0] if values else "0" for at, (_, values) in enumerate(attributes)}
        sure = {
            at
            for at, (_, values) in enumerate(attributes)
            if values and _is_yes_or_no(values) and _word(values[0]) in _YES
        }
        given = _pairs(tokens[1:-1])
        if sure - given.keys():
            raise ValueError("yes by default")
        if given.keys() - row.keys():
            raise ValueError("no such attribute")
        row |= given
    else:
        has_comma = (",", True) in tokens
        values = (
            _listed(tokens) if has_comma or len(attributes) == 1 else [text for text, _ in tokens]
        )
        if len(values) != len(attributes) or any(
            is_sign and text != "," for text, is_sign in tokens
        ):
            raise ValueError("not as many values as attributes")
        row = dict(enumerate(values))
    return set(_items(attributes, row))


def _pairs(tokens: list[Token]) -> dict[int, str]:
    found: dict[int, str] = {}
    if not tokens:
        return found
    part: list[str] = []
    for text, is_sign in [*tokens, (",", True)]:
        if not is_sign:
            part.append(text)
            continue
        if text != "," or len(part) < 2 or not part[0].isdecimal() or int(part[0]) in found:
            raise ValueError("not a pair")
        found[int(part[0])] = " ".join(part[1:])
        part = []
    return found


def _items(attributes, row):  # type: ignore[no-untyped-def]
    for at, value in row.items():
        name, values = attributes[at]
        if value == "?" or _is_other(attributes[at]):
            continue
        if value not in values:
            raise ValueError("not a declared value")
        if not _is_yes_or_no(values):
            yield f"{name}={value}"
        elif _word(value) in _YES:
            yield name

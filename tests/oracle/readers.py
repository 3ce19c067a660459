"""Plain readers of data files, by the rules in `docs/formats`: `ValueError` if a rule is broken.

Each record is a dictionary of its items and how often they occur."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Sequence

Record = dict[str, int]


class Unsure(Exception):
    """A plain reader cannot say what a file means."""


_BOM = "\ufeff"
_HEAD = 1 << 16
"""The delimiter is the most frequent one in so many bytes."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"?')
_COUNT_NAMES = {"count", "counts", "quantity", "qty", "frequency", "freq"}
_WHOLE = re.compile(r"\s*\+?([0-9]{1,18})(\.0*)?\s*", re.ASCII)


def fimi(content: bytes) -> list[Record]:
    """One record per line; completely empty lines at the end are none, nor are those that only
    separate records."""
    text = _utf8(content).decode("utf-8").removeprefix(_BOM)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[-1]:
        lines.pop()
    start = text.encode()[:_HEAD].decode("utf-8", "ignore")
    if separate([not line for line in start.replace("\r\n", "\n").replace("\r", "\n").split("\n")]):
        lines = [line for line in lines if line]
    return [dict(Counter(re.findall(r"[^ \t\v\f]+", line))) for line in lines]


def _utf8(content: bytes) -> bytes:
    """The same text in UTF-8, if it begins with the mark of UTF-16."""
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return content.decode("utf-16").encode()
    return content


def long_table(
    content: bytes, delimiters: str = ",;|\t", *, counted: bool = True
) -> tuple[bool, list[Record]]:
    """The records of a table with the columns `record` and `item`, and whether it has counts.

    Only the cells that are used must be UTF-8.
    """
    content = _utf8(content)
    text = content.decode("utf-8", "surrogateescape").removeprefix(_BOM).lstrip("\r\n")
    first = text.replace("\r", "\n").split("\n", 1)[0]
    return long_rows(_rows(text, _most_frequent(first, delimiters), before=" ?"), counted=counted)


def long_rows(rows: list[list[str]], *, counted: bool = True) -> tuple[bool, list[Record]]:
    """The same from the cells of each row, of which the first names the columns."""
    header = [cell.strip() for cell in rows[0]] if rows else []
    if any("\n" in name or "\r" in name for name in header):
        raise ValueError("a line end in a name")
    record, item = _column(header, "record"), _column(header, "item")
    counts = [place for place, name in enumerate(header) if _plain(name) in _COUNT_NAMES]
    if counted and len(counts) > 1:
        raise ValueError("two columns of counts")
    found: dict[str, Counter[str]] = {}
    for row in filter(None, rows[1:]):
        if len(row) < len(header) or any(row[len(header) :]):
            raise ValueError("too few or too many cells")
        (row[record] + row[item]).encode("utf-8")
        if not row[record]:
            raise ValueError("no record")
        bag = found.setdefault(row[record], Counter())
        if row[item]:
            bag[row[item]] += _count(row[counts[0]]) if counted and counts else 1
    return bool(counted and counts), [dict(bag) for bag in found.values()]


def baskets(content: bytes) -> list[Record]:
    """One record per row; blank lines at the end are none, nor are those that only separate
    records: lines without any cell, or with several that are all empty."""
    content = _utf8(content)
    if b"\r\r\n" in content:
        raise Unsure("is it one line end, or a blank line too?")
    if len(content) > _HEAD:
        raise Unsure("how much of a long file shows the delimiter?")
    text = content.decode("utf-8").removeprefix(_BOM)
    rows = _rows(text, _most_frequent(text, ",;|\t"), blank_lines=True)
    while rows and not rows[-1]:
        rows.pop()
    if separate([_is_blank(row) for row in rows]):
        rows = [row for row in rows if not _is_blank(row)]
    return [dict(Counter(filter(None, row))) for row in rows]


def separate(blank: Sequence[bool]) -> bool:
    """Whether blank lines separate the records: after at least three records, and after 9 of 10 of
    them or more; or after every n-th of them, five times or more."""
    marks = list(blank)
    while marks and marks[-1]:
        marks.pop()
    while marks and marks[0]:
        marks.pop(0)
    records = [place for place, is_blank in enumerate(marks) if not is_blank]
    followed = [number for number, place in enumerate(records[:-1]) if marks[place + 1]]
    if len(followed) >= 3 and 10 * len(followed) >= 9 * (len(records) - 1):
        return True
    steps = {after - before for before, after in zip([-1, *followed], followed, strict=False)}
    return len(followed) >= 5 and len(steps) == 1


def _is_blank(row: Sequence[str]) -> bool:
    return len(row) != 1 and not any(row)


def json_lists(content: bytes) -> tuple[bool, list[Record]]:
    """A list of items per line, an object with such a list in `items`, or with counts there; and
    whether there are counts."""
    lines = _utf8(content).decode("utf-8").removeprefix(_BOM).split("\n")
    values = [json.loads(line, object_pairs_hook=_object) for line in lines if line.strip()]
    records, kinds = [], set()
    first = values[0] if values and isinstance(values[0], dict) else {}
    lists = (key for key, held in first.items() if isinstance(held, list | dict))
    key = next((key for key in lists if _plain(key) == "items"), "items")
    for value in values:
        if value is None or (isinstance(value, dict) and first and key not in value):
            raise ValueError("no list")
        held = value[key] if isinstance(value, dict) and first else value
        if held is not None:
            kinds.add(type(held))
        records.append(_json_record(held))
    if len(kinds) > 1 or not kinds <= {list, dict}:
        raise ValueError("lists and counts are mixed")
    return kinds == {dict}, records


def hierarchy_paths(content: bytes, delimiter: str = ";") -> dict[str, str]:
    """The parent of each label of a file with one path `leaf;parent;...;root` per line."""
    text = content.decode("utf-8").removeprefix(_BOM)
    parents: dict[str, str] = {}
    for row in _rows(text, delimiter, skip_blanks=True):
        cells = list(row)
        while cells and not cells[-1]:
            cells.pop()
        if "" in cells:
            raise ValueError("an empty label")
        for child, parent in zip(cells, (*cells[1:], ""), strict=False):
            if child != parent and parents.get(child, "") not in ("", parent) and parent:
                raise ValueError("two parents")
            if child != parent:
                parents[child] = parent or parents.get(child, "")
    if sum(not parent for parent in parents.values()) != 1:
        raise ValueError("not one root")
    return parents


def item_list(content: bytes) -> list[str]:
    """One item per line."""
    text = content.decode("utf-8").removeprefix(_BOM)
    items = list(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))
    if not items:
        raise ValueError("no items")
    return items


def _rows(
    text: str,
    delimiter: str,
    *,
    before: str = " *",
    skip_blanks: bool = False,
    blank_lines: bool = False,
) -> list[list[str]]:
    """The cells of each row; a quote inside quotes is doubled, and blanks may follow the last.

    Blanks may be `before` the first, and before cells without quotes with `skip_blanks`. Quoted
    parts of a cell with blanks between them are one text. With `blank_lines`, a line that has
    nothing but blanks has no cell."""
    plain = f"[^{re.escape(delimiter)}\r\n]*"
    blanks = " *" if skip_blanks else ""
    cell = re.compile(
        f'(?:{before}"((?:[^"]|""|" +")*)" *|(?!{before}"){blanks}({plain}))({re.escape(delimiter)}|\r\n|\r|\n|\\Z)'
    )
    rows: list[list[str]] = [[]]
    place, end = 0, ""
    while place < len(text) or end == delimiter:
        found = cell.match(text, place)
        if found is None:
            raise ValueError("a quote is in the wrong place")
        is_quoted, end = found[1] is not None, found[3]
        rows[-1].append(_unquoted(found[1]) if is_quoted else found[2])
        if end != delimiter:
            bare = rows[-1][0].strip() if blank_lines else rows[-1][0]
            rows[-1] = [] if len(rows[-1]) == 1 and not bare and not is_quoted else rows[-1]
            rows.append([])
        place = found.end()
    return rows if rows[-1] else rows[:-1]


def _unquoted(cell: str) -> str:
    return re.sub('""|"( +)"', lambda found: found[1] or '"', cell)


def _most_frequent(text: str, marks: str) -> str:
    bare = _QUOTED.sub("", text)
    return max(marks, key=lambda mark: (bare.count(mark), -marks.index(mark)))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _column(header: Sequence[str], name: str) -> int:
    exact = [place for place, each in enumerate(header) if each == name]
    found = exact or [place for place, each in enumerate(header) if _plain(each) == name]
    if len(found) != 1:
        raise ValueError(f"not one column {name}")
    return found[0]


def _count(cell: str) -> int:
    whole = _WHOLE.fullmatch(cell)
    if not whole or int(whole[1]) < 1:
        raise ValueError("not a count")
    return int(whole[1])


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _json_record(held: object) -> Record:
    if held is None:
        return {}
    if isinstance(held, dict):
        if not all(type(count) is int and 1 <= count <= 1 << 62 for count in held.values()):
            raise ValueError("not counts")
        return dict(held)
    if not isinstance(held, list):
        raise ValueError("no list")
    if not all(
        (isinstance(item, str | int | float) and item not in (True, False))
        or type(item) in (int, float)
        for item in held
    ):
        raise ValueError("not an item")
    return dict(Counter(map(str, held)))


def ticked(
    names: Sequence[str], alone: set[str], rows: Sequence[Sequence[str]], *, only_own: bool
) -> tuple[list[list[str]], list[str]]:
    """The options that each row ticks, and the columns that hold texts rather than ticks."""
    yes, no = {"x"}, {"", "0"}
    left = []
    for at, name in enumerate(names):
        texts = [row[at] for row in rows if row[at] not in yes | no]
        own = all(text.lower().replace(" ", "") in name.lower() for text in texts)
        often = len(texts) >= 3 and texts[0][0].isalpha() and not only_own
        if name not in alone and (len(set(texts)) > 1 or not (own or often)):
            left.append(name)
    found = []
    for row in rows:
        items = set()
        for name, cell in zip(names, row, strict=True):
            if name not in left and cell not in no:
                is_own = cell in yes or cell.lower().replace(" ", "") in name.lower()
                items.add(name if is_own else f"{name}: {cell}")
        found.append(sorted(items))
    return found, left

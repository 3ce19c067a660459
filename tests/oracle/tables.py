"""Plain readers of tables with one row per person: a column of sets, or a column per item."""

from __future__ import annotations

from tests.oracle.readers import Record, Unsure, _column, _most_frequent, _plain, _rows, _utf8

_YES = {
    "1",
    "1.0",
    "1,0",
    "true",
    "t",
    "yes",
    "y",
    "x",
    "ja",
    "oui",
    "si",
    "sí",
    "✓",
    "✔",
    "checked",
    "selected",
}
_NO = {"0", "0.0", "0,0", "false", "f", "no", "n", "", "nein", "non", "-"}
_NO |= {"unchecked", "not checked", "not selected"}
_SAMPLE = 30_000
"""Longer files are judged by a part of them."""


def set_column(content: bytes, split: str) -> list[Record]:
    """The items of the column `products`, of the rows with the same `id` together."""
    header, rows = _table(content)
    owner, item = _column(header, "id"), _column(header, "products")
    found: dict[str, Record] = {}
    for row in rows:
        if not row[owner]:
            raise ValueError("no record")
        items = _listed(row[item]) if split == "list" else _split(row[item], split)
        found.setdefault(row[owner], {}).update(dict.fromkeys(items, 1))
    return list(found.values())


def one_hot(content: bytes) -> list[Record]:
    """The columns that say yes, of the rows with the same `id` together."""
    header, rows = _table(content)
    owner = _column(header, "id")
    places = [at for at, name in enumerate(header) if at != owner and name]
    columns = {at: [row[at].strip() for row in rows] for at in places}
    items = [at for at in places if all(_word(cell) in _YES | _NO for cell in columns[at])]
    for at in set(places) - set(items):
        odd = {cell for cell in columns[at] if _word(cell) not in _YES | _NO}
        if len(odd) == 1:
            raise Unsure("a column may hold its own name")
    if not items:
        raise ValueError("no items")
    found: dict[str, Record] = {}
    for number, row in enumerate(rows):
        if not row[owner]:
            raise ValueError("no record")
        has = {header[at]: 1 for at in items if _word(columns[at][number]) in _YES}
        found.setdefault(row[owner], {}).update(has)
    return list(found.values())


def _table(content: bytes) -> tuple[list[str], list[list[str]]]:
    if len(content) > _SAMPLE:
        raise Unsure("only a part of a long file is looked at")
    text = _utf8(content).decode("utf-8").removeprefix("\ufeff").lstrip("\r\n")
    if text[:6].lower().lstrip('"').startswith("sep="):
        raise Unsure("the file names its delimiter")
    first = text.replace("\r", "\n").split("\n", 1)[0]
    rows = _rows(text, _most_frequent(first, ",;|\t"))
    header = [cell.strip() for cell in rows.pop(0)] if rows else []
    if any("\n" in name or "\r" in name for name in header):
        raise ValueError("a line end in a name")
    if len({_plain(name) for name in header}) < len(header):
        raise Unsure("two columns have the same name")
    rows = [row for row in rows if row]
    if any(len(row) < len(header) or any(row[len(header) :]) for row in rows):
        raise ValueError("too few or too many cells")
    return header, rows


def _word(cell: str) -> str | None:
    small = cell.lower()
    return small if cell in (small, small.upper(), small.capitalize()) else None


def _split(cell: str, mark: str) -> list[str]:
    text = cell.strip()
    if '"' in text:
        raise Unsure("items in quotes")
    if len(text) > 1 and text[0] + text[-1] in ("[]", "{}"):
        text = text[1:-1]
    return [part.strip() for part in text.split(mark) if part.strip()]


def _listed(cell: str) -> list[str]:
    """A list as Python writes lists of texts without quotes and backslashes in them."""
    text = cell.strip()
    if not text:
        return []
    if not (text.startswith("[") and text.endswith("]") and len(text) > 1):
        raise Unsure("not a list in brackets")
    inner = text[1:-1].strip()
    if any(sign in inner for sign in '[]{}()\\;|"') or not inner.count("'") % 2 == 0:
        raise Unsure("other signs in a list")
    found, place = [], 0
    while place < len(inner):
        if inner[place] != "'":
            raise Unsure("an item without quotes")
        end = inner.index("'", place + 1)
        found.append(inner[place + 1 : end])
        rest = inner[end + 1 :].lstrip()
        if rest and not rest.startswith(","):
            raise Unsure("no comma after an item")
        place = len(inner) - len(rest[1:].lstrip()) if rest else len(inner)
    return [item for item in found if item]

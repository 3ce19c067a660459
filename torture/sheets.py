"""Damaged tables as spreadsheets have them: a column of sets, a column per item, and `.xlsx`."""

from __future__ import annotations

import io
import random
from collections import Counter
from pathlib import Path

from setveil.io import read
from torture.mutation import BYTES, TEXT, mutated
from torture.trying import contents, tried, written

_ITEMS = ("wine", "beer", "red wine", "caf\u00e9", "x-ray", "milk")
_WORDS = (("1", "0"), ("true", "false"), ("yes", "no"))
Records = list[list[str]]


def fuzz_set_column(rng: random.Random, folder: Path) -> str | None:
    """A table with one row per person and a column of items, as `a|b` or `['a', 'b']`."""
    records, mark = _records(rng), rng.choice(",;")
    shape = rng.choice(("|", "list"))
    cells = [_as_list(record) if shape == "list" else "|".join(record) for record in records]
    rows = [
        mark.join((str(number), str(20 + number), f'"{cell}"')) for number, cell in enumerate(cells)
    ]
    whole = "\n".join([mark.join(("id", "age", "products")), *rows]).encode()
    content = mutated(rng, whole, TEXT)
    path = written(folder / "a.csv", content)
    options = {"record": "id", "item": "products", "split": "|" if shape == "|" else "list"}

    def attempt() -> object:
        return contents(read(path, encoding="utf-8", **options))

    return tried(path, attempt, (lambda: _known(records)) if content == whole else None)


def fuzz_onehot(rng: random.Random, folder: Path) -> str | None:
    """A table with one row per person and one column per item."""
    records, mark, (yes, no) = _records(rng), rng.choice(",;\t"), rng.choice(_WORDS)
    rows = [mark.join(("id", *_ITEMS))]
    for number, record in enumerate(records):
        rows.append(mark.join((f"p{number}", *(yes if item in record else no for item in _ITEMS))))
    whole = "\n".join(rows).encode()
    content = mutated(rng, whole, TEXT)
    path = written(folder / ("a.tsv" if mark == "\t" else "a.csv"), content)

    def attempt() -> object:
        return contents(read(path, encoding="utf-8", record="id", onehot=True))

    return tried(path, attempt, (lambda: _known(records)) if content == whole else None)


def fuzz_xlsx(rng: random.Random, folder: Path) -> str | None:
    """A sheet with a row per record and item."""
    records = _records(rng)
    whole = _sheet(records)
    content = mutated(rng, whole, BYTES)
    path = written(folder / "a.xlsx", content)

    def attempt() -> object:
        return contents(read(path))

    known = [record for record in records if record]
    return tried(path, attempt, (lambda: _known(known)) if content == whole else None)


def _records(rng: random.Random) -> Records:
    numbers = range(rng.randint(3, 8))
    return [rng.sample(_ITEMS, rng.randint(1, 4)) for _ in numbers]


def _as_list(record: list[str]) -> str:
    return "[" + ", ".join(f"'{item}'" for item in record) + "]"


def _known(records: Records) -> Counter[frozenset[tuple[str, int]]]:
    return Counter(frozenset((item, 1) for item in record) for record in records)


def _sheet(records: Records) -> bytes:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("baskets")
    sheet.append(["record", "item"])
    for number, record in enumerate(records):
        for item in record:
            sheet.append([number, item])
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()

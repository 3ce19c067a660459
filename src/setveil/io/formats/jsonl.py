"""JSON lines: an array of items per line, an object with a list of items, or an object per record and item."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from setveil.data.tables.columns import RECORD_NAMES, choose_column, find_columns, find_list_column
from setveil.data.tables.owners import joined, several_rows
from setveil.data.transactions import Bags, Transactions
from setveil.errors import FileFormatError
from setveil.io.formats.longform import read_columns
from setveil.io.formats.reading import Numbers, Reading, Rows
from setveil.io.source.database import named, not_utf8, quoted
from setveil.io.source.source import Source


def read_jsonl(source: Source, reading: Reading) -> Transactions:
    """Read JSON lines; blank lines are skipped."""
    first = next(_lines(source), None)
    if isinstance(first, dict):
        key = find_list_column(
            [key for key, value in first.items() if isinstance(value, list | dict)],
            reading,
            source.fault,
        )
        if key is None:
            return _read_long(source, reading, list(first))
        owner = choose_column(
            [name for name in first if name != key],
            "record",
            reading.record,
            RECORD_NAMES,
            source.fault,
        )
        return _read_lists(source, reading, key, owner)
    if reading.record is not None:
        raise source.fault(
            f"there is no column {reading.record!r} for the record: each line is a list"
        )
    return _read_lists(source, reading, None, None)


def write_jsonl(data: Transactions) -> Iterator[str]:
    """One line per record: `{"items": ["beer", "wine"]}`, of bags `{"items": {"beer": 1, "wine": 2}}`."""
    labels = [json.dumps(label, ensure_ascii=False) for label in data.vocabulary]
    items, bounds = data.items.tolist(), data.indptr.tolist()
    counts = data.counts.tolist() if isinstance(data, Bags) else None
    for start, stop in zip(bounds, bounds[1:], strict=False):
        if counts is None:
            yield f'{{"items": [{", ".join([labels[item] for item in items[start:stop]])}]}}'
        else:
            pairs = zip(items[start:stop], counts[start:stop], strict=True)
            yield f'{{"items": {{{", ".join([f"{labels[item]}: {count}" for item, count in pairs])}}}}}'


def _lines(source: Source) -> Iterator[Any]:
    with source.stream() as stream:
        for number, line in enumerate(stream, start=1):
            if line.isspace():
                continue
            try:
                yield json.loads(line.decode("utf-8"), parse_constant=_refuse)
            except UnicodeDecodeError:
                raise not_utf8(source.name, number) from None
            except ValueError as error:
                raise FileFormatError(
                    source.name, f"this is no JSON ({error})", line=number
                ) from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def _read_long(source: Source, reading: Reading, names: list[str]) -> Transactions:
    columns = find_columns(names, reading, source.fault)
    chosen = {"record": columns.record, "item": columns.item} | (
        {"count": columns.count} if columns.count else {}
    )
    types = ", ".join(f"{quoted(name)}: 'JSON'" for name in chosen.values())
    table = f"read_json({quoted(source.plain())}, format='newline_delimited', columns={{{types}}}, compression='uncompressed')"
    texts = ", ".join(f"{_text_of(named(name))} AS {role}" for role, name in chosen.items())
    return read_columns(source, f"SELECT {texts} FROM {table}", reading, columns, names)


def _text_of(column: str) -> str:
    """SQL for a JSON text or number as text; anything else is an error."""
    wrong = (
        "error('a value is a list, an object or true/false where a text or a number is expected')"
    )
    return f"CASE WHEN json_type({column}) IN ('ARRAY', 'OBJECT', 'BOOLEAN') THEN {wrong} ELSE {column} ->> '$' END"


def _read_lists(
    source: Source, reading: Reading, key: str | None, owner: str | None
) -> Transactions:
    """One record for each line, or for the lines of each owner where the column was named."""
    rows, owners, numbers, counted, begun = Rows(), list[int](), Numbers[str](), False, False
    for number, line in enumerate(_lines(source), start=1):
        value = line.get(key) if isinstance(line, dict) and key is not None else line
        if owner is not None:
            owners.append(numbers[_owner(source, number, line, owner)])
        if value is None and isinstance(line, dict):
            rows.add_empty(1)
        elif isinstance(value, dict) and (counted or not begun):
            counted = True
            rows.add(_texts(source, number, value), _counts(source, number, value))
        elif isinstance(value, list) and not counted:
            rows.add(_texts(source, number, value))
        else:
            raise FileFormatError(
                source.name, f"row {number} holds no list of items as the first row does"
            )
        begun = begun or value is not None
    found = rows.finish(bags=(counted and reading.bags is not False) or bool(reading.bags))
    if owner is None or len(numbers) == len(owners):
        return found
    if reading.record is None:
        raise several_rows("column", owner, source.fault)
    return joined(found, np.asarray(owners, dtype=np.int64))


def _owner(source: Source, number: int, line: object, name: str) -> str:
    value = line.get(name) if isinstance(line, dict) else None
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise FileFormatError(
            source.name,
            f"row {number}: {name!r} is {value!r}: every row must say whose it is, by a text or a number",
        )
    return str(value)


def _texts(source: Source, number: int, values: list[object] | dict[str, object]) -> list[str]:
    for value in values:
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise FileFormatError(
                source.name, f"row {number}: the item {value!r} is neither a text nor a number"
            )
    return [str(value) for value in values]


def _counts(source: Source, number: int, values: dict[str, object]) -> list[int]:
    for item, count in values.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise FileFormatError(
                source.name,
                f"row {number}: the count of {item!r} is {count!r}: it must be a whole number of 1 or more",
            )
    return [count for count in values.values() if isinstance(count, int)]

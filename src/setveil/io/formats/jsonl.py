"""JSON lines: a list of items, an object with such a list, or an object per record and item."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from setveil.data.account import LINES, LISTS
from setveil.data.jsontext import parse_json
from setveil.data.records import MOST, Numbering
from setveil.data.tables.columns import RECORD_NAMES, choose_column, find_columns, find_list_column
from setveil.data.transactions import Bags, Transactions
from setveil.disk import whole_lines
from setveil.errors import DataError, FileFormatError, brief
from setveil.io.formats.guess import CERTAIN, NO, Sample
from setveil.io.formats.longform import read_columns
from setveil.io.formats.reading import Reading, RecordBuilder, by_owner
from setveil.io.source.database import named, not_utf8, quoted
from setveil.io.source.source import Source


def recognize_jsonl(sample: Sample) -> int:
    """Certain if the suffix is unknown and the file begins with a bracket."""
    return CERTAIN if sample.named is None and re.match(r"\s*[\[{]", sample.text) else NO


def read_jsonl(source: Source, reading: Reading) -> Transactions:
    """Read JSON lines; blank lines are skipped."""
    first = next(_values(source), None)
    if isinstance(first, dict):
        lists = [key for key, value in first.items() if isinstance(value, list | dict)]
        key = find_list_column(lists, reading, source.fault)
        if key is None:
            return _read_long(source, reading, list(first))
        others = [name for name in first if name != key]
        owner = choose_column(others, reading.role, reading.record, RECORD_NAMES, source.fault)
        reading.account.note_columns(LISTS, {"record": owner, "item": key}, first)
        return _read_lists(source, reading, key, owner)
    if reading.record is not None:
        problem = f"there is no column {brief(reading.record)} for the record: each line is a list"
        raise source.fault(problem)
    reading.account.layout = LINES
    return _read_lists(source, reading, None, None)


def write_jsonl(data: Transactions) -> Iterator[str]:
    """One line per record: `{"items": ["beer", "wine"]}`, or `{"items": {"beer": 1}}` for bags."""
    labels = [json.dumps(label, ensure_ascii=False) for label in data.vocabulary]
    items, bounds = data.items.tolist(), data.indptr.tolist()
    counts = data.counts.tolist() if isinstance(data, Bags) else None
    for start, stop in zip(bounds, bounds[1:], strict=False):
        if counts is None:
            yield f'{{"items": [{", ".join([labels[item] for item in items[start:stop]])}]}}'
        else:
            pairs = zip(items[start:stop], counts[start:stop], strict=True)
            held = ", ".join([f"{labels[item]}: {count}" for item, count in pairs])
            yield f'{{"items": {{{held}}}}}'


def json_lines(
    lines: Iterable[bytes], name: str, parse: Callable[[str], Any] = parse_json
) -> Iterator[tuple[int, Any]]:
    """What is made of each line that is not blank, with its line number.

    Raises:
        FileFormatError: if a line is not UTF-8, not JSON, or refused by `parse`.
    """
    for number, line in enumerate(lines, start=1):
        if line.isspace():
            continue
        try:
            yield number, parse(line.decode("utf-8"))
        except UnicodeDecodeError:
            raise not_utf8(name, number) from None
        except RecursionError:
            raise FileFormatError(name, "this line is nested too deeply", line=number) from None
        except DataError as error:
            raise FileFormatError(name, error.problem, line=number) from None
        except ValueError as error:
            raise FileFormatError(name, f"this line is not JSON ({error})", line=number) from None


def _values(source: Source) -> Iterator[Any]:
    with source.stream() as stream:
        for _, value in json_lines(whole_lines(stream, source.name), source.name):
            yield value


def _read_long(source: Source, reading: Reading, names: list[str]) -> Transactions:
    columns = find_columns(names, reading, source.fault)
    used = columns.roles
    types = ", ".join(f"{quoted(name)}: 'JSON'" for name in used.values())
    options = f"format='newline_delimited', columns={{{types}}}, compression='uncompressed'"
    table = f"read_json({quoted(source.plain())}, {options})"
    texts = ", ".join(f"{_text_of(named(name))} AS {role}" for role, name in used.items())
    return read_columns(source, f"SELECT {texts} FROM {table}", reading, columns, names)


def _text_of(column: str) -> str:
    """SQL for a JSON text or number as text; anything else is an error."""
    wrong = "a value is a list, an object or true/false instead of a text or a number"
    is_wrong = f"json_type({column}) IN ('ARRAY', 'OBJECT', 'BOOLEAN')"
    return f"CASE WHEN {is_wrong} THEN error({quoted(wrong)}) ELSE {column} ->> '$' END"


def _read_lists(
    source: Source, reading: Reading, key: str | None, owner: str | None
) -> Transactions:
    """One record per line, or one per value of the record column if the user named it."""
    records, owners, numbers = RecordBuilder(reading), list[int](), Numbering[str]()
    counted = begun = False
    for number, line in enumerate(_values(source), start=1):
        value = line.get(key) if isinstance(line, dict) and key is not None else line
        if owner is not None:
            owners.append(numbers[_owner(source, number, line, owner)])
        if value is None and isinstance(line, dict) and key in line:
            records.add_empty(1)
        elif isinstance(value, dict) and (counted or not begun):
            counted = True
            records.add(_texts(source, number, value), _counts(source, number, value))
        elif isinstance(value, list) and not counted:
            records.add(reading.without_dropped(_texts(source, number, value)))
        else:
            unlike = ", unlike the first row" if number > 1 else ""
            raise source.fault(f"row {number} has no list of items{unlike}")
        begun = begun or value is not None
    found = records.finish(bags=(counted and reading.bags is not False) or bool(reading.bags))
    return by_owner(found, owners, reading, source, owner)


def _owner(source: Source, number: int, line: object, name: str) -> str:
    value = line.get(name) if isinstance(line, dict) else None
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        problem = f"row {number}: {brief(name)} is {_kind(value)}: it must be a text or a number"
        raise source.fault(problem)
    return str(value)


def _texts(source: Source, number: int, values: list[object] | dict[str, object]) -> list[str]:
    for value in values:
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            problem = f"an item is {_kind(value)}: it must be a text or a number"
            raise source.fault(f"row {number}: {problem}")
    return [str(value) for value in values]


def _counts(source: Source, number: int, values: dict[str, object]) -> list[int]:
    for item, count in values.items():
        whole = isinstance(count, int) and not isinstance(count, bool)
        if not isinstance(count, int) or not whole or not 1 <= count <= MOST:
            too_many = isinstance(count, int) and count > MOST
            allowed = f"at most {MOST:.2g}" if too_many else "a whole number of 1 or more"
            problem = f"the count of {brief(item)} is {_kind(count)}: it must be {allowed}"
            raise source.fault(f"row {number}: {problem}")
    return [count for count in values.values() if isinstance(count, int)]


def _kind(value: object) -> str:
    """What a value is; one that may name a person is not shown."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return brief(value)
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return kinds.get(type(value), "missing")

"""Columns of a table that could be published beside its items: what `inspect` says of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from setveil.data.account import LONG, Account
from setveil.data.columns import Column, Table
from setveil.data.tables.beside import GONE, kind_of
from setveil.data.tables.columns import plain_name
from setveil.errors import SetveilError, brief
from setveil.hierarchy.columns import ANY
from setveil.io.files import read_with_account
from setveil.pipeline.inputs import known_name, plain_reading
from setveil.words import plural

_TABLES = ("csv", "tsv", "xlsx", "parquet")
_MOST = 12
"""So many columns are looked at."""
_NEARLY_ALL = 0.5
"""A column with more different values per row says who somebody is, not something about them."""
_CODES = {"zip", "zipcode", "postcode", "postalcode", "plz"}
"""Numbers of which the first digits say most."""


def columns_note(data: object, reading: Mapping[str, Any], account: Account | None) -> list[str]:
    """A note on columns that are not read, if they say something about people: what they are, and
    the command that publishes them too."""
    if account is None or not account.ignored or reading.get("columns") or str(data) == "-":
        return []
    if account.layout == LONG or account.format not in _TABLES:
        return []  # the rows of a long table often differ in their columns
    found = _read(data, reading, account.ignored[:_MOST])
    told = [
        column for column in found if _says_something(column) or plain_name(column.name) in _CODES
    ]
    if not told:
        return []
    words = ["setveil", "anonymize", known_name(data), "-o", "RELEASE", "-k", "5", "-m", "2"]
    for column in told:
        words += ["--column", column.name]
        if plain_name(column.name) in _CODES:
            words += ["--column-hierarchy", column.name, "prefix:1,2,3"]
    shown = ", ".join(f"{brief(column.name)} ({_about(column)})" for column in told)
    text = f"Not read: {shown}. Those that are needed can be published beside the items"
    return [f"{text}, for people who may be known by them: {shlex.join(words)}"]


def _read(data: Any, reading: Mapping[str, Any], names: Sequence[str]) -> list[Column]:
    """These columns, all as words; without those that differ between rows of a record."""
    how = {name: value for name, value in plain_reading(reading).items() if "column" not in name}
    how |= {name: reading[name] for name in ("drop_column",) if name in reading}
    asked = {"columns": list(names), "column_hierarchies": dict.fromkeys(names, ANY)}
    try:
        table, _ = read_with_account(data, **how, **asked, keep_unique=True)
    except SetveilError:
        each = (_read(data, reading, [name]) for name in names if len(names) > 1)
        return [column for found in each for column in found]
    return list(table.columns) if isinstance(table, Table) else []


def _says_something(column: Column) -> bool:
    return 1 < len(_known(column)) <= max(_NEARLY_ALL * len(column), 2)


def _about(column: Column) -> str:
    return plural(len(_known(column)), kind_of(_known(column)))


def _known(column: Column) -> list[str]:
    return [value for value in column.values if value != GONE]

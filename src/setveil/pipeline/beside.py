"""Columns of a table that could be published beside its items: what `inspect` says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data.account import LONG, Account
from setveil.data.columns import Column, Table
from setveil.data.tables.beside import GONE, kind_of, names_of
from setveil.data.tables.columns import plain_name
from setveil.errors import SetveilError, brief
from setveil.hierarchy.columns import ANY
from setveil.io.files import read_with_account
from setveil.pipeline.commands import command_beside
from setveil.pipeline.inputs import known_name, plain_reading
from setveil.words import plural, rough_share

_TABLES = ("csv", "tsv", "xlsx", "parquet")
_MOST = 12
"""The number of columns that are looked at."""
_NEARLY_ALL = 0.5
"""A column with more different values per row says who somebody is, not something about them."""
_CODES = {"zip", "zipcode", "postcode", "postalcode", "plz"}
"""Numbers of which the first digits say most."""
PREFIX = "prefix:1,2,3"
_LARGE = 20 << 20
"""A long table of more bytes is not read again for its columns."""


@dataclass(frozen=True, kw_only=True)
class ColumnFound:
    """A column of a table that is, or could be, published beside its items."""

    name: str
    kind: str
    """number, date or word."""
    values: int
    """How many different values it has."""
    about: str
    """The same in words, such as `71 numbers`."""
    tree: str
    """The hierarchy that is proposed; empty if none is."""
    is_useful: bool
    """Whether it says something about people, and not just who somebody is."""


def columns_found(
    data: object, reading: Mapping[str, Any], account: Account | None
) -> tuple[ColumnFound, ...]:
    """What the columns of a table are that are no items; without those that differ between rows of
    a record."""
    if account is None or not isinstance(data, str | Path) or str(data) == "-":
        return ()
    if account.format not in _TABLES or (account.layout == LONG and _is_large(Path(data))):
        return ()
    chosen = names_of(reading.get("columns"))
    names = [*chosen, *account.ignored][: max(_MOST, len(chosen))]
    found = {column.name: _found(column) for column in _read(data, reading, names)} if names else {}
    order = [*account.ignored, *chosen]
    return tuple(found[name] for name in sorted(found, key=order.index))


def columns_note(
    data: object, reading: Mapping[str, Any], found: Sequence[ColumnFound]
) -> list[str]:
    """A note on columns that are not read, if they say something about people: what they are, and
    the command that publishes them too."""
    told = [column for column in found if column.is_useful]
    if not told or reading.get("columns"):
        return []
    command = command_beside(known_name(data), {column.name: column.tree for column in told})
    shown = ", ".join(f"{brief(column.name)} ({column.about})" for column in told)
    text = f"Not read: {shown}. Those that are needed can be published beside the items"
    return [f"{text}, for people who may be known by them: {command}"]


def exposed_note(data: object, k: int) -> list[str]:
    """How many people the columns alone single out, if there are some."""
    if not isinstance(data, Table) or not data.columns or not len(data):
        return []
    codes = np.stack([column.codes for column in data.columns], axis=1)
    _, member, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    each = sizes[member.reshape(-1)]
    alone, few = (rough_share(float((each < least).mean())) for least in (2, k))
    text = f"The columns alone single out {alone} of the people, without any item"
    return [f"{text}; {few} share their values with fewer than {k - 1} others."]


def _is_large(path: Path) -> bool:
    """Whether a long table is too large to be read again for its columns."""
    return not path.is_file() or path.stat().st_size > _LARGE


def _found(column: Column) -> ColumnFound:
    is_code, known = plain_name(column.name) in _CODES, _known(column)
    kind = kind_of(known)
    return ColumnFound(
        name=column.name,
        kind=kind,
        values=len(known),
        about=plural(len(known), kind),
        tree=PREFIX if is_code else "",
        is_useful=is_code or _says_something(column),
    )


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


def _known(column: Column) -> list[str]:
    return [value for value in column.values if value != GONE]

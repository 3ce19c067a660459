"""DuckDB as the engine for long tables: a private database on disk, and its errors in one clear line."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.errors import DataError, FileFormatError, ParameterError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SIZE = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B|B)\Z", re.IGNORECASE)
_LINE = re.compile(r"(?:CSV Error on Line: |in line )(\d+)")
_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


def check_memory_limit(limit: str | None) -> None:
    """Refuse a memory limit that is not a size such as `500MB`."""
    if limit is not None and not _SIZE.match(limit):
        raise ParameterError("memory_limit", limit, "it must be a size such as 500MB or 2GB")


@contextmanager
def database(
    work: Path, memory_limit: str | None = None, *, threads: int | None = None
) -> Iterator[DuckDBPyConnection]:
    """A connection to a new database in the folder `work`, which keeps to the memory limit by writing to that folder."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": str(work / "spill"),
        "preserve_insertion_order": True,
    }
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if threads is not None:
        config["threads"] = threads
    file = work / f"{uuid.uuid4().hex}.duckdb"
    connection = duckdb.connect(str(file), config=config)
    try:
        connection.execute("SET enable_progress_bar = false").fetchall()
        yield connection
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise
    finally:
        connection.close()
        file.unlink(missing_ok=True)


def quoted(text: object) -> str:
    """A text as an SQL literal."""
    return "'" + str(text).replace("'", "''") + "'"


def named(column: str) -> str:
    """A column name as an SQL identifier."""
    return '"' + column.replace('"', '""') + '"'


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn the errors of DuckDB about the file `name` into ours."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise DataError(
            f"{name} cannot be read within the memory limit: give a larger memory_limit"
        ) from None
    except duckdb.Error as error:
        raise _explained(name, str(error)) from None


def _explained(name: str, message: str) -> FileFormatError:
    line = _LINE.search(message)
    number = int(line[1]) if line else None
    columns = _COLUMNS.search(message)
    if columns:
        return FileFormatError(
            name, f"{columns[1]} columns are expected, but {columns[2]} found", line=number
        )
    if "unterminated quote" in message:
        return FileFormatError(name, "a quote is opened and never closed", line=number)
    if "utf-8" in message.lower():
        return not_utf8(name, number)
    if "invalid state" in message:
        return FileFormatError(
            name,
            "the line ends are mixed (Windows and Unix) or a quote is broken: make them alike and try again",
        )
    return FileFormatError(name, _first_sentence(message), line=number)


def not_utf8(name: str, line: int | None = None) -> FileFormatError:
    """The error for text in another encoding."""
    return FileFormatError(
        name,
        "the text is not UTF-8: convert it, for example with iconv -f latin1 -t utf-8",
        line=line,
    )


def _first_sentence(message: str) -> str:
    first = message.split("\n", 1)[0]
    return re.sub(r"^[A-Z][\w ]* Error: ", "", first).strip()

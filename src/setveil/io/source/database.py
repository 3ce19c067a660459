"""DuckDB: a private database on disk, SQL that several readers share, and errors in our words."""

from __future__ import annotations

import errno
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.errors import DataError, FileFormatError, ParameterError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LONGEST_LINE = 1 << 24
_SIZE = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B|B)\Z", re.IGNORECASE)
_PLACE = re.compile(r'file \\?"([^"\\]+)')
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
    """A connection to a new database in the folder `work`, which also gets what exceeds memory."""
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
    except duckdb.Error as error:
        raise _no_room(error) or error from None
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise
    finally:
        connection.close()
        file.unlink(missing_ok=True)


def run(connection: DuckDBPyConnection, *statements: str) -> None:
    """Run statements one after the other."""
    for statement in statements:
        connection.execute(statement).fetchall()


def number(connection: DuckDBPyConnection, query: str) -> int:
    """The one whole number that a query gives; 0 if it gives none."""
    return int(connection.execute(query).fetchall()[0][0] or 0)


def quoted(text: object) -> str:
    """A text as an SQL literal."""
    return "'" + str(text).replace("'", "''") + "'"


def named(column: str) -> str:
    """A column name as an SQL identifier."""
    return '"' + column.replace('"', '""') + '"'


def csv_table(
    path: Path,
    columns: Iterable[str],
    *,
    delimiter: str = ",",
    compression: str = "none",
    more: str = "",
) -> str:
    """SQL for the rows of a CSV file with a header, under our column names, all of them texts."""
    types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
    layout = f"header=true, delim={quoted(delimiter)}, quote='\"', escape='\"'"
    options = f"auto_detect=false, compression='{compression}', {layout}{more}"
    return f"read_csv({quoted(path)}, columns={{{types}}}, {options})"


def lines_table(path: Path, *, compression: str = "none", more: str = "") -> str:
    """SQL for the lines of a text file, each whole in the column `line`."""
    layout = "header=false, delim='\x01\x02\x03\x04', quote='', escape=''"
    options = f"auto_detect=false, compression='{compression}', {layout}{more}"
    size = f"max_line_size={LONGEST_LINE}"
    return f"read_csv({quoted(path)}, columns={{line: 'VARCHAR'}}, {size}, {options})"


def column_types(connection: DuckDBPyConnection, table: str) -> dict[str, str]:
    """The columns of a table with their types."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    return {str(row[0]): str(row[1]) for row in described}


def copy_to_parquet(connection: DuckDBPyConnection, select: str, target: Path) -> None:
    """Write what a query gives to a Parquet file."""
    run(connection, f"COPY ({select}) TO {quoted(target)} (FORMAT parquet, COMPRESSION zstd)")


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn the errors of DuckDB about the file `name` into ours."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        if full := _no_room(error):
            raise full from None
        problem = f"{name} cannot be read within the memory limit"
        raise DataError(problem, remedy="allow more with {memory_limit}") from None
    except duckdb.Error as error:
        raise _no_room(error) or _explained(name, str(error)) from None


def _no_room(error: Exception) -> OSError | None:
    """An error of DuckDB as one of the system if the disk is full or a file may not grow."""
    message = str(error)
    found = _PLACE.search(message)
    place = found[1] if found else None
    if "max_temp_directory_size" in message:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place or tempfile.gettempdir())
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        if os.strerror(code) in message:
            return OSError(code, os.strerror(code), place)
    return None


def _explained(name: str, message: str) -> FileFormatError:
    found = _LINE.search(message)
    line = int(found[1]) if found else None
    columns = _COLUMNS.search(message)
    if columns:
        problem = f"expected {columns[1]} columns, found {columns[2]}"
        return FileFormatError(name, problem, line=line)
    if "unterminated quote" in message:
        return FileFormatError(name, "a quote is opened and never closed", line=line)
    if "utf-8" in message.lower():
        return not_utf8(name, line)
    if "invalid state" in message:
        problem = "the file mixes Windows and Unix line ends, or has a broken quote"
        return FileFormatError(name, problem, remedy="correct it and try again")
    first = message.split("\n", 1)[0]
    return FileFormatError(name, re.sub(r"^[A-Z][\w ]* Error: ", "", first).strip(), line=line)


def not_utf8(name: str, line: int | None = None, *, encoding: str = "latin1") -> FileFormatError:
    """The error for text that is not UTF-8 but perhaps in another encoding."""
    problem = "the text is UTF-16, not UTF-8" if encoding == "utf-16" else "the text is not UTF-8"
    remedy = f"convert it, for example with iconv -f {encoding} -t utf-8"
    return FileFormatError(name, problem, line=line, remedy=remedy)

"""DuckDB: a private database on disk, SQL that several readers share, and errors in our words."""

from __future__ import annotations

import errno
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.disk.limits import USUAL_MEMORY, bytes_of
from setveil.errors import DataError, FileFormatError
from setveil.words import printable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LONGEST_LINE = 1 << 24
_LONGEST_REASON = 150
_LEAST_ROOM = 1 << 28
_SMALL = 1 << 22
_SMALL_PACKED = 1 << 16
_PLACE = re.compile(r'file \\?"([^"\\]+)')
_OUR_FILE = re.compile(
    r"(?:[Ff]ile )?['\"][^'\"]*/(?:input|plain|unzipped|sheet|decoded)[^'\"/]*['\"]"
)
_LINE = re.compile(r"(?:CSV Error on Line: |in line )(\d+)")
_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


def is_small(path: Path, *, packed: bool = False) -> bool:
    """Whether the content of a file surely fits in memory several times."""
    return path.stat().st_size <= (_SMALL_PACKED if packed else _SMALL)


@contextmanager
def database(
    work: Path, memory: str | None = None, *, threads: int | None = None, small: bool = False
) -> Iterator[DuckDBPyConnection]:
    """A connection to a new, empty database.

    It is in the folder `work`, which also gets what exceeds memory. With `small` and no memory
    given it is in memory instead, in an instance of DuckDB that this process keeps: to start one
    takes longer than to read a small file. Both run the same statements.
    """
    import duckdb

    opened = _kept() if small and memory is None else _private(work, memory, threads)
    try:
        with opened as connection:
            connection.execute("SET enable_progress_bar = false").fetchall()
            yield connection
    except duckdb.Error as error:
        raise _no_room(error) or error from None
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


@contextmanager
def _private(work: Path, memory: str | None, threads: int | None) -> Iterator[DuckDBPyConnection]:
    """A connection to a database of its own, on disk."""
    import duckdb

    room, config = _room(), {"memory_limit": _usual()} | _limits()
    config |= {"temp_directory": str(work / "spill"), "preserve_insertion_order": True}
    if memory is not None and (room is None or bytes_of(memory) <= room // 3):
        config["memory_limit"] = f"{bytes_of(memory)}B"
    if threads is not None and room is None:
        config["threads"] = threads
    file = work / f"{uuid.uuid4().hex}.duckdb"
    connection = duckdb.connect(str(file), config=config)
    try:
        run(connection, "PRAGMA disable_checkpoint_on_shutdown")  # what is removed need not be kept
        yield connection
    finally:
        connection.close()
        file.unlink(missing_ok=True)
        file.with_suffix(".duckdb.wal").unlink(missing_ok=True)


@contextmanager
def _kept() -> Iterator[DuckDBPyConnection]:
    """A connection to an empty database in memory; other threads do not see its tables."""
    name = f"job_{uuid.uuid4().hex}"
    connection = _instance().cursor()
    try:
        run(connection, f"ATTACH ':memory:' AS {name}", f"USE {name}")
        yield connection
    finally:
        _leave(connection, name)


def _leave(connection: DuckDBPyConnection, name: str) -> None:
    """Remove a database from the kept instance; if that fails, the instance goes with it."""
    import duckdb

    try:
        run(connection, "USE memory", f"DETACH {name}")
    except (duckdb.Error, RuntimeError):
        _instance.cache_clear()
    finally:
        connection.close()


@cache
def _instance() -> DuckDBPyConnection:
    """DuckDB as this process keeps it: without temporary files, and closed before a fork."""
    import duckdb

    _close_before_fork()
    config = {"memory_limit": _usual()} | _limits() | {"temp_directory": "", "threads": 1}
    return duckdb.connect(":memory:", config=config)


def _usual() -> str:
    """The memory of a database if none is given: the usual one, or most of what there is."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return f"{bytes_of(USUAL_MEMORY)}B"
    return f"{min(bytes_of(USUAL_MEMORY), there * 4 // 5)}B"


def _limits() -> dict[str, str | bool | int | float | list[str]]:
    """What DuckDB must keep to if the address space of this process is limited (`ulimit -v`).

    DuckDB does not ask, and crashes where the system refuses memory.

    Raises:
        MemoryError: if too little is left to start it.
    """
    room = _room()
    if room is None:
        return {}
    if room < _LEAST_ROOM:
        raise MemoryError
    return {"threads": 1, "memory_limit": f"{room // 3}B"}


def _room() -> int | None:
    """How many bytes of address space this process may still take; None if it is not limited."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return None
    unlimited = limit == resource.RLIM_INFINITY
    return None if unlimited else limit - pages * resource.getpagesize()


@cache
def _close_before_fork() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_instance.cache_clear)


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
    path: Path, columns: Iterable[str], *, delimiter: str = ",", header: bool = True, more: str = ""
) -> str:
    """SQL for the rows of a CSV file, under our column names, all of them texts."""
    types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
    layout = f"header={header}, delim={quoted(delimiter)}, quote='\"', escape='\"'"
    options = f"auto_detect=false, compression='none', {layout}{more}"
    return f"read_csv({quoted(path)}, columns={{{types}}}, {options})"


def lines_table(path: Path) -> str:
    """SQL for the lines of a text file, each whole in the column `line`."""
    layout = "header=false, delim='\x01\x02\x03\x04', quote='', escape=''"
    options = f"auto_detect=false, compression='none', {layout}"
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
def translated(name: str, *, private: bool = False) -> Iterator[None]:
    """Turn the errors of DuckDB about the file `name` into ours, which quote nothing of a private
    file."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        if full := _no_room(error):
            raise full from None
        problem = f"{name} cannot be read within the memory limit"
        raise DataError(problem, remedy="allow more with {memory}") from None
    except (duckdb.InternalException, duckdb.FatalException):
        raise FileFormatError(name, "the file is damaged", remedy="get it again") from None
    except duckdb.Error as error:
        raise _no_room(error) or _explained(name, str(error), private=private) from None


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


RAGGED = "correct it, or delete the line if it is not part of the table"


def _explained(name: str, message: str, *, private: bool = False) -> FileFormatError:
    found = _LINE.search(message)
    line = int(found[1]) if found else None
    columns = _COLUMNS.search(message)
    if columns:
        problem = f"expected {columns[1]} columns, found {columns[2]}"
        return FileFormatError(name, problem, line=line, remedy=RAGGED)
    if "unterminated quote" in message:
        return FileFormatError(name, "a quote is opened and never closed", line=line)
    if "duplicate key" in message:
        return FileFormatError(name, "an object has the same key twice", line=line)
    if "is not valid UTF8" in message:  # in a Parquet file
        return FileFormatError(name, "a text in it is not UTF-8", remedy="write the file again")
    if "utf-8" in message.lower():
        return not_utf8(name, line)
    if "invalid state" in message:
        problem = "the file mixes Windows and Unix line ends, or has a broken quote"
        return FileFormatError(name, problem, remedy="correct it and try again")
    return FileFormatError(name, "cannot be read" if private else _reason(message), line=line)


def _reason(message: str) -> str:
    """The first line of a message of DuckDB, safe to show and short: it may quote the file."""
    first = re.sub(r"^[A-Z][\w ]* Error: ", "", message.strip().split("\n", 1)[0]).strip()
    text = printable(_OUR_FILE.sub("the file", first))
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} ..."


class NotUtf8Error(FileFormatError):
    """Text that is in another encoding; only data files can be read in one."""


def not_utf8(name: str, line: int | None = None, *, encoding: str = "latin1") -> NotUtf8Error:
    """The error for text that is not UTF-8 but perhaps in another encoding."""
    problem = "the text is UTF-16, not UTF-8" if encoding == "utf-16" else "the text is not UTF-8"
    remedy = f"convert it, for example with iconv -f {encoding} -t utf-8"
    return NotUtf8Error(name, problem, line=line, remedy=remedy)

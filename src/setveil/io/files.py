"""`read` and `write`: data files of every format, and releases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from setveil.errors import OutputError, ParameterError
from setveil.io.formats.table import FORMATS, Format

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.io.formats.reading import Reading
    from setveil.io.source.source import Source


def read(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    record: str | None = None,
    item: str | None = None,
    count: str | None = None,
    bags: bool | None = None,
    encoding: str | None = None,
    memory_limit: str | None = None,
) -> Transactions:
    """The data of a file as transactions or bags, its records in the order of first appearance.

    Args:
        path: A file, plain or compressed (`.gz`, `.zst`, or `.zip` with one file in it); `-` for
            standard input; or an open binary stream.
        format: One of `FORMATS`; if not given, it is recognized by suffix and content.
        record: The column of the record that a row belongs to (long tables); guessed if obvious.
        item: The column of the item, or of the list of items; guessed if obvious.
        count: The column that says how often the item occurs in the record.
        bags: Whether repeats count; by default if there is a count column.
        encoding: How the text is encoded, such as `cp1252`; by default UTF-8, or UTF-16 if the file
            begins with its mark.
        memory_limit: Memory limit for reading a long table, such as `500MB`; the rest goes to
            temporary files.

    Raises:
        FileFormatError: if the file does not exist, or is not what its name, content or the options
            say.
        ParameterError: if an option has a value that is not allowed.

    Example:
        >>> from io import BytesIO
        >>> list(read(BytesIO(b"record,item\\n1,beer\\n1,wine\\n2,beer\\n")))
        [('beer', 'wine'), ('beer',)]
    """
    from setveil.io.formats.reading import Reading
    from setveil.io.source.database import NotUtf8Error
    from setveil.io.source.encoding import check_encoding, readable
    from setveil.io.source.source import open_source

    if not isinstance(path, str | os.PathLike) and not hasattr(path, "read"):
        allowed = (
            "give a file or a binary stream; setveil.as_transactions converts tables and lists"
        )
        raise ParameterError("path", type(path).__name__, allowed)
    reading = Reading(record, item, count, bags, memory_limit=memory_limit)
    _check_reading(format, reading)
    check_encoding(encoding)
    with open_source(path) as source:
        try:
            return read_source(readable(source, encoding), reading, format)
        except NotUtf8Error as error:
            error.remedy = "name its encoding, such as {encoding=cp1252}"
            raise


def read_source(source: Source, reading: Reading, format: str | None = None) -> Transactions:
    """As `read`, from a source that is open already."""
    from setveil.io.formats.guess import guess_format

    _check_reading(format, reading)
    return FORMATS[format or guess_format(source, reading)].read(source, reading)


def write(
    thing: object,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    seed: int | None = None,
    public_items: bool = False,
) -> None:
    """Write data to a file, or a release to a folder; never leaves half-written output.

    Args:
        thing: A release (to a folder), or anything that `setveil.as_transactions` converts (to a
            file).
        path: The folder; or the file, compressed if it ends with `.gz` or `.zst`, `-` for standard
            output.
        format: For data one of `FORMATS`, by default that of the suffix; for a release one of its
            form's, such as `csv` or `parquet`.
        force: Whether to replace what exists.
        seed: For a release: makes the order of its records repeatable, which otherwise is random.
        public_items: For a release: whether to publish all of a tree that was built from the items.

    Raises:
        OutputError: if the place cannot be written to, or exists and may not be replaced.
        DataError: if the format cannot represent an item.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     write([["wine", "beer"], ["beer"]], f"{folder}/baskets.csv")
        ...     list(read(f"{folder}/baskets.csv"))
        [('beer', 'wine'), ('beer',)]
    """
    from setveil.data.tables.exchange import as_transactions
    from setveil.published.release import Release

    if not isinstance(path, str | os.PathLike):
        allowed = "give the name of a file, or of a folder for a release"
        raise ParameterError("path", type(path).__name__, allowed)
    if isinstance(thing, Release):
        from setveil.io.releases.folder import fill_release, staged_release

        with staged_release(path, force=force) as stage:
            fill_release(thing, stage, format=format, seed=seed, public_items=public_items)
        return
    _check_format(format)
    data, target = as_transactions(thing), Path(path)
    chosen = FORMATS[format or format_by_name(target)]
    if str(target) == "-":
        _write_to_output(data, chosen)
    else:
        _write_file(data, target, chosen, force)


def format_by_name(path: Path) -> str:
    """The format of a file to write, by the suffix of its name."""
    name = Path(path.stem) if path.suffix.lower() in (".gz", ".zst") else path
    for format in FORMATS.values():
        if name.suffix.lower() in format.suffixes:
            return format.name
    known = ", ".join(suffix for format in FORMATS.values() for suffix in format.suffixes)
    remedy = f"end the name with one of {known}, or choose with {{format}}"
    raise OutputError(path, "its name does not show the format", remedy=remedy)


def _check_reading(format: str | None, reading: Reading) -> None:
    from setveil.io.source.database import check_memory_limit

    check_memory_limit(reading.memory_limit)
    _check_format(format)


def _check_format(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise ParameterError("format", format, f"choose one of {', '.join(FORMATS)}")


def _write_file(data: Transactions, target: Path, format: Format, force: bool) -> None:
    from setveil.disk import new_file
    from setveil.io.writing import compression_of, write_lines

    compression = compression_of(target)
    if compression and not format.is_text:
        problem = f"a {format.name} file is compressed inside already"
        raise OutputError(target, problem, remedy="leave out .gz or .zst")
    with new_file(target, force=force) as temporary:
        if format.is_text:
            write_lines(format.lines(data), temporary, compression)
        else:
            format.write_file(data, temporary)


def _write_to_output(data: Transactions, format: Format) -> None:
    from setveil.io.writing import write_to_output

    if not format.is_text:
        problem = f"a {format.name} file cannot go to standard output"
        raise OutputError("-", problem, remedy="give the name of a file")
    write_to_output(format.lines(data))

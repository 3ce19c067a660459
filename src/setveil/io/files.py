"""`read` and `write`: data files of every format, and releases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from setveil.errors import OutputError, ParameterError
from setveil.io.formats.table import FORMATS

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.io.source.source import Source


def read(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    record: str | None = None,
    item: str | None = None,
    count: str | None = None,
    bags: bool | None = None,
    memory_limit: str | None = None,
) -> Transactions:
    """The data of a file, as transactions or bags, records in the order in which they first appear.

    Args:
        path: A file, plain or packed (`.gz`, `.zst`); `-` for standard input; or an open binary stream.
        format: One of `FORMATS`; guessed from name and content when not given.
        record: The column that says whose row it is (long tables); guessed when obvious.
        item: The column of the item, or the list column; guessed when obvious.
        count: The column that says how often the item stands.
        bags: Whether repeats count. By default they do when there is a count column, and collapse otherwise.
        memory_limit: How much memory reading a long table may use, such as `500MB`; what does not fit is kept in temporary files.

    Raises:
        FileFormatError: when the file is not there or not what its name, content or the options say.
        ParameterError: when an option is outside what is allowed.

    Example:
        >>> from io import BytesIO
        >>> list(read(BytesIO(b"record,item\\n1,beer\\n1,wine\\n2,beer\\n")))
        [('beer', 'wine'), ('beer',)]
    """
    from setveil.io.source.source import open_source

    if not isinstance(path, str | os.PathLike) and not hasattr(path, "read"):
        allowed = (
            "give a file or an open binary stream; setveil.as_transactions takes tables and lists"
        )
        raise ParameterError("path", type(path).__name__, allowed)
    _check_reading(format, memory_limit)
    with open_source(path) as source:
        return read_source(
            source,
            format=format,
            record=record,
            item=item,
            count=count,
            bags=bags,
            memory_limit=memory_limit,
        )


def read_source(
    source: Source,
    *,
    format: str | None = None,
    record: str | None = None,
    item: str | None = None,
    count: str | None = None,
    bags: bool | None = None,
    memory_limit: str | None = None,
) -> Transactions:
    """As `read`, from a source that is open already."""
    from setveil.io.formats.reading import Reading
    from setveil.io.source.sniff import guess_format

    _check_reading(format, memory_limit)
    reading = Reading(record, item, count, bags, memory_limit=memory_limit)
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
    """Write data to a file, or a release to a folder; nothing half-written is ever left.

    Args:
        thing: A published form (to a folder); or data, as any object that `setveil.as_transactions` takes (to a file).
        path: The file, packed when it ends with `.gz` or `.zst`, `-` for standard output; or the folder.
        format: One of `FORMATS`; by the end of the name when not given. Of a release see `setveil.io.releases.folder.write_release`.
        force: Whether what is there may be replaced.
        seed: Of a release: makes the order of its records repeatable; by default it comes from the system.
        public_items: Of a release: whether a tree that was built from the data's items is published whole.

    Raises:
        OutputError: when the place is taken or cannot be written to.
        DataError: when the format cannot hold an item.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     write([["wine", "beer"], ["beer"]], f"{folder}/baskets.csv")
        ...     list(read(f"{folder}/baskets.csv"))
        [('beer', 'wine'), ('beer',)]
    """
    from setveil.data.tables.exchange import as_transactions
    from setveil.published import Release

    if not isinstance(path, str | os.PathLike):
        raise ParameterError(
            "path", type(path).__name__, "give the name of a file, or of a folder for a release"
        )
    if isinstance(thing, Release):
        from setveil.io.releases.folder import write_release

        write_release(thing, path, format=format, force=force, seed=seed, public_items=public_items)
        return
    _check_format(format)
    data, target = as_transactions(thing), Path(path)
    name = format or format_by_name(target)
    if str(target) == "-":
        _write_to_output(data, name)
    else:
        _write_file(data, target, name, force)


def _check_reading(format: str | None, memory_limit: str | None) -> None:
    from setveil.io.source.database import check_memory_limit

    check_memory_limit(memory_limit)
    _check_format(format)


def _check_format(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise ParameterError("format", format, f"choose one of {', '.join(FORMATS)}")


def format_by_name(path: Path) -> str:
    """The format of a file to write, by the end of its name."""
    name = Path(path.stem) if path.suffix.lower() in (".gz", ".zst") else path
    for format in FORMATS.values():
        if name.suffix.lower() in format.suffixes:
            return format.name
    known = ", ".join(suffix for format in FORMATS.values() for suffix in format.suffixes)
    raise OutputError(
        path, f"its name does not tell the format: end it with one of {known}, or name the format"
    )


def _write_file(data: Transactions, target: Path, name: str, force: bool) -> None:
    from setveil.disk import new_file
    from setveil.io.writing import compression_of, write_lines

    if name == "parquet" and compression_of(target):
        raise OutputError(target, "a Parquet file is packed inside already; leave out .gz or .zst")
    with new_file(target, force=force) as temporary:
        if name == "parquet":
            _write_parquet(data, temporary)
        else:
            write_lines(FORMATS[name].write(data), temporary, compression_of(target))


def _write_parquet(data: Transactions, target: Path) -> None:
    from setveil.data.transactions import Bags
    from setveil.disk import private_folder
    from setveil.io.formats.parquet import write_parquet
    from setveil.io.writing import write_lines

    with private_folder() as work:
        write_lines(FORMATS["parquet"].write(data), work / "lines", None)
        write_parquet(work / "lines", target, work, counted=isinstance(data, Bags))


def _write_to_output(data: Transactions, name: str) -> None:
    from setveil.io.writing import write_to_output

    if name == "parquet":
        raise OutputError("-", "Parquet cannot go to standard output; give the name of a file")
    write_to_output(FORMATS[name].write(data))

"""`read` and `write`: data files of every format, and releases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from setveil.disk import unpacked_limit
from setveil.errors import (
    DataError,
    FileFormatError,
    Note,
    OutputError,
    ParameterError,
    SetveilError,
)
from setveil.io.formats import FORMATS, Format

if TYPE_CHECKING:
    from setveil.data.account import Account
    from setveil.data.transactions import Transactions
    from setveil.io.formats.reading import Reading
    from setveil.io.source.source import Source


def read(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    record: str | int | None = None,
    person: str | int | None = None,
    records_per_person: int | None = None,
    item: str | int | Sequence[str | int] | None = None,
    count: str | int | None = None,
    bags: bool | None = None,
    split: str | None = None,
    onehot: bool | None = None,
    header: bool | int | str | None = None,
    drop_record: str | Sequence[str] | None = None,
    drop_column: int | str | Sequence[int | str] | None = None,
    sheet: str | int | None = None,
    encoding: str | None = None,
    memory: str | None = None,
    memory_limit: str | None = None,
    keep_unique: bool | None = None,
    columns: str | Sequence[str] | None = None,
    column_hierarchies: Mapping[str, Any] | None = None,
) -> Transactions:
    """The data of a file as transactions or bags, its records in the order of first appearance.

    Args:
        path: A file, plain or compressed (`.gz`, `.zst`, or `.zip` with one file in it); a folder
            or a pattern such as `log/*.parquet` for several files of one format; `-` for standard
            input; or an open binary stream.
        format: One of `FORMATS`; if not given, it is recognized by suffix and content.
        record: The column of the record that a row belongs to; guessed if obvious. A column is
            named, or numbered from 1 if no column has the number as its name.
        person: The column of the person that a row belongs to. Without `record`, the rows of each
            person are one record.
        records_per_person: With `person` and `record`: keep at most so many records of each person,
            drawn for each person by a secret.
        item: The column of the item, or of the set or list of items; guessed if obvious. Several
            columns, each an option that is ticked or not: a list of names, of patterns such as
            `Uses *`, and of ranges such as `12-30`.
        count: The column that says how often the item occurs in the record.
        bags: Whether repeats count; by default if there is a count column.
        split: What separates the items within a cell, such as `|`; `list` for lists in brackets;
            `none` if each cell is one item. Recognized if obvious.
        onehot: Whether a table has a column for each item (0 and 1, yes and no); recognized.
        header: Which row of a table names the columns, or that none does (`False`). If it is not
            given, it is the first, or a row below title lines that clearly does. `"1-2"` joins the
            names of several rows.
        drop_record: Rows with this record (or one of these) are left out: a placeholder.
        drop_column: What to leave out of each line or list of items: a position from 1 on, or
            `last`. One or several.
        sheet: The sheet of a spreadsheet, by its name or its number; by default the first.
        encoding: How the text is encoded, such as `cp1252`; recognized if obvious.
        memory: Memory for reading a long table, such as `500MB`; the rest goes to temporary files.
            A compressed file may unpack to ten times as much (30GB by default).
        memory_limit: The former name of `memory`.
        keep_unique: Whether items that look like identifiers are meant. Reading does not need it;
            whatever leads to a release asks.
        columns: Columns of a table to keep beside the items, one or several: what is the same in
            all rows of a person. The result is a `Table`.
        column_hierarchies: For each of these columns of words a hierarchy: a file, a recipe such as
            `prefix`, or `any`. It makes words of numbers too. `keep` makes each value an item.

    Raises:
        FileFormatError: if the file does not exist, or is not what its name, content or the options
            say.
        ParameterError: if an option has a value that is not allowed.

    Example:
        >>> from io import BytesIO
        >>> list(read(BytesIO(b"record,item\\n1,beer\\n1,wine\\n2,beer\\n")))
        [('beer', 'wine'), ('beer',)]
        >>> list(read(BytesIO(b"id;age;products\\n1;41;beer|wine\\n2;41;beer\\n")))
        [('beer', 'wine'), ('beer',)]
    """
    given = {name: value for name, value in locals().items() if name != "path"}
    return read_with_account(path, **given)[0]


def read_with_account(
    path: str | os.PathLike[str] | BinaryIO, **options: Any
) -> tuple[Transactions, Account]:
    """As `read`, also with how the file was read."""
    from setveil.io.source.source import open_source

    if not isinstance(path, str | os.PathLike) and not hasattr(path, "read"):
        allowed = (
            "give a file or a binary stream; setveil.as_transactions converts tables and lists"
        )
        raise ParameterError("path", type(path).__name__, allowed)
    _check_options(options)
    most = unpacked_limit(reading_of(options).memory)
    with open_source(path, header=options.get("header"), most=most) as source:
        return read_opened(source, options)


def read_opened(source: Source, options: Mapping[str, Any]) -> tuple[Transactions, Account]:
    """The data of a source that is open already, and how it was read."""
    from setveil.io.source.database import NotUtf8Error
    from setveil.io.source.encoding import decoded, decoded_anyhow
    from setveil.io.source.packed import unpacked

    _check_options(options)
    format, encoding = options.get("format"), options.get("encoding")
    source, notes = unpacked(source, options.get("sheet"), format)
    plain, name = decoded(source, encoding)
    from setveil.data.tables.beside import names_of

    columns = names_of(options.get("columns"))
    try:
        data, account = _read(plain, reading_of(options), format, name, columns)
        account.notes[:0] = notes
        return _with_trees(data, account, options), account
    except NotUtf8Error as error:
        plain, name = decoded_anyhow(source, error, encoding)
    data, account = _read(plain, reading_of(options), format, name, columns)
    text = f"The text is not UTF-8; it was read as {name}."
    account.notes.insert(0, Note(f"{text} If letters look wrong, name another {{encoding}}."))
    return _with_trees(data, account, options), account


def _with_trees(data: Transactions, account: Account, options: Mapping[str, Any]) -> Transactions:
    """The data with the hierarchies of its columns."""
    from setveil.data.columns import Table
    from setveil.hierarchy.columns import fitted_columns

    trees = options.get("column_hierarchies") or {}
    if not isinstance(data, Table):
        if trees:
            allowed = "name the columns that have a hierarchy with {columns} too"
            raise ParameterError("column_hierarchies", list(trees), allowed)
        return data
    found, notes = fitted_columns(data, trees, keep_unique=bool(options.get("keep_unique")))
    account.notes += notes
    return found


def reading_of(options: Mapping[str, Any]) -> Reading:
    """The options that formats use, checked."""
    from setveil.data.people import PER_PERSON, check_most, draw_key
    from setveil.data.tables.cells import check_split
    from setveil.data.tables.columns import of_person
    from setveil.data.tables.shapes import item_words
    from setveil.io.formats.guess import checked_header
    from setveil.io.formats.reading import LAST, Reading

    given = {name: value for name, value in options.items() if value is not None}
    given = {"memory": given.pop("memory_limit", None)} | given
    others = ("bags", "split", "onehot", "header", "memory")
    dropped = given.get("drop_record", ())
    dropped = (dropped,) if isinstance(dropped, str) else tuple(map(str, dropped))
    columns = given.get("drop_column", ())
    columns = (columns,) if isinstance(columns, int | str) else tuple(columns)
    check_split(given.get("split"))
    checked_header(given.get("header"))
    unpacked_limit(given["memory"])
    kept = (*others, "sink", "key", "named", "tags")
    chosen = {name: given[name] for name in kept if name in given}
    named = {role: str(given[role]) for role in ("record", "count", "person") if role in given}
    chosen |= of_person(named.pop("record", None), named.pop("person", None)) | named
    check_most(given)
    if PER_PERSON in given:
        chosen = {"key": draw_key(None)} | chosen | {PER_PERSON: int(given[PER_PERSON])}
    places = tuple(LAST if str(each) == "last" else _place(each) for each in columns)
    items = item_words(given.get("item"))
    return Reading(**chosen, **items, drop_record=dropped, drop_column=places)


def _place(given: int | str) -> int:
    """A position of a line."""
    if not str(given).isdecimal() or int(given) < 1:
        raise ParameterError("drop_column", given, "it must be a position from 1 on, or last")
    return int(given)


def _read(
    source: Source, reading: Reading, format: str | None, encoding: str, columns: Sequence[str] = ()
) -> tuple[Transactions, Account]:
    from setveil.disk.texts import Kind, foreign_kind, is_arff
    from setveil.io.formats.guess import format_of

    source, name = format_of(source, reading, format)
    chosen = FORMATS[name]
    try:
        kind = foreign_kind(source.head) if chosen.is_text else None
        if kind is None and chosen.is_text and chosen.name != "arff" and is_arff(source.head):
            kind = Kind("an ARFF file", "read it with {input_format=arff}")
        if kind is not None:
            raise source.fault(f"this is {kind.name}, not {chosen.name}", remedy=kind.remedy)
        if reading.sink is not None:
            reading.sink.begin()
        data, account = chosen.read(source, reading), reading.account
        if reading.named:
            from setveil.io.formats.beside import record_names

            account.names = record_names(source, chosen.name, reading)
        if reading.role == "person" or reading.person is not None:
            from setveil.io.formats.beside import with_people

            data = with_people(source, chosen.name, reading, data)
        if columns:
            from setveil.io.formats.beside import with_columns

            if reading.person is not None:
                allowed = "beside columns each person is one record: leave out the {record} column"
                raise ParameterError("person", reading.person, allowed)

            data = with_columns(source, chosen.name, reading, data, columns)
        if reading.tags is not None:
            from setveil.io.formats.beside import tag_people

            tag_people(source, chosen.name, reading, reading.tags)
    except FileFormatError as error:
        error.line = None if error.line is None else error.line + source.lines_above
        raise
    account.format = "xlsx" if source.is_sheet else chosen.name
    account.encoding = encoding if chosen.is_text and not source.is_sheet else ""
    account.begin_at(source.header_row, is_guess=reading.header is None)
    asked = {"split": reading.split not in (None, "none"), "onehot": bool(reading.onehot)}
    asked |= {"header": reading.header not in (None, True)}
    asked |= {"drop_record": bool(reading.drop_record)}
    asked |= {"item": bool(reading.items)}
    asked |= {"drop_column": bool(reading.drop_column)}
    for name, is_asked in asked.items():
        if is_asked and name not in account.used:
            what = f" ({account.layout})" if account.layout else ""
            allowed = f"this {account.format} file has no use for it{what}"
            raise ParameterError(name, getattr(reading, name) or reading.items, allowed)
    return data, account


def write(
    thing: object,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    seed: int | None = None,
    public_items: bool = False,
    private: bool = False,
    people: Sequence[int] | None = None,
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
        private: For data: whether only the owner of the file may read it.
        people: For data as csv or tsv: the person of each record, as a number; a column `person`.

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
        from setveil.io.releases.folder import fill_release, read_back, staged_release

        with staged_release(path, force=force) as stage:
            fill_release(thing, stage, format=format, seed=seed, public_items=public_items)
            with suppress(SetveilError):  # one that cannot be read says nothing
                read_back(stage)
        return
    _check_format(format)
    data, target = as_transactions(thing), Path(path)
    chosen = FORMATS[format or format_by_name(target)]
    lines = _lines(data, chosen, people)
    if str(target) == "-":
        _write_to_output(lines, chosen)
    else:
        _write_file(data, lines, target, chosen, force=force, mode=0o600 if private else None)


def _lines(
    data: Transactions, format: Format, people: Sequence[int] | None
) -> Callable[[], Iterable[str]]:
    """Gives the lines of a file, with the person of each record if that is given."""
    if people is None:
        return partial(format.lines, data)
    if not format.holds_people:
        raise ParameterError("people", "given", f"a {format.name} file has no place for it")
    import numpy as np

    if len(people) != len(data):
        raise DataError(f"{len(data):,} records, but the people of {len(people):,}")
    return partial(format.lines, data, np.asarray(people, dtype=np.int64))


def format_by_name(path: Path) -> str:
    """The format of a file to write, by the suffix of its name."""
    name = Path(path.stem) if path.suffix.lower() in (".gz", ".zst") else path
    for format in FORMATS.values():
        if name.suffix.lower() in format.suffixes:
            return format.name
    known = ", ".join(suffix for format in FORMATS.values() for suffix in format.suffixes)
    remedy = f"end the name with one of {known}, or choose with {{format}}"
    raise OutputError(path, "its name does not show the format", remedy=remedy)


def _check_options(options: Mapping[str, Any]) -> None:
    from setveil.io.source.encoding import check_encoding

    _check_format(options.get("format"))
    check_encoding(options.get("encoding"))
    reading_of(options)


def _check_format(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise ParameterError("format", format, f"choose one of {', '.join(FORMATS)}")


def _write_file(
    data: Transactions,
    lines: Callable[[], Iterable[str]],
    target: Path,
    format: Format,
    *,
    force: bool,
    mode: int | None,
) -> None:
    from setveil.disk import new_file
    from setveil.io.writing import compression_of, write_lines

    compression = compression_of(target)
    if compression and not format.is_text:
        problem = f"a {format.name} file is compressed inside already"
        raise OutputError(target, problem, remedy="leave out .gz or .zst")
    with new_file(target, force=force, mode=mode) as temporary:
        if format.is_text:
            write_lines(lines(), temporary, compression)
        else:
            format.write_file(data, temporary)


def _write_to_output(lines: Callable[[], Iterable[str]], format: Format) -> None:
    from setveil.io.writing import write_to_output

    if not format.is_text:
        problem = f"a {format.name} file cannot go to standard output"
        raise OutputError("-", problem, remedy="give the name of a file")
    write_to_output(lines())

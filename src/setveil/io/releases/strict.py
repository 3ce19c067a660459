"""Nothing in a release folder may go unchecked: what setveil does not write, it does not read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.errors import FileFormatError, ReleaseError
from setveil.io.formats.csvlines import csv_cell
from setveil.io.formats.fimi import BYTE_ORDER_MARK
from setveil.io.releases.form import ReleaseFolder
from setveil.io.releases.versions import WORDS, candidates, in_words_of
from setveil.io.source.database import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MARK = BYTE_ORDER_MARK.encode()
_BLOCK = 1 << 20
_WRITER = re.compile(r"DuckDB version v[\w.+-]{1,30} \(build [0-9a-f]{1,40}\)")
_PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,30}")
_WORD = re.compile(r"[\w .:/+-]{0,40}")
_ENDS = 12
"""The bytes of a Parquet file around its pages and its footer."""


def check_lines(folder: ReleaseFolder, name: str, lines: Iterable[str]) -> None:
    """Refuse a text file that is not, byte by byte, what setveil writes for its content."""
    texts = list(lines)
    digest = hashlib.sha256()
    for line in texts:
        digest.update(f"{line}\n".encode())
    if digest.hexdigest() != folder.about["files"][name]:
        written = "".join(f"{line}\n" for line in texts).encode().split(b"\n")
        found = (folder.place / name).read_bytes().split(b"\n")
        pairs = enumerate(zip(written, found, strict=False), start=1)
        differ = (at for at, (one, other) in pairs if one != other)
        first = next(differ, min(len(written), len(found)))
        raise FileFormatError(name, _ALTERED, line=first)


def check_csv(path: Path, rows: Transactions, numbers: Int64s) -> None:
    """Refuse a `data.csv` with anything besides its rows: a blank line, a mark, another spelling.

    A file of the same size, with as many line ends and quotes, has no room for it.

    Args:
        path: The file.
        rows: The records that were read from it.
        numbers: The number of each of them in the file.
    """
    times = np.bincount(rows.items, minlength=len(rows.vocabulary))
    cells = [csv_cell(label).encode() for label in rows.vocabulary]
    size = int(_total(cells, times, len) + _digits(np.repeat(numbers, rows.lengths)))
    size += 2 * len(rows.items) + len("record,item\n")
    if isinstance(rows, Bags):
        size += _digits(rows.counts) + len(rows.items) + len(",count")
    ends = len(rows.items) + 1 + _total(cells, times, lambda cell: cell.count(b"\n"))
    _compare(path, size, {b"\n": ends, b'"': _total(cells, times, lambda cell: cell.count(b'"'))})


def check_fimi(path: Path, rows: Transactions) -> None:
    """Refuse a `data.dat` with anything besides its items, one blank between each two."""
    weights = rows.counts if isinstance(rows, Bags) else np.ones_like(rows.items, dtype=np.int64)
    times = np.zeros(len(rows.vocabulary), dtype=np.int64)
    np.add.at(times, rows.items, weights)
    held = np.zeros(len(rows), dtype=np.int64)
    np.add.at(held, rows.rows, weights)
    blanks = int(np.where(held == 0, 1, held - 1).sum())
    size = _total([label.encode() for label in rows.vocabulary], times, len) + blanks + len(rows)
    with path.open("rb") as stream:
        size += len(_MARK) * (stream.read(2 * len(_MARK)) == 2 * _MARK)
    _compare(path, size, {b"\n": len(rows), b" ": blanks})


def check_parquet(connection: DuckDBPyConnection, path: Path, name: str) -> None:
    """Refuse a Parquet file that another program wrote, or that has notes or gaps in it.

    Whether the least and greatest values that it states are its own is not checked.
    """
    about = f"FROM parquet_file_metadata({quoted(path)})"
    ((writer,),) = connection.execute(f"SELECT created_by {about}").fetchall()
    notes = f"SELECT count(*) FROM parquet_kv_metadata({quoted(path)})"
    (noted,) = connection.execute(notes).fetchall()[0]
    found = connection.execute(f"SELECT * FROM parquet_metadata({quoted(path)})")
    columns = [column[0] for column in found.description or ()]
    parts = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    if noted or any(part.get("key_value_metadata") for part in parts):
        problem = "it has key-value metadata, which a release does not have"
        raise FileFormatError(name, problem)
    if not _WRITER.fullmatch(str(writer)):
        raise FileFormatError(name, "it was not written by setveil")
    with path.open("rb") as stream:
        size = stream.seek(-8, 2) + 8
        footer = int.from_bytes(stream.read(4), "little")
    pages = sum(part["total_compressed_size"] for part in parts)
    filters = sum(part.get("bloom_filter_length") or 0 for part in parts)
    if pages + filters + footer + _ENDS != size:
        raise FileFormatError(name, "it has bytes that belong to no column")


def check_keys(place: Path, about: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse keys of `release.json` that nobody would check, and texts where words should be."""
    more = sorted(about.keys() - set(known))
    if more:
        kind = f"which a {about['form']} release does not have"
        raise ReleaseError(place, f"release.json has a key {more[0][:80]!r}, {kind}")
    for name, value in about["method"].items():
        plain = value is None or type(value) in (bool, int, float)
        if not _PARAMETER.fullmatch(name):
            raise ReleaseError(place, f"its method has a parameter {name[:80]!r}")
        if not plain and not (type(value) is str and _WORD.fullmatch(value)):
            raise ReleaseError(place, f"its method says {name}, which must be a number or a word")


def check_said(
    place: Path, said: Mapping[str, Any], known: Mapping[str, Any], stated: int | None
) -> None:
    """Refuse a promise that says something else, or more, than its numbers do.

    The words must be those of the version that wrote the release. Before releases stated their
    version, the words for people could be left out.

    Args:
        place: The release folder.
        said: The promise in `release.json`.
        known: The promise that was read from it, as it would be written now.
        stated: The version of the format that the release states, if it does.
    """
    faults = []
    for version in candidates(stated):
        fault = _difference(said, in_words_of(version, known), whole=stated is not None)
        if fault is None:
            return
        faults.append(fault)
    raise ReleaseError(place, faults[0])


def _difference(said: Mapping[str, Any], known: Mapping[str, Any], *, whole: bool) -> str | None:
    """How a promise differs from one that is known."""
    for key, value in said.items():
        if key not in known:
            return f"its promise has {key[:80]!r}, which {_UNKNOWN}"
        if isinstance(value, dict) and isinstance(known[key], dict):
            inner = _difference(value, known[key], whole=whole)
            if inner is not None:
                return inner
        elif value != known[key] and key in WORDS:
            return f"its promise does not mean what it says; {_NEVER}"
        elif value != known[key]:
            return f"the {key} of its promise is not written as setveil does"
    lost = [key for key in known if key not in said] if whole else []
    return f"its promise lacks {lost[0]}" if lost else None


_ALTERED = "this is not what setveil writes for this release"
_UNKNOWN = "this version does not know"
_NEVER = "no setveil of its version wrote these words"


def _compare(path: Path, size: int, marks: Mapping[bytes, int]) -> None:
    """Refuse a file of another size, or with other numbers of some bytes."""
    found, last = dict.fromkeys(marks, 0), b"\n"
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            found = {mark: count + block.count(mark) for mark, count in found.items()}
            last = block[-1:]
    if path.stat().st_size != size or found != marks or last != b"\n":
        problem = "it has blanks, blank lines, quotes or a byte order mark that setveil does not"
        raise FileFormatError(path.name, f"{problem} write")


def _total(cells: list[bytes], times: Int64s, measure: Any) -> int:
    return sum(measure(cell) * count for cell, count in zip(cells, times.tolist(), strict=True))


def _digits(numbers: Int64s) -> int:
    """The digits of all these whole numbers together."""
    powers = 10 ** np.arange(1, 19, dtype=np.int64)
    return int((np.searchsorted(powers, numbers, side="right") + 1).sum())

"""Data in several files: a folder or a pattern such as `log/2024-*.parquet`, read as one."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from setveil.errors import FileFormatError
from setveil.io.source.database import database, quoted, run, translated

_TABLES = (".csv", ".tsv", ".tab")
_PACKED = (".gz", ".zst")
_LINE = 1 << 20


def several_files(path: str | os.PathLike[str]) -> list[Path]:
    """The data files that a folder contains or a pattern describes, by name; none for one file.

    Files whose name starts with a dot or an underscore are left out: other programs put them there.

    Raises:
        FileFormatError: if there are none, or files of several formats.
    """
    place = Path(path)
    if place.is_dir() and not (place / "release.json").exists():
        found = sorted(each for each in place.iterdir() if each.is_file())
    elif not place.exists() and glob.has_magic(str(path)):
        found = sorted(Path(each) for each in glob.glob(str(path)) if Path(each).is_file())
    else:
        return []
    found = [each for each in found if not each.name.startswith((".", "_"))]
    if not found:
        raise FileFormatError(str(path), "there are no data files")
    kinds = sorted({_suffix(each) for each in found})
    if len(kinds) > 1:
        problem = f"the files are of several formats ({', '.join(kinds)})"
        raise FileFormatError(
            str(path), problem, remedy="name them by a pattern such as 'folder/*.csv'"
        )
    return found


def plain_name(file: Path) -> str:
    """The name of a file without `.gz` or `.zst`."""
    return file.stem if file.suffix.lower() in _PACKED else file.name


def is_table(file: Path) -> bool:
    """Whether a file is a table by its name."""
    return _suffix(file) in _TABLES


def put_together(
    files: Sequence[Path], target: Path, work: Path, *, named: str, header: bool
) -> None:
    """Write what all files contain to one file.

    Args:
        files: The files, each decompressed already.
        target: The file to write.
        work: A private folder for what exceeds memory.
        named: What the user calls them, for errors.
        header: Whether the first line of tables names the columns; then it must be the same.
    """
    if _suffix(files[0]) in (".parquet", ".pq"):
        listed = ", ".join(map(quoted, files))
        table = f"SELECT * FROM read_parquet([{listed}], union_by_name=true)"
        with database(work) as connection, translated(named):
            run(connection, f"COPY ({table}) TO {quoted(target)} (FORMAT parquet)")
        return
    has_header = header and is_table(files[0])
    if has_header and len({*map(_first, files)}) > 1:
        raise FileFormatError(
            named,
            "its files begin with different lines, so they may have different columns",
            remedy="name files of one kind by a pattern; if they have no header, {header=False}",
        )
    with target.open("wb") as stream:
        for number, file in enumerate(files):
            with file.open("rb") as source:
                if number and has_header:
                    source.readline(_LINE)
                shutil.copyfileobj(source, stream, _LINE)
                _end_line(source, stream)


def _end_line(source: BinaryIO, stream: BinaryIO) -> None:
    """Begin a new line if the file did not end with one."""
    if source.tell():
        source.seek(-1, os.SEEK_END)
        if source.read(1) != b"\n":
            stream.write(b"\n")


def _first(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.readline(_LINE).rstrip(b"\r\n")


def _suffix(file: Path) -> str:
    return Path(plain_name(file)).suffix.lower()

"""The folder of a comparison: finished cells, so that a killed run continues, and the results.

    compare.json     what is compared, and by which version
    cells/KEY.json   a finished cell; the key depends on the data and all words of the cell
    results.csv      one row for each cell; also results.parquet and results.json
    report.html      the same with charts

All of it is computed from the original, so only the user can read it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setveil import __version__
from setveil.data.transactions import Bags, Transactions
from setveil.disk import new_file, private_folder
from setveil.errors import OutputError
from setveil.io.source.database import copy_to_parquet, database, quoted

ABOUT, CELLS = "compare.json", "cells"
RESULTS = ("results.csv", "results.parquet", "results.json", "report.html")
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_KIND = "a comparison by setveil; private, because it is computed from the original"


def check_store(folder: Path) -> set[str]:
    """What is in the folder of a comparison, if there is one.

    Raises:
        OutputError: if there is something else.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(folder, "it exists and is not a folder")
    if not folder.parent.is_dir():
        raise OutputError(folder, f"the folder {folder.parent} does not exist")
    inside = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if inside and ABOUT not in inside:
        problem = "the folder is not empty and not a comparison"
        raise OutputError(folder, problem, remedy="choose another name")
    return inside


def open_store(folder: Path, *, force: bool = False) -> None:
    """Make the folder, or go on in one; with `force` what was finished is forgotten."""
    inside = check_store(folder)
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if force and (folder / CELLS).is_dir():
        shutil.rmtree(folder / CELLS)
    (folder / CELLS).mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if ABOUT not in inside:
        _write(folder / ABOUT, json.dumps({"setveil": __version__, "kind": _KIND}, indent=2) + "\n")


def write_cell(folder: Path, key: str, row: Mapping[str, Any]) -> None:
    """Keep the row of a finished cell."""
    _write(folder / CELLS / f"{key}.json", json.dumps(dict(row)) + "\n")


def read_cell(folder: Path, key: str) -> dict[str, Any] | None:
    """The row of a finished cell; None if it is not finished."""
    try:
        found = json.loads((folder / CELLS / f"{key}.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def key_of(*parts: object) -> str:
    """A name for a cell that changes if anything of it changes."""
    text = json.dumps([__version__, *parts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def digest(data: Transactions) -> str:
    """A name for records that changes if any of them changes."""
    found = hashlib.sha256()
    found.update(data.indptr.tobytes() + data.items.tobytes())
    if isinstance(data, Bags):
        found.update(data.counts.tobytes())
    found.update(json.dumps(list(data.vocabulary.labels)).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def write_results(
    folder: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], about: object
) -> None:
    """Write the table as CSV, Parquet and JSON."""
    text = csv_text(columns, rows)
    _write(folder / "results.csv", text)
    _write(folder / "results.json", json.dumps(about, indent=1, default=str) + "\n")
    with (
        private_folder() as work,
        new_file(folder / "results.parquet", force=True, mode=PRIVATE_FILE) as target,
    ):
        (work / "table").write_text(text, encoding="utf-8", newline="")
        types = ", ".join(f"{quoted(name)}: '{_type(name, rows)}'" for name in columns)
        source = f"read_csv({quoted(work / 'table')}, header=true, columns={{{types}}}"
        with database(work, threads=1, small=True) as connection:
            copy_to_parquet(connection, f"SELECT * FROM {source}, nullstr='')", target)


def write_page(folder: Path, text: str) -> None:
    """Write the page of a comparison."""
    _write(folder / "report.html", text)


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The table as CSV; what a row lacks is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if row.get(name) is None else row[name] for name in columns])
    return stream.getvalue()


def _type(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    kinds = {type(row[name]) for row in rows if row.get(name) is not None}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int}:
        return "BIGINT"
    return "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"


def _write(path: Path, text: str) -> None:
    with new_file(path, force=True, mode=PRIVATE_FILE) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")

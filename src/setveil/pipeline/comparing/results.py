"""The folder of a comparison: finished cells, so that a killed run continues, and the results.

    compare.json     what this folder is, and which version made the results
    cells/KEY.json   a finished cell; the key depends on the data, all words of the cell, and the
                     code that made it
    results.csv      one row for each cell; also results.parquet and results.json
    report.html      the same with charts

All of it is computed from the original, so only the user can read it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from setveil import __version__
from setveil.data.people import People
from setveil.data.transactions import Bags, Transactions
from setveil.disk import new_file, private_folder
from setveil.disk.output import names_in
from setveil.errors import OutputError
from setveil.io.source.database import copy_to_parquet, database, quoted

ABOUT, CELLS = "compare.json", "cells"
RESULTS = ("results.csv", "results.parquet", "results.json", "report.html")
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_SHOWS = ("cli", "report", "web")
"""Folders of code that makes no figure."""
_KIND = "a comparison by setveil; private, because it is computed from the original"


def check_store(folder: Path) -> set[str]:
    """What is in the folder of a comparison, if there is one.

    Raises:
        OutputError: if there is something else.
    """
    inside = names_in(folder)
    if inside and ABOUT not in inside:
        problem = "the folder is not empty and not a comparison"
        raise OutputError(folder, problem, remedy="choose another name")
    return inside


def open_store(folder: Path) -> None:
    """Make the folder, or go on in one; what is there stays until the new results are whole."""
    inside = check_store(folder)
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    (folder / CELLS).mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if ABOUT not in inside:
        _write(folder / ABOUT, _about())


def _about() -> str:
    return json.dumps({"setveil": __version__, "kind": _KIND}, indent=2) + "\n"


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


def forget_others(folder: Path, keys: Container[str]) -> None:
    """Remove the cells that are not among these."""
    for cell in (folder / CELLS).glob("*.json"):
        if cell.stem not in keys:
            cell.unlink(missing_ok=True)


def code_of(things: Iterable[object]) -> str:
    """A name for the code that makes cells: ours, and that of the plugins that these classes and
    functions come from. It changes if any line does."""
    home = Path(str(import_module("setveil").__file__)).parent
    own = (path for path in home.rglob("*.py") if path.relative_to(home).parts[0] not in _SHOWS)
    names = {str(getattr(thing, "__module__", "")).partition(".")[0] for thing in things}
    others = (path for name in sorted(names - {"setveil"}) for path in _files_of(name))
    found = hashlib.sha256()
    for path in sorted({*own, *others}):
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _files_of(name: str) -> Iterable[Path]:
    """The files of an imported module, or of all of a package."""
    module = sys.modules.get(name)
    for folder in getattr(module, "__path__", ()):
        yield from Path(folder).rglob("*.py")
    if module is not None and getattr(module, "__file__", None):
        yield Path(str(module.__file__))


def key_of(*parts: object) -> str:
    """A name for a cell that changes if anything of it changes."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def digest(data: Transactions, people: People | None = None) -> str:
    """A name for records that changes if any of them changes, or whose it is."""
    found = hashlib.sha256(b"" if people is None else people.owners.tobytes())
    found.update(data.indptr.tobytes() + data.items.tobytes())
    if isinstance(data, Bags):
        found.update(data.counts.tobytes())
    found.update(json.dumps(list(data.vocabulary.labels)).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def write_results(
    folder: Path,
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    about: object,
    page: str,
) -> None:
    """Write the table as CSV, Parquet and JSON, and the page; all of them get their names together,
    after the last was written."""
    text = csv_text(columns, rows)
    written = {
        ABOUT: _about(),
        "results.csv": text,
        "results.json": json.dumps(about, indent=1, default=str) + "\n",
        "report.html": page,
    }
    with ExitStack() as stack:
        files = {name: stack.enter_context(_new(folder / name)) for name in (ABOUT, *RESULTS)}
        for name, content in written.items():
            files[name].write_text(content, encoding="utf-8", newline="\n")
        _write_parquet(files["results.parquet"], text, columns, rows)


def _write_parquet(
    target: Path, text: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> None:
    with private_folder() as work:
        (work / "table").write_text(text, encoding="utf-8", newline="")
        types = ", ".join(f"{quoted(name)}: '{_type(name, rows)}'" for name in columns)
        source = f"read_csv({quoted(work / 'table')}, header=true, columns={{{types}}}"
        with database(work, threads=1, small=True) as connection:
            copy_to_parquet(connection, f"SELECT * FROM {source}, nullstr='')", target)


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
    with _new(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _new(path: Path) -> AbstractContextManager[Path]:
    return new_file(path, force=True, mode=PRIVATE_FILE)

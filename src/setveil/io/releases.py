"""Release folders: what is safe to hand over, and nothing else.

    release.json    the promise, the method, the number of records, the sha256 of the other files
    data.csv        record,item (of bags record,item,count); or data.dat, data.parquet
    hierarchy.csv   the tree of the items; of a tree that was built from the data only what the records show

Records are numbered 1 to N in a shuffled order; a number without rows is an empty record. Nothing of the input's order, identifiers or
times is written.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, OutputError, ParameterError, ReleaseError
from setveil.hierarchy.csvfile import read_hierarchy, write_hierarchy
from setveil.hierarchy.hierarchy import Hierarchy, Origin
from setveil.io.delimited import write_baskets, write_release_rows
from setveil.io.files import read
from setveil.io.fimi import write_fimi
from setveil.io.output import new_file, new_folder, private_folder, write_lines
from setveil.io.parquet import write_parquet_rows
from setveil.promises import PROMISES, Promise
from setveil.published.generalized import Generalized, relabeled

ABOUT = "release.json"
TREE = "hierarchy.csv"
RELEASE_FORMATS = {"csv": "data.csv", "fimi": "data.dat", "dat": "data.dat", "parquet": "data.parquet"}
"""The formats that a release may have -> the name of its data file; `dat` is another word for `fimi`."""


def write_release(
    release: Generalized,
    folder: str | os.PathLike[str],
    *,
    format: str | None = None,
    force: bool = False,
    seed: int | None = None,
    public_items: bool = False,
    verified: bool = False,
) -> None:
    """Write a release to a folder that appears only when it is whole.

    Args:
        release: The published form.
        folder: Its place; an empty folder is taken, another release is replaced with `force`, any other folder is left alone.
        format: One of `RELEASE_FORMATS`; `csv` when not given.
        force: Whether a release that is there already may be replaced.
        seed: Makes the order of the records repeatable; by default it comes from the system.
        public_items: Whether a tree that was built from the data's own items is published whole.
        verified: Whether the caller has verified the promise on what is written; `staged_release` gives the chance to.
    """
    _check_release_format(format)
    with staged_release(folder, force=force) as stage:
        fill_release(release, stage, format=format, seed=seed, public_items=public_items, verified=verified)


@contextmanager
def staged_release(folder: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary folder to fill and to verify; it takes its place when the block ends well and is removed otherwise.

    Example:
        >>> from setveil.io.releases import fill_release, read_release, staged_release
        >>> def publish(release, folder):
        ...     with staged_release(folder) as stage:
        ...         fill_release(release, stage, verified=True)
        ...         if read_release(stage) != release:
        ...             raise RuntimeError("not what was meant")
    """
    with new_folder(Path(folder), force=force, is_ours=ABOUT) as stage:
        yield stage


def fill_release(
    release: Generalized,
    stage: Path,
    *,
    format: str | None = None,
    seed: int | None = None,
    public_items: bool = False,
    verified: bool = False,
) -> None:
    """Write the files of a release into an empty folder; see `write_release`."""
    _check_release_format(format)
    tree = release.hierarchy
    if not (tree.origin.is_public or public_items):
        tree = tree.pruned(release.published_nodes())
    data_name = RELEASE_FORMATS[format or "csv"]
    _write_data(release.records(seed), stage / data_name)
    write_hierarchy(tree, stage / TREE)
    about = _about(release, tree, [data_name, TREE], stage, verified)
    (stage / ABOUT).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def read_release(folder: str | os.PathLike[str]) -> Generalized:
    """The release in a folder, as anybody who was given it can read it.

    Raises:
        ReleaseError: when a file is missing, damaged, or not what `release.json` says.
    """
    place = Path(folder)
    about = _read_about(place)
    for name, digest in about["files"].items():
        _check_file(place, name, digest)
    data_name = next((name for name in RELEASE_FORMATS.values() if name in about["files"]), None)
    if data_name is None or TREE not in about["files"]:
        raise ReleaseError(place, f"{ABOUT} names no data file or no {TREE}")
    try:
        tree = read_hierarchy(place / TREE, layout="paths", delimiter=";", origin=_origin(about.get("hierarchy") or {}))
        data = _read_data(place / data_name, bags=bool(about.get("bags")))
        rows = relabeled(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
        rows = _with_empty_records(rows, about["records"], data_name)
    except ReleaseError:
        raise
    except DataError as error:
        raise ReleaseError(place, str(error)) from None
    return Generalized.of_rows(rows, tree, _promise(place, about["promise"]), about["method"])


def write_alignment(
    release: Generalized,
    original: Transactions,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> None:
    """Write, privately, the published record of each original record: line i belongs to original record i.

    A line holds the items as CSV cells, as in the format `baskets` (an empty record is a pair of quotes). Only the owner may read the file.

    Args:
        release: A release that has just been made, so that its alignment is known.
        original: The data it was made from.
        path: The file; it never lies in a release folder.
        force: Whether a file that is there may be replaced.
        folder: The release folder, when it is not there yet.
    """
    target = Path(path)
    homes = [parent for parent in target.absolute().parents if (parent / ABOUT).is_file()]
    if homes or (folder is not None and target.resolve().is_relative_to(Path(folder).resolve())):
        raise OutputError(target, "the alignment is private and must not lie in a release folder")
    if release.alignment is None or len(release.alignment) != len(original):
        raise DataError("this release does not know which record stands for whom: only one that has just been made from this data does")
    lines = list(write_baskets(release.classes))
    with new_file(target, force=force, mode=0o600) as temporary:
        write_lines((lines[number] for number in release.alignment.tolist()), temporary, None)


def _check_release_format(format: str | None) -> None:
    if format is not None and format not in RELEASE_FORMATS:
        raise ParameterError("format", format, f"a release may have one of {', '.join(RELEASE_FORMATS)}")


def _write_data(records: Transactions, target: Path) -> None:
    if target.suffix == ".dat":
        write_lines(write_fimi(records), target, None)
    elif target.suffix == ".csv":
        write_lines(write_release_rows(records), target, None)
    else:
        with private_folder() as work:
            write_lines(write_release_rows(records), work / "rows", None)
            write_parquet_rows(work / "rows", target, work, counted=isinstance(records, Bags))


def _about(release: Generalized, tree: Hierarchy, names: list[str], stage: Path, verified: bool) -> dict[str, object]:
    origin: dict[str, object] = {"kind": tree.origin.kind, **tree.origin.parameters}
    return {
        "setveil": _version(),
        "form": release.form,
        "promise": release.promise.to_dict(),
        "method": dict(release.method),
        "records": len(release),
        **({"bags": True} if isinstance(release.classes, Bags) else {}),
        "hierarchy": origin | ({"pruned": True} if tree.origin.pruned else {}),
        "files": {name: _sha256(stage / name) for name in names},
        "verified": verified,
    }


def _version() -> str:
    """The version of the package; its front door is not imported by name, for it leads to everything."""
    return str(import_module("setveil").__version__)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_about(place: Path) -> dict[str, Any]:
    if not place.is_dir():
        raise ReleaseError(place, "there is no such folder" if not place.exists() else "it is no folder")
    try:
        about = json.loads((place / ABOUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReleaseError(place, f"it has no {ABOUT}") from None
    except (OSError, ValueError):
        raise ReleaseError(place, f"{ABOUT} cannot be read") from None
    kinds = {"form": str, "promise": dict, "method": dict, "records": int, "files": dict}
    wrong = [key for key, kind in kinds.items() if not isinstance(about, dict) or not isinstance(about.get(key), kind)]
    if wrong:
        raise ReleaseError(place, f"{ABOUT} lacks {', '.join(wrong)}")
    if about["form"] != Generalized.form:
        raise ReleaseError(place, f"its form {about['form']!r} is not known to this version")
    return dict(about)


def _check_file(place: Path, name: str, digest: object) -> None:
    if Path(name).name != name or not (place / name).is_file():
        raise ReleaseError(place, f"{name} is missing")
    if _sha256(place / name) != digest:
        raise ReleaseError(place, f"{name} was changed after the release was written (its sha256 differs)")


def _origin(recipe: dict[str, Any]) -> Origin:
    parameters = {key: value for key, value in recipe.items() if key not in ("kind", "pruned")}
    return Origin(recipe.get("kind", "given"), parameters, pruned=bool(recipe.get("pruned")))


def _read_data(path: Path, *, bags: bool) -> Transactions:
    if path.suffix == ".dat":
        return read(path, format="fimi", bags=bags)
    return read(path, format=path.suffix[1:], record="record", item="item", count="count" if bags else None, bags=bags)


def _with_empty_records(rows: Transactions, size: int, name: str) -> Transactions:
    """The records of the data file and the empty ones, which have no rows in it."""
    if len(rows) > size:
        raise DataError(f"{name} holds {len(rows)} records, but {ABOUT} says {size}")
    indptr = np.concatenate((rows.indptr, np.full(size - len(rows), rows.indptr[-1])))
    if isinstance(rows, Bags):
        return Bags(indptr, rows.items, rows.vocabulary, rows.counts)
    return Transactions(indptr, rows.items, rows.vocabulary)


def _promise(place: Path, about: dict[str, Any]) -> Promise:
    """The promise as `Promise.to_dict` gives it; one may hold another."""
    kind = PROMISES.get(str(about.get("model")))
    if kind is None:
        raise ReleaseError(place, f"its promise {about.get('model')!r} is not known to this version")
    known = {field.name: about[field.name] for field in fields(kind) if field.name in about}
    missing = [field.name for field in fields(kind) if field.name not in known and field.default is MISSING]
    if missing:
        raise ReleaseError(place, f"its promise lacks {', '.join(missing)}")
    try:
        return kind(**{name: _promise(place, value) if isinstance(value, dict) else value for name, value in known.items()})
    except (TypeError, ValueError) as error:
        raise ReleaseError(place, f"its promise cannot be understood ({error})") from None

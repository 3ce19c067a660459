"""Release folders: what is safe to hand over, and nothing else.

    release.json    the promise, the method, the number of records, the sha256 of the other files

of generalized records

    data.csv        record,item (of bags record,item,count); or data.dat, data.parquet
    hierarchy.csv   the tree of the items; of a tree that was built from the data only what the records show

of suppressed records

    data.csv        record,item; or data.dat, data.parquet

of vocabularies

    data.csv        record,item,count; or data.dat, data.parquet
    slots.csv       slot,item,count: what each published item stands for, when these are slots
    hierarchy.csv   the tree, when published items are nodes; as of generalized records

of disassociated data

    data.jsonl      one top-level cluster per line; or clusters.parquet, subrecords.parquet, terms.parquet

Records are numbered 1 to N in a shuffled order; a number without rows is an empty record. Clusters stand in an order that depends on what
they say alone. Nothing of the input's order, identifiers or times is written.
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

from setveil.disk import new_folder
from setveil.errors import DataError, ReleaseError
from setveil.io.releases.clusterlines import parse_json
from setveil.io.releases.disassociated import DISASSOCIATED
from setveil.io.releases.form import Choices, ReleaseForm
from setveil.io.releases.generalized import GENERALIZED
from setveil.io.releases.rows import MOST_RECORDS
from setveil.io.releases.suppressed import SUPPRESSED
from setveil.io.releases.typical_bags import TYPICAL_BAGS
from setveil.promises import PROMISES, Promise
from setveil.published import Release

ABOUT = "release.json"
FORMS: dict[str, ReleaseForm] = {
    form.name: form for form in (GENERALIZED, SUPPRESSED, TYPICAL_BAGS, DISASSOCIATED)
}
"""How each published form lies in a folder."""
RELEASE_FORMATS = {name: form.formats[name] for form in FORMS.values() for name in form.formats}
"""Every format that some release may have -> the names of its data files."""


def write_release(
    release: Release,
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
        format: Of records `csv` (default), `fimi` or `parquet`; of disassociated data `jsonl` (default) or `parquet`.
        force: Whether a release that is there already may be replaced.
        seed: Makes the order of the records repeatable; by default it comes from the system.
        public_items: Whether a tree that was built from the data's own items is published whole.
        verified: Whether the caller has verified the promise on what is written; `staged_release` gives the chance to.
    """
    FORMS[release.form].check(Choices(format=format, public_items=public_items))
    with staged_release(folder, force=force) as stage:
        fill_release(
            release, stage, format=format, seed=seed, public_items=public_items, verified=verified
        )


@contextmanager
def staged_release(folder: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary folder to fill and to verify; it takes its place when the block ends well and is removed otherwise.

    Example:
        >>> from setveil.io.releases.folder import fill_release, read_release, staged_release
        >>> def publish(release, folder):
        ...     with staged_release(folder) as stage:
        ...         fill_release(release, stage, verified=True)
        ...         if read_release(stage) != release:
        ...             raise RuntimeError("not what was meant")
    """
    with new_folder(Path(folder), force=force, is_ours=ABOUT) as stage:
        yield stage


def fill_release(
    release: Release,
    stage: Path,
    *,
    format: str | None = None,
    seed: int | None = None,
    public_items: bool = False,
    verified: bool = False,
) -> None:
    """Write the files of a release into an empty folder; see `write_release`."""
    choices = Choices(format=format, seed=seed, public_items=public_items)
    form = FORMS[release.form]
    form.check(choices)
    names, facts = form.fill(release, stage, choices)
    about = _about(release, names, facts, stage, verified)
    (stage / ABOUT).write_text(
        json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
    )


def read_release(folder: str | os.PathLike[str]) -> Release:
    """The release in a folder, as anybody who was given it can read it.

    Raises:
        ReleaseError: when a file is missing, damaged, or not what `release.json` says.
    """
    place = Path(folder)
    about = _read_about(place)
    form = FORMS[about["form"]]
    form.written(place, about)
    for name, digest in about["files"].items():
        _check_file(place, name, digest)
    promise = _promise(place, about["promise"])
    form.check_promise(place, promise)
    try:
        return form.read(place, about, promise)
    except ReleaseError:
        raise
    except DataError as error:
        raise ReleaseError(place, str(error)) from None


def other_files(folder: str | os.PathLike[str]) -> list[str]:
    """What lies in a release folder beside the release, so that nobody has looked at it; sorted names."""
    place = Path(folder)
    known = {ABOUT, *_read_about(place)["files"]}
    return sorted(path.name for path in place.iterdir() if path.name not in known)


def _about(
    release: Release, names: list[str], facts: dict[str, object], stage: Path, verified: bool
) -> dict[str, object]:
    return {
        "setveil": _version(),
        "form": release.form,
        "promise": {**release.promise.to_dict(), "meaning": release.describe()},
        "method": dict(release.method),
        **release.facts,
        "records": len(release),
        **facts,
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
        raise ReleaseError(
            place, "there is no such folder" if not place.exists() else "it is no folder"
        )
    try:
        about = parse_json((place / ABOUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReleaseError(place, f"it has no {ABOUT}") from None
    except (OSError, ValueError, RecursionError):
        raise ReleaseError(place, f"{ABOUT} cannot be read") from None
    if not isinstance(about, dict):
        about = {}
    wrong = [key for key, kind in _NEEDED.items() if type(about.get(key)) is not kind]
    wrong += [
        key for key, kind in _OPTIONAL.items() if key in about and type(about[key]) is not kind
    ]
    if wrong:
        raise ReleaseError(place, f"{ABOUT} lacks {', '.join(wrong)}")
    if not 0 <= about["records"] <= MOST_RECORDS:
        raise ReleaseError(place, f"{ABOUT} names no possible number of records")
    if about["form"] not in FORMS:
        raise ReleaseError(place, f"its form {about['form']!r} is not known to this version")
    return about


_NEEDED = {"form": str, "promise": dict, "method": dict, "records": int, "files": dict}
_OPTIONAL = {
    "bags": bool,
    "hierarchy": dict,
    "semantics": dict,
    "recoding": str,
}


def _check_file(place: Path, name: str, digest: object) -> None:
    if not (place / name).is_file():
        raise ReleaseError(place, f"{name} is missing")
    if _sha256(place / name) != digest:
        raise ReleaseError(
            place, f"{name} was changed after the release was written (its sha256 differs)"
        )


def _promise(place: Path, about: dict[str, Any]) -> Promise:
    """The promise as `Promise.to_dict` gives it; one may hold another."""
    kind = PROMISES.get(str(about.get("model")))
    if kind is None:
        raise ReleaseError(
            place, f"its promise {about.get('model')!r} is not known to this version"
        )
    known = {field.name: about[field.name] for field in fields(kind) if field.name in about}
    missing = [
        field.name for field in fields(kind) if field.name not in known and field.default is MISSING
    ]
    if missing:
        raise ReleaseError(place, f"its promise lacks {', '.join(missing)}")
    try:
        return kind(
            **{
                name: _promise(place, value) if isinstance(value, dict) else value
                for name, value in known.items()
            }
        )
    except (TypeError, ValueError) as error:
        raise ReleaseError(place, f"its promise cannot be understood ({error})") from None

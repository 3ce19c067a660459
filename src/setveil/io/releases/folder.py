"""Release folders: what is published, and nothing else.

    release.json    the version of this format, the promise, the method, facts, the number of
                    records, the sha256 of the files

Generalized records

    data.csv        record,item (for bags record,item,count); or data.dat, data.parquet
    hierarchy.csv   the tree of the items; if it was built from the data, only what the records show

Suppressed records

    data.csv        record,item; or data.dat, data.parquet

Typical bags

    data.csv        record,item,count; or data.dat, data.parquet
    slots.csv       slot,item,count: what each published item contains, if published items are slots
    hierarchy.csv   the tree, if published items are nodes; as for generalized records

Disassociated data

    data.jsonl      one top-level cluster per line; or clusters, subrecords and terms.parquet

Groups of people, with columns beside their sets

    data.csv        the columns and the set of each person; or groups.csv and data.jsonl
    hierarchy.csv   the tree of the items, if they are generalized; hierarchy-NAME.csv of a column

Synthetic records

    data.csv        record,item; or data.dat, data.parquet
    supports.csv    item,other,support,scale,counted,missed,noises: noisy supports, if there are any

Records are numbered 1 to N in a shuffled order; a number without rows is an empty record. The order
of clusters depends only on what they contain. Identifiers, times and the order of the input are
never written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from setveil.data.jsontext import parse_json
from setveil.disk import listed_files, new_folder
from setveil.errors import DataError, ReleaseError, brief
from setveil.io.releases.disassociated import DISASSOCIATED
from setveil.io.releases.form import TRUTH, Choices, Fact, ReleaseFolder, ReleaseForm
from setveil.io.releases.grouped import GROUPED
from setveil.io.releases.recordforms import GENERALIZED, SUPPRESSED, SYNTHETIC, TYPICAL_BAGS
from setveil.io.releases.strict import check_keys, check_said
from setveil.io.releases.trees import check_pruned, whole_tree
from setveil.io.releases.versions import FIRST_STATED, FORMAT, SAYS_COUNTABLE, UNSTATED, updated
from setveil.promises import PROMISES, Promise
from setveil.published.countable import Countable, is_statement
from setveil.published.disassociated.clusters import MOST_RECORDS
from setveil.published.release import Release
from setveil.published.rows import with_equal_merged

ABOUT = "release.json"
FORMS: dict[str, ReleaseForm] = {
    "generalized": GENERALIZED,
    "suppressed": SUPPRESSED,
    "typical-bags": TYPICAL_BAGS,
    "disassociated": DISASSOCIATED,
    "synthetic": SYNTHETIC,
    "grouped": GROUPED,
}
"""How each form is written and read: one line per form."""
_NEEDED = {"form": str, "promise": dict, "method": dict, "records": int, "files": dict}
_VERSION = re.compile(r"\d[\w.+-]{0,40}")
_FREE = {
    "format": Fact(lambda value: type(value) is int and value >= FIRST_STATED, "a version"),
    "setveil": Fact(
        lambda value: type(value) is str and bool(_VERSION.fullmatch(value)), "a version"
    ),
    "verified": TRUTH,
    "parts": Fact(
        lambda value: (
            type(value) is list and all(type(each) is int and each >= 0 for each in value)
        ),
        "a list of numbers",
    ),
    "countable": Fact(is_statement, "what can be counted"),
    "min_people": Fact(lambda value: type(value) is int and 0 < value <= MOST_RECORDS, "a number"),
}


def release_formats() -> list[str]:
    """Every format that some form has."""
    return list(dict.fromkeys(name for form in FORMS.values() for name in form.formats))


@contextmanager
def staged_release(folder: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary folder to fill and verify; it becomes `folder` if the block succeeds.

    Example:
        >>> from setveil.io.releases.folder import fill_release, read_release, staged_release
        >>> def publish(release, folder):
        ...     with staged_release(folder) as stage:
        ...         fill_release(release, stage, verified=True)
        ...         if read_release(stage) != release:
        ...             raise RuntimeError("this is not the same release")
    """
    with new_folder(Path(folder), force=force, parts=listed_files(ABOUT)) as stage:
        yield stage


def fill_release(release: Release, stage: Path, *, verified: bool = False, **choices: Any) -> None:
    """Write the files of a release into an empty folder.

    Args:
        release: The release.
        stage: The folder; see `staged_release`.
        verified: Whether the caller verifies the promise on what is written.
        choices: The fields of `Choices`: `format`, `seed` and `public_items`.
    """
    chosen, form = Choices(**choices), FORMS[release.form]
    form.check(chosen)
    names, more = form.fill(release, stage, chosen)
    files = {name: sha256(stage / name) for name in names}
    write_about(stage, about_release(release), len(release), files, verified=verified, **more)


def about_release(release: Release) -> dict[str, object]:
    """What `release.json` says of a release and of each of its parts."""
    return {
        "format": FORMAT,
        "setveil": str(import_module("setveil").__version__),  # by name: it leads to everything
        "form": release.form,
        "promise": _said(release),
        "method": dict(release.method),
        **release.facts,
        **({"min_people": release.min_people} if release.min_people else {}),
    }


def write_about(
    stage: Path,
    said: Mapping[str, object],
    records: int,
    files: Mapping[str, str],
    *,
    verified: bool,
    **more: object,
) -> None:
    """Write `release.json`; `more` are facts of the form."""
    about = {**said, "records": records, **more, "files": dict(files), "verified": verified}
    _write_json(stage, about)


def _write_json(stage: Path, about: Mapping[str, object]) -> None:
    text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
    (stage / ABOUT).write_text(text, encoding="utf-8", newline="\n")


def read_back(stage: Path) -> tuple[Release, Countable]:
    """A release that was just written, as it is in its files, and what can be counted from it,
    which is written too."""
    release = read_rows(stage)
    found = Countable.of(with_equal_merged(release))
    state_countable(stage, found)
    return release, found


def state_countable(stage: Path, found: Countable) -> None:
    """Add to `release.json` what can be counted from a release, as it was read back."""
    about = json.loads((stage / ABOUT).read_text(encoding="utf-8"))
    last = {key: about.pop(key) for key in ("files", "verified")}
    _write_json(stage, {**about, "countable": found.to_dict(), **last})


def stated_countable(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What `release.json` says can be counted; None if its version did not say it yet."""
    about = _read_about(Path(folder))
    said = about.get("format", 0) >= SAYS_COUNTABLE
    return about.get("countable", {} if said else None)


def read_release(folder: str | os.PathLike[str]) -> Release:
    """The release in a folder, as anyone who received it can read it.

    Raises:
        ReleaseError: if a file is missing, damaged, or not what `release.json` says.
    """
    return with_equal_merged(read_rows(folder))


def read_rows(folder: str | os.PathLike[str]) -> Release:
    """The same with equal records apart, as they are in the files, for those who verify them."""
    found, form = _opened(Path(folder))
    return _read(found, form.read)


class ReleaseParts:
    """The parts of a release; each can be read as a release of its own, in any process.

    A release that is not in files that can be read apart counts as one part.

    Raises:
        ReleaseError: as `read_release`.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._whole, form = _opened(Path(folder))
        about = self._whole.about
        extra = len(self._whole.names) > len(self._whole.parts)
        self._divided = form.in_parts is not None and not extra and not about.get("bags")
        self._tree = whole_tree(self._whole) if form.has_tree and self._divided else None

    def __len__(self) -> int:
        return len(self._whole.parts) if self._divided else 1

    def read(self, number: int) -> Release:
        """One part, with equal records apart."""
        form = FORMS[self._whole.about["form"]]
        if not self._divided or form.in_parts is None:
            return _read(self._whole, form.read)
        part, in_parts = self._whole.parts[number], form.in_parts
        alone = {**self._whole.about, "records": part.size, "parts": [part.size]}
        inside = replace(self._whole, about=alone, names=(part.path.name,), before=part.before)
        return _read(inside, lambda folder: in_parts.read(folder, self._tree))

    def check_shown(self, shown: Iterable[str]) -> None:
        """Refuse a tree with nodes that no part shows, if it was built from the data."""
        if self._tree is not None:
            check_pruned(self._whole, self._tree, sorted(shown))


def _opened(place: Path) -> tuple[ReleaseFolder, ReleaseForm]:
    """A folder whose files are those that were written."""
    about = _read_about(place)
    form = FORMS[about["form"]]
    names = form.data_files(place, about)
    check_keys(place, about, {*_NEEDED, *_FREE, *form.facts})
    for name, digest in about["files"].items():
        if not (place / name).is_file():
            raise ReleaseError(place, f"{name} is missing")
        if sha256(place / name) != digest:
            problem = f"{name} was changed after the release was written (its sha256 differs)"
            raise ReleaseError(place, problem)
    promise = _promise(place, about["promise"])
    form.check_promise(place, promise)
    return ReleaseFolder(place, about, names, promise), form


def _read(folder: ReleaseFolder, read: Callable[[ReleaseFolder], Release]) -> Release:
    """What is in a folder, in the words of its promise."""
    try:
        release = read(folder).leaving_out(folder.about.get("min_people", 0))
    except ReleaseError:
        raise
    except DataError as error:
        raise ReleaseError(folder.place, str(error)) from None
    check_said(folder.place, folder.about["promise"], _said(release), folder.stated)
    return release


def other_files(folder: str | os.PathLike[str]) -> list[str]:
    """The names of files in a release folder that are not part of the release, sorted."""
    place = Path(folder)
    known = {ABOUT, *_read_about(place)["files"]}
    return sorted(path.name for path in place.iterdir() if path.name not in known)


def _said(release: Release) -> dict[str, object]:
    """The promise as it is written in `release.json`."""
    words = {"meaning": release.describe(), "not_promised": release.limits()}
    return {**release.promise.to_dict(), **words}


def sha256(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_about(place: Path) -> dict[str, Any]:
    if not place.is_dir():
        missing = "there is no such folder" if not place.exists() else "it is not a folder"
        raise ReleaseError(place, missing)
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
        key for key, fact in _FREE.items() if key in about and not fact.is_allowed(about[key])
    ]
    if not wrong and "format" not in about and about.get("setveil") not in UNSTATED:
        wrong.append("format")
    if wrong:
        raise ReleaseError(place, f"{ABOUT} lacks {', '.join(wrong)}")
    if about.get("format", 0) > FORMAT:
        newer = f"its format {about['format']} is newer than {FORMAT}, the last this setveil reads"
        raise ReleaseError(place, f"{newer}: install a newer setveil")
    about = about if "format" in about else updated(about)
    if not 0 <= about["records"] <= MOST_RECORDS:
        raise ReleaseError(place, f"{ABOUT} has an impossible number of records")
    if sum(about.get("parts", [about["records"]])) != about["records"]:
        raise ReleaseError(place, f"in {ABOUT}, the parts do not have as many records as it says")
    if about["form"] not in FORMS:
        raise ReleaseError(place, f"this version does not know its form {brief(about['form'])}")
    return about


def _promise(place: Path, about: dict[str, Any]) -> Promise:
    """The promise as `Promise.to_dict` gives it; one may contain another."""
    model = about.get("model")
    kind = PROMISES.get(str(model))
    if kind is None:
        raise ReleaseError(place, f"this version does not know its promise {brief(model)}")
    known = {each.name: about[each.name] for each in fields(kind) if each.name in about}
    required = (each.name for each in fields(kind) if each.default is MISSING)
    missing = [name for name in required if name not in known]
    if missing:
        raise ReleaseError(place, f"its promise lacks {', '.join(missing)}")
    parts = {name: _promise(place, each) for name, each in known.items() if isinstance(each, dict)}
    try:
        return kind(**known | parts)
    except (TypeError, ValueError) as error:
        raise ReleaseError(place, f"its promise is not valid ({error})") from None

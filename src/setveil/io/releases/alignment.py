"""The private alignment file: line i says what was published of original record i."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from setveil.data.transactions import Transactions
from setveil.disk import new_file
from setveil.errors import DataError, FileFormatError, OutputError, ParameterError
from setveil.io.releases.folder import FORMS
from setveil.io.releases.links import Links
from setveil.io.writing import write_lines
from setveil.published.release import Release

NO_LINKS = "this form of release does not link originals to what is published of them"


def write_alignment(
    release: Release,
    original: Transactions,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> None:
    """Write what was published of each original record, to a file that only its owner can read.

    A line has the items of the published record as CSV cells, as in the format `baskets` (an empty
    record is two quotes); for disassociated data, the number of its cluster in the files.

    Args:
        release: A release that has just been made, so that its alignment is known.
        original: The data it was made from.
        path: The file; it may not be inside a release folder.
        force: Whether to replace a file that exists.
        folder: The release folder, if it does not exist yet.

    Raises:
        ParameterError: if the form cannot have an alignment.
    """
    target, links = Path(path), _links(release, path)
    above = (*target.absolute().parents, *target.resolve().parents)
    homes = [parent for parent in above if (parent / "release.json").is_file()]
    if homes or (folder is not None and target.resolve().is_relative_to(Path(folder).resolve())):
        raise OutputError(target, "the alignment is private and must not be in a release folder")
    if release.alignment is None or len(release.alignment) != len(original):
        problem = "this release does not know which original record became which published one"
        raise DataError(f"{problem}: only one that has just been made from this data does")
    with new_file(target, force=force, mode=0o600) as temporary:
        write_lines(links.lines(release), temporary)


def with_alignment(release: Release, path: str | os.PathLike[str]) -> Release:
    """The release with the alignment from a file that `write_alignment` made.

    It does not check that records fit their originals; `verify` does.

    Raises:
        MisfitError: if a line is not a record or cluster of the release; it names the line.
        ParameterError: if the form cannot have an alignment.
    """
    alignment = _links(release, path).read(release, Path(path))
    if not len(alignment) and len(release):
        problem = "the file is empty; an alignment has a line for each record"
        raise FileFormatError(str(path), problem)
    return replace(release, alignment=alignment)  # type: ignore[type-var]


def _links(release: Release, path: object) -> Links:
    found = FORMS[release.form].links
    if found is None:
        raise ParameterError("alignment", str(path), NO_LINKS)
    return found

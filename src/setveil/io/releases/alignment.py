"""The private alignment file: line i is the published record of original record i."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from setveil.data.transactions import Bags, Transactions
from setveil.disk import new_file
from setveil.errors import DataError, FileFormatError, MisfitError, OutputError, ParameterError
from setveil.io.files import read
from setveil.io.formats.delimited import write_baskets
from setveil.io.writing import write_lines
from setveil.published.release import RecordRelease, Release

NO_RECORDS = (
    "this release does not have one published record for each original record; an alignment would "
    "only link records to clusters"
)


def write_alignment(
    release: Release,
    original: Transactions,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> None:
    """Write the published record of each original record, to a file that only its owner can read.

    A line has the items as CSV cells, as in the format `baskets`; an empty record is two quotes.

    Args:
        release: A release that has just been made, so that its alignment is known.
        original: The data it was made from.
        path: The file; it may not be inside a release folder.
        force: Whether to replace a file that exists.
        folder: The release folder, if it does not exist yet.

    Raises:
        ParameterError: if the form does not have one record for each original.
    """
    target = Path(path)
    if not isinstance(release, RecordRelease):
        raise ParameterError("alignment", str(target), NO_RECORDS)
    above = (*target.absolute().parents, *target.resolve().parents)
    homes = [parent for parent in above if (parent / "release.json").is_file()]
    if homes or (folder is not None and target.resolve().is_relative_to(Path(folder).resolve())):
        raise OutputError(target, "the alignment is private and must not be in a release folder")
    if release.alignment is None or len(release.alignment) != len(original):
        problem = "this release does not know which original record became which published one"
        raise DataError(f"{problem}: only one that has just been made from this data does")
    lines = list(write_baskets(release.classes))
    with new_file(target, force=force, mode=0o600) as temporary:
        write_lines((lines[number] for number in release.alignment.tolist()), temporary)


def with_alignment(release: Release, path: str | os.PathLike[str]) -> RecordRelease:
    """The release with the alignment from a file that `write_alignment` made.

    It does not check that records fit their originals; `verify` does.

    Raises:
        MisfitError: if a line is not a record of the release; it names the line.
        ParameterError: if the form does not have one record for each original.
    """
    if not isinstance(release, RecordRelease):
        raise ParameterError("alignment", str(path), NO_RECORDS)
    rows = read(path, format="baskets", bags=isinstance(release.classes, Bags))
    if not len(rows) and len(release):
        problem = "the file is empty; an alignment has a line for each record"
        raise FileFormatError(str(path), problem)
    numbers = {key: number for number, key in enumerate(_keys(release.classes))}
    alignment = np.empty(len(rows), dtype=np.int64)
    for line, key in enumerate(_keys(rows)):
        if key not in numbers:
            problem = f"line {line + 1} of {path} is not a record of the release"
            raise MisfitError(problem, published=rows.record(line))
        alignment[line] = numbers[key]
    return replace(release, alignment=alignment)  # type: ignore[type-var]


def _keys(rows: Transactions) -> list[frozenset[tuple[str, int]]]:
    """Each record as the set of its items with their counts."""
    counts = rows.counts.tolist() if isinstance(rows, Bags) else [1] * len(rows.items)
    labels = [rows.vocabulary.labels[item] for item in rows.items.tolist()]
    pairs, bounds = list(zip(labels, counts, strict=True)), rows.indptr.tolist()
    return [frozenset(pairs[start:stop]) for start, stop in zip(bounds, bounds[1:], strict=False)]

"""The private alignment file: line i says what was published of original record i; an empty one,
that nothing was, since at most some records of each person are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.disk import new_file
from setveil.errors import DataError, FileFormatError, MisfitError, OutputError, ParameterError
from setveil.io.files import read
from setveil.io.formats.csvlines import write_baskets
from setveil.io.formats.delimited import csv_rows
from setveil.io.writing import write_lines
from setveil.published.disassociated.form import Disassociated
from setveil.published.release import RecordRelease, Release


class Links(NamedTuple):
    """How the alignment of a form is written and read."""

    lines: Callable[[Any], Iterable[str]]
    """The line of each original record."""
    read: Callable[[Any, Path], Int64s]
    """The alignment from a file of such lines."""


def _record_lines(release: RecordRelease) -> Iterable[str]:
    """The items as CSV cells, as in the format `baskets`; an empty record is two quotes."""
    assert release.alignment is not None
    lines = list(write_baskets(release.classes))
    return (lines[number] for number in release.alignment.tolist())


def _read_records(release: RecordRelease, path: Path) -> Int64s:
    kind = Bags if isinstance(release.classes, Bags) else Transactions
    if release.promise.records_per_person is not None:
        with path.open(encoding="utf-8", newline="") as stream:
            cells = list(csv_rows(stream, str(path)))
        there = np.flatnonzero([bool(row) for row in cells])
        found = np.full(len(cells), NOTHING, dtype=np.int64)
        held = kind.of([list(filter(None, cells[line])) for line in there.tolist()])
        found[there] = _numbers(release, path, held, there)
        return found
    rows = read(path, format="baskets", bags=kind is Bags)
    return _numbers(release, path, rows, np.arange(len(rows)))


def _numbers(release: RecordRelease, path: Path, rows: Transactions, lines: Int64s) -> Int64s:
    """The distinct record of each of these rows, which are lines of the file."""
    numbers = {key: number for number, key in enumerate(_keys(release.classes))}
    alignment = np.empty(len(rows), dtype=np.int64)
    for line, key in enumerate(_keys(rows)):
        if key not in numbers:
            problem = f"line {lines[line] + 1} of {path} is not a record of the release"
            raise MisfitError(problem, published=rows.record(line))
        alignment[line] = numbers[key]
    return alignment


def _keys(rows: Transactions) -> list[frozenset[tuple[str, int]]]:
    """Each record as the set of its items with their counts."""
    counts = rows.counts.tolist() if isinstance(rows, Bags) else [1] * len(rows.items)
    labels = [rows.vocabulary.labels[item] for item in rows.items.tolist()]
    pairs, bounds = list(zip(labels, counts, strict=True)), rows.indptr.tolist()
    return [frozenset(pairs[start:stop]) for start, stop in zip(bounds, bounds[1:], strict=False)]


def _cluster_lines(release: Disassociated) -> Iterable[str]:
    """The number of the cluster in the files: from 1, each joint cluster before its parts."""
    assert release.alignment is not None
    place = np.empty(len(release.parent), dtype=np.int64)
    place[release.order.nodes] = np.arange(1, len(place) + 1)
    return map(str, place[release.alignment].tolist())


def _read_clusters(release: Disassociated, path: Path) -> Int64s:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(str(path), f"the file cannot be read ({error})") from None
    nodes = release.order.nodes
    if lines[-1] == "":
        lines.pop()
    may_lack = release.promise.records_per_person is not None
    for number, line in enumerate(lines, start=1):
        if may_lack and not line:
            continue
        if not _NUMBER.fullmatch(line) or int(line) > len(nodes):
            raise MisfitError(f"line {number} of {path} is not a cluster of the release")
    held = np.array([line or 0 for line in lines], dtype=np.int64)
    return np.where(held > 0, nodes[held - 1], NOTHING)


NOTHING = -1
"""Of an original record of which nothing was published."""
_NUMBER = re.compile("[1-9][0-9]{0,17}")

RECORD_LINKS = Links(_record_lines, _read_records)
CLUSTER_LINKS = Links(_cluster_lines, _read_clusters)


NO_LINKS = "this form of release does not link originals to what is published of them"


def write_alignment(
    release: Release,
    original: Transactions,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    folder: str | os.PathLike[str] | None = None,
    kept: Flags | None = None,
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
        kept: Which of all records these are, if others were left out; those get empty lines.

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
        write_lines(_spread(links.lines(release), kept), temporary)


def _spread(lines: Iterable[str], kept: Flags | None) -> Iterable[str]:
    """The lines of the records that were kept, and an empty one for each other."""
    if kept is None:
        return lines
    held = iter(lines)
    return (next(held) if is_kept else "" for is_kept in kept.tolist())


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
    from setveil.io.releases.folder import FORMS  # its forms have links

    found = FORMS[release.form].links
    if found is None:
        raise ParameterError("alignment", str(path), NO_LINKS)
    return found

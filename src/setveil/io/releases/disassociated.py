"""The folder of disassociated data, with JSON lines or Parquet tables; bare files of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setveil.data.account import Account
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, FileFormatError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.compiled.clustertext import SHORT, read_text, write_text
from setveil.io.files import read_opened
from setveil.io.formats.jsonl import json_lines
from setveil.io.releases.clustertables import TABLES, read_cluster_tables, write_cluster_tables
from setveil.io.releases.form import Choices, Fact, PartFile, PartForm, ReleaseFolder, ReleaseForm
from setveil.io.releases.links import CLUSTER_LINKS
from setveil.io.releases.strict import check_lines
from setveil.io.source.source import Source, open_source
from setveil.io.writing import write_lines
from setveil.promises.promise import Promise
from setveil.published.disassociated.canonical import together
from setveil.published.disassociated.clusters import FlatArrays, Flattening, no_collecting
from setveil.published.disassociated.form import Disassociated


def fill_disassociated(
    release: Disassociated, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the clusters in their canonical order, which does not depend on that of the input."""
    names = DISASSOCIATED.files(choices)
    if names == TABLES:
        write_cluster_tables(release, stage)
    else:
        _write_lines(release, stage / names[0])
    return list(names), {}


def read_disassociated(folder: ReleaseFolder) -> Disassociated:
    """The release in a folder."""
    if folder.names != TABLES:
        return together([_read_lines(folder, part) for part in folder.parts])
    arrays = read_cluster_tables(folder.place)
    release = _release(folder, arrays, PartFile(folder.place / TABLES[0], 0, folder.size))
    _check_order(release)
    return release


def read_part(folder: ReleaseFolder, tree: Hierarchy | None) -> Disassociated:
    """One part of a release."""
    return _read_lines(folder, folder.parts[0])


def write_part(release: Disassociated, part: PartFile, choices: Choices) -> None:
    """Write the clusters of one part in their canonical order."""
    _write_lines(release, part.path)


def _write_lines(release: Disassociated, path: Path) -> None:
    found = write_text(release)
    if found is None:
        write_lines(release.lines(), path)
        return
    text, order = found
    release.in_order(order)
    with path.open("wb") as stream:
        stream.write(text.data)


def _read_lines(folder: ReleaseFolder, part: PartFile) -> Disassociated:
    """The clusters of one file, which must be in the order of their content."""
    found = _read_quickly(folder, part)
    if found is not None:
        return found
    with part.path.open("rb", buffering=1 << 20) as stream:
        arrays = read_cluster_lines(stream, part.path.name)
    release = _release(folder, arrays, part)
    lines = release.lines()
    if release.order.digest.hex() != folder.about.get("files", {}).get(part.path.name):
        check_lines(folder, part.path.name, lines)
    return release


def _read_quickly(folder: ReleaseFolder, part: PartFile) -> Disassociated | None:
    """The same of a large file; None if something is not as it should be."""
    if part.path.stat().st_size < SHORT:
        return None
    read = read_text(part.path.read_bytes())
    digest = folder.about.get("files", {}).get(part.path.name)
    if read is None or read[1].digest.hex() != digest:
        return None
    return _release(folder, read[0], part).in_order(read[1])


def _release(folder: ReleaseFolder, arrays: FlatArrays, part: PartFile) -> Disassociated:
    safe = "safe" in folder.about
    release = Disassociated(*arrays, folder.promise, folder.method, is_safe=safe)
    if len(release) != part.size:
        name = part.path.name
        raise DataError(f"{name} has {len(release)} records, but release.json says {part.size}")
    return release


def _check_order(release: Disassociated) -> None:
    """Refuse clusters, chunks or subrecords that are numbered otherwise than by their content."""
    given, wanted = _arrays(release), _arrays(release.arranged)
    if not all(np.array_equal(one, other) for one, other in zip(given, wanted, strict=True)):
        problem = "clusters, chunks and subrecords must be numbered in the order of their text"
        raise FileFormatError(TABLES[0], problem)


def _arrays(release: Disassociated) -> list[npt.NDArray[np.integer]]:
    rows = (release.subrecords, release.terms)
    inside = [array for each in rows for array in (each.indptr, each.items)]
    chunks = (release.chunk_node, release.subrecord_chunk, release.subrecord_counts)
    return [release.parent, release.sizes, *chunks, *inside]


DISASSOCIATED = ReleaseForm(
    name=Disassociated.form,
    formats={"jsonl": ("data.jsonl",), "parquet": TABLES},
    fill=fill_disassociated,
    read=read_disassociated,
    promises=("km-anonymity", "l-diversity"),
    in_parts=PartForm(write_part, read_part, ("jsonl",)),
    links=CLUSTER_LINKS,
    facts={"safe": Fact(lambda value: value is True, "true")},
)


def read_bare(
    path: str | Path, promise: Promise, **reading: Any
) -> tuple[Disassociated | Transactions, Account]:
    """The content of a data file, and how it was read: clusters, recognized by its first line, or
    records.

    An item that occurs several times in a record counts as often, unless `bags` says otherwise,
    since a reader of the file sees it.

    Args:
        path: The file; `-` for standard input.
        promise: What clusters shall promise, since a bare file does not say.
        reading: The options of `setveil.read`; with a `format` the file has records.
    """
    with open_source(path) as source:
        if "format" in reading or not looks_like_clusters(source.head):
            return _read_records(source, reading)
        with source.stream() as stream:
            return Disassociated(*read_cluster_lines(stream, source.name), promise, {}), Account()


def looks_like_clusters(head: bytes) -> bool:
    """Whether a file begins with a cluster: an object with `size` and `chunks`, or `shared`."""
    text = head.decode("utf-8", errors="replace").lstrip().replace(" ", "")
    simple = text.startswith('{"size":') and '"chunks":[' in text[:60]
    return simple or text.startswith('{"shared":[')


def read_cluster_lines(lines: Iterable[bytes], name: str) -> FlatArrays:
    """The clusters of a file with one top-level cluster per line; blank lines are skipped.

    Raises:
        FileFormatError: if a line is not a cluster; it names the line.
    """
    flat = Flattening()
    with no_collecting():
        for number, value in json_lines(lines, name, strict=True):
            try:
                flat.add(value)
            except DataError as error:
                raise FileFormatError(name, error.problem, line=number) from None
        return flat.arrays()


def _read_records(source: Source, given: Mapping[str, Any]) -> tuple[Transactions, Account]:
    """The records of a file; bags without repeats become sets unless the user chose bags."""
    data, account = read_opened(source, {"bags": True, **given})
    if not isinstance(data, Bags) or "bags" in given or data.counts.max(initial=1) > 1:
        return data, account
    return data.sets(), account

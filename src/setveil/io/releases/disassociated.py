"""The folder of disassociated data, with JSON lines or Parquet tables; bare files of clusters.

For large data there are flat Parquet tables, which say the same as the JSON lines:

    clusters.parquet     cluster, parent, size, chunks            one row per cluster
    subrecords.parquet   cluster, chunk, subrecord, count, item   one row per item of each subrecord
    terms.parquet        cluster, item                            one row per term

The parent of a top-level cluster is empty. Clusters are numbered in the canonical order of the JSON
lines, each before its parts; chunks within their cluster, subrecords within their chunk. So the
numbers do not depend on the order of the input."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setveil.data.account import Account
from setveil.data.arrays import Int64s, changes, positions, run_places, sums
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.disk import private_folder
from setveil.errors import DataError, FileFormatError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.files import read_opened
from setveil.io.formats.jsonl import json_lines
from setveil.io.releases.alignment import CLUSTER_LINKS
from setveil.io.releases.form import Choices, Fact, PartFile, PartForm, ReleaseFolder, ReleaseForm
from setveil.io.releases.recordfiles import check_columns
from setveil.io.releases.strict import check_lines, check_parquet
from setveil.io.source.database import copy_to_parquet, database, is_small, quoted, translated
from setveil.io.source.source import Source, open_source
from setveil.io.writing import not_unicode, write_lines
from setveil.promises.promise import Promise
from setveil.published.disassociated.canonical import together
from setveil.published.disassociated.clusters import MOST_RECORDS, FlatArrays, Flattening, repeated
from setveil.published.disassociated.form import Disassociated

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CLUSTERS, SUBRECORDS, TERMS = TABLES = ("clusters.parquet", "subrecords.parquet", "terms.parquet")

TWICE = "a subrecord occurs twice in a chunk; list it once, with its count"

Columns = dict[str, npt.NDArray[Any]]


def write_cluster_tables(release: Disassociated, folder: Path) -> None:
    """Write the three tables into a folder, rows in canonical order."""
    order = release.order
    place = positions(order.nodes)
    chunk_node = place[release.chunk_node[order.chunks]]
    rows = release.subrecords.take(order.subrecords)
    row_chunk = positions(order.chunks)[release.subrecord_chunk[order.subrecords]]
    parent = release.parent[order.nodes]
    clusters = {
        "cluster": np.arange(1, len(place) + 1),
        "parent": np.where(parent < 0, 0, place[parent] + 1) if len(place) else parent,
        "size": release.sizes[order.nodes],
        "chunks": np.bincount(chunk_node, minlength=len(place)),
    }
    subrecords = {
        "cluster": chunk_node[row_chunk] + 1,
        "chunk": run_places(chunk_node)[row_chunk] + 1,
        "subrecord": run_places(row_chunk) + 1,
        "count": release.subrecord_counts[order.subrecords],
    }
    spread = {name: np.repeat(column, rows.lengths) for name, column in subrecords.items()}
    held = {"cluster": place[release.terms.rows] + 1}
    _check_encodable(release.items)
    with private_folder() as work, database(work, threads=1) as connection:
        select = "SELECT cluster, nullif(parent, 0) AS parent, size, chunks FROM given"
        _copy(connection, clusters, select, folder / CLUSTERS)
        _copy_items(connection, spread, rows, folder / SUBRECORDS)
        _copy_items(connection, held, release.terms, folder / TERMS)


def read_cluster_tables(folder: Path) -> FlatArrays:
    """The clusters of the three tables.

    Raises:
        FileFormatError: if a table lacks a column or is inconsistent; it names the table.
    """
    of_subrecords = ("cluster", "chunk", "subrecord", "count", "item")
    paths = (folder / CLUSTERS, folder / SUBRECORDS, folder / TERMS)
    small = all(is_small(path, packed=True) for path in paths)
    with private_folder() as work, database(work, small=small) as connection:
        clusters = _fetch(connection, folder / CLUSTERS, ("cluster", "parent", "size", "chunks"))
        entries = _fetch(connection, folder / SUBRECORDS, of_subrecords, sort_by=3)
        terms = _fetch(connection, folder / TERMS, ("cluster", "item"))
    parent, sizes = _forest(clusters)
    vocabulary = Vocabulary.of({*entries["item"].tolist(), *terms["item"].tolist()})
    subrecords, chunk_of, counts = _subrecords(entries, clusters["chunks"], vocabulary)
    chunk_node = np.repeat(np.arange(len(parent)), clusters["chunks"])
    cluster = terms["cluster"] - 1
    simple = np.ones(len(parent), dtype=bool)
    simple[parent[parent >= 0]] = False
    fits = ((cluster >= 0) & (cluster < len(parent))).all() and simple[cluster].all()
    _need(fits, TERMS, f"a row does not belong to a simple cluster of {CLUSTERS}")
    held = _rows(TERMS, cluster, terms["item"], vocabulary, len(parent))
    return FlatArrays(parent, sizes, chunk_node, subrecords, chunk_of, counts, held)


def _copy(connection: DuckDBPyConnection, columns: Columns, select: str, target: Path) -> None:
    connection.register("given", columns)
    copy_to_parquet(connection, select, target)
    connection.unregister("given")


def _copy_items(
    connection: DuckDBPyConnection, columns: Columns, rows: Transactions, target: Path
) -> None:
    """Write the columns together with the item of each entry of `rows`."""
    labels = [*rows.vocabulary.labels, ""]
    words = {"number": np.arange(len(labels)), "label": np.array(labels, dtype=object)}
    connection.register("words", words)
    named = ", ".join(columns)
    joined = "given JOIN words USING (number)"
    select = f"SELECT {named}, CAST(label AS VARCHAR) AS item FROM {joined} ORDER BY {named}, item"
    _copy(connection, {**columns, "number": rows.items.astype(np.int64)}, select, target)
    connection.unregister("words")


def _check_encodable(labels: Iterable[str]) -> None:
    try:
        "".join(labels).encode("utf-8")
    except UnicodeEncodeError as error:
        raise not_unicode(error) from None


def _fetch(
    connection: DuckDBPyConnection, path: Path, columns: tuple[str, ...], *, sort_by: int = 1
) -> Columns:
    """The columns of a table, sorted by the first of them; only a `parent` may be empty, then 0."""
    types = {column: "VARCHAR" if column == "item" else "BIGINT" for column in columns}
    chosen = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in types.items())
    table, order = f"read_parquet({quoted(path)})", ", ".join(columns[:sort_by])
    with translated(path.name):
        check_columns(connection, table, path.name, columns)
        check_parquet(connection, path, path.name)
        select = f"SELECT {chosen} FROM {table} ORDER BY {order}"
        found = connection.execute(select).fetchnumpy()
    for name, values in found.items():
        is_text = types[name] == "VARCHAR"
        empty = (
            [not isinstance(item, str) for item in values]
            if is_text
            else np.ma.getmaskarray(values)
        )
        if name != "parent" and np.any(empty):
            raise FileFormatError(path.name, f"a row has no {name}")
    if "parent" in found:
        found["parent"] = np.ma.filled(found["parent"], 0)
    return {name: np.asarray(values) for name, values in found.items()}


def _forest(clusters: Columns) -> tuple[Int64s, Int64s]:
    """The parent and the size of each cluster."""
    number, parent, sizes, chunks = (
        clusters[name] for name in ("cluster", "parent", "size", "chunks")
    )
    is_whole = (number == np.arange(1, len(number) + 1)).all()
    _need(is_whole, CLUSTERS, "the clusters must be numbered from 1, each once")
    is_before = ((parent >= 0) & (parent < number)).all()
    _need(is_before, CLUSTERS, "each parent must be the number of a cluster before its part")
    fits = ((sizes >= 1) & (sizes <= MOST_RECORDS)).all()
    _need(fits, CLUSTERS, "the size of a cluster must be a whole number of 1 or more")
    fits = ((chunks >= 0) & (chunks <= MOST_RECORDS)).all() and chunks.sum() <= MOST_RECORDS
    _need(fits, CLUSTERS, "the number of chunks of a cluster must be a whole number of 0 or more")
    inner = parent > 0
    inside = sums(parent[inner] - 1, sizes[inner], len(number))
    for at in np.flatnonzero((inside > 0) & (inside != sizes))[:1]:
        problem = f"cluster {number[at]} has {sizes[at]} records, but its parts have {inside[at]}"
        raise FileFormatError(CLUSTERS, problem)
    return parent - 1, sizes


def _need(holds: bool | np.bool_, table: str, problem: str) -> None:
    if not holds:
        raise FileFormatError(table, problem)


def _subrecords(
    entries: Columns, chunks: Int64s, vocabulary: Vocabulary
) -> tuple[Transactions, Int64s, Int64s]:
    """The subrecords, the chunk of each and how often each occurs in it."""
    cluster, chunk, subrecord, count = (
        entries[name] for name in ("cluster", "chunk", "subrecord", "count")
    )
    is_there = ((cluster >= 1) & (cluster <= len(chunks))).all()
    is_there = is_there and ((chunk >= 1) & (chunk <= chunks[cluster - 1])).all()
    _need(is_there, SUBRECORDS, f"a row belongs to a chunk that {CLUSTERS} does not have")
    fits = ((count >= 1) & (count <= MOST_RECORDS)).all()
    _need(fits, SUBRECORDS, "each count must be a whole number of 1 or more")
    owner = np.cumsum(chunks)[cluster - 1] - chunks[cluster - 1] + chunk - 1
    begins = changes(owner) | changes(subrecord)
    row = np.cumsum(begins) - 1
    is_one = (count == count[begins][row]).all()
    _need(is_one, SUBRECORDS, "the rows of one subrecord have different counts")
    rows = _rows(SUBRECORDS, row, entries["item"], vocabulary, int(begins.sum()))
    _need(repeated(rows, owner[begins]) is None, SUBRECORDS, TWICE)
    is_ranked = (subrecord[begins] == run_places(owner[begins]) + 1).all()
    _need(is_ranked, SUBRECORDS, "the subrecords of a chunk must be numbered from 1")
    is_full = len(np.unique(owner)) >= chunks.sum()
    _need(is_full, SUBRECORDS, f"a chunk of {CLUSTERS} has no subrecord")
    return rows, owner[begins], count[begins]


def _rows(
    name: str, owners: Int64s, items: npt.NDArray[Any], vocabulary: Vocabulary, size: int
) -> Transactions:
    numbers = vocabulary.find(items.tolist())
    rows = Transactions.from_pairs(owners, numbers, vocabulary, size=size)
    is_set = len(rows.items) == len(items)
    _need(is_set, name, "an item occurs twice in a subrecord or term chunk")
    return rows


def fill_disassociated(
    release: Disassociated, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the clusters in their canonical order, which does not depend on that of the input."""
    names = DISASSOCIATED.files(choices)
    if names == TABLES:
        write_cluster_tables(release, stage)
    else:
        write_lines(release.lines(), stage / names[0])
    return list(names), {}


def read_disassociated(folder: ReleaseFolder) -> Disassociated:
    """The release in a folder."""
    if folder.names != TABLES:
        return together([_read_lines(folder, part) for part in folder.parts])
    arrays = read_cluster_tables(folder.place)
    release = _release(folder, arrays, PartFile(folder.place / TABLES[0], 0, folder.size))
    if release.paired_as(release) is None:
        problem = "clusters, chunks and subrecords must be numbered in the order of their text"
        raise FileFormatError(TABLES[0], problem)
    return release


def read_part(folder: ReleaseFolder, tree: Hierarchy | None) -> Disassociated:
    """One part of a release."""
    return _read_lines(folder, folder.parts[0])


def write_part(release: Disassociated, part: PartFile, choices: Choices) -> None:
    """Write the clusters of one part in their canonical order."""
    write_lines(release.lines(), part.path)


def _read_lines(folder: ReleaseFolder, part: PartFile) -> Disassociated:
    """The clusters of one file, which must be in the order of their content."""
    name = part.path.name
    with part.path.open("rb", buffering=1 << 20) as stream:
        release = _release(folder, read_cluster_lines(stream, name), part)
    if release.order.digest.hex() != folder.about.get("files", {}).get(name):
        check_lines(folder, name, release.lines())
    return release


def _release(folder: ReleaseFolder, arrays: FlatArrays, part: PartFile) -> Disassociated:
    safe = "safe" in folder.about
    release = Disassociated(*arrays, folder.promise, folder.method, is_safe=safe)
    if len(release) != part.size:
        name = part.path.name
        raise DataError(f"{name} has {len(release)} records, but release.json says {part.size}")
    return release


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
        text = source.head.decode("utf-8", errors="replace").lstrip().replace(" ", "")
        simple = text.startswith('{"size":') and '"chunks":[' in text[:60]
        if "format" in reading or not (simple or text.startswith('{"shared":[')):
            return _read_records(source, reading)
        with source.stream() as stream:
            return Disassociated(*read_cluster_lines(stream, source.name), promise, {}), Account()


def read_cluster_lines(lines: Iterable[bytes], name: str) -> FlatArrays:
    """The clusters of a file with one top-level cluster per line; blank lines are skipped.

    Raises:
        FileFormatError: if a line is not a cluster; it names the line.
    """
    flat = Flattening()
    numbers = [number for number, _ in json_lines(lines, name, flat.add)]
    arrays = flat.arrays()
    twice = repeated(arrays.subrecords, arrays.subrecord_chunk)
    if twice is not None:
        at = bisect_right(flat.tops, flat.chunk_node[twice]) - 1
        raise FileFormatError(name, TWICE, line=numbers[at])
    return arrays


def _read_records(source: Source, given: Mapping[str, Any]) -> tuple[Transactions, Account]:
    """The records of a file; bags without repeats become sets unless the user chose bags."""
    data, account = read_opened(source, {"bags": True, **given})
    if not isinstance(data, Bags) or "bags" in given or data.counts.max(initial=1) > 1:
        return data, account
    return data.sets(), account

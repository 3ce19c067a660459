"""The release folder of disassociated data: `data.jsonl`, or for large data three Parquet tables; and bare files of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.io.files import read_source
from setveil.io.releases.clusterlines import looks_like_clusters, read_cluster_lines
from setveil.io.releases.clustertables import TABLES, read_cluster_tables, write_cluster_tables
from setveil.io.releases.form import Choices, ReleaseForm
from setveil.io.source.source import open_source
from setveil.io.writing import write_lines
from setveil.promises import KmAnonymity, LDiversity, Promise
from setveil.published.disassociated.form import Disassociated


def fill_disassociated(
    release: Disassociated, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the clusters in their canonical order, which nothing of the input's order is left in."""
    names = DISASSOCIATED.files(choices)
    if names == TABLES:
        write_cluster_tables(release, stage)
    else:
        write_lines(release.lines(), stage / names[0], None)
    return list(names), {}


def read_disassociated(place: Path, about: dict[str, Any], promise: Promise) -> Disassociated:
    """The release in a folder."""
    names = DISASSOCIATED.written(place, about)
    if names == TABLES:
        release = read_cluster_tables(place, promise, about["method"])
    else:
        with (place / names[0]).open("rb", buffering=1 << 20) as stream:
            release = read_cluster_lines(stream, names[0], promise, about["method"])
    if len(release) != about["records"]:
        raise DataError(
            f"{names[0]} holds {len(release)} records, but release.json says {about['records']}"
        )
    return release


DISASSOCIATED = ReleaseForm(
    Disassociated.form,
    {"jsonl": ("data.jsonl",), "parquet": TABLES},
    False,
    fill_disassociated,
    read_disassociated,
    keeps=(KmAnonymity, LDiversity),
)


def read_bare(path: str | Path, promise: Promise, **reading: Any) -> Disassociated | Transactions:
    """What a bare file holds: clusters, recognized by its first line, or records.

    An item that stands several times in a record of the file counts so often, unless `bags` says otherwise: a reader of the file sees it.

    Args:
        path: The file; `-` for standard input.
        promise: What clusters shall carry, for a file promises nothing by itself.
        reading: The options of `setveil.read`; a file whose format they name is one of records.
    """
    with open_source(path) as source:
        if "format" in reading or not looks_like_clusters(source.head):
            return _without_single_counts(
                read_source(source, **{"bags": True, **reading}), chosen="bags" in reading
            )
        with source.stream() as stream:
            return read_cluster_lines(stream, source.name, promise, {})


def _without_single_counts(data: Transactions, *, chosen: bool) -> Transactions:
    """Bags in which nothing stands twice as sets, unless the user has chosen bags."""
    return (
        data.sets()
        if isinstance(data, Bags) and not chosen and data.counts.max(initial=1) == 1
        else data
    )

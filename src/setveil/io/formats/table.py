"""The table of data formats; each is loaded only when it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.io.formats.reading import Reading
    from setveil.io.source.source import Source


@dataclass(frozen=True)
class Format:
    """One format: how it is called, recognized, read and written."""

    name: str
    suffixes: tuple[str, ...]
    """Ends of file names, before `.gz` or `.zst`."""
    description: str
    read: Callable[[Source, Reading], Transactions]
    write: Callable[[Transactions], Iterator[str]]
    """The lines of the file, each without its newline. (Parquet: of the JSON lines that DuckDB turns into it.)"""


def _later(module: str, function: str) -> Callable[..., Any]:
    """A function of a module of this folder that is imported at the first call."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"setveil.io.formats.{module}"), function)(*arguments)

    return call


FORMATS: dict[str, Format] = {
    "fimi": Format(
        "fimi",
        (".dat", ".fimi"),
        "one record per line, items separated by blanks",
        _later("fimi", "read_fimi"),
        _later("fimi", "write_fimi"),
    ),
    "csv": Format(
        "csv",
        (".csv",),
        "long table with a header: one row for each record and item (record,item[,count])",
        _later("delimited", "read_csv"),
        _later("delimited", "write_csv"),
    ),
    "tsv": Format(
        "tsv",
        (".tsv", ".tab"),
        "long table with a header and tabs between the columns",
        _later("delimited", "read_tsv"),
        _later("delimited", "write_tsv"),
    ),
    "baskets": Format(
        "baskets",
        (".baskets", ".basket"),
        "one record per line, items as CSV cells, no header",
        _later("delimited", "read_baskets"),
        _later("delimited", "write_baskets"),
    ),
    "parquet": Format(
        "parquet",
        (".parquet", ".pq"),
        "long table, or one row per record with a list of items",
        _later("parquet", "read_parquet"),
        _later("jsonl", "write_jsonl"),
    ),
    "jsonl": Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        "one JSON value per line: a list of items, an object with such a list, or an object per record and item",
        _later("jsonl", "read_jsonl"),
        _later("jsonl", "write_jsonl"),
    ),
}

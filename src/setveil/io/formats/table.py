"""The table of input formats: one line per format. Its functions are loaded when they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.data.arrays import Int64s
    from setveil.data.transactions import Transactions
    from setveil.io.formats.guess import Sample
    from setveil.io.formats.reading import Reading
    from setveil.io.source.source import Source

Function = Callable[..., Any] | str
"""A function, or where it is: `package.module:function`."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format: its name, and how its files are recognized, read and written."""

    name: str
    suffixes: tuple[str, ...]
    """Ends of file names, before `.gz` or `.zst`; new files get the first."""
    reader: Function
    """(Source, Reading) -> Transactions."""
    writer: Function
    """Transactions -> the lines of the file. For a binary format: writes (Transactions, Path)."""
    recognizer: Function | None = None
    """Sample -> how likely a file is of this format; see `setveil.io.formats.guess`."""
    suffix_decides: bool = True
    """Whether a suffix alone settles it; otherwise the recognizer does."""
    is_text: bool = True
    holds_people: bool = False
    """Whether a file can say which person each record belongs to."""
    holds_returns: bool = True
    """Whether an item with a carriage return can be read from a `.zst` file, too."""

    def read(self, source: Source, reading: Reading) -> Transactions:
        data: Transactions = _loaded(self.reader)(source, reading)
        return data

    def lines(self, data: Transactions, people: Int64s | None = None) -> Iterable[str]:
        given = (data,) if people is None else (data, people)
        lines: Iterable[str] = _loaded(self.writer)(*given)
        return lines

    def write_file(self, data: Transactions, target: Path) -> None:
        _loaded(self.writer)(data, target)

    def recognize(self, sample: Sample) -> int:
        return int(_loaded(self.recognizer)(sample)) if self.recognizer else 0


def _loaded(function: Function) -> Callable[..., Any]:
    if callable(function):
        return function
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


_HERE = "setveil.io.formats"

FORMATS: dict[str, Format] = {
    "fimi": Format(
        name="fimi",
        suffixes=(".dat", ".fimi"),
        reader=f"{_HERE}.fimi:read_fimi",
        writer=f"{_HERE}.fimi:write_fimi",
        recognizer=f"{_HERE}.fimi:recognize_fimi",
        suffix_decides=False,
    ),
    "csv": Format(
        name="csv",
        suffixes=(".csv",),
        reader=f"{_HERE}.delimited:read_csv",
        writer=f"{_HERE}.csvlines:write_csv",
        recognizer=f"{_HERE}.delimited:recognize_csv",
        suffix_decides=False,
        holds_people=True,
    ),
    "tsv": Format(
        name="tsv",
        suffixes=(".tsv", ".tab"),
        reader=f"{_HERE}.delimited:read_tsv",
        writer=f"{_HERE}.csvlines:write_tsv",
        recognizer=f"{_HERE}.delimited:recognize_tsv",
        suffix_decides=False,
        holds_people=True,
    ),
    "baskets": Format(
        name="baskets",
        suffixes=(".baskets", ".basket"),
        reader=f"{_HERE}.delimited:read_baskets",
        writer=f"{_HERE}.csvlines:write_baskets",
        recognizer=f"{_HERE}.delimited:recognize_baskets",
        holds_returns=False,
    ),
    "arff": Format(
        name="arff",
        suffixes=(".arff",),
        reader=f"{_HERE}.arff:read_arff",
        writer=f"{_HERE}.arff:write_arff",
        recognizer=f"{_HERE}.arff:recognize_arff",
    ),
    "parquet": Format(
        name="parquet",
        suffixes=(".parquet", ".pq"),
        reader=f"{_HERE}.parquet:read_parquet",
        writer=f"{_HERE}.parquet:write_parquet",
        recognizer=f"{_HERE}.parquet:recognize_parquet",
        is_text=False,
    ),
    "jsonl": Format(
        name="jsonl",
        suffixes=(".jsonl", ".ndjson"),
        reader=f"{_HERE}.jsonl:read_jsonl",
        writer=f"{_HERE}.jsonl:write_jsonl",
        recognizer=f"{_HERE}.jsonl:recognize_jsonl",
    ),
}

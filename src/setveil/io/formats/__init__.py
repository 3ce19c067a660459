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


def _format(name: str, suffixes: tuple[str, ...], modules: str, **more: bool) -> Format:
    """A format whose functions are `read_NAME` and so on, in one module or in two."""
    reading, writing = (f"setveil.io.formats.{module}" for module in (modules.split() * 2)[:2])
    return Format(
        name=name,
        suffixes=suffixes,
        reader=f"{reading}:read_{name}",
        writer=f"{writing}:write_{name}",
        recognizer=f"{reading}:recognize_{name}",
        **more,
    )


_TABLES = "delimited csvlines"
FORMATS: dict[str, Format] = {
    "fimi": _format("fimi", (".dat", ".fimi"), "fimi", suffix_decides=False),
    "csv": _format("csv", (".csv",), _TABLES, suffix_decides=False, holds_people=True),
    "tsv": _format("tsv", (".tsv", ".tab"), _TABLES, suffix_decides=False, holds_people=True),
    "baskets": _format("baskets", (".baskets", ".basket"), _TABLES),
    "arff": _format("arff", (".arff",), "arff"),
    "parquet": _format("parquet", (".parquet", ".pq"), "parquet", is_text=False),
    "jsonl": _format("jsonl", (".jsonl", ".ndjson"), "jsonl"),
}

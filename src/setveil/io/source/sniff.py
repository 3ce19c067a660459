"""Guess the format of a data file from its name and its content, or say that it cannot be told."""

from __future__ import annotations

import re

from setveil.data.tables.columns import looks_long
from setveil.errors import FileFormatError
from setveil.io.formats import parquet
from setveil.io.formats.delimited import DELIMITERS, guess_delimiter, header, header_text
from setveil.io.formats.reading import Reading
from setveil.io.formats.table import FORMATS
from setveil.io.source.source import Source

_ALL_NUMBERS = re.compile(r"[0-9\s]+\Z", re.ASCII)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def guess_format(source: Source, reading: Reading) -> str:
    """The name of the format.

    The content decides where it can: a Parquet file, JSON lines, the header of a long table. Else the end of the name does, and for
    names that say nothing whether the lines hold numbers only, or cells in numbers that differ from line to line.
    """
    head = source.head
    by_name = next(
        (format.name for format in FORMATS.values() if source.suffix in format.suffixes), None
    )
    if head.startswith(parquet.MAGIC) or by_name == "parquet":
        return "parquet"
    _refuse_binary(source, head)
    text = header_text(source).lstrip("\n")
    if by_name in ("jsonl", "baskets"):
        return by_name
    if re.match(r"\s*[\[{]", text) and by_name is None:
        return "jsonl"
    long = _long_format(text, source, reading)
    if long or by_name == "fimi":
        return long or "fimi"
    return _lines_format(source, text, by_name)


def _refuse_binary(source: Source, head: bytes) -> None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(
            source.name,
            "the text is UTF-16, not UTF-8: convert it, for example with iconv -f utf-16 -t utf-8",
        )
    if b"\0" in head or head.startswith(b"PK\x03\x04"):
        raise FileFormatError(
            source.name,
            "this is a binary file of no known format: export it as CSV or Parquet first",
        )


def _long_format(text: str, source: Source, reading: Reading) -> str | None:
    """`csv` or `tsv` when the first line is the header of a long table, or the options name its columns."""
    first = text.split("\n", 1)[0]
    delimiter = guess_delimiter(first, DELIMITERS["csv"])
    if not reading.names_columns and not looks_long(header(text, delimiter)):
        return None
    return "tsv" if delimiter == "\t" else "csv"


def _lines_format(source: Source, text: str, by_name: str | None) -> str:
    """Basket lines or FIMI, when that is obvious."""
    if not text.strip():
        problem = "its first line must name the columns" if by_name else "nothing tells its format"
        raise FileFormatError(source.name, f"the file is empty: {problem}")
    if by_name is None and _ALL_NUMBERS.match(text):
        return "fimi"
    lines = _QUOTED.sub("x", text).rstrip("\n").split("\n")
    lines = lines[:-1] if len(lines) > 1 and len(text) >= 1 << 15 else lines
    widths = {line.count(guess_delimiter(text, ",;|\t")) + 1 for line in lines if line}
    if len(widths) > 1 or (widths == {1} and by_name is not None):
        return "baskets"
    raise FileFormatError(
        source.name,
        "it cannot be told whether each line is a record or a record and one item: name the columns (record=..., item=...) "
        "or the format (format='baskets')",
    )

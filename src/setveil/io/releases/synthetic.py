"""The folder of a synthetic release: `data.csv` (or `.dat`, `.parquet`), and `supports.csv`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from setveil.errors import DataError, FileFormatError
from setveil.io.formats.csvlines import csv_cell
from setveil.io.formats.delimited import csv_rows
from setveil.io.releases.form import RECORD_FORMATS, Choices, Fact, ReleaseFolder, ReleaseForm
from setveil.io.releases.records import read_records, write_records
from setveil.io.releases.strict import check_lines
from setveil.io.writing import write_lines
from setveil.published.disassociated.clusters import MOST_RECORDS
from setveil.published.ledger import MOST_SCALE, Expense, is_ledger
from setveil.published.synthetic import NoisySupport, Synthetic

SUPPORTS = "supports.csv"
_OLD_HEADER = ["item", "other", "support", "scale"]
"""Before version 9 of the format."""
_HEADER = [*_OLD_HEADER, "counted", "missed", "noises"]
_COUNTED = 9
"""The first version of the format that says what was counted."""
_COUNT = re.compile("0|[1-9][0-9]{0,17}")
_NOISY = re.compile("0|-?[1-9][0-9]{0,17}")
_NOISES = re.compile("[0-9]|1[0-6]")
"""Each range of ranks ends 4 times as far, so 16 are enough for all the items that can be held."""


def fill_synthetic(
    release: Synthetic, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the records in a random order, and the noisy supports."""
    (name,) = SYNTHETIC.files(choices)
    write_records(release.records(choices.seed), stage / name)
    if not release.supports:
        return [name], {}
    write_lines(_support_lines(release.supports), stage / SUPPORTS)
    return [name, SUPPORTS], {}


def read_synthetic(folder: ReleaseFolder) -> Synthetic:
    """The release in a folder."""
    for fact in ("ledger", "people"):
        if fact not in folder.about:
            raise folder.fault(f"release.json has no {fact}, without which noise cannot be judged")
    rows, weights = read_records(folder, bags=False)
    header = _HEADER if (folder.stated or 0) >= _COUNTED else _OLD_HEADER
    supports = _read_supports(folder.place / SUPPORTS, header) if folder.has(SUPPORTS) else []
    release = Synthetic.of_rows(
        rows,
        folder.promise,
        folder.method,
        weights=weights,
        as_read=True,
        people=folder.about.get("people", 0),
        ledger=[Expense.from_dict(entry) for entry in folder.about["ledger"]],
        supports=supports,
    )
    if folder.has(SUPPORTS):
        check_lines(folder, SUPPORTS, _support_lines(release.supports))
    return release


SYNTHETIC = ReleaseForm(
    name=Synthetic.form,
    formats=RECORD_FORMATS,
    fill=fill_synthetic,
    read=read_synthetic,
    promises=("differential-privacy",),
    has_public_items=True,
    beside=(SUPPORTS,),
    facts={
        "people": Fact(
            lambda value: type(value) is int and 0 <= value <= MOST_RECORDS, "a number of records"
        ),
        "ledger": Fact(is_ledger, "a list of what was counted, its noise and its share of epsilon"),
    },
)


def _support_lines(supports: Sequence[NoisySupport]) -> Iterator[str]:
    """One line for each itemset; the second item is empty for single items."""
    is_old = any(one.counted is None for one in supports)
    yield ",".join(_OLD_HEADER if is_old else _HEADER)
    for items, support, scale, *more in supports:
        first, second = (*items, "")[:2]
        line = f"{csv_cell(first)},{csv_cell(second) if second else ''},{support},{scale!r}"
        yield line if is_old else ",".join((line, *map(str, more)))


def _read_supports(path: Path, header: list[str]) -> list[NoisySupport]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv_rows(stream, path.name)
        if next(rows, None) != header:
            raise DataError(f"{path.name} must begin with the line {','.join(header)}")
        width = len(header)
        return [_support(row, width, path.name, line) for line, row in enumerate(rows, start=2)]


def _support(row: list[str], width: int, name: str, line: int) -> NoisySupport:
    try:
        first, second, support, scale, *more = row
        items = (first, second) if second else (first,)
        shapes = zip((_COUNT, _NOISY, _NOISY, _NOISES), (support, *more), strict=False)
        fits = len(row) == width and first and all(shape.fullmatch(cell) for shape, cell in shapes)
        if fits and 0 < float(scale) <= MOST_SCALE:
            return NoisySupport(items, int(support), float(scale), *map(int, more))
    except ValueError:
        pass
    raise FileFormatError(name, "this is not one or two items and their noisy counts", line=line)

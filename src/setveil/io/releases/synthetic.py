"""The folder of a synthetic release: `data.csv` (or `.dat`, `.parquet`), and `supports.csv`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from setveil.errors import DataError, FileFormatError
from setveil.io.formats.csvlines import csv_cell
from setveil.io.formats.delimited import csv_rows
from setveil.io.releases.form import RECORD_FORMATS, Choices, Fact, ReleaseFolder, ReleaseForm
from setveil.io.releases.records import read_records, write_records
from setveil.io.releases.strict import check_lines
from setveil.io.writing import write_lines
from setveil.published.disassociated.clusters import MOST_RECORDS
from setveil.published.ledger import Expense, is_ledger
from setveil.published.synthetic import NoisySupport, Synthetic

SUPPORTS = "supports.csv"
_HEADER = ["item", "other", "support", "scale"]
_COUNT = re.compile("0|[1-9][0-9]{0,17}")


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
    supports = _read_supports(folder.place / SUPPORTS) if folder.has(SUPPORTS) else []
    release = Synthetic.of_rows(
        rows,
        folder.promise,
        folder.method,
        weights=weights,
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


def _support_lines(supports: Iterable[NoisySupport]) -> Iterator[str]:
    """One line for each itemset; the second item is empty for single items."""
    yield ",".join(_HEADER)
    for items, support, scale in supports:
        first, second = (*items, "")[:2]
        yield f"{csv_cell(first)},{csv_cell(second) if second else ''},{support},{scale!r}"


def _read_supports(path: Path) -> list[NoisySupport]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv_rows(stream, path.name)
        if next(rows, None) != _HEADER:
            raise DataError(f"{path.name} must begin with the line {','.join(_HEADER)}")
        return [_support(row, path.name, line) for line, row in enumerate(rows, start=2)]


def _support(row: list[str], name: str, line: int) -> NoisySupport:
    try:
        first, second, support, scale = row
        items = (first, second) if second else (first,)
        if first and _COUNT.fullmatch(support) and 0 < float(scale) < math.inf:
            return NoisySupport(items, int(support), float(scale))
    except ValueError:
        pass
    raise FileFormatError(name, "this is not one or two items, a support and a scale", line=line)

"""The release folder of suppressed records: `data.csv` (or `.dat`, `.parquet`), without a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.errors import ReleaseError
from setveil.io.forms import Choices, ReleaseForm
from setveil.io.generalized import read_rows, with_empty_records, write_rows
from setveil.promises import Promise
from setveil.published.suppressed import Suppressed


def fill_suppressed(release: Suppressed, stage: Path, choices: Choices) -> tuple[list[str], dict[str, object]]:
    """Write the records in a shuffled order."""
    (name,) = SUPPRESSED.files(choices)
    write_rows(release.records(choices.seed), stage / name)
    return [name], {}


def read_suppressed(place: Path, about: dict[str, Any], promise: Promise) -> Suppressed:
    """The release in a folder."""
    names = SUPPRESSED.written(about)
    if names is None:
        raise ReleaseError(place, "release.json names no data file")
    rows = with_empty_records(read_rows(place / names[0], bags=False), about["records"], names[0])
    return Suppressed.of_rows(rows, promise, about["method"])


SUPPRESSED = ReleaseForm(
    Suppressed.form,
    {"csv": ("data.csv",), "fimi": ("data.dat",), "dat": ("data.dat",), "parquet": ("data.parquet",)},
    False,
    fill_suppressed,
    read_suppressed,
)
"""`dat` is another word for `fimi`."""

"""The release folder of suppressed records: `data.csv` (or `.dat`, `.parquet`), without a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.io.releases.form import Choices, ReleaseForm
from setveil.io.releases.rows import read_rows, write_rows
from setveil.promises import Promise
from setveil.published.suppressed import Suppressed


def fill_suppressed(
    release: Suppressed, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the records in a shuffled order."""
    (name,) = SUPPRESSED.files(choices)
    write_rows(release.records(choices.seed), stage / name)
    return [name], {}


def read_suppressed(place: Path, about: dict[str, Any], promise: Promise) -> Suppressed:
    """The release in a folder."""
    names = SUPPRESSED.written(place, about)
    rows, weights = read_rows(place / names[0], about["records"], bags=False)
    least = about.get("min_support", 0.0)
    return Suppressed.of_rows(rows, promise, about["method"], weights=weights, min_support=least)


SUPPRESSED = ReleaseForm(
    Suppressed.form,
    {
        "csv": ("data.csv",),
        "fimi": ("data.dat",),
        "dat": ("data.dat",),
        "parquet": ("data.parquet",),
    },
    False,
    fill_suppressed,
    read_suppressed,
)
"""`dat` is another word for `fimi`."""

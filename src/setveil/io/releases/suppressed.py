"""The folder of a suppressed release: `data.csv` (or `.dat`, `.parquet`)."""

from __future__ import annotations

from pathlib import Path

from setveil.io.releases.form import (
    RECORD_FORMATS,
    Choices,
    Fact,
    ReleaseFolder,
    ReleaseForm,
)
from setveil.io.releases.links import RECORD_LINKS
from setveil.io.releases.records import read_records, write_records
from setveil.published.suppressed import Suppressed


def fill_suppressed(
    release: Suppressed, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the records in a shuffled order."""
    (name,) = SUPPRESSED.files(choices)
    write_records(release.records(choices.seed), stage / name)
    return [name], {}


def read_suppressed(folder: ReleaseFolder) -> Suppressed:
    """The release in a folder."""
    rows, weights = read_records(folder, bags=False)
    least = folder.about.get("min_support", 0.0)
    return Suppressed.of_rows(
        rows, folder.promise, folder.method, weights=weights, as_read=True, min_support=least
    )


SUPPRESSED = ReleaseForm(
    name=Suppressed.form,
    formats=RECORD_FORMATS,
    fill=fill_suppressed,
    read=read_suppressed,
    links=RECORD_LINKS,
    facts={
        "min_support": Fact(
            lambda value: type(value) in (int, float) and 0 <= value < 1,
            "a share of the records",
        )
    },
)

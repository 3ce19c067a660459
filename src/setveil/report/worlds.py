"""The report of reconstructions that were written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from setveil.report.report import Fact, Report, Section
from setveil.words import plural


def report_worlds(folder: Path, records: int, names: Sequence[str]) -> Report:
    """Where the reconstructions lie, and what they are."""
    text = "Each is one possible original at random; no record in it is anybody's."
    named = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    section = Section(
        f"Written: {plural(len(names), 'reconstruction')} of {plural(records, 'record')}",
        text,
        (Fact(f"{folder}/", named),),
    )
    return Report((section,), {"folder": str(folder), "records": records, "files": list(names)})

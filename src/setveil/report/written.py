"""The report of a page that was written."""

from __future__ import annotations

from pathlib import Path

from setveil.pipeline.dossier import Dossier
from setveil.report import PROMISE_HOLDS, Report, Section
from setveil.report.svg import NO_CHARTS, can_draw


def report_page(found: Dossier, place: Path) -> Report:
    """Where the page is, and who may read it."""
    who = "may be handed over with the release"
    if found.private is not None:
        who = "private: only you can read it"
    verdict = found.verdict
    sections = [
        Section(verdict.titled(*PROMISE_HOLDS), holds=verdict.mark),
        Section(f"Written: {place}", who if can_draw() else f"{who}\n{NO_CHARTS}"),
    ]
    return Report(tuple(sections))

"""The report of a comparison: the best cell by each common measure, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setveil.metrics import METRICS
from setveil.pipeline.compare import Comparison
from setveil.pipeline.comparing.cells import axes
from setveil.report import Fact, Report, Section, aligned
from setveil.report.outcome import figure
from setveil.words import plural, seconds

COMMON = ("columns", "item_error", "are", "pair_error", "tkd")
"""The measures that are shown of every method: of columns, items, counts, pairs and itemsets."""
_ALIKE = ("data", "sample", "k")
"""What cells must have in common to be compared: fewer records lose more, and a larger k too."""


def report_comparison(found: Comparison) -> Report:
    """What each method loses, the best first, and where the table is."""
    sections = [_table(found)] if found.measured else []
    sections += [*_best(found), *_missing(found)]
    if noise := noise_note(found):
        sections.append(Section("Noise", noise, private=True))
    if found.output is not None:
        names = "results.csv, results.parquet, results.json, report.html"
        again = f"; {plural(found.resumed, 'cell')} of an earlier run" if found.resumed else ""
        sections.append(Section(f"Written: {found.output}/", f"{names}{again}", private=True))
    return Report(tuple(sections), found.to_dict())


def noise_note(found: Comparison) -> str:
    """What to know if some cells draw noise; else nothing."""
    draws = max((row.get("draws", 1) for row in found.measured), default=1)
    if draws == 1:
        return ""
    return (
        f"Cells of methods that draw noise are means of {draws} draws. None of these is kept: a "
        "release draws new noise, and spends its whole epsilon. Choosing a setting by these "
        "figures is not covered by epsilon: they compare with the original without noise."
    )


def cell_name(row: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> str:
    """A cell in the words in which it differs from others, such as `partition k=5`."""
    rows = list(rows)
    own = ["data", "hierarchy", *axes()]
    varied = [name for name in own if len({str(one.get(name)) for one in rows}) > 1]
    words = (f"{name}={row[name]}" for name in varied if row.get(name) is not None)
    return " ".join([str(row["method"]), *words])


def common_measures(found: Comparison) -> list[str]:
    """The measures that were asked for, or else the usual ones that all cells have."""
    rows = found.measured
    if found.metrics:
        return [name for name in found.metrics if any(row.get(name) is not None for row in rows)]
    usual = [name for name in COMMON if rows and all(row.get(name) is not None for row in rows)]
    return usual or [name for name in METRICS if any(row.get(name) is not None for row in rows)]


def _table(found: Comparison) -> Section:
    """A line for each cell with the common measures."""
    names = common_measures(found)
    rows = [["", *names, "time"]]
    for row in found.measured:
        figures = ["" if row.get(name) is None else figure(name, row[name]) for name in names]
        rows.append([cell_name(row, found.rows), *figures, seconds(row["seconds"])])
    title = f"Losses of {plural(len(found.measured), 'cell')}"
    title += "" if found.metrics else ", by measures that every form has"
    return Section(title, aligned(rows), private=True)


def _best(found: Comparison) -> list[Section]:
    """The best cell by each measure, among those with the same data and k."""
    varied = [n for n in _ALIKE if len({str(row.get(n)) for row in found.measured}) > 1]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in found.measured:
        words = (f"{name} = {row[name]}" for name in varied if row.get(name) is not None)
        groups.setdefault(", ".join(words), []).append(row)
    return [part for words, rows in groups.items() for part in _least(words, rows, found)]


def _least(words: str, rows: Sequence[Mapping[str, Any]], found: Comparison) -> list[Section]:
    facts = []
    for name in common_measures(found):
        known = [row for row in rows if row.get(name) is not None]
        if not known:
            continue
        sign = 1 if METRICS[name].better == "less" else -1
        best = min(known, key=lambda row: sign * float(row[name]))
        text = f"{cell_name(best, rows)}: {figure(name, best[name])}"
        facts.append(Fact(name, text, METRICS[name].about))
    title = f"Least loss{words and f', {words}'}"
    return [Section(title, facts=tuple(facts), private=True)] if facts else []


def missing(found: Comparison) -> list[tuple[str, str, str]]:
    """The cells without figures, what became of each, and why."""
    rows = [row for row in found.rows if row not in found.measured]
    return [(cell_name(row, found.rows), str(row["status"]), str(row["reason"])) for row in rows]


def _missing(found: Comparison) -> list[Section]:
    facts = tuple(Fact(*row) for row in missing(found))
    return [Section("No figures", facts=facts, private=True)] if facts else []

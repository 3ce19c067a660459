"""The comparison as a report and as a page: charts and a table of the common measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setveil.metrics import METRICS
from setveil.pipeline.compare import Comparison, metric_of
from setveil.pipeline.comparing.cells import axes
from setveil.report import Fact, Report, Section
from setveil.report.charts import comparison_chart
from setveil.report.markup import best, document, paragraph, picture, section, table, text
from setveil.report.outcome import figure
from setveil.words import plural, seconds

COMMON = ("item_error", "are", "pair_error", "tkd")
"""The measures that are shown of every method: of items, counts, pairs and itemsets."""
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
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join([first.ljust(widths[0]), *_right(cells, widths[1:])]) for first, *cells in rows
    )
    title = f"Losses of {plural(len(found.measured), 'cell')}"
    title += "" if found.metrics else ", by measures that every form has"
    return Section(title, "\n".join(lines), private=True)


def _right(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]


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


def _missing(found: Comparison) -> list[Section]:
    facts = tuple(
        Fact(cell_name(row, found.rows), str(row["status"]), str(row["reason"]))
        for row in found.rows
        if row not in found.measured
    )
    return [Section("No figures", facts=facts, private=True)] if facts else []


PRIVATE = (
    "Private. The figures compare releases with their original. Keep this page where the original "
    "is."
)
MOST_COLUMNS = 7  # of figures in a table, so that it fits on paper
Row = Mapping[str, Any]


def comparison_page(found: Comparison) -> str:
    """One page with all cells."""
    title = found.title or "Comparison"
    done = found.measured
    counted = f"{plural(len(found), 'cell')}, {len(done)} of them measured. Each was verified."
    names = common_measures(found)
    parts = [
        f'<div class="banner" role="note">{text(PRIVATE)}</div>',
        f"<header><h1>{text(title)}</h1>{paragraph(counted, 'lead')}</header>",
        section("Losses", _about(names), common_table(found), paragraph(noise_note(found))),
        *(_chart(found, name) for name in names),
        _others(found, names),
        section("Time and memory", _costs(found)),
        section("No figures", missing_table(found)),
    ]
    return document(title, [part for part in parts if part])


def common_table(found: Comparison) -> str:
    """A line for each cell; the least loss of each column is marked."""
    names = common_measures(found)
    return _figures(found, found.measured, names) if names else ""


def _about(names: Sequence[str]) -> str:
    rows = [[name, METRICS[name].about] for name in names]
    return table([], rows)


def _figures(found: Comparison, rows: Sequence[Row], names: Sequence[str]) -> str:
    head = ["setting", *names]
    lines = []
    for row in rows:
        cells = [_figure(name, row, rows) for name in names]
        lines.append([cell_name(row, found.rows), *cells])
    return table(head, lines, numbers=range(1, len(head)))


def _figure(name: str, row: Row, rows: Sequence[Row]) -> str:
    value = row.get(name)
    if value is None:
        return ""
    metric = METRICS[str(metric_of(name))]
    said = f"{value:,.1f}" if metric.unit == "records" else figure(str(metric_of(name)), value)
    known = [float(one[name]) for one in rows if one.get(name) is not None]
    if metric.unit == "records" or len(known) < 2:
        return said
    wanted = min(known) if metric.better == "less" else max(known)
    return best(said) if value == wanted else said


def _chart(found: Comparison, name: str) -> str:
    rows = [row for row in found.measured if row.get(name) is not None]
    said = "; ".join(f"{cell_name(row, found.rows)}: {figure(name, row[name])}" for row in rows)
    chart = picture(lambda: comparison_chart(found, name), f"{METRICS[name].about}. {said}.")
    return section(f"{name}: {METRICS[name].about}", chart)


def _others(found: Comparison, names: Sequence[str]) -> str:
    """All other measures, one table for each form."""
    parts = []
    for form in dict.fromkeys(str(row["form"]) for row in found.measured):
        rows = [row for row in found.measured if row["form"] == form]
        own = [
            column
            for column in found.columns
            if metric_of(column) and column not in names and rows[0].get(column) is not None
        ]
        own = [column for column in own if METRICS[str(metric_of(column))].unit != "records"]
        blocks = (own[at : at + MOST_COLUMNS] for at in range(0, len(own), MOST_COLUMNS))
        tables = [_figures(found, rows, block) for block in blocks]
        parts += [f"<h3>{text(form)}</h3>", *tables] if tables else []
    return section("Other measures, by form", *parts)


def _costs(found: Comparison) -> str:
    rows = [
        [
            cell_name(row, found.rows),
            seconds(float(row["seconds"])),
            seconds(float(row["cpu_seconds"])),
            f"{float(row['peak_mb']):,.0f} MB",
        ]
        for row in found.measured
    ]
    head = ["setting", "anonymized in", "CPU time with reading", "peak memory"]
    return table(head, rows, numbers=[1, 2, 3]) if rows else ""


def missing_table(found: Comparison) -> str:
    """The cells without figures, and why."""
    rows = [
        [cell_name(row, found.rows), str(row["status"]), str(row["reason"])]
        for row in found.rows
        if row not in found.measured
    ]
    return table(["setting", "", "reason"], rows) if rows else ""

"""The page about a comparison: the common measures as charts and a table, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.metrics import METRICS
from setveil.pipeline.compare import Comparison, metric_of
from setveil.report.charts import comparison_chart
from setveil.report.comparison import cell_name, common_measures, missing, noise_note
from setveil.report.markup import best, document, paragraph, picture, section, table, text
from setveil.report.outcome import figure
from setveil.report.trade import trade_figure
from setveil.words import plural, seconds

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
        section("Losses", about_measures(found), common_table(found), paragraph(noise_note(found))),
        section("Columns or items?", trade_figure(found)),
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


def about_measures(found: Comparison) -> str:
    """What the measures of this table say."""
    return table([], [[name, METRICS[name].about] for name in common_measures(found)])


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
    rows = missing(found)
    return table(["setting", "", "reason"], rows) if rows else ""

"""What columns beside the items cost the items: a curve of the cells of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.metrics import METRICS
from setveil.pipeline.compare import Comparison
from setveil.report.charts import BEFORE, HEIGHT, WIDTH, altair
from setveil.report.comparison import cell_name
from setveil.report.markup import picture
from setveil.report.outcome import figure

_ITEMS = ("pair_error", "ncp", "distortion", "are")
"""Measures of items, the most telling one first."""


def trade_figure(found: Comparison) -> str:
    """What columns cost the items: a dot for each cell with columns beside the items."""
    measure, rows = trade_of(found)
    if len(rows) < 2:
        return ""
    said = "; ".join(
        f"{cell_name(row, found.rows)}: columns {figure('columns', row['columns'])}, {measure} "
        f"{figure(measure, row[measure])}"
        for row in rows
    )
    about = f"Columns or items? Each dot is a setting: {METRICS['columns'].about}, and {measure}"
    return picture(lambda: trade_chart(found), f"{about}. {said}.", f"{about}.")


def trade_of(found: Comparison) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """The measure of items that is shown over the loss of columns, and the cells that have both."""
    rows = [row for row in found.measured if row.get("columns") is not None]
    shared = (name for name in _ITEMS if all(row.get(name) is not None for row in rows))
    measure = next(shared, "")
    return measure, (rows if measure else [])


def trade_chart(found: Comparison) -> Any:
    """What columns cost the items: a dot for each cell with columns, named by its weight."""
    alt = altair()
    measure, rows = trade_of(found)
    named = dict[tuple[float, float], list[str]]()  # equal cells are one dot
    for row in rows:
        place = float(row["columns"]), float(row[measure])
        named.setdefault(place, []).append(_weight_of(row, found))
    values = [{"name": ", ".join(named[x, y]), "x": x, "y": y} for x, y in sorted(named)]
    chart = alt.Chart(alt.Data(values=values))
    x = alt.X(
        "x:Q",
        title="loss of columns (at each dot: how much columns matter)",
        axis=alt.Axis(format="~%"),
    )
    y = alt.Y("y:Q", title=measure, axis=alt.Axis(format="~%"), scale=alt.Scale(zero=False))
    line = chart.mark_line(color=BEFORE, strokeWidth=2).encode(x=x, y=y, order="x:Q")
    dots = chart.mark_point(color=BEFORE, filled=True, size=60, opacity=1).encode(x=x, y=y)
    names = chart.mark_text(align="left", dx=8, dy=-8).encode(x=x, y=y, text="name:N")
    return (line + dots + names).properties(width=WIDTH, height=HEIGHT)


def _weight_of(row: Mapping[str, Any], found: Comparison) -> str:
    weight = row.get("columns_matter")
    return cell_name(row, found.rows) if weight is None else f"{weight:g}"

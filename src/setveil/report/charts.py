"""Charts: every picture of a page, a report or a notebook is made here, with Altair.

Colours are those of Okabe and Ito, which people with any kind of colour blindness can tell apart,
and no chart needs colour alone: marks also differ by place, shape or dash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setveil.audit.attack.outcome import Attack
from setveil.audit.exposure import Exposure
from setveil.data.tables.frames import needed
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics import METRICS
from setveil.pipeline.compare import Comparison
from setveil.pipeline.comparing.cells import axes
from setveil.pipeline.dossier import MOST_POINTS, Dossier, Level, Narrowed, Pair, dossier_sizes
from setveil.pipeline.job import Outcome
from setveil.published import Release
from setveil.report.comparison import cell_name, common_measures
from setveil.words import plural

BEFORE, AFTER = "#0072B2", "#D55E00"
PALETTE = (BEFORE, AFTER, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#6B6B6B")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "wedge", "stroke")
WIDTH, HEIGHT = 460, 230
_LONGEST = 44  # characters of a label


def plot(thing: object) -> Any:
    """A chart of data, a tree, a release, the outcome of a run, or a comparison.

    Raises:
        MissingExtraError: if Altair is not installed (the extra `charts`).
        ParameterError: if there is no chart of such a thing.

    Example:
        >>> from setveil import Transactions
        >>> chart = plot(Transactions.of([["beer", "wine"], ["beer"]]))
        >>> type(chart).__name__
        'Chart'
    """
    for kind, draw in _PLOTS.items():
        if isinstance(thing, kind):
            return draw(thing)
    kinds = ", ".join(kind.__name__ for kind in _PLOTS)
    raise ParameterError("thing", type(thing).__name__, f"there are charts of {kinds}")


def altair() -> Any:
    """The library, or an error that names the extra."""
    return needed("altair", "a chart", "charts")


def narrowed_chart(found: Sequence[Narrowed]) -> Any:
    """Bars: the share of records that known items narrow down, before and after."""
    when = ("original", "release")
    rows = [
        {"known": plural(each.known, "random item"), "when": name, "share": share}
        for each in found
        for name, share in zip(when, (each.before, each.after), strict=True)
    ]
    bars = _bars(rows, "known", "share", "share of records", group="when", order=when)
    drawn = bars.mark_bar().encode(color=_two("when", when)) + _numbers(bars, "share")
    return _sized(drawn, 2 * len(found))


def exposure_chart(found: Sequence[Exposure]) -> Any:
    """Bars: the share of records (or people) that their most telling items narrow down to fewer
    than k, for each k."""
    alt = altair()
    rows = [
        {"known": name, "k": f"fewer than {one.k} {one.unit}", "share": share}
        for one in found
        for name, share in (
            *((telling(each.items), each.share) for each in one.known),
            ("all items known", one.whole),
        )
    ]
    names = list(dict.fromkeys(str(row["k"]) for row in rows))
    colors = alt.Scale(domain=names, range=_repeated(PALETTE, len(names)))
    bars = _bars(rows, "known", "share", f"share of {found[0].unit}", group="k", order=names)
    legend = alt.Legend(orient="top", columns=1 if len(names) > 2 else 2, labelLimit=300)
    color = alt.Color("k:N", title=None, sort=names, scale=colors, legend=legend)
    return _sized(bars.mark_bar().encode(color=color) + _numbers(bars, "share"), len(rows))


def telling(items: int) -> str:
    """The items of a person that say most about them, by their number."""
    return "most telling item" if items == 1 else f"{items} most telling items"


def attack_chart(found: Attack) -> Any:
    """Bars: how often the adversary picks the right record, for each thing they may know."""
    rows = [
        {"known": f"{row.knowledge} known", "success": row.success.value}
        for row in found.rows
        if row.kind == "items"
    ]
    bars = _bars(rows, "known", "success", f"chance to pick the right {found.target}")
    drawn = bars.mark_bar(color=BEFORE) + _numbers(bars, "success", ".2%")
    if found.promise.crowd:
        most = _chart([{"x": 1 / found.promise.crowd}])
        drawn += most.mark_rule(color=AFTER, strokeDash=[5, 3], strokeWidth=2).encode(x="x:Q")
    return _sized(drawn, len(rows))


def levels_chart(levels: Sequence[Level]) -> Any:
    """Bars: how much of what is published is on each level of the tree."""
    rows = [{"level": level.name, "share": level.share} for level in levels]
    bars = _bars(rows, "level", "share", "share of what is published")
    return _sized(bars.mark_bar(color=BEFORE) + _numbers(bars, "share"), len(rows))


def pairs_chart(pairs: Sequence[Pair]) -> Any:
    """Two dots and a line for each label: how often it was, and how often it seems to be."""
    alt = altair()
    rows = [
        {"name": _cut(pair.name), "when": when, "records": value}
        for pair in pairs
        for when, value in (("original", pair.before), ("release", pair.after))
    ]
    base = _chart(rows).encode(
        y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        x=alt.X("records:Q", title="records"),
    )
    line = base.mark_line(color="#888888", strokeWidth=1.5).encode(detail="name:N")
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        color=_two("when", ("original", "release")),
        shape=alt.Shape(
            "when:N",
            title=None,
            scale=alt.Scale(domain=["original", "release"], range=["circle", "diamond"]),
            legend=alt.Legend(orient="top"),
        ),
    )
    return _sized(line + dots, len(pairs))


def supports_chart(pairs: Sequence[Pair]) -> Any:
    """A dot for each item: its support in the original, and what the release lets one expect."""
    alt = altair()
    step = max(len(pairs) // MOST_POINTS, 1)
    shown = [*pairs[:200], *pairs[200::step]]
    floor = 0.5  # where an item is drawn that the release does not show at all
    rows = [{"x": pair.before, "y": max(pair.after, floor)} for pair in shown]
    top = max([pair.before for pair in shown] + [pair.after for pair in shown] + [1.0])
    scale = alt.Scale(type="log", domain=[floor, top * 1.1], nice=False)
    axis = alt.Axis(format="~s", tickCount=5)
    dots = _chart(rows).mark_circle(size=16, opacity=0.45, color=BEFORE)
    dots = dots.encode(
        x=alt.X("x:Q", title="records with the item in the original", scale=scale, axis=axis),
        y=alt.Y("y:Q", title="expected from the release", scale=scale, axis=axis),
    )
    ends = [{"x": floor, "y": floor}, {"x": top, "y": top}]
    right = _chart(ends).mark_line(color=AFTER, strokeDash=[5, 3])
    right = right.encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))
    return (dots + right).properties(width=330, height=330)


def sizes_chart(sizes: Sequence[tuple[int, int]]) -> Any:
    """Bars: how many records are in groups of each size."""
    alt = altair()
    rows = [{"size": name, "records": count} for name, count in _binned(sizes)]
    bars = _chart(rows).mark_bar(color=BEFORE)
    x = alt.X("size:N", title="records in a group", sort=None, axis=alt.Axis(labelAngle=-35))
    y = alt.Y("records:Q", title="records in groups of this size")
    return bars.encode(x=x, y=y).properties(width=WIDTH, height=HEIGHT)


def comparison_chart(found: Comparison, measure: str) -> Any:
    """A line for each method: a measure over the word that varies, such as k."""
    alt = altair()
    word, rows = _points(found, measure)
    chart = _chart(rows)
    names = list(dict.fromkeys(row["method"] for row in rows))
    legend = alt.Legend(orient="top", columns=2, labelLimit=300)
    colors = alt.Scale(domain=names, range=_repeated(PALETTE, len(names)))
    shapes = alt.Scale(domain=names, range=_repeated(SHAPES, len(names)))
    color = alt.Color("method:N", title=None, scale=colors, legend=legend)
    shape = alt.Shape("method:N", title=None, scale=shapes, legend=legend)
    y = alt.Y("loss:Q", title=measure, axis=alt.Axis(format=_format(measure)))
    if word is None:
        bars = chart.mark_bar(color=BEFORE).encode(
            y=alt.Y("method:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X("loss:Q", title=measure, axis=alt.Axis(format=_format(measure))),
        )
        return _sized(bars, len(rows))
    values = sorted({row["x"] for row in rows})
    log = values[0] > 0 and values[-1] / values[0] > 8
    scale = alt.Scale(type="log" if log else "linear", zero=False, nice=False, padding=12)
    kind = "s" if values[-1] >= 1000 else "g"  # without a precision, 10 may be shown as 1e+1
    axis = alt.Axis(values=values, format=f".6~{kind}", labelOverlap=True)
    x = alt.X("x:Q", title=word, scale=scale, axis=axis)
    lines = chart.mark_line(strokeWidth=2).encode(x=x, y=y, color=color)
    dots = chart.mark_point(filled=True, size=60, opacity=1).encode(
        x=x, y=y, color=color, shape=shape
    )
    return (lines + dots).properties(width=WIDTH, height=HEIGHT)


def data_chart(data: Transactions) -> Any:
    """The supports of the items, the most frequent first."""
    alt = altair()
    supports = sorted((int(n) for n in data.supports() if n > 0), reverse=True)
    step = max(len(supports) // MOST_POINTS, 1)
    rows = [{"rank": at + 1, "records": supports[at]} for at in range(0, len(supports), step)]
    scale = alt.Scale(type="log", nice=False)
    area = _chart(rows).mark_area(color=BEFORE, opacity=0.7, line={"color": BEFORE})
    x = alt.X("rank:Q", title="items, the most frequent first")
    y = alt.Y("records:Q", title="records with the item", scale=scale)
    return area.encode(x=x, y=y).properties(width=WIDTH, height=HEIGHT)


def tree_chart(tree: Hierarchy) -> Any:
    """How many nodes each level of a tree has."""
    alt = altair()
    depths = tree.depth.tolist()
    leaves = tree.leaf_count
    rows = [
        {"level": f"level {depth}" if depth else "root", "kind": kind, "nodes": count}
        for depth in range(tree.height + 1)
        for kind, count in (
            ("items", sum(each == depth for each in depths[:leaves])),
            ("groups", sum(each == depth for each in depths[leaves:])),
        )
        if count
    ]
    bars = (
        _chart(rows)
        .mark_bar()
        .encode(
            y=alt.Y("level:N", title=None, sort=None),
            x=alt.X("nodes:Q", title="nodes"),
            color=_two("kind", ("items", "groups")),
        )
    )
    return _sized(bars, tree.height + 1)


def _release_chart(release: Release) -> Any:
    return _groups_chart(release.form, dossier_sizes(release))


def _groups_chart(form: str, sizes: Sequence[tuple[int, int]]) -> Any:
    if not sizes:
        raise ParameterError("release", form, "a release of this form has no groups")
    return sizes_chart(sizes)


def _dossier_chart(found: Dossier) -> Any:
    if found.private is not None and found.private.supports:
        return supports_chart(found.private.supports)
    return _groups_chart(found.form, found.sizes)


def _comparison_plot(found: Comparison) -> Any:
    names = common_measures(found) or [name for name in METRICS if name in found.columns]
    charts = [comparison_chart(found, name) for name in names[:4]]
    alt = altair()
    if not charts:
        raise ParameterError("comparison", len(found), "it has no figures")
    return charts[0] if len(charts) == 1 else alt.concat(*charts, columns=2)


_PLOTS: dict[type, Callable[[Any], Any]] = {
    Transactions: data_chart,
    Hierarchy: tree_chart,
    Release: _release_chart,
    Outcome: lambda outcome: _release_chart(outcome.release),
    Dossier: _dossier_chart,
    Comparison: _comparison_plot,
}
"""What is drawn of each type."""


def _points(found: Comparison, measure: str) -> tuple[str | None, list[dict[str, Any]]]:
    """The word that varies most, and a point for each cell; other words name the lines."""
    rows = [row for row in found.measured if row.get(measure) is not None]
    numbers = {
        name: {row[name] for row in rows if _is_number(row.get(name))}
        for name in (*axes(), "records")
    }
    varied = [name for name in numbers if len(numbers[name]) > 1]
    word = max(varied, key=lambda name: len(numbers[name]), default=None)
    points = []
    for row in rows:
        own = {name: value for name, value in row.items() if name not in (word, "records")}
        others = [{**one, word: None} if word else one for one in rows]
        if word is None or _is_number(row.get(word)):
            name = cell_name(
                own, [{n: v for n, v in one.items() if n != "records"} for one in others]
            )
            points.append({"method": name, "x": row.get(word) if word else 0, "loss": row[measure]})
    return word, points


def _repeated(values: Sequence[str], count: int) -> list[str]:
    return [values[at % len(values)] for at in range(count)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _format(measure: str) -> str:
    metric = METRICS.get(measure)
    return ".2~f" if metric is None or metric.unit != "share" else "~%"


def _binned(sizes: Sequence[tuple[int, int]], most: int = 9) -> list[tuple[str, int]]:
    """Sizes as they are if there are few, else in ranges that grow."""
    if len(sizes) <= most:
        return [(f"{size:,}", records) for size, records in sizes]
    low, high = sizes[0][0], sizes[-1][0]
    ratio = max((high / max(low, 1)) ** (1 / most), 1.2)
    found: list[tuple[str, int]] = []
    start = max(low, 0)
    while start <= high:
        stop = max(int(start * ratio), start + 1)
        inside = sum(records for size, records in sizes if start <= size < stop)
        if inside:
            found.append((f"{start:,}" if stop == start + 1 else f"{start:,}–{stop - 1:,}", inside))
        start = stop
    return found


def _bars(
    rows: list[dict[str, Any]],
    label: str,
    share: str,
    title: str,
    *,
    group: str = "",
    order: Sequence[str] = (),
) -> Any:
    """Lying bars of shares, with a label for each, or for each group of them."""
    alt = altair()
    scale = alt.Scale(domain=[0, 1]) if group else alt.Undefined
    bars = _chart(rows).encode(
        x=alt.X(f"{share}:Q", title=title, axis=alt.Axis(format="%"), scale=scale),
        y=alt.Y(f"{label}:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
    )
    return bars.encode(yOffset=alt.YOffset(f"{group}:N", sort=[*order])) if group else bars


def _numbers(bars: Any, share: str, format: str = ".1%") -> Any:
    text = altair().Text(f"{share}:Q", format=format)
    return bars.mark_text(align="left", dx=4).encode(text=text)


def _chart(rows: Sequence[Mapping[str, Any]]) -> Any:
    return altair().Chart(altair().Data(values=rows))


def _two(name: str, order: Sequence[str]) -> Any:
    alt = altair()
    scale = alt.Scale(domain=list(order), range=[BEFORE, AFTER])
    return alt.Color(f"{name}:N", title=None, scale=scale, legend=alt.Legend(orient="top"))


def _sized(chart: Any, bars: int) -> Any:
    return chart.properties(width=WIDTH - 110, height=max(24 * bars, 60))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

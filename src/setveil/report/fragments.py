"""Reports as pieces of HTML, for pages that have their own head: text, tables and charts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from setveil.audit.attack.outcome import Attack
from setveil.audit.exposure import Exposure
from setveil.metrics import METRICS
from setveil.pipeline.compare import Comparison
from setveil.pipeline.dossier import Private
from setveil.pipeline.notes import Example
from setveil.report import PRIVATE, Report, Section
from setveil.report.charts import attack_chart, comparison_chart, exposure_chart, telling
from setveil.report.comparison import COMMON, common_measures
from setveil.report.markup import paragraph, picture, table, text
from setveil.report.outcome import figure
from setveil.report.trade import trade_figure
from setveil.words import plural, rough_share

__all__ = [
    *("attack_figure", "comparison_figures", "examples_table", "exposure_figure"),
    *("exposure_table", "losses_table", "narrowed_table", "report_fragment"),
]
MOST_LOSSES = 3  # how many are shown at once
_GAP = re.compile(r" {2,}")


def report_fragment(report: Report, level: int = 2) -> str:
    """All sections of a report, with headings of a level."""
    return "\n".join(section_fragment(section, level) for section in report.sections)


def section_fragment(section: Section, level: int = 2) -> str:
    """A section with its title, its sentences and its facts; private ones are marked."""
    title = section.title.replace(f" ({PRIVATE})", "")
    private = section.private or title != section.title
    mark = ' <span class="private">private</span>' if private else ""
    kind = {True: ' class="yes"', False: ' class="no"', None: ""}[section.holds]
    parts = [f"<h{level}{kind}>{text(title)}{mark}</h{level}>", _sentences(section.text)]
    rows = [[fact.name, fact.value, fact.remark] for fact in section.facts]
    parts.append(table([], rows))
    return f"<section>\n{''.join(part for part in parts if part)}\n</section>"


def exposure_figure(found: Sequence[Exposure]) -> str:
    """A chart of how exposed people are, with the same in words."""
    said = "; ".join(
        f"{each.items} known, fewer than {one.k} {one.unit}: {rough_share(each.share)}"
        for one in found
        for each in one.known
    )
    return picture(
        lambda: exposure_chart(found),
        f"Share of {found[0].unit} that their most telling items narrow down to few. {said}.",
        "Long bars are bad: somebody who knows little about a person, but the most telling items, "
        f"can find many {found[0].unit}. Random items find fewer; the table has both.",
    )


def exposure_table(found: Sequence[Exposure]) -> str:
    """The same as a table."""
    head = ["what is known of a person", *(f"fewer than {one.k} {one.unit}" for one in found)]
    rows = []
    for at, each in enumerate(found[0].known):
        shares = [rough_share(one.known[at].share) for one in found]
        random = [rough_share(one.known[at].random) for one in found]
        rows += [[telling(each.items), *shares], [plural(each.items, "random item"), *random]]
    rows.append(["all items", *(rough_share(one.whole) for one in found)])
    return table(head, rows, numbers=range(1, len(head)))


def losses_table(losses: Mapping[str, Any]) -> str:
    """The measures that people look at first: each with what it says.

    A variant of another measure, such as `tkd_2`, is described by that one and so is left out."""
    fitting = [
        name
        for name in losses
        if (METRICS[name].unit, METRICS[name].better) == ("share", "less")
        and name.rpartition("_")[0] not in losses
    ]
    names = [name for name in COMMON if name in losses]
    names += [name for name in fitting if name not in names]
    each = [name for name in ("column_ncp",) if name in losses]
    names = [*names[: MOST_LOSSES + len(each)], *each]
    rows = [[METRICS[name].about, figure(name, losses[name])] for name in names]
    return table([], rows, numbers=[1])


def narrowed_table(found: Private) -> str:
    """How many people known items narrow down, in the original and in the release."""
    if not found.narrowed:
        return ""
    rows = [
        [plural(each.known, "random item"), rough_share(each.before), rough_share(each.after)]
        for each in found.narrowed
    ]
    said = f"How often known items narrow a person down to fewer than {found.exposed.k} records,"
    said = f"{said} in {found.narrowed[0].draws:,} draws."
    return paragraph(said) + table(["known", "original", "release"], rows, numbers=[1, 2])


def examples_table(found: Sequence[Example]) -> str:
    """Originals and what was published for them."""
    rows = [[", ".join(one.original), one.published] for one in found]
    return table(["original", "published"], rows)


def attack_figure(found: Attack) -> str:
    """A chart of how likely an adversary picks what is the person's."""
    if not any(row.kind == "items" and row.draws for row in found.rows):
        return ""
    said = "; ".join(
        f"{row.knowledge} known: {rough_share(row.success.value)}"
        for row in found.rows
        if row.kind == "items"
    )
    crowd = found.promise.crowd
    line = f" The dashed line is what the promise allows: 1 in {crowd}." if crowd else ""
    return picture(
        lambda: attack_chart(found),
        f"How likely an adversary picks the right {found.target}. {said}.",
        f"How likely an adversary who knows some items picks the right {found.target}, on average."
        f"{line}",
    )


def comparison_figures(found: Comparison, most: int = 3) -> str:
    """A chart for each measure that all cells have."""
    names = common_measures(found)[:most]
    return trade_figure(found) + "\n".join(
        picture(lambda name=name: comparison_chart(found, name), f"{name} of each cell", name)  # type: ignore[misc]
        for name in names
    )


def _sentences(words: str) -> str:
    """Paragraphs; lines whose columns are aligned by spaces become a table, an outline stays."""
    lines = words.splitlines()
    if any(line.startswith("  ") for line in lines):
        return f'<pre class="outline" tabindex="0">{text(words)}</pre>'
    cells = [_GAP.split(line.strip()) for line in lines]
    if len(lines) > 1 and len(cells[0]) > 1 and len({len(row) for row in cells}) == 1:
        return table(cells[0], cells[1:], numbers=range(1, len(cells[0])))
    return paragraph(words)

"""Reports as pieces of HTML, for pages that have their own head: text, tables and charts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from setveil.audit.attack.outcome import Attack
from setveil.audit.exposure import Exposure
from setveil.pipeline.compare import Comparison
from setveil.report import PRIVATE, Report, Section
from setveil.report.charts import attack_chart, comparison_chart, exposure_chart
from setveil.report.comparison import common_measures
from setveil.report.markup import paragraph, table, text
from setveil.report.svg import picture
from setveil.words import plural, rough_share

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
    rows = [
        [fact.name, fact.value, *([fact.remark] if fact.remark else [""])] for fact in section.facts
    ]
    parts.append(table([], rows))
    return f"<section>\n{''.join(part for part in parts if part)}\n</section>"


def exposure_figure(found: Sequence[Exposure]) -> str:
    """A chart of how exposed people are, with the same in words."""
    said = "; ".join(
        f"{plural(each.items, 'item')} known, fewer than {one.k} records: {rough_share(each.share)}"
        for one in found
        for each in one.known
    )
    return picture(
        lambda: exposure_chart(found),
        f"Share of people whom known items leave among few records. {said}.",
        "Long bars are bad: many people can be found by somebody who knows little about them.",
    )


def exposure_table(found: Sequence[Exposure]) -> str:
    """The same as a table."""
    head = ["what is known of a person", *(f"fewer than {one.k} records" for one in found)]
    rows = [
        [plural(each.items, "item"), *(rough_share(one.known[at].share) for one in found)]
        for at, each in enumerate(found[0].known)
    ]
    rows.append(["all items", *(rough_share(one.whole) for one in found)])
    return table(head, rows, numbers=range(1, len(head)))


def attack_figure(found: Attack) -> str:
    """A chart of how often an adversary picks the right record."""
    said = "; ".join(
        f"{'all items' if row.items is None else plural(row.items, 'item')} known: "
        f"{rough_share(row.success.value)}"
        for row in found.rows
        if row.kind == "items"
    )
    crowd = found.promise.crowd
    line = f" The dashed line is what the promise allows: 1 in {crowd}." if crowd else ""
    return picture(
        lambda: attack_chart(found),
        f"How likely an adversary picks the right record. {said}.",
        f"How likely an adversary who knows some items picks the right record.{line}",
    )


def comparison_figures(found: Comparison, most: int = 3) -> str:
    """A chart for each measure that all cells have."""
    names = common_measures(found)[:most]
    return "\n".join(
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

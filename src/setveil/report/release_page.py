"""The page about a release, which needs nothing else: one HTML file; and the report of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from setveil.errors import Note
from setveil.metrics import METRICS
from setveil.pipeline.dossier import Dossier, Narrowed
from setveil.report import PROMISE_HOLDS, Report, Section, as_flag
from setveil.report.charts import (
    levels_chart,
    narrowed_chart,
    pairs_chart,
    sizes_chart,
    supports_chart,
)
from setveil.report.markup import (
    NO_CHARTS,
    bullets,
    can_draw,
    code,
    document,
    paragraph,
    picture,
    section,
    table,
    text,
    yes_or_no,
)
from setveil.report.outcome import COUNTABLE, figure
from setveil.words import are, plural, rough_share

PRIVATE = (
    "Private. This page compares the release with its original: it shows items and numbers that "
    "the release hides. Keep it where the original is."
)
PUBLIC = "This page is computed from the release alone. It may be handed over with the release."


def release_page(found: Dossier) -> str:
    """One page: the promise, the verdict, what is exposed, what was lost, how it was made."""
    name = found.name or found.form
    title = f"Release {name}" if found.name else f"A {name} release"
    banner = PUBLIC if found.private is None else PRIVATE
    head = [
        f'<div class="banner" role="note">{text(banner)}</div>',
        f"<header><h1>{text(title)}</h1>{paragraph(_summary(found), 'lead')}</header>",
    ]
    return document(title, [*head, release_parts(found)])


def release_parts(found: Dossier, *names: str) -> str:
    """The sections of the page with these names, or all, for a page that has its own head."""
    made = (PARTS[name](found) for name in names or PARTS)
    return "\n".join(part for part in made if part)


def _summary(found: Dossier) -> str:
    verdict = found.verdict
    kept = f"{'keeps' if verdict.keeps_promise else 'does NOT keep'} {found.promise.title}"
    said = f"{plural(found.records, 'record')}, {found.form}. It {kept}{verdict.but}."
    private = found.private
    if private is not None and private.usefulness is not None:
        said += f" {private.usefulness.sentences[-1]}"
    return said


def _promise(found: Dossier) -> str:
    return section(
        "What is promised",
        paragraph(found.meaning),
        "<h3>What is not promised</h3>",
        paragraph(found.limits),
    )


def _verdict(found: Dossier) -> str:
    verdict = found.verdict
    mark = {True: " yes", False: " no", None: ""}[verdict.mark and verdict.holds]
    answer = partial(yes_or_no, plain=verdict.mark is None)
    rows = [
        [answer(check.holds), check.name, check.text + ("; private" if check.private else "")]
        for check in verdict.checks
    ]
    how = (
        "Checked by counting again in the published data, by code that shares nothing with the "
        "method that made it. Anybody can repeat it with the command setveil verify."
    )
    line = f'<p class="verdict{mark}">{text(verdict.titled(*PROMISE_HOLDS))}</p>'
    witnesses = [witness.text for check in verdict.failed for witness in check.witnesses]
    shown = bullets(witnesses) if found.private is not None else ""
    origin = paragraph(f"{verdict.origin_text} (private).") if verdict.origin is not None else ""
    answers = table(["", "check", "answer"], rows)
    return section("Verdict", line, paragraph(how), answers, origin, shown)


def _countable(found: Dossier) -> str:
    if found.countable is None:
        return ""
    how = "The bounds are those of the release itself; anybody can check them with setveil verify."
    return section(COUNTABLE, bullets(found.countable.sentences), paragraph(how))


def _exposure(found: Dossier) -> str:
    private = found.private
    if private is None:
        return ""
    crowd = private.exposed.k
    chart = picture(
        lambda: narrowed_chart(private.narrowed),
        _narrowed_text(private.narrowed, crowd),
        f"Share of the same {private.narrowed[0].draws:,} draws in which so many random items of a "
        f"person narrow them down to fewer than {crowd} records. After: the records of the release "
        "that could have these items."
        if private.narrowed
        else "",
    )
    return section(
        "Exposure",
        "<h3>In the original</h3>",
        bullets(list(private.exposed.sentences)),
        "<h3>Random items, before and after</h3>",
        chart if private.narrowed else "",
    )


def _narrowed_text(found: tuple[Narrowed, ...], crowd: int) -> str:
    parts = (
        f"{each.known} random: {rough_share(each.before)} before, {rough_share(each.after)} after"
        for each in found
    )
    title = f"Share of records narrowed down to fewer than {crowd} records by random items"
    return f"{title}. {'; '.join(parts)}."


def _losses(found: Dossier) -> str:
    private = found.private
    if private is None:
        return ""
    rows = [
        [name, figure(name, value), METRICS[name].about] for name, value in private.losses.items()
    ]
    use = bullets(private.usefulness.sentences) if private.usefulness is not None else ""
    gone = ""
    if private.suppressed:
        gone = paragraph(f"{are(private.suppressed, 'item')} removed from every record.")
    return section(
        "What was lost", use, gone, table(["measure", "figure", "what it says"], rows, numbers=[1])
    )


def _levels(found: Dossier) -> str:
    if not found.levels:
        return ""
    said = "; ".join(f"{level.name}: {rough_share(level.share)}" for level in found.levels)
    chart = picture(
        lambda: levels_chart(found.levels),
        f"Share of what is published on each level of the tree. {said}.",
        "How much of what is published is on each level of the tree.",
    )
    return section("Levels of the tree", chart)


def _pictures(found: Dossier) -> str:
    private = found.private
    if private is None or not private.supports:
        return ""
    return section(
        "Items before and after",
        picture(
            lambda: supports_chart(private.supports),
            "A dot for each item: its records in the original, and what the release lets one "
            "expect. On the dashed line both agree.",
            "Each dot is an item. Dots on the dashed line are estimated correctly.",
        ),
        "<h3>Most damaged of the frequent items</h3>",
        _pair_chart(private.damaged),
        "<h3>Best kept</h3>" if private.kept else "",
        _pair_chart(private.kept),
        "<h3>Most frequent itemsets</h3>" if private.itemsets else "",
        _pair_chart(private.itemsets),
    )


def _pair_chart(pairs: Any) -> str:
    if not pairs:
        return ""
    said = "; ".join(f"{p.name}: {p.before:,.0f} and {p.after:,.0f}" for p in pairs)
    return picture(
        lambda: pairs_chart(pairs),
        f"Records in the original, and expected from the release. {said}.",
    )


def _groups(found: Dossier) -> str:
    if not found.sizes:
        return ""
    least, most = found.sizes[0][0], found.sizes[-1][0]
    chart = picture(
        lambda: sizes_chart(found.sizes),
        f"How many records are in groups of each size, from {least:,} to {most:,}.",
        "Groups: records that are identical in the release, or in one cluster.",
    )
    return section("Sizes of groups", chart)


def _made(found: Dossier) -> str:
    method = [[str(name), str(value)] for name, value in found.method.items()]
    versions = [[name, version] for name, version in found.versions.items()]
    own = [["setveil that made it", found.made_by]] if found.made_by else []
    private = found.private
    read = []
    if private is not None:
        size = f"{plural(private.records, 'record')}, {plural(private.items, 'item')}"
        read = [["original", f"{private.source} ({size})" if private.source else size]]
        read += [["SHA-256", code(private.digest, "hash")]] if private.digest else []
    command = f"<pre><code>{text(found.command)}</code></pre>" if found.command else ""
    return section(
        "How it was made",
        "<h3>Command</h3>" if command else "",
        command,
        "<h3>Method and parameters</h3>",
        table([], method),
        "<h3>Original</h3>" if read else "",
        table([], read),
        "<h3>Versions</h3>",
        table([], [*own, *versions]),
    )


def _files(found: Dossier) -> str:
    rows = [[name, code(digest, "hash")] for name, digest in found.files.items()]
    return section("Files of the release", table(["file", "SHA-256"], rows) if rows else "")


def _notes(found: Dossier) -> str:
    notes = () if found.private is None else found.private.notes
    said = [note.text(as_flag) if isinstance(note, Note) else note for note in notes]
    return section("Check before you hand it over", bullets(said))


PARTS: dict[str, Callable[[Dossier], str]] = {
    "promise": _promise,
    "verdict": _verdict,
    "countable": _countable,
    "exposure": _exposure,
    "losses": _losses,
    "levels": _levels,
    "items": _pictures,
    "groups": _groups,
    "notes": _notes,
    "made": _made,
    "files": _files,
}
"""The sections of the page; what a section compares with the original is empty without one."""


def report_page(found: Dossier, place: Path, *, twin: bool = False) -> Report:
    """Where the page is, and who may read it; with a JSON `twin` beside it."""
    who = "may be handed over with the release"
    if found.private is not None:
        who = "private: only you can read it"
    verdict = found.verdict
    who += "" if can_draw() or twin else f"\n{NO_CHARTS}"
    both = f" and {Path(place).with_suffix('.json')}" * twin
    sections = [
        Section(verdict.titled(*PROMISE_HOLDS), holds=verdict.mark),
        Section(f"Written: {place}{both}", who),
    ]
    return Report(tuple(sections))

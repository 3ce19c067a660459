"""The page about a release: for the person who defends it, or for those who receive it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setveil.errors import Note
from setveil.metrics import METRICS
from setveil.pipeline.dossier import Dossier, Narrowed, Private
from setveil.report import as_flag
from setveil.report.charts import (
    levels_chart,
    narrowed_chart,
    pairs_chart,
    sizes_chart,
    supports_chart,
)
from setveil.report.markup import (
    bullets,
    code,
    document,
    paragraph,
    section,
    table,
    text,
    yes_or_no,
)
from setveil.report.outcome import figure
from setveil.report.svg import picture
from setveil.words import plural, rough_share

PRIVATE = (
    "Private. This page compares the release with its original: it shows items and numbers that "
    "the release hides. Keep it where the original is."
)
PUBLIC = "This page is computed from the release alone. It may be handed over with the release."


def release_page(found: Dossier) -> str:
    """One page: the promise, the verdict, what is exposed, what was lost, how it was made."""
    name = found.name or found.release.form
    title = f"Release {name}" if found.name else f"A {name} release"
    banner = PUBLIC if found.private is None else PRIVATE
    head = [
        f'<div class="banner" role="note">{text(banner)}</div>',
        f"<header><h1>{text(title)}</h1>{paragraph(_summary(found), 'lead')}</header>",
    ]
    return document(title, [*head, *release_parts(found)])


def release_parts(found: Dossier) -> list[str]:
    """The sections of the page, for a page that has its own head."""
    return [part for part in _parts(found) if part]


def _parts(found: Dossier) -> Iterator[str]:
    private = found.private
    yield _promise(found)
    yield _verdict(found)
    if private is not None:
        yield _exposure(private, found)
        yield _attack(private)
        yield _losses(private)
    yield _levels(found)
    if private is not None:
        yield _pictures(private)
    yield _groups(found)
    if private is not None:
        notes = [note.text(as_flag) if isinstance(note, Note) else note for note in private.notes]
        yield section("Check before you hand it over", bullets(notes))
    yield _made(found)
    yield _files(found)


def _summary(found: Dossier) -> str:
    release = found.release
    kept = "keeps" if found.verdict.keeps_promise else "does NOT keep"
    said = f"{plural(len(release), 'record')}, {release.form}. It {kept} {release.promise.title}."
    private = found.private
    if private is not None and private.usefulness is not None:
        said += f" {private.usefulness.sentences[-1]}"
    return said


def _promise(found: Dossier) -> str:
    return section(
        "What is promised",
        paragraph(found.release.describe()),
        "<h3>What is not promised</h3>",
        paragraph(found.release.limits()),
    )


def _verdict(found: Dossier) -> str:
    verdict = found.verdict
    holds = verdict.holds
    word = "The promise holds" if verdict.keeps_promise else "The promise does NOT hold"
    mark = "yes" if holds else "no"
    rows = [
        [yes_or_no(check.holds), check.name, check.text + ("; private" if check.private else "")]
        for check in verdict.checks
    ]
    how = (
        "Checked by counting again in the published data, by code that shares nothing with the "
        "method that made it. Anybody can repeat it with the command setveil verify."
    )
    line = f'<p class="verdict {mark}">{text(word)}: {text(found.release.promise.title)}</p>'
    witnesses = [witness.text for check in verdict.failed for witness in check.witnesses]
    shown = bullets(witnesses) if found.private is not None else ""
    return section("Verdict", line, paragraph(how), table(["", "check", "answer"], rows), shown)


def _exposure(private: Private, found: Dossier) -> str:
    crowd = private.exposed.k
    chart = picture(
        lambda: narrowed_chart(private.narrowed),
        _narrowed_text(private.narrowed, crowd),
        f"Share of {private.narrowed[0].people:,} random people who could be narrowed down to "
        f"fewer than {crowd} records, if so many random items of them are known. After: the "
        "records of the release that could have these items."
        if private.narrowed
        else "",
    )
    return section(
        "How exposed people are",
        "<h3>In the original</h3>",
        bullets(list(private.exposed.sentences)),
        "<h3>Before and after</h3>",
        chart if private.narrowed else "",
    )


def _narrowed_text(found: tuple[Narrowed, ...], crowd: int) -> str:
    parts = (
        f"{each.known} known: {rough_share(each.before)} before, {rough_share(each.after)} after"
        for each in found
    )
    return f"Share of people narrowed down to fewer than {crowd} records. {'; '.join(parts)}."


def _attack(private: Private) -> str:
    """What an attack has found, if there was one: its own sentences."""
    if private.attack is None:
        return ""
    lines = getattr(private.attack, "sentences", None) or [str(private.attack)]
    return section("What attacks find", bullets([str(line) for line in lines]))


def _losses(private: Private) -> str:
    rows = [[name, figure(name, value), METRICS[name].about] for name, value in _usual(private)]
    use = bullets(private.usefulness.sentences) if private.usefulness is not None else ""
    gone = ""
    if private.suppressed:
        gone = paragraph(f"{plural(private.suppressed, 'item')} are removed from every record.")
    return section(
        "What was lost", use, gone, table(["measure", "figure", "what it says"], rows, numbers=[1])
    )


def _usual(private: Private) -> list[tuple[str, Any]]:
    return list(private.losses.items())


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


def _pictures(private: Private) -> str:
    if not private.supports:
        return ""
    return section(
        "Items before and after",
        picture(
            lambda: supports_chart(private.supports),
            "A dot for each item: its records in the original, and what the release lets one "
            "expect. On the dashed line both agree.",
            "Each dot is an item; on the dashed line the release lets one expect the right number.",
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
    method = [[str(name), str(value)] for name, value in found.release.method.items()]
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

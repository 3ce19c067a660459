"""The report of a query log that was turned into vocabularies."""

from __future__ import annotations

from setveil.data.querylog.findings import LogReport
from setveil.report.report import Fact, Report, Section
from setveil.words import count, plural, share

PRIVATE = "private, about the original log"


def report_log(found: LogReport, output: str, kind: str) -> Report:
    """What was read, merged and dropped, and what was written to `output`; `kind` is what the terms are."""
    sections = [
        Section(f"Query log ({PRIVATE})", facts=_log(found)),
        Section(f"Terms: {kind} ({PRIVATE})", facts=_terms(found)),
    ]
    if found.bad_lines:
        sections.insert(
            1, Section("Rows that cannot be used, the first of them", facts=_bad(found))
        )
    if found.often_unknown:
        text = ", ".join(f"{term} ({users:,})" for term, users in found.often_unknown)
        sections.append(Section(f"Unknown terms that many users issued ({PRIVATE})", text))
    sections.append(Section("Written", facts=_written(found, output)))
    return Report(tuple(sections), {"output": output, "terms": kind, **found.to_dict()})


def _log(found: LogReport) -> tuple[Fact, ...]:
    return (
        Fact("rows", count(found.rows), f"{count(found.bad_rows)} of them cannot be used"),
        Fact("merged", count(found.merged_clicks), "rows that are further clicks of a query"),
        Fact(
            "queries",
            count(found.queries),
            f"{count(found.queries_without_terms)} of them without a term that is kept",
        ),
        Fact("users", count(found.users)),
    )


def _bad(found: LogReport) -> tuple[Fact, ...]:
    return tuple(Fact(f"line {bad.line:,}", bad.reason) for bad in found.bad_lines)


def _terms(found: LogReport) -> tuple[Fact, ...]:
    def part(number: int) -> str:
        return share(number / found.occurrences) if found.occurrences else ""

    facts = [Fact("occurrences", count(found.occurrences), f"base forms: {found.lemmas}")]
    dropped = (
        ("stop words", found.stopped_occurrences),
        ("unknown", found.unknown_occurrences),
        ("rare", found.rare_occurrences),
    )
    facts += [
        Fact(f"dropped as {name}", count(number), part(number))
        for name, number in dropped
        if number
    ]
    if found.min_users > 1:
        rare = f"issued by fewer than {plural(found.min_users, 'user')}"
        facts.append(
            Fact(
                "lost to rarity",
                share(found.rare_share),
                f"of the occurrences that were left, {rare}",
            )
        )
        facts.append(Fact("", share(found.rare_term_share), "of the distinct terms"))
    facts.append(
        Fact(
            "kept", count(found.kept_occurrences), f"of {plural(found.kept_terms, 'distinct term')}"
        )
    )
    return tuple(facts)


def _written(found: LogReport, output: str) -> tuple[Fact, ...]:
    left_out = found.sessions - found.vocabularies
    empty = (
        f"{count(left_out)} empty ones left out"
        if left_out
        else f"{count(found.empty_vocabularies)} of them empty"
    )
    return (
        Fact("vocabularies", count(found.vocabularies), empty),
        Fact("file", output, "no users, no times, in random order; not anonymous yet"),
    )

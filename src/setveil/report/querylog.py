"""The report of a query log that was turned into bags of terms."""

from setveil.data.logterms import LogReport
from setveil.pipeline.querylog import QuerylogResult
from setveil.report import Fact, Report, Section
from setveil.words import count, plural, share

PRIVATE = "private, about the original log"


def report_log(done: QuerylogResult) -> Report:
    """What was read, merged and dropped, and what was written."""
    found, output = done.found, str(done.output)
    sections = [
        Section(f"Query log ({PRIVATE})", facts=_log(found)),
        Section(f"Terms: {done.terms} ({PRIVATE})", facts=_terms(found)),
    ]
    if found.bad_lines:
        sections.insert(1, Section("The first rows that cannot be used", facts=_bad(found)))
    if found.often_unknown:
        text = ", ".join(f"{term} ({users:,})" for term, users in found.often_unknown)
        sections.append(Section(f"Unknown terms of many users ({PRIVATE})", text))
    sections.append(Section("Written", facts=_written(done, output)))
    return Report(tuple(sections), {"output": output, "terms": done.terms, **found.to_dict()})


def _log(found: LogReport) -> tuple[Fact, ...]:
    unused = f"{count(found.queries_without_terms)} of them without a term that is kept"
    return (
        Fact("columns", *_columns(found)),
        Fact("rows", count(found.rows), f"{count(found.bad_rows)} of them cannot be used"),
        Fact("merged", count(found.merged_clicks), "rows that are further clicks of a query"),
        Fact("queries", count(found.queries), unused),
        Fact("users", count(found.users)),
    )


def _columns(found: LogReport) -> tuple[str, str]:
    """Which columns were used, and what else was understood."""
    columns = ", ".join(f"{role}: {name}" for role, name in found.columns.items())
    remarks = [] if found.has_header else ["no header"]
    if found.time_format:
        remarks.append(f"times: {found.time_format}")
    elif "time" not in found.columns:
        remarks.append("no times, so every row is a query of its own")
    return columns, "; ".join(remarks)


def _bad(found: LogReport) -> tuple[Fact, ...]:
    return tuple(Fact(f"line {bad.line:,}", bad.reason) for bad in found.bad_lines)


def _terms(found: LogReport) -> tuple[Fact, ...]:
    dropped = (
        ("stop words", found.stopped_occurrences),
        ("unknown", found.unknown_occurrences),
        ("rare", found.rare_occurrences),
    )
    facts = [Fact("occurrences", count(found.occurrences), f"base forms: {found.lemmas}")]
    facts += [
        Fact(f"dropped: {name}", count(number), share(number / found.occurrences))
        for name, number in dropped
        if number
    ]
    if found.min_users > 1:
        rare = f"of the remaining occurrences, used by fewer than {plural(found.min_users, 'user')}"
        facts.append(Fact("lost as rare", share(found.rare_share), rare))
        facts.append(Fact("", share(found.rare_term_share), "of the distinct terms"))
    kept = f"of {plural(found.kept_terms, 'distinct term')}"
    return (*facts, Fact("kept", count(found.kept_occurrences), kept))


def _written(done: QuerylogResult, output: str) -> tuple[Fact, ...]:
    found = done.found
    left_out = found.sessions - found.vocabularies
    empty = f"{count(found.empty_vocabularies)} of them empty"
    remark = f"{plural(left_out, 'empty record')} left out" if left_out else empty
    return (
        Fact("records", count(found.vocabularies), remark),
        Fact("file", output, "no users, no times, in random order; not anonymous yet"),
        *_USERS[done.carries],
    )


_USERS = {
    None: (),
    True: (Fact("column", "person", "which records are of one user, by number; never published"),),
    False: (
        Fact(
            "lost",
            "which records are of one user",
            "this format has no column for it, so records are counted; csv and tsv have one",
        ),
    ),
}

"""The report of an inspection: what the data contains, how exposed people are, what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from setveil.errors import Note, Spelling, as_keyword, spelled
from setveil.pipeline.notes import private_delta
from setveil.report import PRIVATE, Fact, Report, Section
from setveil.words import count, plural, rough_share, share

if TYPE_CHECKING:
    from setveil.audit.exposure import Exposure
    from setveil.data.account import Account
    from setveil.data.summary import Summary
    from setveil.pipeline.inspect import Inspection

HINT = (
    "TREE is a file, balanced:5 if you have none, or prefix for codes; `setveil hierarchy check` "
    "checks a file. LIST is a file with one item per line."
)


COUNTS = "how often an item occurs; {bags=False} ignores it"
MOST_NAMED = 8  # how many columns are named; the rest are counted


def report_inspection(
    found: Inspection, name: str | None = None, spell: Spelling = as_keyword
) -> Report:
    """What a data set contains, and how exposed the people in it are.

    Args:
        found: The inspection; its first exposure is shown in sentences, all of them in a table.
        name: What the command line calls the data; with it, ways to anonymize it are shown.
        spell: How the door spells parameters."""
    summary, (first, *others) = found.summary, found.exposures
    data, frequent = data_sections(summary)
    notes = [note.text(spell) if isinstance(note, Note) else note for note in found.notes]
    facts = () if found.account is None else account_facts(found.account, spell)
    sections = [
        *([Section("Read", facts=facts)] if facts else []),
        data,
        *([Section(f"Note ({PRIVATE})", "\n".join(notes))] if notes else []),
        frequent,
        Section(f"Exposure ({PRIVATE})", first.text),
    ]
    if others and summary.records:
        title = f"Share of {first.unit} that known items narrow down to fewer than k"
        sections.append(Section(f"{title} ({PRIVATE})", "\n".join(_table(found.exposures))))
    if name is not None and summary.records:
        title = f"Next: setveil anonymize {name} -o release, with one of"
        sections.append(Section(title, HINT, _ways(summary, found.exposures[-1].k)))
    values = {
        **({} if found.account is None else {"reading": found.account.to_dict()}),
        "notes": notes,
        "summary": summary.to_dict(),
        "exposure": first.to_dict(),
        "exposures": [one.to_dict() for one in found.exposures],
    }
    return Report(tuple(sections), values)


def data_sections(found: Summary) -> tuple[Section, Section]:
    """The size of a data set, and its most frequent items."""
    often = ", ".join(f"{item} ({support:,})" for item, support in found.most_frequent)
    return (
        Section(f"Data ({PRIVATE})", facts=_summary(found)),
        Section(f"Most frequent items, with the number of records ({PRIVATE})", often or "none"),
    )


def _summary(found: Summary) -> tuple[Fact, ...]:
    lengths, counts = found.lengths, found.counts
    full = found.records - found.empty_records
    unique = share(found.unique_records / full) if full else share(0)
    of = "all records" if full == found.records else "the records with items"
    spread = f"average; median {lengths.median:,.10g}, from {lengths.least:,} to {lengths.most:,}"
    facts = [
        Fact("records", count(found.records), f"{count(found.empty_records)} of them empty"),
        Fact("items", count(found.items), f"{count(found.single_record_items)} in one record only"),
        Fact("occurrences", count(found.occurrences)),
        Fact("items per record", f"{lengths.mean:,.1f}", spread),
        Fact("distinct records", count(found.distinct_records)),
        Fact("unique records", count(found.unique_records), f"{unique} of {of}"),
    ]
    if counts is not None:
        often = f"{count(counts.repeated)} of {plural(counts.pairs, 'count')} are above 1"
        remark = f"average; at most {counts.most:,}; {often}"
        facts.append(Fact("count of an item", f"{counts.mean:,.1f}", remark))
    return tuple(facts)


def account_facts(found: Account, spell: Spelling = as_keyword) -> tuple[Fact, ...]:
    """Which columns of a file were used for what, and which were ignored."""
    encoding = f", {found.encoding}" if found.encoding not in ("", "utf-8") else ""
    facts = [Fact("format", f"{found.format}{encoding}", found.layout)]
    if found.header_row:
        facts.append(Fact("header", f"row {found.header_row}", "what is above it was left out"))
    roles = {"record": "which record a row belongs to", "item": "", "count": spelled(COUNTS, spell)}
    roles["person"] = "which person a record belongs to; never published"
    columns = ((role, found.columns.get(role), remark) for role, remark in roles.items())
    facts += [Fact(role, name, remark) for role, name, remark in columns if name is not None]
    if found.ignored:
        shown = ", ".join(found.ignored[:MOST_NAMED])
        more = len(found.ignored) - MOST_NAMED
        facts.append(Fact("ignored", f"{shown} and {more:,} more" if more > 0 else shown))
    return tuple(facts)


def _table(exposed: Sequence[Exposure]) -> list[str]:
    """Two lines for each k, a column for each number of known items."""
    rows = [["known", *(plural(one.items, "item") for one in exposed[0].known), "all items"]]
    for found in exposed:
        telling, random = ([k.share for k in found.known], [k.random for k in found.known])
        whole = rough_share(found.whole)
        rows.append([f"k = {found.k}, most telling items", *map(rough_share, telling), whole])
        rows.append([f"k = {found.k}, random items", *map(rough_share, random), whole])
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    return [
        "  ".join([name.ljust(first), *(c.rjust(w) for c, w in zip(cells, others, strict=True))])
        for name, *cells in rows
    ]


def _ways(summary: Summary, k: int) -> tuple[Fact, ...]:
    """What to promise, with its options and when it fits."""
    ways = [
        (
            "k-anonymity",
            f"-k {k} --hierarchy TREE",
            "an adversary may know everything about a person",
        ),
        (
            "km-anonymity",
            f"-k {k} -m 2 --method mhghs --hierarchy TREE",
            "they know at most 2 items; items are generalized",
        ),
        ("", f"-k {k} -m 2 --method disassociation", "the same, but items stay as they are"),
        (
            "coherence",
            f"-k {k} -p 2 --h 0.6 --private LIST --method suppression",
            "public items may reveal private ones",
        ),
        (
            "differential-privacy",
            f"--epsilon 1 {_items_of_noise(summary)}",
            "they may know anything; synthetic records and noisy counts",
        ),
    ]
    if summary.counts is not None:
        ssc = f"-k {k} --method ssc --semantics TREE"
        ways.append(("vocabulary-k-anonymity", ssc, "counts may be known too"))
    return tuple(Fact(*way) for way in ways)


def _items_of_noise(summary: Summary) -> str:
    """Where differential privacy gets its items: a list that may have names is never public."""
    return f"--delta {private_delta(summary.records)}" if summary.rare_words else "--public-items"

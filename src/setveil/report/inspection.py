"""The report of a data set as it is: what it holds, how exposed the people in it are, and what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.audit.exposure import Exposure
from setveil.data.summary import Summary
from setveil.report.report import Fact, Report, Section
from setveil.words import count, plural, rough_share, share

PRIVATE = "private, not part of the release"
TREE_HINT = "TREE is a file, or balanced:5 where there is none, or prefix for codes; `setveil hierarchy check` looks a file through."


def report_inspection(
    summary: Summary, exposed: Sequence[Exposure], name: str | None = None
) -> Report:
    """What a data set holds, and how exposed the people in it are.

    Args:
        summary: Of the data.
        exposed: The exposure for one k, told in sentences, and for others, told in a table.
        name: What the data is called on the command line; with it, ways to anonymize it are shown.
    """
    first, *others = exposed
    often = ", ".join(f"{item} ({support:,})" for item, support in summary.most_frequent)
    sections = [
        Section("Data", facts=_summary(summary)),
        Section("Most frequent items, and how many records hold each", often or "none"),
        Section(f"Exposure ({PRIVATE})", first.text),
    ]
    if others and summary.records:
        sections.append(
            Section(
                f"The same for other k, in shares of the people ({PRIVATE})",
                "\n".join(_table([first, *others])),
            )
        )
    if name is not None and summary.records:
        sections.append(
            Section(
                f"What next: setveil anonymize {name} -o release, with",
                TREE_HINT,
                _ways(summary, exposed[-1].k),
            )
        )
    values = {
        "summary": summary.to_dict(),
        "exposure": first.to_dict(),
        "exposures": [one.to_dict() for one in exposed],
    }
    return Report(tuple(sections), values)


def _summary(found: Summary) -> tuple[Fact, ...]:
    lengths, counts = found.lengths, found.counts
    alone = share(found.unique_records / found.records) if found.records else share(0)
    spread = (
        f"on average; median {lengths.median:,.10g}, from {lengths.least:,} to {lengths.most:,}"
    )
    facts = [
        Fact("records", count(found.records), f"{count(found.empty_records)} of them empty"),
        Fact(
            "items",
            count(found.items),
            f"{count(found.single_record_items)} of them in one record only",
        ),
        Fact("occurrences", count(found.occurrences)),
        Fact("items of a record", f"{lengths.mean:,.1f}", spread),
        Fact("distinct records", count(found.distinct_records)),
        Fact(
            "unique records",
            count(found.unique_records),
            f"{alone} of all records are like no other",
        ),
    ]
    if counts is not None:
        remark = f"on average; at most {counts.most:,}; {plural(counts.repeated, 'item')} of {counts.pairs:,} more than once"
        facts.append(Fact("times an item stands", f"{counts.mean:,.1f}", remark))
    return tuple(facts)


def _table(exposed: Sequence[Exposure]) -> list[str]:
    """A line for each k, a column for each number of items that are known."""
    rows = [["known", *(plural(one.items, "item") for one in exposed[0].known), "all items"]]
    rows += [
        [
            f"k = {found.k}",
            *(rough_share(one.share) for one in found.known),
            rough_share(found.whole),
        ]
        for found in exposed
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    ]


def _ways(summary: Summary, k: int) -> tuple[Fact, ...]:
    """What to promise, with the options for it and when it fits."""
    ways = [
        Fact(
            "k-anonymity", f"-k {k} --hierarchy TREE", "an adversary may know anything of a person"
        ),
        Fact(
            "km-anonymity",
            f"-k {k} -m 2 --method mhghs --hierarchy TREE",
            "they know 2 items at most, and items may become general ones",
        ),
        Fact(
            "",
            f"-k {k} -m 2 --method disassociation",
            "the same, but items must stay what they are",
        ),
        Fact(
            "coherence",
            f"-k {k} -p 2 --h 0.6 --private LIST --method suppression",
            "some items are private, and others tell of them",
        ),
    ]
    if summary.counts is not None:
        ways.append(
            Fact(
                "vocabulary-k-anonymity",
                f"-k {k} --method ssc --semantics TREE",
                "how often an item stands matters too",
            )
        )
    return tuple(ways)

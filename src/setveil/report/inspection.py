"""The reports of what is given: data, query logs and hierarchies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from setveil.data.logterms import LogReport
from setveil.errors import Note, Spelling, UnknownItemError, as_keyword, did_you_mean, spelled
from setveil.hierarchy.build import range_of
from setveil.hierarchy.recipes import remarks
from setveil.hierarchy.tree import Hierarchy
from setveil.pipeline.hierarchy import Checked
from setveil.pipeline.notes import private_delta
from setveil.pipeline.querylog import QuerylogResult
from setveil.report import PRIVATE, Fact, Report, Section, aligned, as_flag
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
        sections.append(Section(f"{title} ({PRIVATE})", _table(found.exposures)))
    if name is not None and summary.records:
        title = f"Next: setveil anonymize {name} -o release, with one of"
        sections.append(Section(title, HINT, _ways(summary, found.k)))
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


def _table(exposed: Sequence[Exposure]) -> str:
    """Two lines for each k, a column for each number of known items."""
    rows = [["known", *(plural(one.items, "item") for one in exposed[0].known), "all items"]]
    for found in exposed:
        telling, random = ([k.share for k in found.known], [k.random for k in found.known])
        whole = rough_share(found.whole)
        rows.append([f"k = {found.k}, most telling items", *map(rough_share, telling), whole])
        rows.append([f"k = {found.k}, random items", *map(rough_share, random), whole])
    return aligned(rows)


def _ways(summary: Summary, k: int) -> tuple[Fact, ...]:
    """What to promise, with its options and when it fits; a list of items that may have names is
    never public."""
    delta = f"--delta {private_delta(summary.records)}"
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
            f"--epsilon 1 {delta if summary.rare_words else '--public-items'}",
            "they may know anything; synthetic records and noisy counts",
        ),
    ]
    if summary.counts is not None:
        ssc = f"-k {k} --method ssc --semantics TREE"
        ways.append(("vocabulary-k-anonymity", ssc, "counts may be known too"))
    return tuple(Fact(*way) for way in ways)


_OF_LOG = "private, about the original log"


def report_log(done: QuerylogResult) -> Report:
    """What was read, merged and dropped, and what was written."""
    found, output = done.found, str(done.output)
    sections = [
        Section(f"Query log ({_OF_LOG})", facts=_log(found)),
        Section(f"Terms: {done.terms} ({_OF_LOG})", facts=_terms(found)),
    ]
    if found.bad_lines:
        bad = tuple(Fact(f"line {bad.line:,}", bad.reason) for bad in found.bad_lines)
        sections.insert(1, Section("The first rows that cannot be used", facts=bad))
    if found.often_unknown:
        text = ", ".join(f"{term} ({users:,})" for term, users in found.often_unknown)
        sections.append(Section(f"Unknown terms of many users ({_OF_LOG})", text))
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


MOST_CHILDREN = 12  # how many children of a node are shown; the rest are counted


def report_faults(name: str, checked: Checked, spell: Spelling = as_flag) -> Report:
    """Every fault of a hierarchy as a line, how a table was read, and what helps."""
    faults = checked.faults
    errors = sum(fault.severity == "error" for fault in faults)
    title = f"{name}: {plural(errors, 'error')}, {plural(len(faults) - errors, 'note')}"
    facts = tuple(Fact(fault.severity, fault.sentence) for fault in faults)
    values = {"usable": checked.is_usable, "faults": [fault.to_dict() for fault in faults]}
    advice = spelled(checked.advice, spell)
    text = f"levels: {' < '.join(checked.columns)}" if checked.columns else ""
    values |= {"levels": list(checked.columns), "advice": advice}
    more = (Section("Try", advice),) if advice else ()
    return Report((Section(title, text, facts, holds=checked.is_usable), *more), values)


def report_tree(tree: Hierarchy, depth: int, label: str | None = None) -> Report:
    """The size of a tree, and `depth` levels of it, from the root or from the node with a label."""
    if label is not None and label not in tree.nodes:
        near = did_you_mean(label, tree.nodes)
        raise UnknownItemError([label], "the hierarchy has no node", near)
    start = tree.root if label is None else tree.nodes.number(label)
    leaves = f"{count(tree.leaf_count)} of them leaves"
    title = f"{plural(len(tree), 'node')}, {leaves}, height {tree.height}"
    path = "" if label is None else " < ".join(tree.path(label)) + "\n"
    size = {"nodes": len(tree), "leaves": tree.leaf_count, "height": tree.height}
    values = {**size, "origin": tree.origin.kind, "tree": _nested(tree, start, depth)}
    shown = Section(title, path + "\n".join(_lines(tree, start, depth, "")))
    said = [remark.text(as_flag) for remark in remarks(tree)[:1]]
    more = (Section("Note", "\n".join(said)),) if said else ()
    return Report((shown, *more), {**values, "remarks": said})


def _lines(tree: Hierarchy, node: int, depth: int, indent: str) -> Iterator[str]:
    size = f"  ({_size(tree, node)})" if node >= tree.leaf_count else ""
    yield f"{indent}{tree.labels[node]}{size}"
    children = tree.children(node).tolist() if depth else []
    for child in children[:MOST_CHILDREN]:
        yield from _lines(tree, child, depth - 1, indent + "  ")
    if len(children) > MOST_CHILDREN:
        yield f"{indent}  ... and {count(len(children) - MOST_CHILDREN)} more"


def _size(tree: Hierarchy, node: int) -> str:
    """How many leaves a node has, and if its label is a position, which."""
    leaves = plural(int(tree.widths[node]), "leaf", "leaves")
    if tree.origin.kind != "balanced" or tree.origin.is_public or not tree.widths[node]:
        return leaves
    items = tree.labels[tree.first[node] : tree.stop[node]]
    return f"{leaves}: {range_of(items, tree.origin.parameters['order'])}"


def _nested(tree: Hierarchy, node: int, depth: int) -> dict[str, object]:
    shown: dict[str, object] = {"label": tree.labels[node], "leaves": int(tree.widths[node])}
    if depth and node >= tree.leaf_count:
        children = tree.children(node).tolist()
        shown["children"] = [_nested(tree, child, depth - 1) for child in children]
    return shown

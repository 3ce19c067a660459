"""Attacks that have a name, and what is measured apart from the rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from setveil.alignment.merging import count_records
from setveil.audit.attack.draws import Estimate, Sample
from setveil.audit.attack.outcome import Finding, Row
from setveil.data.arrays import Flags, Floats, Int64s, sums
from setveil.published.generalized import Generalized
from setveil.published.release import Release
from setveil.words import plural, rough_share


def unique_records(release: Release) -> list[Finding]:
    """How many published records are unique, and how many private items one record has, if the
    promise does not cover somebody who knows everything about a person."""
    if release.promise.covers_lacking or not release.shows_records:
        return []
    merged = count_records(*release.certain_rows())  # several groups may have the same set
    rows, counts = merged.records, merged.sizes
    alone, records = int(counts[counts == 1].sum()), max(len(release), 1)
    text = f"{alone:,} of {plural(len(release), 'published record')} {_occur(alone)} once: "
    text += "somebody who knows all items of such a person, and that these are all, finds their "
    text += "record."
    figures = {"records": Estimate.certain(alone / records)}
    hidden = rows.vocabulary.marks(release.promise.assumed_unknown)
    supports = sums(rows.items, counts[rows.rows], len(rows.vocabulary))[hidden]
    supports = supports[supports > 0]
    if len(supports):
        once = int((supports == 1).sum())
        text += f" {once:,} of {plural(len(supports), 'private item')} {_occur(once)} in one "
        text += "published record only: somebody who knows such an item of a person reads the rest "
        text += "of their record."
        figures["private"] = Estimate.certain(once / len(supports))
    return [Finding("unique", text, figures)]


def _occur(number: int) -> str:
    return "occurs" if number == 1 else "occur"


def outside(source: str, row: Row, records: int, true: Flags) -> Finding:
    """How far knowledge from elsewhere leads, linked person by person."""
    assert row.risk is not None
    share = rough_share(float(true.mean()) if len(true) else 0.0)
    text = (
        f"{source[:1].upper()}{source[1:]}: {plural(records, 'record')}, about "
        f"{plural(row.people, 'person', 'people')} in the data. What is known is true in {share} "
        "of the cases that were tried. If each person is linked with one of the candidates at "
        f"random, {rough_share(row.risk.marketer.value)} of the links are expected to be right."
    )
    return Finding(f"outside, {source}", text, {"right": row.risk.marketer})


def homogeneity(rows: Iterable[Row]) -> list[Finding]:
    """How often all candidates share a further item, for the most items that the promise covers."""
    plain = (row for row in rows if row.kind in ("items", "columns"))
    able = [row for row in plain if row.within and row.further]
    if not able:
        return []
    row = able[-1]
    assert row.further is not None
    are_known = "is" if row.items == 1 else "are"
    text = (
        f"If {row.knowledge} of a person {are_known} known, all candidates share a further item in "
        f"{rough_share(row.further.certain.value)} of the draws. It is "
        "then certain that the person has it."
    )
    figures = {"further": row.further.certain}
    if row.private is not None:
        text += f" In {rough_share(row.private.certain.value)} it is a private item."
        figures["private"] = row.private.certain
    return [Finding("homogeneity", text, figures)]


def likelier(rows: Iterable[Row], crowd: int) -> str:
    """That some piece is likelier than 1 in k, although k records could contain what is known. It
    takes a shared chunk whose items several parts list themselves: the few pieces with most of
    these items have few clusters left."""
    found = (row for row in rows if row.within and row.possible is not None)
    if all(row.fewest >= crowd for row in found):
        return ""
    return f"some pieces are likelier than 1 in {crowd} to be a person's"


def both_releases(rows: Iterable[Row]) -> list[Finding]:
    """What a second release adds."""
    found = [row for row in rows if row.kind == "both"]
    if not found:
        return []
    row = found[0]
    text = (
        "An adversary who can link the records of both releases is left with one person in "
        f"{rough_share(row.alone.value)} of the draws, and with fewer than promised in "
        f"{rough_share(row.fewer.value)}."
    )
    figures = {"alone": row.alone, "fewer": row.fewer, "success": row.success}
    return [Finding("intersection", text, figures)]


def apart(items: int, counted: tuple[Floats, Floats], crowd: int, sample: Sample) -> list[Finding]:
    """What disassociated data lets one expect of records that nobody sees: how many have all known
    items, and how many can have them for somebody who knows the method."""
    (expected, capped), known = counted, plural(items, "known item")
    few = sample.share((expected < 1).astype(np.float64))
    median = sample.median(expected)
    text = (
        f"If all placements are equally likely, {median.value:,.3g} records are expected to have "
        f"the {known} (median of the draws), fewer than one in {rough_share(few.value)} of the "
        "draws. That says how likely somebody has them all. It does not say which pieces are "
        "theirs, so it is no success of linking."
    )
    figures = {"median": median, "below_1": few}
    fewer = sample.share((capped < crowd).astype(np.float64))
    said = (
        "An adversary who knows the method knows that an item without counts is in fewer than "
        f"{crowd} records of its cluster. Then fewer than {crowd} records can have the {known}, in "
        f"any original, in {rough_share(fewer.value)} of the draws."
    )
    return [
        Finding("expected", text, figures),
        Finding("minimality", said, {"fewer": fewer}),
    ]


def narrowing(release: Generalized) -> Finding:
    """How far beliefs move if originals are excluded that would have been published with more
    detail.

    A method that generalizes no more than it must would have published a child instead of its
    parent if all records of the class had items below that one child (under one cut for all
    records: all records of the release with that node). Let the s records each have an item below
    the node, each leaf equally likely, and let child c have a share p_c of the leaves. Without
    these originals the belief in child c is

        p_c (1 - p_c^(s - 1)) / (1 - sum of p_j^s over all children j).

    It moves most for a child with most of the leaves, and not at all between equal children."""
    nodes, people, weights = _published(release)
    shares = {node: _shares(release, node) for node in np.unique(nodes).tolist()}
    moved, total, most = 0.0, 0.0, 0.0
    for node, size, weight in zip(nodes.tolist(), people.tolist(), weights.tolist(), strict=True):
        change = _change(shares[node], size)
        moved, total, most = moved + weight * change, total + weight, max(most, change)
    mean = moved / total if total else 0.0
    text = (
        "An adversary who knows that the method generalizes no more than necessary can rule out "
        "that all records of a group have items of one branch. That changes the belief in a branch "
        f"by {rough_share(mean)} on average, at most {rough_share(most)}. The candidates stay the "
        "same."
    )
    figures = {"mean": Estimate.certain(mean), "most": Estimate.certain(most)}
    return Finding("minimality", text, figures)


def _published(release: Generalized) -> tuple[Int64s, Int64s, Int64s]:
    """The groups that are published, of how many people, and how many of them have it."""
    classes, tree = release.classes, release.hierarchy
    groups = classes.items >= tree.leaf_count
    nodes, sizes = classes.items[groups].astype(np.int64), release.sizes[classes.rows[groups]]
    if release.is_global:
        totals = sums(nodes, sizes, len(tree))
        nodes = np.flatnonzero(totals)
        return nodes, totals[nodes], totals[nodes]
    codes, which = np.unique(nodes * (int(sizes.max(initial=0)) + 1) + sizes, return_inverse=True)
    nodes, people = np.divmod(codes, int(sizes.max(initial=0)) + 1)
    return nodes, people, sums(which, sizes, len(codes))


def _shares(release: Generalized, node: int) -> Floats:
    """The share of the leaves below a node that each child has."""
    tree = release.hierarchy
    children = np.flatnonzero(tree.parent == node)
    return tree.widths[children] / max(int(tree.widths[node]), 1)


def _change(shares: Floats, size: int) -> float:
    """The largest change of the belief in a child."""
    excluded = float((shares**size).sum())
    if len(shares) < 2 or size < 2 or excluded >= 1:
        return 0.0
    after = shares * (1 - shares ** (size - 1)) / (1 - excluded)
    return float(np.abs(after - shares).max())

"""Attacks that have a name, and what is measured apart from the rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from setveil.audit.attack.outcome import Row
from setveil.audit.attack.statistics import Estimate, Sample
from setveil.audit.attack.view import Finding
from setveil.data.arrays import Floats, sums
from setveil.published.release import Release
from setveil.words import plural, rough_share


def unique_records(release: Release) -> list[Finding]:
    """How many published records are unique, and how many private items one record has, if the
    promise does not cover somebody who knows everything about a person."""
    if release.promise.covers_lacking or not release.shows_records:
        return []
    rows, counts = release.certain_rows()
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


def homogeneity(rows: Iterable[Row]) -> list[Finding]:
    """How often all candidates share a further item, for the most items that the promise covers."""
    able = [row for row in rows if row.kind == "items" and row.within and row.further]
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

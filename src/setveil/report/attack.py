"""The report of an attack: what was tried, how far it led, and what that means."""

from collections.abc import Sequence

from setveil.audit.attack.outcome import Attack, Inference, Row
from setveil.audit.attack.statistics import CONFIDENCE, Estimate
from setveil.report import Report, Section
from setveil.words import plural

TITLES = {
    "cover": "Cover problem",
    "minimality": "Minimality",
    "intersection": "Intersection of two releases",
    "homogeneity": "Homogeneity",
}
"""The attacks that have a name."""


def report_attack(found: Attack) -> Report:
    """How far an adversary gets with what the promise covers, and with more."""
    title = f"{'Holds' if found.holds else 'Does not hold'} against known items"
    sections = [
        Section(f"{title}: {found.promise.title}", _intro(found), holds=found.holds, private=True),
        _table("Candidates", _candidate_lines(found)),
    ]
    inferred = [row for row in found.rows if row.further is not None]
    if inferred:
        sections.append(_table("Belief in a further item of the person", _beliefs(inferred)))
    hidden = [row for row in found.rows if row.private is not None]
    if hidden:
        title = f"Belief in the private item it rises most for, of {found.private_items:,}"
        sections.append(_table(title, _private_beliefs(hidden)))
    sections += [Section(TITLES[each.name], each.text, private=True) for each in found.findings]
    sections += [
        Section("Singling out", _singling_out(found), private=True),
        Section("Linkability", _linkability(found), private=True),
        Section("Inference", _inference(found), private=True),
    ]
    return Report(tuple(sections), found.to_dict())


def knowledge(row: Row) -> str:
    """What the adversary of a row knows, in words.

    Example:
        >>> from dataclasses import replace
        >>> from setveil.audit.attack.statistics import Estimate
        >>> one = Estimate.certain(1.0)
        >>> row = Row("items", 2, True, 9, 9, True, 5, one, one, one, one, ())
        >>> knowledge(row), knowledge(replace(row, kind="lacking"))
        ('2 items', '2 items and 1 they lack')
    """
    items = "all items" if row.items is None else plural(row.items, "item")
    more = {
        "items": "",
        "lacking": " and 1 they lack",
        "likely": ", equal odds",
        "method": " and the method",
        "both": " and a 2nd release",
    }
    return items + more[row.kind]


def _intro(found: Attack) -> str:
    records = plural(found.records, "record")
    crowd = found.promise.crowd
    allowed = f" The promise allows a success of 1/{crowd} = {_percent(1 / crowd)}." * bool(crowd)
    sure = f"{100 * CONFIDENCE:.0f} % confidence"
    drawn = max((row.draws for row in found.rows if not row.exact), default=0)
    fewer = (
        f" The column fewest has the smallest number of all draws: with {sure}, at most "
        f"{_percent(1 - (1 - CONFIDENCE) ** (1 / drawn))} of all cases leave fewer."
        if drawn
        else ""
    )
    odds = (
        " The column equal odds takes all originals that fit the release as equally likely, and "
        "counts the records that have the items on average."
        if any(row.kind == "likely" for row in found.rows)
        else ""
    )
    return (
        f"For people drawn from the {records} of the original, an adversary knows some of their "
        f"items and searches the release for them. A candidate is {found.candidate}. The adversary "
        f"picks one candidate at random; success is how likely it is the right one.{allowed} A "
        f"figure with ± may be off by so much, with {sure}; the others are exact.{fewer}{odds}"
    )


def _table(title: str, rows: Sequence[Sequence[str]]) -> Section:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return Section(title, "\n".join(lines), private=True)


def _candidate_lines(found: Attack) -> list[list[str]]:
    k = found.promise.crowd
    fewer = f"fewer than {k}" if k else "none"
    lines = [["known", "promised", "fewest", "median", "alone", fewer, "success"]]
    for row in found.rows:
        if not row.draws:  # nobody has so many items
            lines.append([knowledge(row), "yes" if row.within else "no", *["-"] * 5])
            continue
        median = f"{row.median.value:,.0f}"
        if row.median.margin:
            median += f" ({row.median.low:,.0f}-{row.median.high:,.0f})"
        cells = [knowledge(row), "yes" if row.within else "no", f"{row.fewest:,.4g}", median]
        lines.append([*cells, *map(_shown, (row.alone, row.fewer, row.success))])
    return lines


def _beliefs(rows: Sequence[Row]) -> list[list[str]]:
    lines = [["known", "without it", "with it", "some item is certain"]]
    for row in rows:
        assert row.further is not None
        lines.append([knowledge(row), *_moved(row.further)])
    return lines


def _private_beliefs(rows: Sequence[Row]) -> list[list[str]]:
    lines = [["known", "without it", "with it", "one is certain"]]
    for row in rows:
        assert row.private is not None
        lines.append([knowledge(row), *_moved(row.private)])
    return lines


def _moved(found: Inference) -> list[str]:
    return [_shown(each) for each in (found.base, found.belief, found.certain)]


def _shown(found: Estimate) -> str:
    margin = f" ± {_percent(found.margin).removesuffix(' %')}" if found.margin else ""
    return f"{_percent(found.value).removesuffix(' %')}{margin} %"


def _percent(value: float) -> str:
    percent = 100 * value
    if 0 < percent < 0.095:
        return f"{percent:.2g} %" if percent >= 0.01 else "0.01 %"
    return f"{percent:.1f} %"


def _singling_out(found: Attack) -> str:
    """Can somebody single out a person?"""
    covered, more = _of_items(found, within=True), _of_items(found, within=False)
    parts = []
    if covered:
        least = min(row.fewest for row in covered)
        tried = "everybody" if all(row.exact for row in covered) else "everybody who was drawn"
        parts.append(
            f"With what the promise covers, at least {least:,.4g} candidates were left for {tried}."
        )
    if more:
        worst = max(more, key=lambda row: row.alone.value)
        parts.append(
            f"With {knowledge(worst)}, which it does not cover, only one candidate was left in "
            f"{_shown(worst.alone)} of the draws."
        )
    return " ".join(parts)


def _linkability(found: Attack) -> str:
    """Can somebody link records of a person in two data sets?"""
    covered = _of_items(found, within=True)
    both = next((row for row in found.rows if row.kind == "both"), None)
    text = ""
    if covered:
        worst = max(covered, key=lambda row: row.success.value)
        text = (
            f"Another data set with {knowledge(worst)} of a person leads to the right record in "
            f"{_shown(worst.success)} of cases on average."
        )
    if both is None:
        return f"{text} A second release of the same people was not tried."
    return (
        f"{text} Together with the other release, only one person was left in "
        f"{_shown(both.alone)} of the draws."
    )


def _inference(found: Attack) -> str:
    """Can somebody infer something about a person?"""
    covered = [row for row in found.rows if row.within and row.further is not None]
    if not covered:
        return "There was nothing to infer: nobody has further items."
    worst = max(covered, key=lambda row: row.further.belief.value if row.further else 0.0)
    assert worst.further is not None
    text = (
        f"With {knowledge(worst)} known, the belief in a further item of the person "
        f"{_rise(worst.further)} on average."
    )
    if worst.private is not None:
        text += f" For the private item that gains most it {_rise(worst.private)}."
    return text


def _rise(found: Inference) -> str:
    base, belief = _shown(found.base), _shown(found.belief)
    return f"stays at {base}" if base == belief else f"rises from {base} to {belief}"


def _of_items(found: Attack, *, within: bool) -> list[Row]:
    """The rows of known items, if somebody has so many."""
    rows = (row for row in found.rows if row.kind == "items" and row.draws)
    return [row for row in rows if row.within == within]

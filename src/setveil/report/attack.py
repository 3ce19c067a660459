"""The report of an attack: what was tried, how far it led, and what that means."""

from collections.abc import Iterable, Sequence
from math import ceil

from setveil.audit.attack.draws import CONFIDENCE, Estimate
from setveil.audit.attack.outcome import Attack, Inference, Row
from setveil.report import Report, Section, aligned
from setveil.words import plural

TITLES = {
    "cover": "Cover problem",
    "minimality": "Minimality",
    "intersection": "Intersection of two releases",
    "homogeneity": "Homogeneity",
    "unique": "Unique records",
    "expected": "Records expected to have all known items",
}
"""The attacks that have a name."""


def report_attack(found: Attack) -> Report:
    """How far an adversary gets with what the promise covers, and with more."""
    but = f", but {' and '.join(found.gaps)}" if found.holds and found.gaps else ""
    title = f"{'Holds' if found.holds else 'Does not hold'} against known items{but}"
    mark = None if but else found.holds
    sections = [
        Section(f"{title}: {found.promise.title}", _intro(found), holds=mark, private=True),
        _table("Candidates", _candidate_lines(found)),
    ]
    further = _beliefs("some item is certain", ((row.knowledge, row.further) for row in found.rows))
    if further[1:]:
        sections.append(_table("Belief in a further item of the person", further))
    private = _beliefs("one is certain", ((row.knowledge, row.private) for row in found.rows))
    if private[1:]:
        title = f"Belief in the private item it rises most for, of {found.private_items:,}"
        sections.append(_table(title, private))
    sections += [Section(TITLES[each.name], each.text, private=True) for each in found.findings]
    sections += [Section(name, text, private=True) for name, text in answers(found).items()]
    return Report(tuple(sections), found.to_dict() | {"answers": answers(found)})


def answers(found: Attack) -> dict[str, str]:
    """The three questions of the data-protection authorities, each answered by the worst row that
    the promise covers and the worst that it does not cover."""
    return {
        "Singling out": _singling_out(found),
        "Linkability": _linkability(found),
        "Inference": _inference(found),
    }


def _intro(found: Attack) -> str:
    records = plural(found.records, "record")
    crowd, most = found.promise.crowd, found.promise.records_per_person
    allowed = f" The promise allows a success of 1/{crowd} = {_percent(1 / crowd)}." * bool(crowd)
    drawn_from = f"For people drawn from the {records} of the original, an adversary knows some of "
    drawn_from += "their items and searches the release for them."
    if most > 1:
        drawn_from = (
            f"For records drawn from the {records} of the original, an adversary knows some of the "
            f"items of one record and searches the release for it. Up to {most:,} records are of "
            "one person: what several of them show together was not tried."
        )
        people = found.promise.of_people.crowd
        allowed = (
            allowed.rstrip(".") + f" for a record, and 1/{people} for its person." if crowd else ""
        )
    sure = f"{100 * CONFIDENCE:.0f} % confidence"
    drawn = max((row.draws for row in found.rows if not row.exact), default=0)
    fewer = (
        " The columns fewest and largest have the fewest candidates and the largest success of all "
        f"draws: with {sure}, at most {_percent(1 - (1 - CONFIDENCE) ** (1 / drawn))} of all cases "
        "are worse."
        if drawn
        else ""
    )
    return (
        f"{drawn_from} A candidate is {found.candidate}. "
        f"{found.success}{allowed} A figure with ± may be off by so much, with {sure}; the others "
        f"are exact.{fewer}"
    )


def _table(title: str, rows: Sequence[Sequence[str]]) -> Section:
    return Section(title, aligned(rows), private=True)


def _candidate_lines(found: Attack) -> list[list[str]]:
    k = found.promise.crowd
    fewer = f"fewer than {k}" if k else "none"
    lines = [["known", "covered", "fewest", "median", "alone", fewer, "success", "largest"]]
    for row in found.rows:
        if not row.draws:  # nobody has so many items
            lines.append([row.knowledge, "yes" if row.within else "no", *["-"] * 6])
            continue
        median = f"{row.median.value:,.0f}"
        if row.median.margin:
            median += f" ± {ceil(row.median.margin):,}"
        cells = [row.knowledge, "yes" if row.within else "no", f"{row.fewest:,.4g}", median]
        shares = map(_shown, (row.alone, row.fewer, row.success))
        lines.append([*cells, *shares, _percent(row.largest)])
    return lines


def _beliefs(certain: str, rows: Iterable[tuple[str, Inference | None]]) -> list[list[str]]:
    moved = [
        [knowledge, *map(_shown, (found.base, found.belief, found.certain))]
        for knowledge, found in rows
        if found is not None
    ]
    return [["known", "without it", "with it", certain], *moved]


def _shown(found: Estimate) -> str:
    margin = f" ± {_percent(found.margin).removesuffix(' %')}" if found.margin else ""
    return f"{_percent(found.value).removesuffix(' %')}{margin} %"


def _percent(value: float) -> str:
    percent = 100 * value
    if 0 < percent < 0.095:
        return f"{max(percent, 0.01):.2f} %"
    return f"{percent:.1f} %"


def _singling_out(found: Attack) -> str:
    """Can somebody single out a person?"""
    covered, beyond = _rows(found, within=True), _rows(found, within=False)
    parts = []
    if covered:
        worst = min(covered, key=lambda row: (row.fewest, -row.success.value))
        tried = "everybody" if worst.exact else "everybody who was drawn"
        parts.append(
            f"With what the promise covers, the worst is to know {worst.knowledge}: at least "
            f"{worst.fewest:,.4g} candidates were left for {tried}."
        )
        least = min((row.possible for row in covered if row.possible is not None), default=None)
        if least is not None:
            parts.append(f"At least {least:,} records could contain the known items.")
    if beyond:
        worst = max(beyond, key=lambda row: (row.alone.value, -row.fewest, row.success.value))
        parts.append(
            f"With what it does not cover, the worst is to know {worst.knowledge}: only one "
            f"candidate was left in {_shown(worst.alone)} of the draws (fewest: "
            f"{worst.fewest:,.4g})."
        )
    return " ".join(parts)


def _linkability(found: Attack) -> str:
    """Can somebody link records of a person in two data sets?"""
    parts = []
    for within, words in _COVERED.items():
        rows = _rows(found, within=within)
        if rows:
            worst = max(rows, key=lambda row: row.success.value)
            top = max(rows, key=lambda row: (row.largest, row is worst))
            more = "" if top is worst else f" (with {top.knowledge})"
            parts.append(
                f"{words}, the worst is another data set with {worst.knowledge} of a person: it "
                f"leads to the right {found.target} in {_shown(worst.success)} of cases on "
                f"average; the largest chance is {_percent(top.largest)}{more}."
            )
    if not any(row.kind == "both" for row in found.rows):
        parts.append("A second release of the same people was not tried.")
    return " ".join(parts)


def _inference(found: Attack) -> str:
    """Can somebody infer something about a person?"""
    parts = []
    for within, words in _COVERED.items():
        rows = _rows(found, within=within)
        moved = [(row, row.further) for row in rows if row.further is not None]
        if moved:
            worst, belief = max(moved, key=lambda pair: pair[1].belief.value)
            parts.append(
                f"{words}, the worst is to know {worst.knowledge}: the belief in a further item of "
                f"the person {_rise(belief)} on average."
            )
        hidden = [(row, row.private) for row in rows if row.private is not None]
        if hidden:
            worst, belief = max(hidden, key=lambda pair: pair[1].belief.value)
            parts.append(
                f"For the private item that gains most, with {worst.knowledge} known, it "
                f"{_rise(belief)}."
            )
    return " ".join(parts) or "There was nothing to infer: nobody has further items."


_COVERED = {True: "With what the promise covers", False: "With what it does not cover"}


def _rise(found: Inference) -> str:
    base, belief = _shown(found.base), _shown(found.belief)
    if base == belief:
        return f"stays at {base}"
    verb = "rises" if found.belief.value > found.base.value else "falls"
    return f"{verb} from {base} to {belief}"


def _rows(found: Attack, *, within: bool) -> list[Row]:
    """The rows that the promise covers, or the others, if somebody has so many items."""
    return [row for row in found.rows if row.within == within and row.draws]

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
    journalist = journalist_lines(found)
    sections = [
        Section(f"{title}: {found.promise.title}", _intro(found), holds=mark, private=True),
        _table("Candidates", _candidate_lines(found)),
        _table("Risk", risk_lines(found)),
        *([_table("Journalist risk", journalist)] if journalist[1:] else []),
        Section("What the columns of risk mean", risk_words(found), private=True),
    ]
    further = _beliefs("some item is certain", ((row.knowledge, row.further) for row in found.rows))
    if further[1:]:
        sections.append(_table("Belief in a further item of the person", further))
    private = _beliefs("one is certain", ((row.knowledge, row.private) for row in found.rows))
    if private[1:]:
        title = f"Belief in the private item it rises most for, of {found.private_items:,}"
        sections.append(_table(title, private))
    sections += [Section(_title(each.name), each.text, private=True) for each in found.findings]
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
    crowd, most = found.promise.crowd, found.promise.most_records
    allowed = f" The promise allows a success of 1/{crowd} = {percent(1 / crowd)}." * bool(crowd)
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
        f"draws: with {sure}, at most {percent(1 - (1 - CONFIDENCE) ** (1 / drawn))} of all cases "
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


def _title(name: str) -> str:
    return TITLES.get(name) or f"{name[:1].upper()}{name[1:]}"


def _candidate_lines(found: Attack) -> list[list[str]]:
    k = found.promise.crowd
    fewer = f"fewer than {k}" if k else "none"
    lines = [["known", "covered", "fewest", "median", fewer]]
    for row in found.rows:
        covered = "yes" if row.within else "no"
        if not row.draws:  # nobody has this number of items
            lines.append([row.knowledge, covered, *["-"] * 3])
            continue
        median = f"{row.median.value:,.0f}"
        if row.median.margin:
            median += f" ± {ceil(row.median.margin):,}"
        lines.append([row.knowledge, covered, f"{row.fewest:,.4g}", median, shown(row.fewer)])
    return lines


def risk_lines(found: Attack) -> list[list[str]]:
    """How many people are unique before and after, and how likely they are found, by what is known:
    `success` and `largest` are prosecutor risk."""
    lines = [["known", "unique before", "after", "success", "largest", "marketer"]]
    for row in found.rows:
        if row.risk is None or not row.draws:
            lines.append([row.knowledge, *["-"] * 5])
            continue
        unique = shown(row.risk.unique_before), shown(row.alone)
        risks = shown(row.success), percent(row.largest), shown(row.risk.marketer)
        lines.append([row.knowledge, *unique, *risks])
    return lines


def journalist_lines(found: Attack) -> list[list[str]]:
    """The same of somebody who may not be in the data; only the heading if no population was
    given."""
    lines = [["known", "average", "largest"]]
    for row in found.rows:
        risk = row.risk
        if risk is not None and risk.population is not None and row.draws:
            figures = shown(risk.journalist), percent(risk.journalist_largest)
            lines.append([row.knowledge, *figures])
    return lines


def risk_words(found: Attack) -> str:
    """What the columns of the table of risks mean."""
    people = population_of(found)
    journalist = (
        "No population was given, so the release is taken as the population, and journalist risk "
        "equals prosecutor risk."
    )
    if people is not None:
        journalist = f"Journalist risk: the person may be any of {people:,} people."
    return (
        "Unique: nobody else fits what is known. Success and largest are prosecutor risk, on "
        "average and at worst: the person is known to be in the data. Marketer risk is the share "
        f"of right links if everybody is linked at random to one of their candidates. {journalist}"
    )


def population_of(found: Attack) -> int | None:
    """How many people may be meant; None if the release is taken as the population."""
    sizes = (row.risk.population for row in found.rows if row.risk is not None)
    return next((size for size in sizes if size is not None), None)


def _beliefs(certain: str, rows: Iterable[tuple[str, Inference | None]]) -> list[list[str]]:
    moved = [
        [knowledge, *map(shown, (found.base, found.belief, found.certain))]
        for knowledge, found in rows
        if found is not None
    ]
    return [["known", "without it", "with it", certain], *moved]


def shown(found: Estimate) -> str:
    """A figure in percent, with its margin."""
    margin = f" ± {percent(found.margin).removesuffix(' %')}" if found.margin else ""
    return f"{percent(found.value).removesuffix(' %')}{margin} %"


def percent(value: float) -> str:
    """A share in percent."""
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
            f"candidate was left in {shown(worst.alone)} of the draws (fewest: "
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
                f"leads to the right {found.target} in {shown(worst.success)} of cases on "
                f"average; the largest chance is {percent(top.largest)}{more}."
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
    base, belief = shown(found.base), shown(found.belief)
    if base == belief:
        return f"stays at {base}"
    verb = "rises" if found.belief.value > found.base.value else "falls"
    return f"{verb} from {base} to {belief}"


def _rows(found: Attack, *, within: bool) -> list[Row]:
    """The rows that the promise covers, or the others, if somebody has so many items."""
    return [row for row in found.rows if row.within == within and row.draws]

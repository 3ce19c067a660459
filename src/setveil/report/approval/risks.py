"""How likely people are found: unique records, prosecutor, journalist and marketer risk."""

from collections.abc import Iterator
from typing import Any

from setveil.audit.attack.draws import Estimate
from setveil.audit.attack.outcome import Attack, Row
from setveil.pipeline.approval import Approval
from setveil.report.approval.part import Column, Grid, Part
from setveil.report.attack import risk_words
from setveil.words import plural

KNOWN = {"knowledge": Column("known"), "covered": Column("promised"), "likely": Column("likely")}
UNIQUE = {
    **KNOWN,
    "unique_before": Column("unique before", "share"),
    "unique_after": Column("unique after", "share"),
    "exact": Column("exact"),
    "draws": Column("draws", "number"),
}
RISKS = {
    **KNOWN,
    "prosecutor": Column("prosecutor", "share"),
    "prosecutor_largest": Column("at worst", "share"),
    "journalist": Column("journalist", "share"),
    "journalist_largest": Column("at worst", "share"),
    "marketer": Column("marketer", "share"),
}


def part(found: Approval) -> Part:
    """A row for each kind of knowledge that was tried."""
    facts: dict[str, tuple[str, Any]] = {
        "unique_before": ("Unique records of the original", Estimate.certain(found.unique.before)),
        "unique_after": ("Unique published records", _after(found)),
        "exposed": ("Exposure of the original", _exposed(found)),
    }
    attack = found.attack
    if attack is None:
        return Part(
            said=[f"No attack was measured: {found.not_attacked}."],
            facts=facts,
            measured=["The unique records."],
            assumed=["What the promise says about a person: see there."],
            to_judge=["Whether the numbers of the promise are small enough for this recipient."],
        )
    rows = list(rows_of(found, attack))
    return Part(
        said=[
            f"A candidate is {attack.candidate}. {attack.success}",
            risk_words(attack),
            _meant(attack),
        ],
        facts=facts,
        grids={
            "unique": Grid("Unique people by what is known", UNIQUE, rows),
            "risks": Grid("Risk by what is known, on average and at worst", RISKS, rows),
        },
        measured=[_measured(found, attack)],
        assumed=_assumed(attack),
        to_judge=["How likely it is that anybody has this knowledge, and that they try."],
    )


def rows_of(found: Approval, attack: Attack) -> Iterator[dict[str, Any]]:
    """The values of each row that somebody can have."""
    for row in attack.rows:
        if row.draws and row.risk is not None:
            risk = row.risk
            yield {
                "knowledge": row.knowledge,
                "covered": row.within,
                "likely": row.knowledge in found.stated.likely if found.stated.likely else None,
                "unique_before": risk.unique_before,
                "unique_after": row.alone,
                "exact": row.exact,
                "draws": row.draws,
                "prosecutor": row.success,
                "prosecutor_largest": row.largest,
                "journalist": risk.journalist,
                "journalist_largest": risk.journalist_largest,
                "marketer": risk.marketer,
            }


def chosen_rows(found: Approval) -> tuple[list[Row], str]:
    """The rows that count for the recipient: what was stated as likely, or else what the promise
    covers; and which of both."""
    rows = [] if found.attack is None else [row for row in found.attack.rows if row.draws]
    if found.stated.likely:
        return [row for row in rows if row.knowledge in found.stated.likely], "stated as likely"
    return [row for row in rows if row.within], "covered by the promise, because none is stated"


def _after(found: Approval) -> Estimate | str:
    after = found.unique.after
    if after is not None:
        return Estimate.certain(after)
    return (
        "no published record is a person's"
        if found.not_attacked
        else "no whole record is published"
    )


def _exposed(found: Approval) -> list[str]:
    private = found.dossier.private
    return [] if private is None else [" ".join(private.exposed.sentences)]


def _meant(attack: Attack) -> str:
    people = attack.promise.most_records
    if people > 1:
        return (
            f"Each record is looked for alone. Up to {plural(people, 'record')} are of one person: "
            "what several of them show together was not tried."
        )
    return "Each record is taken as a person."


def _measured(found: Approval, attack: Attack) -> str:
    inexact = any(not row.exact for row in attack.rows if row.draws)
    if not inexact:
        return "Every figure is exact: all people and all sets of their items were tried."
    return (
        f"Rows that are not exact were estimated by up to {found.trials:,} draws; shares and "
        "averages have intervals of 95 %, and the worst is that of the draws: the true one is at "
        "least as large."
    )


def _assumed(attack: Attack) -> list[str]:
    said = ["That all candidates are equally likely to the adversary."]
    if attack.target != "record":
        said = ["That all ways to put the published pieces together are equally likely."]
    return said

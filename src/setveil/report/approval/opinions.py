"""What authorities ask: singling out, linkability, inference; means reasonably likely; very small
risk; a threshold. No legal conclusion is drawn."""

from typing import Any

from setveil.audit.attack.draws import Estimate
from setveil.audit.attack.outcome import Row
from setveil.pipeline.approval import Approval
from setveil.report.approval.part import Column, Grid, Part
from setveil.report.approval.risks import chosen_rows
from setveil.report.attack import answers, percent, shown

EMA_THRESHOLD = 0.09
WP29 = "Opinion 05/2014 (WP29)"
_ASKED = {
    "source": Column("source"),
    "question": Column("question"),
    "answer": Column("measured"),
    "judge": Column("for people to judge"),
}
_AGAINST = {
    "knowledge": Column("known"),
    "average": Column("average", "share"),
    "average_is": Column(f"against {EMA_THRESHOLD}"),
    "largest": Column("at worst", "share"),
    "largest_is": Column(f"against {EMA_THRESHOLD}"),
}


def part(found: Approval) -> Part:
    """Each question with the number behind it."""
    rows, which = chosen_rows(found)
    measured = found.attack is not None
    return Part(
        said=["These are measurements, not legal conclusions."],
        facts={
            "recipient": ("Recipient", found.stated.get("recipient")),
            "knowledge": ("Knowledge that counts here", _knowledge(found, rows, which)),
            "very_small": ("Called very small here", found.stated.get("very_small")),
            "threshold": ("Threshold of EMA policy 0070", EMA_THRESHOLD),
        },
        grids={
            "questions": Grid("Questions", _ASKED, _questions(found, rows)),
            "ema_0070": Grid(
                "Prosecutor risk against the threshold", _AGAINST, [_against(row) for row in rows]
            ),
        },
        measured=["The numbers in these tables; see the section on risk for intervals."] * measured,
        assumed=[f"The knowledge that counts is what is {which}."] * measured,
        to_judge=["Whether the risk is acceptable, and whether the release is anonymous in law."],
    )


def _knowledge(found: Approval, rows: list[Row], which: str) -> str:
    if found.attack is None:
        return "none: no attack was measured"
    names = ", ".join(row.knowledge for row in rows) or "none"
    return f"{names} ({which})"


def _questions(found: Approval, rows: list[Row]) -> list[dict[str, Any]]:
    none = f"Not measured: {found.not_attacked}."
    said = {} if found.attack is None else answers(found.attack)
    reach = _reach(rows) if found.attack is not None else none
    asked = [
        (WP29, "Can somebody single out a person?", said.get("Singling out", none)),
        (WP29, "Can somebody link records of a person?", said.get("Linkability", none)),
        (WP29, "Can somebody infer something about a person?", said.get("Inference", none)),
        ("Recital 26", "What can the means reasonably likely to be used lead to?", reach),
        (
            "HIPAA, expert determination",
            "Is the risk very small for the recipient?",
            _very_small(found, rows, reach),
        ),
        ("EMA policy 0070", f"Is the risk below {EMA_THRESHOLD}?", _below(rows, none)),
    ]
    return [
        {"source": source, "question": question, "answer": answer, "judge": _JUDGED[source]}
        for source, question, answer in asked
    ]


_JUDGED = {
    WP29: "Whether what remains can be accepted.",
    "Recital 26": "Which means are reasonably likely, with what the recipient has and may get.",
    "HIPAA, expert determination": "An expert determines whether it is very small, and says why.",
    "EMA policy 0070": "Whether the maximum or the average counts, and for whose knowledge.",
}


def _reach(rows: list[Row]) -> str:
    """The largest average and the largest risk of some rows."""
    if not rows:
        return "Not measured: no such knowledge was tried."
    average = max(rows, key=lambda row: row.success.value)
    most = max(rows, key=lambda row: row.largest)
    at_least = "" if most.exact else "at least "
    return (
        f"The largest prosecutor risk on average is {shown(average.success)} "
        f"({average.knowledge}); at worst it is {at_least}{percent(most.largest)} "
        f"({most.knowledge})."
    )


def _very_small(found: Approval, rows: list[Row], reach: str) -> str:
    """The maximum and the average, for somebody in the data and in a population."""
    risks = [row.risk for row in rows if row.risk is not None]
    if not risks:
        return reach
    if all(risk.population is None for risk in risks):
        further = "No population was given, so journalist risk is the same."
    else:
        average = max((risk.journalist for risk in risks), key=lambda one: one.value)
        most = max(risk.journalist_largest for risk in risks)
        further = f"Journalist risk: {shown(average)} on average, {percent(most)} at worst."
    small = found.stated.get("very_small")
    called = "Nobody stated what is very small here."
    if small is not None:
        called = f"Here {percent(float(small))} is called very small."
    return f"{reach} {further} {called}"


def _below(rows: list[Row], none: str) -> str:
    if not rows:
        return none
    compared = [_against(row) for row in rows]
    counts = {
        key: sum(row[key] == "below" for row in compared) for key in ("average_is", "largest_is")
    }
    return (
        f"Of {len(rows)} kinds of knowledge, the average is below it for {counts['average_is']}, "
        f"and the maximum for {counts['largest_is']}."
    )


def _against(row: Row) -> dict[str, Any]:
    largest = Estimate(row.largest, row.largest, row.largest if row.exact else 1.0)
    return {
        "knowledge": row.knowledge,
        "average": row.success,
        "average_is": _compared(row.success),
        "largest": row.largest,
        "largest_is": _compared(largest),
    }


def _compared(risk: Estimate) -> str:
    """Below or above only if the whole interval is."""
    if risk.high < EMA_THRESHOLD:
        return "below"
    return "not below" if risk.low >= EMA_THRESHOLD else "not decided by the draws"

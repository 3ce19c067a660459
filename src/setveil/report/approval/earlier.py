"""What else was released about these people."""

from typing import Any

from setveil.pipeline.approval import Approval
from setveil.pipeline.register import Others
from setveil.pipeline.stated import STATED
from setveil.report.approval.part import Column, Grid, Part, stated_facts
from setveil.report.attack import percent, shown

_COLUMNS = {
    "date": Column("booked on"),
    "promise": Column("promise"),
    "recipient": Column("recipient"),
    "spent": Column("spent"),
    "people": Column("people in both"),
}


def part(found: Approval) -> Part:
    """The register of releases, if one is kept; and what two releases show together, if tried."""
    tried = [] if found.attack is None else [r for r in found.attack.rows if r.kind == "both"]
    said = [
        f"Together with the other release, {row.knowledge} lead to the right person in "
        f"{shown(row.success)} of cases on average, {percent(row.largest)} at worst."
        for row in tried
    ]
    return Part(
        said=said or ["What another release shows together with this one was not measured."],
        facts={**_register(found.others), **stated_facts(found.stated, STATED, "earlier")},
        grids={
            "others": Grid("Other releases that may be of these people", _COLUMNS, _rows(found))
        },
        measured=["What both releases show together."] if tried else [],
        assumed=[_assumed(found.others)],
        to_judge=["Whether some of these people are in another release, from whatever source."],
    )


def _register(others: Others | None) -> dict[str, tuple[str, Any]]:
    if others is None:
        return {"register": ("Register", "not kept")}
    if others.own is None:
        said = "This release is not in it."
        return {"register": ("Register", others.place.name), "booked": ("This release", said)}
    total = "no total is set" if others.total is None else f"of {others.total}"
    return {
        "register": ("Register", others.place.name),
        "booked": ("This release", f"{others.own.id} of {others.own.date[:10]}"),
        "spent": ("Spent by its people, at most", f"{others.spent} ({total})"),
    }


def _rows(found: Approval) -> list[dict[str, Any]]:
    others = () if found.others is None else found.others.others
    return [
        {
            "date": each.entry.date[:10],
            "promise": each.entry.meaning,
            "recipient": each.entry.recipient or "not said",
            "spent": str(each.entry.spent) if each.entry.is_noisy else "no epsilon",
            "people": "not known" if each.shared.people is None else each.shared.people,
        }
        for each in others
    ]


def _assumed(others: Others | None) -> str:
    if others is None or others.own is None:
        return "That there is no other release of these people."
    return "That every release of these people was booked in the register."

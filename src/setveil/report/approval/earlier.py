"""What else was released about these people."""

from setveil.pipeline.approval import Approval
from setveil.pipeline.stated import STATED
from setveil.report.approval.part import Part, stated_facts
from setveil.report.attack import percent, shown


def part(found: Approval) -> Part:
    """The register of releases, if one is kept; and what two releases show together, if tried."""
    tried = [] if found.attack is None else [r for r in found.attack.rows if r.kind == "both"]
    said = [
        f"Together with the other release, {row.knowledge} lead to the right person in "
        f"{shown(row.success)} of cases on average, {percent(row.largest)} at worst."
        for row in tried
    ]
    return Part(
        said=said or ["No other release of these people was compared with this one."],
        facts={
            "register": ("Register", "not kept"),
            **stated_facts(found.stated, STATED, "earlier"),
        },
        measured=["What both releases show together."] if tried else [],
        assumed=[] if tried else ["That there is no other release of these people."],
        to_judge=["Whether some of these people are in another release, from whatever source."],
    )

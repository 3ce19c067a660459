"""When the decision is looked at again."""

from setveil.pipeline.approval import Approval
from setveil.pipeline.stated import STATED
from setveil.report.approval.part import Part, stated_facts

WHEN = (
    "another release of these people is planned, by this promise or another",
    "the recipient changes, passes the release on, or gets other data about these people",
    "data that can be linked with this release becomes public",
    "somebody says that they found a person",
    "a stronger attack on this form of release becomes known",
)


def part(found: Approval) -> Part:
    """What was stated, and what should lead to a review in any case."""
    return Part(
        facts={
            **stated_facts(found.stated, STATED, "review"),
            "when": ("Also review when", list(WHEN)),
        },
        to_judge=["How long the assumptions of this page will be true."],
    )

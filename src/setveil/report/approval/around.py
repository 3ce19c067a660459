"""What the release is for, who gets it, and what they may have besides."""

from setveil.pipeline.approval import Approval
from setveil.pipeline.stated import STATED
from setveil.report.approval.part import Part, stated_facts

KEYS = ("purpose", "recipient", "responsible", "other_data", "controls", "storage", "people")


def part(found: Approval) -> Part:
    """Only what people stated: nothing here can be measured."""
    return Part(
        facts=stated_facts(found.stated, STATED, *KEYS),
        assumed=["What is stated here was given by people and is not checked."],
        to_judge=[
            "Whether the recipient can have other data about these people, and whether the "
            "controls keep them from using it."
        ],
    )

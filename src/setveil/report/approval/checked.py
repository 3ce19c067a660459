"""How the promise was checked, and how to check it again."""

from setveil.pipeline.approval import Approval
from setveil.report import PROMISE_HOLDS
from setveil.report.approval.part import Column, Grid, Part

_COLUMNS = {"name": Column("check"), "holds": Column("holds", "holds"), "text": Column("answer")}


def part(found: Approval) -> Part:
    """The verdict, check by check."""
    verdict, promise = found.dossier.verdict, found.dossier.promise
    rows = [{"name": each.name, "holds": each.holds, "text": each.text} for each in verdict.checks]
    measured = "The files were read again, and all that the checks count was counted in them."
    assumed = ["That the original given here is the data that the release was made from."]
    if not promise.of_records:
        assumed.append(
            "That the release was made by the program that it names: differential privacy is "
            "about how noise was drawn, and no check of the files can prove it."
        )
    return Part(
        said=[
            verdict.titled(*PROMISE_HOLDS),
            "The checks share nothing with the method that made the release.",
        ],
        facts={
            "keeps_promise": ("Keeps its promise", verdict.keeps_promise),
            "origin": ("Original", f"{verdict.origin_text}." if verdict.origin_text else None),
        },
        grids={"checks": Grid("Checks", _COLUMNS, rows)},
        commands={"repeat": ("Check it again", found.check_command)},
        measured=[measured],
        assumed=assumed,
    )

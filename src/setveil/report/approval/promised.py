"""What is promised, and what is not."""

from setveil.pipeline.approval import Approval
from setveil.report.approval.part import Part


def part(found: Approval) -> Part:
    """The promise as the release says it."""
    promise = found.dossier.promise
    known = promise.most_known
    return Part(
        facts={
            "promise": ("Promise", promise.title),
            "meaning": ("What it means", found.dossier.meaning),
            "limits": ("Not promised", found.dossier.limits),
            "known": ("Items of a person that may be known", "all" if known is None else known),
            "doubts": ("Doubtful numbers", " ".join(promise.doubts) or "none"),
        },
        assumed=["That an adversary knows no more about a person than the promise allows."],
        to_judge=["Whether these numbers are enough for these people and this recipient."],
    )

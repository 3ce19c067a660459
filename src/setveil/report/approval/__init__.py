"""The page for who has to approve a release, and its JSON twin: a table of sections."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from setveil.pipeline.approval import Approval
from setveil.pipeline.stated import STATED
from setveil.report import Report, Section
from setveil.report.approval import (
    about,
    around,
    checked,
    earlier,
    opinions,
    promised,
    remade,
    review,
    risks,
    signed,
    useful,
)
from setveil.report.approval.part import Column, Grid, Part
from setveil.report.markup import document, paragraph, section, text
from setveil.report.release_page import PRIVATE
from setveil.words import plural

MEASURED = (10, 11, 12)
"""The questions that only an attack can answer."""
VERSION = 1
"""Changes when a key of the twin changes its meaning."""


class Chapter(NamedTuple):
    """One section: its title, the questions of a committee that it is for, and what makes it."""

    title: str
    questions: tuple[int, ...]
    part: Callable[[Approval], Part]


SECTIONS: dict[str, Chapter] = {
    "context": Chapter("Context", (1, 2), around.part),
    "data": Chapter("The data", (3, 4, 5), about.part),
    "promise": Chapter("The promise and its limits", (6, 7), promised.part),
    "checks": Chapter("How it was checked", (8,), checked.part),
    "risk": Chapter("Risk", (9, 10), risks.part),
    "opinions": Chapter("Questions of authorities", (11, 12), opinions.part),
    "register": Chapter("Other releases of these people", (13,), earlier.part),
    "use": Chapter("What was lost, and what it can be used for", (14,), useful.part),
    "review": Chapter("When to review it", (15,), review.part),
    "signatures": Chapter("Signatures", (15,), signed.part),
    "made": Chapter("Files, versions and commands", (4, 8, 15), remade.part),
}
"""By key of the twin, in the order of the page."""

QUESTIONS = (
    "What is the release for, who receives it, and who is responsible for it?",
    "What other data may the recipient have, and what keeps them from using it to find people?",
    "Who is a person in this data, how many are in it, and may one have several records?",
    "Which columns and items of the original are published, and what was left out?",
    "Which items are private, who made the list, and does it contain what reveals them?",
    "What is promised, in numbers, and against what knowledge?",
    "What is not promised?",
    "How was this checked, on which files, and can we repeat it?",
    "How many people were unique before, and how many are after?",
    "How likely is the right record found, at worst and on average: of somebody known to be in the "
    "data, of anybody in the population, of all at once?",
    "Can somebody single out a person, link records of a person, or infer something about one?",
    "Is the risk below the limit that applies to us, and whose knowledge was assumed for that?",
    "Was anything about these people released before, and what do both releases show together?",
    "What was lost, and does the release still serve its purpose?",
    "Which files are approved exactly, how are they made again, who signs, and when is this "
    "reviewed?",
)
"""As `docs/approving-questions.md` has them; the first is number 1."""


def approval_values(found: Approval) -> dict[str, Any]:
    """The JSON twin: the questions with their sections, and each section."""
    return {
        "version": VERSION,
        "release": found.dossier.name or None,
        "form": found.dossier.form,
        "day": found.made,
        "private": True,
        "questions": questions(found),
        **{key: each.part(found).to_dict() for key, each in SECTIONS.items()},
    }


def questions(found: Approval) -> list[dict[str, Any]]:
    """Each question, the sections that are for it, what people have not stated, and whether what it
    asks was measured. A register in which the release is booked answers the one about others."""
    booked = found.others is not None and found.others.own is not None
    return [
        {
            "number": number,
            "question": question,
            "sections": [key for key, each in SECTIONS.items() if number in each.questions],
            "not_stated": [] if number == 13 and booked else found.stated.missing(number),
            "measured": found.attack is not None or number not in MEASURED,
        }
        for number, question in enumerate(QUESTIONS, start=1)
    ]


def approval_page(found: Approval) -> str:
    """The same as one HTML page that prints."""
    name = found.dossier.name or found.dossier.form
    title = f"Dossier for approval: {name}"
    verdict = found.dossier.verdict
    kept = f"{'keeps' if verdict.keeps_promise else 'does NOT keep'} {found.dossier.promise.title}"
    lead = f"{plural(found.dossier.records, 'published record')}. The release {kept}{verdict.but}."
    open_ones = [one["number"] for one in questions(found) if one["not_stated"]]
    if open_ones:
        numbers = ", ".join(map(str, open_ones))
        lead += f" Nobody has stated all that questions {numbers} need."
    if found.attack is None:
        lead += f" Questions {', '.join(map(str, MEASURED))} were not measured."
    head = (
        f'<div class="banner" role="note">{text(PRIVATE)}</div>'
        f"<header><h1>{text(title)}</h1>{paragraph(lead, 'lead')}</header>"
    )
    parts = (section(each.title, *each.part(found).html()) for each in SECTIONS.values())
    return document(
        title, [head, *parts, section("Where the questions are answered", _index(found))]
    )


def _index(found: Approval) -> str:
    columns = {
        "number": Column("no.", "number"),
        "question": Column("question"),
        "sections": Column("section"),
        "open": Column("open"),
    }
    rows = [
        {
            **one,
            "sections": [SECTIONS[key].title for key in one["sections"]],
            "open": _open(one),
        }
        for one in questions(found)
    ]
    return Grid("", columns, rows).html()


def _open(question: dict[str, Any]) -> str:
    stated = [STATED[key].name.lower() for key in question["not_stated"]]
    said = [f"not stated: {', '.join(stated)}"] if stated else []
    return "; ".join([*said, *["not measured"] * (not question["measured"])]) or "-"


def report_dossier(found: Mapping[str, Any]) -> Report:
    """What is left to do before a dossier can be signed, as `setveil.pipeline.approval.summary` has
    it."""
    head = "Written: the dossier, and the same as JSON"
    lines = [f"{each['number']}. {each['question']} ({_open(each)})" for each in found["open"]]
    rest = "Open questions:\n" + "\n".join(lines) if lines else "All questions have an answer."
    return Report((Section(head, rest, private=True),), found)

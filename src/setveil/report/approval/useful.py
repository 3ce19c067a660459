"""What was lost, and what the release can be used for."""

from setveil.metrics import METRICS
from setveil.pipeline.approval import Approval
from setveil.pipeline.stated import STATED
from setveil.report.approval.part import Column, Grid, Part, stated_facts
from setveil.report.outcome import figure

_COLUMNS = {
    "measure": Column("measure"),
    "figure": Column("figure"),
    "about": Column("what it says"),
}


def part(found: Approval) -> Part:
    """The losses, and what can be counted."""
    private, countable = found.dossier.private, found.dossier.countable
    assert private is not None
    rows = [
        {"measure": name, "figure": figure(name, value), "about": METRICS[name].about}
        for name, value in private.losses.items()
    ]
    use = [] if private.usefulness is None else private.usefulness.sentences
    counted = [] if countable is None else [" ".join(countable.sentences)]
    return Part(
        said=[*use, *counted],
        facts=stated_facts(found.stated, STATED, "needs"),
        grids={"losses": Grid("What was lost", _COLUMNS, rows)},
        measured=["The losses, against the original."],
        to_judge=["Whether the recipient can answer what they need to, and whether less would do."],
    )

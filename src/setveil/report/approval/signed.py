"""Lines to sign, with what identifies the release that is meant."""

from setveil.pipeline.approval import Approval
from setveil.report.approval.part import Column, Grid, Part

USUAL = ("Responsible for the data", "Data protection", "Committee")
_COLUMNS = {
    "role": Column("role"),
    "name": Column("name", "line"),
    "decision": Column("decision and conditions", "line"),
    "day": Column("day", "line"),
    "signature": Column("signature", "line"),
}


def part(found: Approval) -> Part:
    """One line for each who signs."""
    roles = found.stated.get("sign") or USUAL
    empty = {"name": None, "decision": None, "day": None, "signature": None}
    rows = [{"role": role, **empty} for role in roles]
    return Part(
        said=["The files that are meant are those with the hashes in the next section."],
        facts={
            "release_sha256": ("SHA-256 of release.json", found.dossier.digest),
        },
        grids={"signatures": Grid("", _COLUMNS, rows)},
    )

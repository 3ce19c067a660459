"""What a new release and the earlier ones in the register reveal together."""

from __future__ import annotations

from pathlib import Path

from setveil.audit.attack.attack import NOT_ATTACKED
from setveil.audit.attack.intersection import intersect
from setveil.data.transactions import Transactions
from setveil.errors import Note, SetveilError
from setveil.io.releases.folder import ABOUT, sha256
from setveil.pipeline.inputs import load_release
from setveil.pipeline.registering.book import Entry
from setveil.pipeline.registering.booking import Booked
from setveil.published import Release

_OTHER = "it was made from other data; `setveil attack RELEASE --original DATA --other RELEASE2`"


def revealed(release: Release, data: Transactions, booked: Booked | None) -> tuple[str, ...]:
    """A sentence for each earlier release of the same people: what both reveal together, or why
    that was not measured."""
    if booked is None:
        return ()
    found = []
    for entry, _ in booked.earlier:
        why = _not_measured(release, entry, booked.entry)
        said = ""
        if not why:
            try:
                said = intersect(release, load_release(entry.release), data).sentence
            except SetveilError as error:
                why = error.text().removesuffix(".")
        named = f"{entry.id} ({entry.meaning})"
        text = f"Together with {named}, {said}." if said else f"Not measured with {named}: {why}."
        found.append(Note(text.replace("{", "(").replace("}", ")")))
    return tuple(found)


def _not_measured(release: Release, entry: Entry, new: Entry) -> str:
    """Why an earlier release cannot be compared with a new one; empty if it can."""
    if release.form in NOT_ATTACKED or entry.is_noisy:
        return "synthetic records belong to nobody, and epsilon bounds what they reveal"
    place = Path(entry.release) / ABOUT if entry.release else None
    if place is None or not place.is_file() or sha256(place) != entry.digest:
        return "it is no longer in its folder as it was booked"
    if not entry.data or entry.data != new.data:
        return f"{_OTHER} compares releases of the same records"
    return ""

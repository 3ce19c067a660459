"""What a new release and the earlier ones in the register reveal together."""

from __future__ import annotations

from pathlib import Path

from setveil.audit.attack.attack import NOT_ATTACKED
from setveil.audit.attack.intersection import Together, intersect
from setveil.data.transactions import Transactions
from setveil.errors import Note, SetveilError
from setveil.io.releases.folder import ABOUT, sha256
from setveil.pipeline.inputs import load_release
from setveil.pipeline.registering.book import Entry
from setveil.pipeline.registering.booking import Booked
from setveil.published import Release

_OTHER = "it was made from other data; setveil attack, given both,"


def revealed(release: Release, data: Transactions, booked: Booked | None) -> tuple[str, ...]:
    """What a release and each earlier one of the same people reveal together: a sentence for each
    pair that singles somebody out, and one for all others alike."""
    if booked is None:
        return ()
    found, alike = list[str](), dict[object, list[tuple[str, Together]]]()
    others = dict[str, list[str]]()
    for entry, _ in booked.earlier:
        both, why = _measured(release, entry, booked.entry, data)
        if both is None:
            others.setdefault(why, []).append(entry.id)
        elif both.singled_out:
            found.append(f"Together with {entry.id} ({entry.meaning}), {both.sentence}.")
        else:
            kind = both.known, both.tried, both.records
            alike.setdefault(kind, []).append((entry.id, both))
    for group in alike.values():
        ids = ", ".join(one for one, _ in group)
        least = min((both for _, both in group), key=lambda both: both.fewest)
        found.append(f"Together with {'each of ' * (len(group) > 1)}{ids}, {least.sentence}.")
    for why, ids_left in others.items():
        found.append(
            f"What it reveals together with {', '.join(ids_left)} was not measured: {why}."
        )
    return tuple(Note(text.replace("{", "(").replace("}", ")")) for text in found)


def _measured(
    release: Release, entry: Entry, new: Entry, data: Transactions
) -> tuple[Together | None, str]:
    """What both reveal, or why that was not measured."""
    why = _not_measured(release, entry, new)
    if why:
        return None, why
    try:
        return intersect(release, load_release(entry.release), data), ""
    except SetveilError as error:
        return None, error.text().removesuffix(".")


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

"""Register: what was released about which people, what it has spent, and whether it is in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from setveil.data.tables.beside import tag_people_of
from setveil.data.tags import TagArray
from setveil.errors import FileFormatError, ParameterError
from setveil.io.releases.folder import ABOUT, sha256
from setveil.pipeline.inputs import load_release, load_with_account
from setveil.pipeline.names import Words, fields_from
from setveil.pipeline.registering.book import (
    NOTHING,
    Booking,
    Budget,
    Entry,
    Register,
    most_spent,
    overlap,
)
from setveil.pipeline.registering.booking import (
    Booked,
    Earlier,
    book,
    check_known,
    column_of,
    cost_of,
    digest_of,
    found_in,
    named_column,
    tags_of,
)
from setveil.pipeline.registering.files import (
    Files,
    budget_given,
    new_id,
    now,
    others_can_read,
)
from setveil.published import Release


@dataclass(frozen=True, kw_only=True)
class AddJob(Booking):
    """A release that was made elsewhere, or before there was a register."""

    release: object = field(repr=False)
    """A release folder."""
    original: object = field(default=None, repr=False)
    """The data that it was made from, for the people in it."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    date: str = ""
    """When it was released; now, if not given."""

    @property
    def data(self) -> object:
        return self.original

    @property
    def output(self) -> None:
        return None


class Spent(NamedTuple):
    """A release of a register, and what was spent."""

    entry: Entry
    spent: Budget
    """On all releases, by the one of its people who has spent most."""


@dataclass(frozen=True, kw_only=True)
class Registered:
    """What a register says."""

    place: Path
    register: Register
    releases: tuple[Spent, ...]

    @property
    def spent(self) -> Budget:
        """By the person who has spent most."""
        found = [each.spent for each in self.releases] or [NOTHING]
        return Budget(max(f.epsilon for f in found), max(f.delta for f in found))

    @property
    def holds(self) -> bool:
        """Whether nobody has spent more than the owner allows."""
        return self.register.total is None or self.spent.within(self.register.total)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """Whether a register is in order."""

    shown: Registered | None
    """None if some of its files are missing or damaged."""
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.faults


def new(register: Path | str, *, epsilon: float | None = None, delta: float | None = None) -> Path:
    """Begin a register; with `epsilon` and `delta`, what each person may spend in all.

    Raises:
        OutputError: if there is a file of this name already.
    """
    files = Files(register)
    files.begin(budget_given(epsilon, delta))
    return files.path


def show(register: Path | str) -> Registered:
    """What a register says, and what the people of each release have spent."""
    files = Files(register)
    found = files.read()
    return Registered(place=files.path, register=found, releases=_spent(files, found))


def check(register: Path | str) -> Checked:
    """Whether the files of a register are whole and private, nobody has spent too much, and the
    releases are as they were booked."""
    files = Files(register)
    found = files.read()
    faults = [
        f"Other users of this machine may read {place}: only its owner may."
        for place in (files.path, files.folder)
        if place.exists() and others_can_read(place)
    ]
    try:
        shown: Registered | None = show(register)
    except FileFormatError as error:
        return Checked(shown=None, faults=(*faults, f"{error}."))
    assert shown is not None
    if not shown.holds:
        said = f"somebody has spent {shown.spent}, and the owner allows {found.total} in all"
        faults.append(f"Too much is spent: {said}.")
    notes = (_state(entry) for entry in found.entries)
    return Checked(shown=shown, faults=tuple(faults), notes=tuple(filter(None, notes)))


def add(register: Path | str, release: object, **words: Any) -> Booked:
    """Book a release that exists; also one above the total, because it is released.

    Args:
        register: The register.
        release: The release folder.
        words: `original`, the data that it was made from, and how to read it (`person` ...), or the
            `population`; and `recipient` and `date`.
    """
    return run_add(job_from(register, release, words))


def run_add(job: AddJob) -> Booked:
    """Book a release that exists."""
    assert job.register is not None
    files, place = Files(job.register), Path(str(job.release)).resolve()
    register = files.read()
    release = load_release(job.release)
    digest = sha256(place / ABOUT)
    _refuse_again(register, digest)
    check_known(job, reads_names=job.original is not None)
    tags, column = _tags(job, register)
    entry = Entry(
        id=new_id(),
        date=job.date or now(),
        promise=release.promise.model,
        meaning=release.promise.title,
        method=str(release.method.get("name", "")),
        spent=spent_by(release),
        population=job.population,
        column=column,
        recipient=job.recipient,
        data=digest_of(job.original),
        release=str(place),
        digest=digest,
    )
    unfinished = next((each for each in register.entries if _is_same(each, entry)), None)
    if unfinished is not None:
        with files.changing() as change:
            change.remove(unfinished)
    return book(files, entry, tags, refuse=False)


class Others(NamedTuple):
    """A release in a register, and the others that may be of the same people."""

    place: Path
    own: Entry | None
    """None if it was not booked; then nobody can say whom it shares with others."""
    others: tuple[Earlier, ...] = ()
    spent: Budget = NOTHING
    """By the one of its people who has spent most."""
    total: Budget | None = None


def others_of(register: Path | str, digest: str | None) -> Others:
    """What a register says about the release whose `release.json` has this SHA-256."""
    files = Files(register)
    found = files.read()
    own = next((each for each in found.entries if digest and each.digest == digest), None)
    if own is None:
        return Others(files.path, None, total=found.total)
    about = files.group(own)
    shared = (
        Earlier(each, overlap(about, files.group(each)))
        for each in found.entries
        if each is not own
    )
    spent = next(each.spent for each in _spent(files, found) if each.entry is own)
    others = tuple(each for each in shared if each.shared.adds_up)
    return Others(files.path, own, others, spent, found.total)


def spent_by(release: Release) -> Budget:
    """What a release has spent: what it promises, or what its ledger adds up to if that is more."""
    promised, ledger = cost_of(release.promise), getattr(release, "ledger", ())
    spent = NOTHING
    for each in ledger:
        spent += Budget(each.epsilon, each.delta)
    return Budget(max(promised.epsilon, spent.epsilon), max(promised.delta, spent.delta))


def job_from(register: Path | str, release: object, words: Words) -> AddJob:
    """The job that these words describe; None means not given."""
    given = fields_from("register add", AddJob, words)
    return AddJob(**{**given, "release": release, "register": register})


def _spent(files: Files, register: Register) -> tuple[Spent, ...]:
    """What the people of each release have spent; those of the same people are looked at once."""
    known = {_whom(entry): entry for entry in register.entries}
    groups = {whom: files.group(entry) for whom, entry in known.items()}
    paid = [(groups[_whom(each)], each.spent) for each in register.entries if each.is_noisy]
    most = {whom: most_spent(group, paid) for whom, group in groups.items()}
    return tuple(Spent(entry, most[_whom(entry)]) for entry in register.entries)


def _whom(entry: Entry) -> tuple[str, str, str]:
    """What says whom a release is about."""
    return entry.population, entry.tags, entry.column


def _state(entry: Entry) -> str:
    """What is not as it was booked; empty if all is."""
    place = Path(entry.release) / ABOUT if entry.release else None
    if not entry.digest:
        spent = "it counts as spent" if entry.is_noisy else "it may have been made"
        return f"{entry.id} was booked on {entry.date[:10]} and not finished: {spent}."
    if place is None or not place.is_file():
        return f"{entry.id} is no longer in {entry.release}; it still counts."
    if sha256(place) != entry.digest:
        return f"{entry.id}: {entry.release} is another release than the one that was booked."
    return ""


def _refuse_again(register: Register, digest: str) -> None:
    for entry in register.entries:
        if entry.digest == digest:
            allowed = f"it is booked already, as {entry.id} of {entry.date[:10]}"
            raise ParameterError("release", entry.release, allowed)


def _is_same(old: Entry, new: Entry) -> bool:
    """Whether an entry of a run that was killed is about this release."""
    return not old.digest and old.release == new.release and old.spent == new.spent


def _tags(job: AddJob, register: Register) -> tuple[TagArray | None, str]:
    """The people of a release, and the column with their names."""
    if job.original is None or named_column(job) is None:
        return None, ""
    tags, account = tags_of(register, job), None
    if isinstance(job.original, str | Path):
        _, account = load_with_account(job.original, {**job.reading, "tags": tags})
    else:
        tag_people_of(job.original, named_column(job) or "", tags)
    found = found_in(tags)
    return found, "" if found is None else column_of(job, account)

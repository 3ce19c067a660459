"""Book a release in a register before it is made, and say what its people have spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from setveil.data.account import Account
from setveil.data.tables.beside import tag_people_of
from setveil.data.tags import TagArray, Tags
from setveil.errors import Note, ParameterError, brief
from setveil.io.releases.folder import ABOUT, sha256
from setveil.pipeline.registering.book import (
    NOTHING,
    Budget,
    Entry,
    Group,
    Overlap,
    Register,
    most_spent,
    overlap,
)
from setveil.pipeline.registering.files import Files, new_id, now
from setveil.promises.promise import Promise
from setveil.words import plural

BOOKED, AGAIN = "Booked in", "People of earlier releases"
MOST_LISTED = 3
"""How many earlier releases a note names."""


class Registered(Protocol):
    """What a job says of the register."""

    @property
    def register(self) -> Path | str | None: ...
    @property
    def population(self) -> str: ...
    @property
    def recipient(self) -> str: ...
    @property
    def data(self) -> object: ...
    @property
    def output(self) -> Path | str | None: ...
    @property
    def reading(self) -> Mapping[str, Any]: ...


class Earlier(NamedTuple):
    """An earlier release, and what a new one shares with it."""

    entry: Entry
    shared: Overlap


@dataclass(frozen=True, kw_only=True)
class Booked:
    """What was booked, and what its people have spent with it."""

    place: Path
    entry: Entry
    spent: Budget
    """By the person who has spent most."""
    total: Budget | None
    earlier: tuple[Earlier, ...] = ()
    """The releases that have people in common with it, or may have."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of it."""
        entry = self.entry
        who = f"population {brief(entry.population)}" if entry.population else ""
        if entry.people is not None:
            named = f"{plural(entry.people, 'person', 'people')} (column {brief(entry.column)})"
            who = f"{named}, {who}" if who else named
        text = f"{BOOKED} {self.place.name} as {entry.id}: {who}."
        if entry.is_noisy:
            limit = "" if self.total is None else f" of {self.total}"
            text += f" The person who has spent most has spent {self.spent}{limit}."
        return (text, *_shared_note(self.earlier))


def _shared_note(earlier: Sequence[Earlier]) -> tuple[str, ...]:
    if not earlier:
        return ()
    said = "; ".join(map(_shared, earlier[:MOST_LISTED]))
    more = len(earlier) - MOST_LISTED
    said += f"; and {more} more" if more > 0 else ""
    bare = sum(not each.entry.is_noisy for each in earlier)
    unknown = all(each.shared.people is None for each in earlier)
    again = "are in it again, it is not known how many" if unknown else "are in it again"
    text = f"{AGAIN} {again}: {said}."
    if bare:
        text += f" No epsilon covers {bare} of them."
    return (Note(text.replace("{", "(").replace("}", ")")),)


def _shared(each: Earlier) -> str:
    entry, people = each.entry, each.shared.people
    who = "" if people is None else f": {plural(people, 'person', 'people')}"
    return f"{entry.id} ({entry.meaning}){who}"


@dataclass
class Book:
    """The register during one run; it does nothing if none was asked for."""

    job: Registered
    files: Files | None = None
    tags: Tags | None = None
    """Where the reader puts people, if the user named their column."""
    booked: Booked | None = None
    is_made: bool = field(default=False)
    """Whether the release has its name."""

    @property
    def reads(self) -> dict[str, Tags]:
        """The option of a reader that collects the people of a file."""
        is_file = isinstance(self.job.data, str | Path)
        return {} if self.tags is None or not is_file else {"tags": self.tags}

    def enter(self, promise: Promise, method: str, account: Account | None) -> tuple[str, ...]:
        """Book the release before anything is made of the data, and say so.

        Raises:
            ParameterError: if it is above the total that the owner set.
        """
        if self.files is None:
            return ()
        job = self.job
        found = None if self.tags is None else self._tagged()
        entry = Entry(
            id=new_id(),
            date=now(),
            promise=promise.model,
            meaning=promise.title,
            method=method,
            spent=cost_of(promise),
            population=job.population,
            column="" if found is None else column_of(job, account),
            recipient=job.recipient,
            data=digest_of(job.data),
            release="" if job.output is None else str(Path(job.output).resolve()),
        )
        self.booked = book(self.files, entry, found, refuse=True)
        return self.booked.notes

    def _tagged(self) -> TagArray | None:
        assert self.tags is not None
        if not isinstance(self.job.data, str | Path):
            tag_people_of(self.job.data, named_column(self.job) or "", self.tags)
        return found_in(self.tags)

    def finish(self) -> None:
        """Write what became of the release: it was made, or it was not and spent nothing. One that
        spent a budget stays booked, whatever happened."""
        if self.files is None or self.booked is None:
            return
        entry = self.booked.entry
        if self.is_made:
            about = Path(entry.release) / ABOUT if entry.release else None
            if about is None or not about.is_file():
                return
            with self.files.changing() as change:
                change.replace(replace(entry, digest=sha256(about)))
        elif not entry.is_noisy:
            with self.files.changing() as change:
                change.remove(entry)


@contextmanager
def booking(job: Registered, *, reads_names: bool = True) -> Iterator[Book]:
    """The register of a run. After the block, what became of the release is written.

    Args:
        job: What to do.
        reads_names: Whether the engine that reads the data can say who the people are.
    """
    if job.register is None:
        for name in ("population", "recipient"):
            if getattr(job, name):
                allowed = "it is written into a register: name its file with {register}"
                raise ParameterError(name, getattr(job, name), allowed)
        yield Book(job)
        return
    files = Files(job.register)
    files.check(job.output)
    register = files.read()
    check_known(job, reads_names=reads_names)
    made = Book(job, files)
    if named_column(job) is not None and reads_names:
        made.tags = tags_of(register, job)
    try:
        yield made
    except BaseException:
        made.is_made = False
        raise
    finally:
        made.finish()


def check_known(job: Registered, *, reads_names: bool = True) -> None:
    """Refuse a release of people of whom nobody says who they are: a guess might be wrong."""
    if job.population or (named_column(job) is not None and reads_names):
        return
    allowed = "say whom the data is about, in a few words such as shop: everything under one name "
    allowed += "adds up"
    if reads_names:
        allowed += "; or name the column of people with {person} or {record}"
    raise ParameterError("population", None, allowed)


def named_column(job: Registered) -> str | None:
    """The column of people that the user named, if any."""
    found = job.reading.get("person") or job.reading.get("record")
    return None if found is None else str(found)


def column_of(job: Registered, account: Account | None) -> str:
    """Its name as the file spells it."""
    columns = {} if account is None else account.columns
    return columns.get("person") or columns.get("record") or named_column(job) or ""


def digest_of(data: object) -> str:
    """The SHA-256 of a data file; empty if it is none."""
    is_file = isinstance(data, str | Path) and Path(data).is_file()
    return sha256(Path(str(data))) if is_file else ""


def tags_of(register: Register, job: Registered) -> Tags:
    """Where people are collected as tags that this register can compare."""
    return Tags(bytes.fromhex(register.salt), needed=not job.population)


def found_in(tags: Tags | None) -> TagArray | None:
    """The people that were collected; None if a file could not name them, and need not."""
    found = None if tags is None else tags.found()
    return found if found is None or tags is None or len(found) or tags.needed else None


def cost_of(promise: Promise) -> Budget:
    """What a promise may spend of each person's budget."""
    spent = NOTHING
    for part in promise.parts:
        epsilon, delta = getattr(part, "epsilon", 0), getattr(part, "delta", 0)
        spent += Budget.of(epsilon, delta)
    return spent


def book(files: Files, entry: Entry, tags: TagArray | None, *, refuse: bool) -> Booked:
    """Write a release into the register; with `refuse`, only if its people may spend so much."""
    about = Group(entry.population, tags, entry.column)
    with files.changing() as change:
        old, total = change.register.entries, change.register.total
        groups = [files.group(each) for each in old]
        paid = ((group, each.spent) for group, each in zip(groups, old, strict=True))
        before = most_spent(about, ((g, spent) for g, spent in paid if spent != NOTHING))
        spent = before + entry.spent
        if refuse and entry.is_noisy and total is not None and not spent.within(total):
            raise _above(entry, before, total)
        entry = change.add(entry, tags)
    shared = (overlap(about, group) for group in groups)
    earlier = (Earlier(*pair) for pair in zip(old, shared, strict=True))
    found = tuple(each for each in earlier if each.shared.adds_up)
    return Booked(place=files.path, entry=entry, spent=spent, total=total, earlier=found[::-1])


def _above(entry: Entry, before: Budget, total: Budget) -> ParameterError:
    name = "delta" if entry.spent.epsilon + before.epsilon <= total.epsilon else "epsilon"
    left = max(getattr(total, name) - getattr(before, name), 0)
    allowed = f"at most {float(left):g} is left for these people: their owner allows {total} in "
    allowed += f"all, and the person who has spent most has spent {before}"
    return ParameterError(name, float(getattr(entry.spent, name)), allowed)

"""What a register says: each release, whom it is about, and what these people have spent.

A person spends the epsilon of every release that they are in. Who is in a release is known by tags
of names, or by the name of a population, under which everything adds up. Where neither says whether
two releases share people, they count as if they did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from setveil.data.tags import TagArray
from setveil.published.ledger import exact


@dataclass(frozen=True, kw_only=True)
class Booking:
    """What a job says of the register: where it is, and what is written there."""

    register: Path | str | None = None
    """The private file in which the release is booked before it is made; see `setveil register`."""
    population: str = ""
    """Whom the data is about, in your words; everything under one name adds up."""
    recipient: str = ""
    """Who gets the release; it is only written into the register."""


class Budget(NamedTuple):
    """What is spent, or may be.

    Example:
        >>> str(Budget(Fraction(1, 2), Fraction(0)) + Budget.of(0.25, 1e-6))
        'epsilon 0.75, delta 1e-06'
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, epsilon: float, delta: float = 0) -> Budget:
        """From numbers as people write them."""
        return cls(exact(epsilon), exact(delta))

    def __add__(self, other: object) -> Budget:
        assert isinstance(other, Budget)
        return Budget(self.epsilon + other.epsilon, self.delta + other.delta)

    def within(self, total: Budget) -> bool:
        """Whether a total allows it."""
        return self.epsilon <= total.epsilon and self.delta <= total.delta

    def __str__(self) -> str:
        delta = f", delta {float(self.delta):g}" if self.delta else ""
        return f"epsilon {float(self.epsilon):g}{delta}"


NOTHING = Budget()


class Group(NamedTuple):
    """Whom a release is about."""

    population: str = ""
    tags: TagArray | None = None
    """Of all its people, ascending; None if nobody said who they are."""
    column: str = ""
    """Of their names: tags from other columns are compared, too, but that there are no equal ones
    says nothing."""

    def can_be_compared(self, other: Group) -> bool:
        """Whether tags say that nobody is in both."""
        if self.tags is None or other.tags is None:
            return False
        return self.column.strip().casefold() == other.column.strip().casefold()


class Overlap(NamedTuple):
    """What two releases share."""

    adds_up: bool
    people: int | None
    """How many people are in both; None if that is not known."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A release in a register."""

    id: str
    date: str
    """When it was booked, in UTC."""
    promise: str
    """The model, such as `k-anonymity`."""
    meaning: str
    """The promise with its numbers."""
    method: str
    spent: Budget = NOTHING
    """Nothing, if the promise has no epsilon."""
    population: str = ""
    column: str = ""
    """The column with the names of people, of which there are tags."""
    people: int | None = None
    """How many people it is about; None if it is not known."""
    tags: str = ""
    """The SHA-256 of the file with their tags; empty if there is none."""
    recipient: str = ""
    data: str = ""
    """The SHA-256 of the file that it was made from, if it was one."""
    release: str = ""
    """The release folder, if it has one."""
    digest: str = ""
    """The SHA-256 of its `release.json`; empty as long as it is not known that it was made."""

    @property
    def is_noisy(self) -> bool:
        """Whether it spends a budget."""
        return self.spent != NOTHING


@dataclass(frozen=True, kw_only=True)
class Register:
    """All releases about some people, as their owner knows them."""

    salt: str
    """The key of the tags, in hexadecimal digits."""
    total: Budget | None = None
    """What each person may spend in all; None if the owner set no limit."""
    entries: tuple[Entry, ...] = ()


def overlap(one: Group, other: Group) -> Overlap:
    """Whether people are in both, as far as it is known.

    Example:
        >>> tags = np.array([3, 8], dtype=np.uint64)
        >>> overlap(Group("shop", tags), Group("web", tags[:1]))
        Overlap(adds_up=True, people=1)
        >>> overlap(Group("shop"), Group("web")).adds_up, overlap(Group("shop"), Group()).adds_up
        (False, True)
    """
    same = bool(one.population) and one.population == other.population
    differ = bool(one.population and other.population) and not same
    people = None
    if one.tags is not None and other.tags is not None:
        people = int(is_in(one.tags, other.tags).sum())
    if one.can_be_compared(other) or people:
        return Overlap(same or bool(people), people)
    return Overlap(not differ, 0 if differ else None)


def is_in(tags: TagArray, others: TagArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of some tags are among others; both ascending."""
    if not len(others):
        return np.zeros(len(tags), dtype=np.bool_)
    places = np.minimum(np.searchsorted(others, tags), len(others) - 1)
    return np.asarray(others[places] == tags)


def most_spent(about: Group, releases: Iterable[tuple[Group, Budget]]) -> Budget:
    """The most that any of these people has spent on some releases.

    People who are in the same releases are taken together, so it is exact, however few share what.

    Example:
        >>> ann, bob = (np.array([tag], dtype=np.uint64) for tag in (3, 8))
        >>> both, one = np.concatenate((ann, bob)), Budget.of(1)
        >>> str(most_spent(Group("", both), [(Group("", ann), one), (Group("", bob), one)]))
        'epsilon 1'
    """
    everybody, some = NOTHING, list[tuple[TagArray, Budget]]()
    for group, budget in releases:
        same = bool(group.population) and group.population == about.population
        if group.tags is not None and about.can_be_compared(group) and not same:
            some.append((group.tags, budget))
        elif overlap(group, about).adds_up:
            everybody += budget
    if about.tags is None or not some:
        return everybody
    sums = _sums(about.tags, some)
    return everybody + Budget(max(s.epsilon for s in sums), max(s.delta for s in sums))


def _sums(people: TagArray, releases: Sequence[tuple[TagArray, Budget]]) -> list[Budget]:
    """What people have spent, once for all who are in the same releases."""
    kind, sums = np.zeros(len(people), dtype=np.int64), [NOTHING]
    for tags, budget in releases:
        found, kind = np.unique(2 * kind + is_in(people, tags), return_inverse=True)
        sums = [sums[n // 2] + (budget if n % 2 else NOTHING) for n in found.tolist()]
    return sums or [NOTHING]

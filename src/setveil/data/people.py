"""Which records belong to one person: an array of numbers beside the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Flags, Int64s
from setveil.data.records import Numbering
from setveil.data.tables.columns import Fail
from setveil.data.tables.frames import joined
from setveil.data.transactions import Transactions
from setveil.errors import DataError, ParameterError, brief, check_count
from setveil.words import are, plural, rough_share

PER_PERSON = "records_per_person"
"""The parameter that says how many records of each person are kept."""
RECORDS, PEOPLE = "records", "people"
"""What is counted: records, unless the person of each record is known."""


@dataclass(frozen=True, eq=False)
class People:
    """The person of each record, as a number below the number of people.

    Example:
        >>> data = Transactions.of([["a", "b"], ["a"], ["b"]])
        >>> People.of(["ann", "ann", "bob"]).supports(data).tolist()
        [1, 2]
    """

    owners: Int64s
    most: int | None = None
    """How many records of each were kept at most, for a promise to people; None if each is
    protected on its own."""

    @classmethod
    def of(cls, values: npt.ArrayLike, most: int | None = None) -> People:
        """From anything that differs between people; numbered by first appearance."""
        _, firsts, owners = np.unique(np.asarray(values), return_index=True, return_inverse=True)
        ranks = np.empty(len(firsts), dtype=np.int64)
        ranks[np.argsort(firsts)] = np.arange(len(firsts))
        return cls(ranks[owners], most)

    def take(self, records: Int64s) -> People:
        """Those of some of the records."""
        return People.of(self.owners[records], self.most)

    @classmethod
    def alone(cls, records: int) -> People:
        """Of records that each are a person."""
        return cls(np.arange(records, dtype=np.int64))

    def __len__(self) -> int:
        """How many people there are."""
        return int(self.owners.max(initial=-1)) + 1

    def supports(self, data: Transactions) -> Int64s:
        """How many people have each item."""
        self._check(data)
        pairs = np.unique(data.items * np.int64(max(len(self), 1)) + self.owners[data.rows])
        return np.bincount(pairs // max(len(self), 1), minlength=len(data.vocabulary))

    def joined(self, data: Transactions) -> Transactions:
        """One record for each person, with the items of all their records."""
        self._check(data)
        return joined(data, self.owners)

    def _check(self, data: Transactions) -> None:
        if len(data) != len(self.owners):
            raise DataError(f"{len(data):,} records, but the people of {len(self.owners):,}")


SEPARATOR = "\n"
"""Between the texts of a person and a record."""


def draw_key(seed: int | None) -> str:
    """The secret of a draw: from the randomness of the system, or from a seed."""
    return token_hex(32) if seed is None else sha256(f"setveil people {seed}".encode()).hexdigest()


class Whose(NamedTuple):
    """The records of a file in the order of their first appearance, and the person of each, in the
    words of the file. It is never stored."""

    records: Sequence[str]
    persons: Sequence[str]

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[str, str]], column: str, fail: Fail = DataError) -> Whose:
        """From the record and the person of each row.

        Raises:
            DataError: if a row has no person, or a record several.
        """
        numbers, persons, wrong = Numbering[str](), list[str](), set[int]()
        for record, person in rows:
            number = numbers[record]
            if number == len(persons):
                persons.append(person)
            if not person or persons[number] != person:
                wrong.add(number)
        if wrong:
            raise of_several(len(wrong), column, fail)
        return cls(list(numbers), persons)

    def kept(self, most: int, key: str) -> Flags:
        """Which records stay if each person keeps at most so many.

        Each person's are drawn by a keyed hash of their own names (an HMAC of SHA-256 in
        hexadecimal digits), so nobody's draw depends on the rows of others."""

        def place(number: int) -> str:
            text = f"{self.persons[number]}{SEPARATOR}{self.records[number]}"
            inner = sha256(f"{key}{text}".encode()).hexdigest()
            return sha256(f"{key}{inner}".encode()).hexdigest()

        held: dict[str, list[int]] = {}
        for number, person in enumerate(self.persons):
            held.setdefault(person, []).append(number)
        drawn = (
            own if len(own) <= most else sorted(own, key=place)[:most] for own in held.values()
        )
        found = np.zeros(len(self.records), dtype=np.bool_)
        found[[number for own in drawn for number in own]] = True
        return found

    @property
    def holdings(self) -> dict[int, int]:
        """How many people have 1, 2, ... records."""
        return dict(Counter(Counter(self.persons).values()))


def check_most(reading: Mapping[str, object]) -> None:
    """Refuse a number of records of each person if each is one, or nobody knows whose they are."""
    most = reading.get(PER_PERSON)
    if most is None:
        return
    check_count(PER_PERSON, most, 1)
    if reading.get("person") is None:
        allowed = "it needs to know whose each record is: name the column with {person}"
        raise ParameterError(PER_PERSON, most, allowed)
    if reading.get("record") is None:
        allowed = "with {person} alone each person is one record; name the {record} column too"
        raise ParameterError(PER_PERSON, most, allowed)


def of_several(records: int, column: str, fail: Fail = DataError) -> DataError:
    """The error for records of several people, or of nobody."""
    problem = (
        f"by the column {brief(column)}, {are(records, 'record')} of several people or of nobody"
    )
    return fail(problem, remedy="name the same person of each record in all its rows")


class Dropped(NamedTuple):
    """How many records are left out if at most so many of each person are published."""

    most: int
    records: int
    share: float

    def __str__(self) -> str:
        return (
            f"{self.most:,} leaves out {plural(self.records, 'record')} ({rough_share(self.share)})"
        )


_TRIED = (1, 2, 3, 5, 10, 20, 50, 100)


def dropped(holdings: Mapping[int, int]) -> tuple[Dropped, ...]:
    """What a limit of 1, 2, 3, 5 ... records per person leaves out, down to nothing.

    Example:
        >>> [str(each) for each in dropped({1: 2, 2: 1})]
        ['1 leaves out 1 record (25.0 %)', '2 leaves out 0 records (0.0 %)']
    """
    total, longest = sum(n * people for n, people in holdings.items()), max(holdings, default=0)
    tried = [*(most for most in _TRIED if most < longest), *([longest] if longest else [])]
    gone = [sum(max(n - most, 0) * people for n, people in holdings.items()) for most in tried]
    return tuple(Dropped(m, g, g / total) for m, g in zip(tried, gone, strict=True))


def holders(data: Transactions, people: People | None) -> Int64s:
    """How many people have each item, or how many records if people are not known."""
    return data.supports() if people is None else people.supports(data)


def without_rare(data: Transactions, few: int, people: People | None) -> Transactions:
    """The same records without the items that fewer people (or records) have."""
    return data.keeping(holders(data, people) >= few)


def had_by_few(few: int, people: People | None, items: int = 2) -> str:
    """Of some items, that few people have them, or few records.

    Example:
        >>> had_by_few(5, None), had_by_few(5, People.of([1, 1]))
        ('that occur in fewer than 5 records', 'that fewer than 5 people have')
    """
    if people is not None:
        return f"that fewer than {few:,} people have"
    return f"that occur{'s' * (items == 1)} in fewer than {few:,} records"

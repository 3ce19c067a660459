"""The promise: what a release assures to the people in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from math import nextafter
from typing import Any, ClassVar, Self

from setveil.errors import InfeasibleError, check_count
from setveil.parameters import NO_PARAMETER, parameters, settle
from setveil.words import plural

_NUMBER = (int, float, str)


@dataclass(frozen=True, repr=False)
class Promise(ABC):
    """A privacy definition with its numbers.

    A promise knows no data and no method. It says in words what an adversary may know, what they
    cannot do then, and what is not promised. Each field describes itself; see `setveil.parameters`.
    """

    model: ClassVar[str]  # the name of the model in files, on the command line and in `PROMISES`
    fear: ClassVar[str] = ""
    """The word for what the adversary is feared to know; empty for a promise that only adds to
    others."""
    feared: ClassVar[str] = ""
    """The same in a few words."""
    shown_by: ClassVar[str] = ""
    """A word of another kind that shows that it is meant, and without which it is not."""
    of_records: ClassVar[bool] = True
    """Whether published records keep it or break it: it is checked by counting them."""
    covers_counts: ClassVar[bool] = False
    """Whether it also protects how often an item occurs in a record."""
    covers_lacking: ClassVar[bool] = False
    """Whether an adversary may also know which items a person does not have."""

    records_per_person: int | None = field(default=None, kw_only=True, metadata=NO_PARAMETER)
    """At most so many records of each person are published; the other numbers count records. None
    if each record is protected on its own. See `for_people`."""

    def __post_init__(self) -> None:
        settle(self)
        if self.records_per_person is not None:
            most = check_count("records_per_person", self.records_per_person, 1)
            object.__setattr__(self, "records_per_person", most)

    @abstractmethod
    def describe(self, *, possible: bool = False) -> str:
        """What is promised, for a reader who is not an expert.

        Args:
            possible: The release does not show records but fits several possible originals."""

    @abstractmethod
    def limits(self) -> str:
        """What is not promised, in the same words."""

    @property
    def crowd(self) -> int:
        """How many records each person is hidden among; no smaller data can keep the promise."""
        return int(getattr(self, "k", 0))

    @property
    def most_records(self) -> int:
        """How many records a person may have; 1 if each is protected on its own."""
        return self.records_per_person or 1

    @property
    def most_known(self) -> int | None:
        """How many items of a person an adversary may know; None for any number."""
        return None

    @property
    def assumed_unknown(self) -> frozenset[str]:
        """Items that an adversary is assumed not to know of anybody."""
        return frozenset()

    @property
    def doubts(self) -> tuple[str, ...]:
        """What in the numbers is probably not meant, a sentence each."""
        return ()

    @property
    def gap(self) -> str:
        """What the promise leaves out although its name suggests it, such as `it promises nothing
        about private items`; usually nothing."""
        return ""

    @property
    def parts(self) -> tuple[Promise, ...]:
        """This promise and every promise it contains."""
        inner = (getattr(self, each.name) for each in fields(self))
        return (self, *(part for each in inner if isinstance(each, Promise) for part in each.parts))

    @property
    def title(self) -> str:
        """The model with its numbers, such as `km-anonymity (k = 5, m = 2)`."""
        values = (pair for part in self.parts for pair in part._values())
        numbers = [f"{name} = {value}" for name, value in values if isinstance(value, _NUMBER)]
        if self.records_per_person is not None:
            numbers.append(f"up to {plural(self.records_per_person, 'record')} per person")
        return f"{self.model} ({', '.join(numbers)})" if numbers else self.model

    @property
    def about_people(self) -> str:
        """What the promise means for people who have several records; nothing if they do not."""
        most, people = self.records_per_person, self.of_people
        if most is None:
            return ""
        if most == 1:
            return (
                "At most 1 record of each person is published, so no two records are of one person."
            )
        counted = [
            f"{mine:,} records belong to at least {theirs:,} people"
            for mine, theirs in zip(self.crowds, people.crowds, strict=True)
        ]
        counted += [
            f"{100 * mine:g} % of the records are of at most {100 * theirs:g} % of the people"
            for mine, theirs in zip(self._shares(), people._shares(), strict=True)
            if theirs < 1
        ]
        return (
            f"At most {most:,} records of each person are published, so {', and '.join(counted)}. "
            "What is known of a person may come from several of their records."
        )

    @property
    def crowds(self) -> list[int]:
        """How many records each part of the promise hides a person among."""
        return sorted({part.crowd for part in self.parts if part.crowd})

    def _shares(self) -> list[float]:
        ways = parameters(type(self)).values()
        return [getattr(self, one.name) for one in ways if one.about.per_person == "share"]

    @property
    def named_items(self) -> dict[str, frozenset[str]]:
        """The items that the promise or a part of it names, by parameter, such as `private`."""
        return {
            name: getattr(part, name)
            for part in self.parts
            for name, parameter in parameters(type(part)).items()
            if parameter.holds_items
        }

    @property
    def easing(self) -> str:
        """What to change if nothing is left of the data, in a few words."""
        known = {"k": "a smaller k", "m": "fewer known items (m)", "p": "fewer known items (p)"}
        known |= {"h": "a larger h", "private": "fewer private items"}
        return " or ".join(words for name, words in known.items() if hasattr(self, name))

    @property
    def weaker(self) -> tuple[Promise, ...]:
        """Promises that cost less, to try if this one leaves little of the data."""
        return ()

    def with_items(self, name: str, items: Iterable[str]) -> Self:
        """The same promise with more items in one of the sets of `named_items`."""
        changes: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == name:
                changes[name] = value | frozenset(items)
            elif isinstance(value, Promise) and name in value.named_items:
                changes[each.name] = value.with_items(name, items)
        return replace(self, **changes)

    def for_people(self, most: int | None) -> Self:
        """What records must keep so that this promise holds for people, of each of whom at most
        so many records are published; None if each record is protected on its own.

        Any C k records belong to at least k people, so a number of people is C times as many
        records. The C records of a person may share a private item out among them, so a share of
        records is a C-th of that of people.

        Example:
            >>> from setveil import Coherence, KAnonymity
            >>> KAnonymity(k=10).for_people(2)
            KAnonymity(k=20, records_per_person=2)
            >>> Coherence(h=0.6, k=5, p=2).for_people(3)
            Coherence(h=0.2, k=15, p=2, records_per_person=3)
        """
        return self._scaled(Fraction(most or 1), most)

    @property
    def of_people(self) -> Self:
        """The promise that is kept for people; see `for_people`."""
        return self._scaled(Fraction(1, self.most_records), None)

    def _scaled(self, times: Fraction, most: int | None) -> Self:
        changes: dict[str, Any] = {"records_per_person": most}
        for name, parameter in parameters(type(self)).items():
            value, way = getattr(self, name), parameter.about.per_person
            if isinstance(value, Promise):
                changes[name] = value._scaled(times, most)
            elif way == "times":
                changes[name] = int(value * times)
            elif way == "share" and value != 1:  # all of the records may be all of the people
                changes[name] = _share(Fraction(str(value)) / times, exact=times < 1)
        return replace(self, **changes)

    def check_feasible(self, records: int) -> None:
        """Raise `InfeasibleError` if no data set of this many records can keep the promise."""
        for part in self.parts:
            if 0 < records < part.crowd:
                have = "1 record" if records == 1 else f"{records:,} records"
                among = f"{part.crowd:,}"
                if part.most_records > 1:
                    among = f"{part.of_people.crowd:,} people with up to "
                    among += f"{part.most_records:,} records each, which are {part.crowd:,}"
                raise InfeasibleError(
                    f"the data has only {have}: nobody can be hidden among {among}"
                )

    def to_dict(self) -> dict[str, object]:
        """The promise as it is written in `release.json`."""
        values: dict[str, object] = {}
        for name, value in self._values():
            if isinstance(value, Promise):
                values[name] = value.to_dict()
            elif value is not None:
                values[name] = sorted(value) if isinstance(value, frozenset) else value
        if self.records_per_person is not None:
            values["records_per_person"] = self.records_per_person
        return {"model": self.model, **values, "meaning": self.describe()}

    def __repr__(self) -> str:
        """The numbers, the first three of many items, and no defaults."""
        defaults = {each.name: each.default for each in fields(self)}
        asked = [(name, value) for name, value in self._values() if value != defaults[name]]
        if self.records_per_person is not None:
            asked.append(("records_per_person", self.records_per_person))
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in asked)
        return f"{type(self).__name__}({shown})"

    def _values(self) -> Iterator[tuple[str, Any]]:
        """The parameters as people write them."""
        for name, parameter in parameters(type(self)).items():
            yield name, parameter.about.shown(getattr(self, name))


def _share(share: Fraction, *, exact: bool = False) -> float:
    """A number that is at most this one; or the one that people write if it was made from that.

    Example:
        >>> _share(Fraction("0.6") / 3), Fraction(str(_share(Fraction(1, 3)))) <= Fraction(1, 3)
        (0.2, True)
    """
    found = float(f"{float(share):.12g}")
    is_fine = exact or Fraction(str(found)) <= share
    return found if is_fine else nextafter(min(found, float(share)), 0)


def _shown(value: object) -> str:
    if not isinstance(value, frozenset):
        return repr(value)
    first = ", ".join(repr(item) for item in sorted(value)[:3])
    return f"{{{first}}}" if len(value) <= 3 else f"{{{first}, ... {len(value)} in all}}"

"""The promise: what a release assures to the people in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import MISSING, asdict, dataclass, fields
from numbers import Integral, Real
from typing import ClassVar

from setveil.errors import InfeasibleError, ParameterError


@dataclass(frozen=True, repr=False)
class Promise(ABC):
    """A privacy definition with its numbers.

    A promise knows no data and no method. It says in words what an adversary may know and what they then cannot do.
    """

    model: ClassVar[str]
    """The name of the model in files, on the command line and in `PROMISES`."""

    @abstractmethod
    def describe(self) -> str:
        """What is promised, in words for a reader who is no expert."""

    @abstractmethod
    def limits(self) -> str:
        """What is not promised, in the same words."""

    def check_feasible(self, records: int) -> None:
        """Raise `InfeasibleError` when no data set of this many records can keep the promise."""

    def to_dict(self) -> dict[str, object]:
        """The promise as it stands in `release.json`."""
        return {"model": self.model, **asdict(self), "meaning": self.describe()}

    def __repr__(self) -> str:
        """The numbers; of many items the first three, and nothing of what is not asked for."""
        asked = [(field.name, getattr(self, field.name)) for field in fields(self)]
        defaults = {
            field.name: field.default for field in fields(self) if field.default is not MISSING
        }
        shown = [
            f"{name}={_shown(value)}"
            for name, value in asked
            if name not in defaults or value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def check_items(name: str, items: object) -> frozenset[str]:
    """A parameter that is a list or set of items, as a set of texts.

    An item that is spelled otherwise than in the data would go unprotected without a word. So what has no certain spelling is refused:
    a float (5.0 may stand as 5 in the data), and what is missing.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise ParameterError(name, items, "it must be a list or set of items")
    given = [item.decode(errors="replace") if isinstance(item, bytes) else item for item in items]
    wrong = [
        item
        for item in given
        if item is None or (isinstance(item, Real) and not isinstance(item, Integral))
    ]
    if wrong:
        raise ParameterError(
            name,
            wrong[0],
            "each item must be the text, or the whole number, that it is in the data",
        )
    return frozenset(map(str, given))


def others(k: int) -> str:
    """Among whom a person is hidden, besides that person."""
    return "one other" if k == 2 else f"{k - 1} others"


def check_enough(records: int, k: int) -> None:
    """Refuse data with fewer than `k` records (none at all is fine: nobody is in it)."""
    if 0 < records < k:
        raise InfeasibleError(
            f"k = {k} is more than the {records} record{'s' * (records != 1)} of the data: nobody can be hidden among {k}"
        )


def _shown(value: object) -> str:
    if not isinstance(value, frozenset):
        return repr(value)
    first = ", ".join(repr(item) for item in sorted(value)[:3])
    return f"{{{first}}}" if len(value) <= 3 else f"{{{first}, ... {len(value)} in all}}"

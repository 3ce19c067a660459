"""The promise: what a release assures to the people in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import ClassVar

from setveil.errors import InfeasibleError, ParameterError


@dataclass(frozen=True)
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


def check_count(name: str, value: object, least: int) -> None:
    """Refuse a parameter that is not a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError(name, value, f"it must be a whole number of {least} or more")


def check_enough(records: int, k: int) -> None:
    """Refuse data with fewer than `k` records (none at all is fine: nobody is in it)."""
    if 0 < records < k:
        raise InfeasibleError(
            f"k = {k} is more than the {records} record{'s' * (records != 1)} of the data: nobody can be hidden among {k}"
        )

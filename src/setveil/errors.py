"""Every error that setveil raises on purpose.

    SetveilError
    ├── ParameterError        (ValueError)    a number or name outside what is allowed
    ├── MissingExtraError     (ImportError)   an optional library is needed and not installed
    ├── OutputError           (OSError)       the place to write to is taken or not writable
    ├── DataError             (ValueError)    the input cannot be used as it is
    │   ├── FileFormatError                   a file is not what its name, content or options say
    │   ├── HierarchyError                    a hierarchy has faults, all of them listed
    │   ├── UnknownItemError  (KeyError)      items that stand in no leaf of the hierarchy
    │   ├── MisfitError                       a release that cannot stem from the original it is compared with
    │   └── ReleaseError                      a release folder is damaged or incomplete
    └── InfeasibleError       (ValueError)    no release of this data can keep this promise

`exit_code` is what the command line answers with: 2 for usage, 3 for data. A promise that does not hold is no error; it is a
`Verdict` with a witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

_MOST = 10**12


class SetveilError(Exception):
    """The base of every error below; its text is one clear line."""

    exit_code = 3

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else self.__class__.__name__

    def __reduce__(self) -> tuple[Any, ...]:
        """As the message and the facts, so that an error gets from one process to another whatever its constructor asks for."""
        return _restored, (type(self), self.args, self.__dict__)


class ParameterError(SetveilError, ValueError):
    """A parameter lies outside what is allowed."""

    exit_code = 2

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} = {value!r} is not allowed: {allowed}")


class MissingExtraError(SetveilError, ImportError):
    """An optional library is needed for what was asked."""

    exit_code = 2

    def __init__(self, library: str, purpose: str) -> None:
        self.library, self.purpose = library, purpose
        super().__init__(f"{purpose} needs the library {library}: pip install {library}")


class OutputError(SetveilError, OSError):
    """The place to write to is taken, missing or not writable."""

    exit_code = 2

    def __init__(self, path: Path | str, problem: str) -> None:
        self.path, self.problem = str(path), problem
        super().__init__(f"cannot write {self.path}: {problem}")


class DataError(SetveilError, ValueError):
    """The input cannot be used as it is."""


class FileFormatError(DataError):
    """A file is not what its name, its content or the given options say."""

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None) -> None:
        self.path, self.problem, self.line = str(path), problem, line
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {problem}")


class HierarchyError(DataError):
    """A hierarchy has faults; `faults` lists every one of them as a sentence."""

    def __init__(self, faults: Sequence[str], source: str = "the hierarchy") -> None:
        self.faults, self.source = tuple(faults), source
        more = (
            ""
            if len(self.faults) == 1
            else f" (and {len(self.faults) - 1} more; `setveil hierarchy check` lists them)"
        )
        super().__init__(f"{source}: {self.faults[0]}{more}")


class UnknownItemError(DataError, KeyError):
    """Items that stand in no leaf of the hierarchy, or a label that the vocabulary does not hold."""

    def __init__(
        self, items: Sequence[str], where: str = "the hierarchy has no leaf for", advice: str = ""
    ) -> None:
        self.items, self.where = tuple(items), where
        shown = ", ".join(repr(item) for item in self.items[:3])
        more = "" if len(self.items) <= 3 else f" and {len(self.items) - 3} more"
        named = f"{where} {shown}{more} ({len(self.items)} in all)" if more else f"{where} {shown}"
        super().__init__(f"{named}: {advice}" if advice else named)


class MisfitError(DataError):
    """A release cannot stem from the original it is compared with.

    The message names no item of anybody; `record` (items of an original record) and `published` (of a published one) are the witness.
    """

    def __init__(
        self,
        problem: str,
        *,
        record: Sequence[str] | None = None,
        published: Sequence[str] | None = None,
    ) -> None:
        self.problem = problem
        self.record = None if record is None else tuple(record)
        self.published = None if published is None else tuple(published)
        super().__init__(f"the release does not stem from this original: {problem}")


class ReleaseError(DataError):
    """A release folder is damaged or incomplete."""

    def __init__(self, path: Path | str, problem: str) -> None:
        self.path, self.problem = str(path), problem
        super().__init__(f"{self.path} is not a usable release: {problem}")


class InfeasibleError(SetveilError, ValueError):
    """No release of this data can keep this promise."""


def check_count(name: str, value: object, least: int) -> int:
    """A parameter as a plain whole number; refuses what is none, or below `least`. Those of NumPy are whole numbers too.

    Numbers above a million million, which no count of people can reach, are refused too, so that sums and products fit into 64 bits.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ParameterError(name, value, f"it must be a whole number of {least} or more")
    if int(value) > _MOST:
        raise ParameterError(name, value, f"it must be a whole number of {least} to {_MOST:,}")
    return int(value)


def _restored(
    kind: type[SetveilError], arguments: tuple[object, ...], facts: dict[str, object]
) -> SetveilError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(facts)
    return error

"""Every error that setveil raises on purpose.

    SetveilError
    ├── ParameterError        (ValueError)    a number or name outside what is allowed
    ├── MissingExtraError     (ImportError)   an optional library is needed and not installed
    ├── OutputError           (OSError)       the output exists already or cannot be written
    ├── DataError             (ValueError)    the input cannot be used as it is
    │   ├── FileFormatError                   a file is not what its name, content or options say
    │   ├── HierarchyError                    a hierarchy has faults, all of them listed
    │   ├── UnknownItemError  (KeyError)      items that the hierarchy or the data does not have
    │   ├── MisfitError                       a release cannot come from the given original
    │   └── ReleaseError                      a release folder is damaged or incomplete
    └── InfeasibleError       (ValueError)    no release of this data can keep this promise

An error holds facts: what is wrong (`problem`) and what to do about it (`remedy`). A remedy names
parameters in braces, as in `name the column with {record}` or `allow it with {force=True}`, and
each door spells them its own way: Python as `record=...`, the command line as `--record`.

`LeftoverWarning` (UserWarning) says that something of an interrupted run was cleaned up.

A message quotes what the user gave with `brief` and `brief_list`, and in no other way: a few names,
a few characters of each. What was given may be private, or a megabyte long.

`exit_code` is the exit code of the command line: 2 for usage, 3 for data. A promise that does not
hold is not an error but a `Verdict` with a witness."""

from __future__ import annotations

import errno
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pathlib import Path

Spelling = Callable[[str, str | None], str]
"""Spells a parameter and its value, if one is given, in the words of one door."""

_PARAMETER = re.compile(r"\{([a-z_]+)(?:=([^{}]*))?\}")
_KEYWORDS = {"input_format": "format"}
_MOST = 10**12
_LONGEST_QUOTE = 60
_LONGEST_PATH = 240
_MOST_QUOTES = 5
_MOST_COMPARED = 50_000
_LEAST_ALIKE = 0.65  # just enough for "kk" and "k"; "beer" and "celery" have 0.6
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 2, 10 * _LONGEST_QUOTE, 10 * _LONGEST_QUOTE
_TEXTS = ("drop_record",)  # what a column says is a text, also if it looks like a number
_PLAIN_NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")


def as_keyword(name: str, value: str | None) -> str:
    """A parameter as Python spells it.

    Example:
        >>> as_keyword("record", None), as_keyword("item", "a"), as_keyword("delta", "1e-6")
        ('record=...', "item='a'", 'delta=1e-6')
    """
    is_number = name not in _TEXTS and _PLAIN_NUMBER.fullmatch(value or "") is not None
    is_plain = value in ("True", "False") or is_number
    shown = "..." if value is None else value if is_plain else repr(value)
    return f"{_KEYWORDS.get(name, name)}={shown}"


def spelled(text: str, spell: Spelling = as_keyword) -> str:
    """A text with every parameter in braces spelled out.

    Example:
        >>> spelled("name the column with {record}")
        'name the column with record=...'
    """
    return _PARAMETER.sub(lambda found: spell(found[1], found[2]), text)


def parameters_in(text: str) -> list[tuple[str, str | None]]:
    """The parameters in braces of a text, with their values.

    Example:
        >>> parameters_in("name it with {item}, or allow all with {onehot=True}")
        [('item', None), ('onehot', 'True')]
    """
    return [(found[1], found[2]) for found in _PARAMETER.finditer(text)]


class Note(str):
    """A remark in Python's words; other doors spell its parameters, which are in braces, in theirs.

    Example:
        >>> note = Note("leave rare items out with {min_people=5}")
        >>> note, note.text(lambda name, value: f"--{name.replace('_', '-')} {value}")
        ('leave rare items out with min_people=5', 'leave rare items out with --min-people 5')
    """

    template: str

    def __new__(cls, template: str) -> Self:
        made = super().__new__(cls, spelled(template))
        made.template = template
        return made

    def text(self, spell: Spelling = as_keyword) -> str:
        """The remark in the words of one door."""
        return spelled(self.template, spell)

    @property
    def words(self) -> dict[str, str]:
        """The parameters that it names with their values, as for `{min_people=5}`."""
        found = _PARAMETER.findall(self.template)
        return {name: value for name, value in found if value}


class LeftoverWarning(UserWarning):
    """Something that an interrupted run had left behind was removed or restored."""


def brief(value: object) -> str:
    """A value of the user as a message quotes it, cut if it is long.

    Example:
        >>> brief("wine"), brief("x" * 1000)
        ("'wine'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ...")
    """
    try:
        text = repr(value[:_LONGEST_QUOTE]) if isinstance(value, str) else _SHORT.repr(value)
    except ValueError:  # a whole number with thousands of digits
        return "a very large number"
    is_cut = isinstance(value, str) and len(value) > _LONGEST_QUOTE
    return f"{text[: _LONGEST_QUOTE - 4]} ..." if is_cut or len(text) > _LONGEST_QUOTE else text


def brief_list(values: Sequence[object]) -> str:
    """Values of the user as a message lists them: the first few.

    Example:
        >>> brief_list(["a", "b"]), brief_list(range(100))
        ("'a', 'b'", '0, 1, 2, 3, 4 and 95 more')
    """
    listed = ", ".join(map(brief, values[:_MOST_QUOTES]))
    more = len(values) - _MOST_QUOTES
    return f"{listed} and {more:,} more" if more > 0 else listed


def brief_path(path: Path | str) -> str:
    """A path as a message names it, without its middle if it is very long.

    Example:
        >>> brief_path("data/baskets.csv"), len(brief_path("x" * 4000))
        ('data/baskets.csv', 245)
    """
    text = str(path)
    start, end = text[: _LONGEST_PATH // 3], text[-2 * _LONGEST_PATH // 3 :]
    return text if len(text) <= _LONGEST_PATH else f"{start} ... {end}"


def system_problem(error: OSError) -> str:
    """What the system says about a file, and which file it is."""
    place = f"{brief_path(error.filename)}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The question whether a known name was meant, if one is near; else nothing.

    Only names of about the same length are compared, so that it stays quick for many.

    Example:
        >>> did_you_mean("mlk", ["wine", "milk"]), did_you_mean("HIV", ["wine", "milk"])
        ("did you mean 'milk'?", '')
    """
    from difflib import get_close_matches  # not needed to start the command line

    alike = {name.casefold(): name for name in known if abs(len(name) - len(word)) <= 2}
    names = list(islice(alike, _MOST_COMPARED))
    near = get_close_matches(word.casefold(), names, 1, _LEAST_ALIKE)
    return f"did you mean {brief(alike[near[0]])}?" if near else ""


class SetveilError(Exception):
    """The base of every error below; its text is one clear line."""

    exit_code = 3

    def __init__(self, problem: str = "", *, remedy: str = "") -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(problem)

    def text(self, spell: Spelling = as_keyword) -> str:
        """What is wrong and what to do, in the words of one door."""
        place, remedy = self._placed(), spelled(self.remedy, spell)
        if not remedy:
            return place or type(self).__name__
        return f"{place} {remedy}" if place.endswith("?") else f"{place}; {remedy}"

    def _placed(self) -> str:
        """What is wrong, with where it is."""
        return self.problem

    def __str__(self) -> str:
        return self.text()

    def __reduce__(self) -> tuple[Any, ...]:
        """Its facts, so that it can be sent to another process whatever its constructor takes."""
        return _restored, (type(self), self.args, self.__dict__)


class ParameterError(SetveilError, ValueError):
    """A parameter is outside what is allowed, or missing (its value is None)."""

    exit_code = 2

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(allowed)

    def text(self, spell: Spelling = as_keyword) -> str:
        return f"{self.name} = {brief(self.value)} is not allowed: {spelled(self.allowed, spell)}"


class MissingExtraError(SetveilError, ImportError):
    """An optional library is needed."""

    exit_code = 2

    def __init__(self, library: str, purpose: str, *, extra: str | None = None) -> None:
        self.library, self.purpose = library, purpose
        of = "" if extra is None else f" (the extra {extra} of setveil)"
        super().__init__(f"{purpose} needs the library {library}{of}: pip install {library}")


class OutputError(SetveilError, OSError):
    """The output exists already, or cannot be written."""

    exit_code = 2

    def __init__(self, path: Path | str, problem: str, *, remedy: str = "") -> None:
        self.path = str(path)
        super().__init__(problem, remedy=remedy)

    def _placed(self) -> str:
        return f"cannot write {brief_path(self.path)}: {self.problem}"


class EngineError(SetveilError, RuntimeError):
    """An engine cannot do the work: too little memory, or a process or a cluster that failed."""


class DataError(SetveilError, ValueError):
    """The input cannot be used as it is."""

    owners: tuple[str, ...] = ()
    """The columns of a table that could each be the record."""
    previews: Mapping[str, Sequence[Sequence[str]]] = MappingProxyType({})
    """The first records for each choice, such as `record=customer`, if somebody has tried it."""


class FileFormatError(DataError):
    """A file is not what its name, its content or the options say."""

    def __init__(
        self, path: Path | str, problem: str, *, line: int | None = None, remedy: str = ""
    ) -> None:
        self.path, self.line = str(path), line
        super().__init__(problem, remedy=remedy)

    def _placed(self) -> str:
        line = "" if self.line is None else f", line {self.line}"
        return f"{brief_path(self.path)}{line}: {self.problem}"


class HierarchyError(DataError):
    """A hierarchy has faults; `faults` lists each of them as a sentence."""

    def __init__(
        self, faults: Sequence[str], source: str = "the hierarchy", remedy: str = ""
    ) -> None:
        self.faults, self.source = tuple(faults), source
        more = len(self.faults) - 1
        rest = f" (and {more} more fault{'s' * (more > 1)})" if more else ""
        super().__init__(f"{source}: {self.faults[0]}{rest}", remedy=remedy)


class UnknownItemError(DataError, KeyError):
    """Items that are not leaves of the hierarchy, or labels that are not in the vocabulary."""

    def __init__(
        self, items: Sequence[str], where: str = "the hierarchy has no leaf for", remedy: str = ""
    ) -> None:
        self.items, self.where = tuple(items), where
        shown = ", ".join(map(brief, self.items[:3]))
        more = f" and {len(self.items) - 3} more" if len(self.items) > 3 else ""
        super().__init__(f"{where} {shown}{more}", remedy=remedy)


class MisfitError(DataError):
    """A release cannot come from the original it is compared with.

    The message names nobody's items. `record` (of the original) and `published` are the witness.
    """

    def __init__(
        self,
        problem: str,
        *,
        record: Sequence[str] | None = None,
        published: Sequence[str] | None = None,
    ) -> None:
        self.record = None if record is None else tuple(record)
        self.published = None if published is None else tuple(published)
        super().__init__(problem)

    def _placed(self) -> str:
        return f"the release does not come from this original: {self.problem}"


class ReleaseError(DataError):
    """A release folder is damaged or incomplete."""

    def __init__(self, path: Path | str, problem: str) -> None:
        self.path = str(path)
        super().__init__(problem)

    def _placed(self) -> str:
        return f"{brief_path(self.path)} is not a usable release: {self.problem}"


class InfeasibleError(SetveilError, ValueError):
    """No release of this data can keep this promise."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, perhaps while a library was loaded or a thread was started."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    kinds = (ImportError, OSError, RuntimeError)
    return isinstance(error, kinds) and any(sign in str(error) for sign in _MEMORY_SIGNS)


_MEMORY_SIGNS = (
    "failed to map segment",
    "annot allocate memory",
    "Could not find/load shared object file",  # llvmlite, which is there but cannot be loaded
    "can't start new thread",
)


def check_count(name: str, value: object, least: int) -> int:
    """A parameter as a plain whole number of `least` or more; NumPy's whole numbers count.

    Numbers above a million million are refused as well, so that sums and products fit in 64 bits.
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

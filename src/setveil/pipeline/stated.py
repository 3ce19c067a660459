"""What people state about a release that is to be approved: nothing in it is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from setveil.errors import FileFormatError, ParameterError, SetveilError, brief, did_you_mean
from setveil.pipeline.toml import toml_table

LONGEST = 10_000
"""Characters of what is stated under one key."""


class Asked(NamedTuple):
    """What is asked from the user."""

    name: str
    """What it is, in a few words."""
    about: str
    """What to write."""
    questions: tuple[int, ...]
    """The questions of the committee that need it."""
    is_list: bool = False


STATED: dict[str, Asked] = {
    "purpose": Asked("Purpose", "what the release is for", (1,)),
    "recipient": Asked("Recipient", "who receives it", (1,)),
    "responsible": Asked("Responsible", "who answers for the data", (1,)),
    "other_data": Asked(
        "Other data", "what other data about these people the recipient may have or get", (2,)
    ),
    "controls": Asked(
        "Controls",
        "what keeps the recipient from looking for people: contract, access, place",
        (2,),
    ),
    "storage": Asked(
        "Storage", "where the original and the private files are, who reads them, until when", ()
    ),
    "people": Asked("People", "whom the data is about, and how they were chosen", ()),
    "private_list": Asked(
        "Private list",
        "who made the list of private items, and whether it has what reveals them",
        (5,),
    ),
    "likely_knowledge": Asked(
        "Likely knowledge",
        "the rows of the attack whose knowledge the recipient is reasonably likely to have",
        (12,),
        is_list=True,
    ),
    "very_small": Asked(
        "Very small", "the risk that is called very small here: a number, such as 0.05", (12,)
    ),
    "earlier": Asked("Earlier releases", "what was released about these people before", (13,)),
    "needs": Asked("Needs", "what the recipient must be able to find out", (14,)),
    "review": Asked("Review", "when this is reviewed, and by whom", (15,)),
    "sign": Asked("Signatures", "who signs, one line each", (15,), is_list=True),
}
"""The keys of the file, in the order of the page."""


@dataclass(frozen=True)
class Stated:
    """What was stated, by key; what was not is missing."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        """What was stated; None if nothing was."""
        return self.values.get(key)

    def missing(self, question: int) -> list[str]:
        """What a question needs and nobody has stated."""
        return [key for key, one in STATED.items() if question in one.questions and key not in self]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    @property
    def likely(self) -> tuple[str, ...]:
        """The knowledge that is called reasonably likely."""
        return tuple(self.values.get("likely_knowledge", ()))


def read_stated(given: Path | str | Mapping[str, Any] | None) -> Stated:
    """The statements in a TOML file or a mapping; none without one.

    Raises:
        FileFormatError: if it is no TOML, or a key of a file is unknown or has a value of another
            kind; ParameterError for one of a mapping.

    Example:
        >>> read_stated({"purpose": "Teaching", "recipient": " "}).values
        {'purpose': 'Teaching'}
    """
    if given is None:
        return Stated()
    if isinstance(given, Mapping):
        return Stated(_checked(given, lambda key, problem, remedy: _of_mapping(key, remedy)))
    path = Path(given)
    return Stated(
        _checked(
            toml_table(path),
            lambda key, problem, remedy: FileFormatError(path, problem, remedy=remedy),
        )
    )


def _of_mapping(key: str, remedy: str) -> SetveilError:
    return ParameterError("context", key, remedy)


Fail = Callable[[str, str, str], SetveilError]


def _checked(table: Mapping[str, Any], fail: Fail) -> dict[str, Any]:
    """The statements that are not empty: an empty one is as good as not stated."""
    found = {key: _plain(value) for key, value in table.items()}
    for key, value in found.items():
        if key not in STATED:
            remedy = did_you_mean(key, STATED) or f"the keys are {', '.join(STATED)}"
            raise fail(key, f"there is no key {brief(key)}", remedy)
        kind = "a text"
        is_fine = _is_text(value)
        if key == "very_small":
            kind, is_fine = (
                "a number between 0 and 1",
                type(value) in (int, float) and 0 < value < 1,
            )
        elif STATED[key].is_list:
            kind = "a list of texts"
            found[key] = value = [value] if isinstance(value, str) and value else value
            is_fine = value == "" or (isinstance(value, list) and all(map(_is_text, value)))
        if not is_fine and value != "":
            raise fail(key, f"the key {key} is not {kind}", f"write {kind}")
    return {key: value for key, value in found.items() if value not in ("", [])}


def _plain(value: Any) -> Any:
    """The value without blanks around it."""
    if isinstance(value, list):
        return [each for one in value if (each := _plain(one)) != ""]
    return value.strip() if isinstance(value, str) else value


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST

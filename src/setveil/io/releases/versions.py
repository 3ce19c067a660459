"""The versions of the format of `release.json`, and what older ones said: one row per version.

Releases say their version since the eighth. Of an older release, the words say which it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

FIRST_STATED = 8
"""The first version that a release states."""
WORDS = ("meaning", "not_promised")
"""What a promise says in words."""
Replaced = Mapping[str, str | Callable[[Mapping[str, Any], re.Match[str]], str]]


class Version(NamedTuple):
    """A version of the format."""

    setveil: str
    """The setveil that first wrote it."""
    news: str
    """What it changed."""
    replaced: Replaced = MappingProxyType({})
    """How the words of this version read in the one before: patterns, and what to put instead, a
    text or a function of the promise and the match."""


def _cannot_rule_out(said: Mapping[str, Any], found: re.Match[str]) -> str:
    """What an adversary of disassociated data could not do, with the number of others."""
    knows, k = found[1], int(said["k"])
    others = "one other" if k == 2 else f"{k - 1} others"
    return (
        f"Whoever knows {knows} of a person cannot rule out that at least {k} records hold them: "
        f"wherever an original that fits the release has such a record, one that fits has {k}. "
        f"So the person cannot be told from {others}."
    )


def _no_private_items(said: Mapping[str, Any], found: re.Match[str]) -> str:
    """What was not promised of private items, although none were named."""
    return (
        f"{found[1]} of a person, or a private item, or items that the person does NOT have, may "
        "learn more. Each private item is limited on its own: that a person has one of several may "
        "be more likely than "
        f"{100 * said['h']:g} %."
    )


VERSIONS: dict[int, Version] = {
    1: Version("0.1.0", "the first"),
    2: Version("0.1.0", "one other instead of 1 others", {r"\bone other\b": "1 others"}),
    3: Version(
        "0.1.0",
        "disassociated data promises in words of its own",
        {
            r"cannot rule out that at least (\d+) records hold them: wherever an original that "
            r"fits the release has such a record, one that fits has \1\. So the person": (
                r"finds at least \1 records that hold them, or none: the person"
            )
        },
    ),
    4: Version(
        "0.1.0",
        "plain English; vocabularies are called typical bags, and facts have keys of their own "
        "instead of being read from the method",
        {
            r"An adversary who knows ([^.:]*) of a person cannot narrow that person down to fewer "
            r"than (\d+) records: at least \2 records could contain (?:it|them)\.": (
                _cannot_rule_out
            ),
            r"Each published record is identical to at least [\d,]+ others?\. An adversary who "
            r"knows any number of a person's items, even all of them, finds at least (\d+) records "
            r"that could be": (
                r"Every published record stands at least \1 times, alike in every item. Whoever "
                r"knows any number of items of a person, even all of them, finds at least \1 "
                r"records that may be"
            ),
            r"Each published bag is identical to at least [\d,]+ others?, in its items and in how "
            r"often each occurs\. An adversary who knows any number of a person's items, and how "
            r"often that person used each, finds at least (\d+) bags that could be": (
                r"Every published bag stands at least \1 times, alike in every item and in how "
                r"often each item stands. Whoever knows any number of items of a person, and how "
                r"often the person used each, finds at least \1 bags that may be"
            ),
            r"An adversary who knows": "Whoever knows",
            r"knows 1 ": "knows one ",
            r"contain (?:it|them), or none": "hold them, or none",
            r"that person cannot be told apart from 1 other\.": (
                "the person cannot be told from one other."
            ),
            r"that person cannot be told apart from": "the person cannot be told from",
            r"(?<=told from )(\d+),(\d+)": r"\1\2",
            r"of those contain any one": "of the records found hold any one",
            r"is published only for a group of at least (\d+) records as a whole: no other item of "
            r"a person says which of these records has it": (
                r"is published for a group of at least \1 records as a whole, apart from "
                r"everything else: no other item of a person tells which of the \1 or more records "
                r"of a group has it"
            ),
        },
    ),
    5: Version(
        "0.1.0",
        "l-diversity says that not all records of a group need to have a sensitive item",
        {", and in some possible original not all of them do": ""},
    ),
    6: Version("0.1.0", "the promise says what is `not_promised`"),
    7: Version(
        "0.1.0",
        "other words for safe chunks",
        {"An adversary who also knows the person's group": "Whoever also knows the person's group"},
    ),
    8: Version(
        "0.2.0",
        "`format`: the release says its version; typical bags always say `same_branch`, and "
        "`complete` if they are; coherence without private items promises nothing about them; "
        "differential privacy says that whether there is a release is not covered",
        {
            " No items are named as private: nothing is promised about any\\.": "",
            r"(?<=public item)(s?) of a person, or items that the person does NOT have, may learn "
            r"more\.": _no_private_items,
            r" Nor is whether there is a release at all: data may be refused, or its owner asked "
            r"about it\.": "",
        },
    ),
    9: Version(
        "0.3.0",
        "`countable`: the release says what can be counted from it; safe chunks say that items "
        "without counts are not bounded; a promise says `records_per_person` if people have "
        "several records; `supports.csv` has what was counted after long records "
        "were cut, and how many were",
        {
            r"published with counts, apart from the known ones, with": (
                "published apart from the known ones with"
            ),
            r" How likely an item is that is published without counts, or together with a known "
            r"one, is not bounded\.": "",
        },
    ),
}
"""Every version that was ever written; the last is written now."""
FORMAT = max(VERSIONS)
UNSTATED = {row.setveil for number, row in VERSIONS.items() if number < FIRST_STATED}
"""The versions of setveil whose releases do not state their format."""
SAYS_COUNTABLE = 9
"""Since this version a release says what can be counted from it."""


def in_words_of(version: int, said: Mapping[str, Any]) -> dict[str, Any]:
    """A promise as it is written now, in the words of an older version."""
    older: dict[str, Any] = {
        key: in_words_of(version, value) if isinstance(value, dict) else value
        for key, value in said.items()
        if key != "not_promised" or version >= _SAYS_LIMITS
    }
    for at in range(FORMAT, version, -1):
        for key in older.keys() & set(WORDS):
            for pattern, words in VERSIONS[at].replaced.items():
                text = words if isinstance(words, str) else partial(words, said)
                older[key] = re.sub(pattern, text, older[key])
    return older


def candidates(stated: int | None) -> Sequence[int]:
    """The versions that a release may have, the newest first."""
    return range(FIRST_STATED, 0, -1) if stated is None else (stated,)


def updated(about: Mapping[str, Any]) -> dict[str, Any]:
    """What `release.json` of a release that does not state its version says, in the names of today.

    What a version did not say yet, such as how close the items of a slot are, is left out: it is
    not checked.
    """
    method, found = dict(about["method"]), dict(about)
    found["form"] = _FORMS.get(about["form"], about["form"])
    method |= {"name": _METHODS[method["name"]]} if method.get("name") in _METHODS else {}
    if method.get("recoding") == "global" and "recoding" not in about:
        found["recoding"] = method.pop("recoding")
    return {**found, "method": method}


_SAYS_LIMITS = 6
_FORMS = {"vocabularies": "typical-bags"}
_METHODS = {"coherence": "suppression"}

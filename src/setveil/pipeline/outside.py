"""What an adversary may know besides random items of a person: one basket or stay, or a file about
known people; and the population of those who may be meant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from setveil.audit.attack.knowing import Source
from setveil.data.account import Account
from setveil.data.people import PER_PERSON
from setveil.data.transactions import Transactions
from setveil.errors import DataError, ParameterError
from setveil.pipeline.inputs import known_name, load_with_account, people_of

_NOT_OF_OTHERS = ("columns", "column_hierarchies", PER_PERSON)
"""How an original is read, but not what is compared with its sets."""


def occasions(
    data: object, reading: Mapping[str, Any], column: str, original: Transactions
) -> Source:
    """The baskets, sessions or stays of each person, by the column that numbers them."""
    person = reading.get("person") or reading.get("record")
    if not isinstance(data, str | Path) or person is None or _has_both(reading):
        allowed = "it is the column of the basket or stay in a file whose records are joined by "
        raise ParameterError("occasion", column, allowed + "{person}; name that column too")
    words = {**plain(reading), "record": column, "person": person}
    found, account = load_with_account(data, words)
    people = people_of(account)
    assert people is not None
    if not _same(people.joined(found), original):
        problem = f"the records of the column {column} do not make up those of the people"
        raise DataError(problem, remedy="read the original as it was read for the release")
    return Source(f"all items of one {column}", found, people.owners)


def said_by(file: object, data: object, reading: Mapping[str, Any], people: int) -> Source:
    """What a file says of people: one row for each person and item, where people have the names
    that they have in the original."""
    person = reading.get("person") or reading.get("record")
    words = {} if person is None else {"record": person}
    names = _names(data, plain(reading), "original")
    found, account = load_with_account(file, {**words, "named": True})
    places = {name: number for number, name in enumerate(names)}
    if len(places) != people or _has_both(reading):
        allowed = "it is linked by the person, and each person of the original must be one record"
        raise ParameterError("knows", known_name(file), allowed)
    owners = [places.get(name, -1) for name in _named(account, file, "knows")]
    if not owners or max(owners) < 0:
        allowed = "it names nobody of the original: its records must have the same names"
        raise ParameterError("knows", known_name(file), allowed)
    return Source(f"what {known_name(file)} says", found, np.array(owners, dtype=np.int64))


def plain(reading: Mapping[str, Any]) -> dict[str, Any]:
    """How the sets of an original are read."""
    return {name: value for name, value in reading.items() if name not in _NOT_OF_OTHERS}


def _names(data: object, reading: Mapping[str, Any], parameter: str) -> list[str]:
    if not isinstance(data, str | Path):
        raise ParameterError(parameter, "given", "only a file has names of people to link with")
    return _named(load_with_account(data, {**reading, "named": True})[1], data, parameter)


def _named(account: Account | None, file: object, parameter: str) -> list[str]:
    if account is None or account.names is None:
        allowed = "it has no column that names its records; only such files can be linked"
        raise ParameterError(parameter, known_name(file), allowed)
    return account.names


def _has_both(reading: Mapping[str, Any]) -> bool:
    return reading.get("person") is not None and reading.get("record") is not None


def _same(one: Transactions, other: Transactions) -> bool:
    """Whether the records are the same sets in the same order, but for items that one lacks."""
    numbers = one.vocabulary.find(other.vocabulary)
    if len(one) != len(other):
        return False
    own = np.unique(other.rows * np.int64(len(one.vocabulary) + 1) + numbers[other.items])
    keep = np.isin(one.items, numbers)
    wanted = np.unique(one.rows[keep] * np.int64(len(one.vocabulary) + 1) + one.items[keep])
    return bool((numbers[other.items] >= 0).all()) and np.array_equal(own, wanted)

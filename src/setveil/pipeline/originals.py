"""The original of a release: all of it, or the records of each person of which something was
published, as the private alignment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setveil.data.account import Account
from setveil.data.people import PER_PERSON, People, without_rare
from setveil.data.transactions import Transactions
from setveil.errors import MisfitError, ParameterError
from setveil.hierarchy.layouts import TreeOptions
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.alignment import with_alignment
from setveil.pipeline.inputs import load_with_account, people_of
from setveil.published import Release
from setveil.words import plural


@dataclass(frozen=True, kw_only=True)
class OfRelease(TreeOptions):
    """What a verb is given that compares a release with its original."""

    release: object = field(repr=False)
    """A release, or its folder."""
    original: object = field(default=None, repr=False)
    """The data that the release was made from: a path or an object."""
    alignment: Path | str | None = None
    """The private alignment file, to compare each record with its own original."""
    hierarchy: Hierarchy | Path | str | None = None
    """The tree, if the release does not have all of it."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How to read the original."""


class Original(NamedTuple):
    """What a release was made from, and whose each record is, if that is known."""

    data: Transactions
    people: People | None
    account: Account | None = None
    """How it was read, if it was a file."""

    def without_rare(self, few: int) -> Original:
        """Without items that fewer people have; whatever needs only records counts these by
        itself."""
        return (
            self
            if self.people is None
            else self._replace(data=without_rare(self.data, few, self.people))
        )


def whole_original(data: object, reading: Mapping[str, Any], published: object) -> Original:
    """All records of an original.

    Raises:
        ParameterError: if it must be known whose the records are, and is not; or if some are left
            out, which only who makes a release can do.
    """
    if reading.get(PER_PERSON) is not None:
        allowed = "the release says it, and its original is read whole; leave it out"
        raise ParameterError(PER_PERSON, reading[PER_PERSON], allowed)
    found, account = load_with_account(data, reading)
    people, most = people_of(account), most_of(published)
    if most is not None and (people is None or reading.get("record") is None):
        allowed = f"the release has at most {plural(most, 'record')} of each person: "
        allowed += "name the columns of the {record} and the person"
        raise ParameterError("person", reading.get("person"), allowed)
    return Original(found, people, account)


def most_of(published: object) -> int | None:
    """How many records of each person a release has at most, if it is compared with an original;
    None if all of them."""
    if not isinstance(published, Release) or published.stands_alone:
        return None
    return published.promise.records_per_person


def paired(
    release: Release, original: Original, alignment: Path | str | None
) -> tuple[Release, Original]:
    """The release with its alignment, if it is given, and the originals of its records.

    Raises:
        MisfitError: if the alignment is not of this release and this original.
    """
    if alignment is None:
        return release, original
    found = with_alignment(release, alignment)
    if most_of(release) is None:
        return found, original
    assert found.alignment is not None and original.people is not None
    if len(found.alignment) != len(original.data):
        lines = f"{alignment} has {len(found.alignment):,} lines for {len(original.data):,} records"
        raise MisfitError(lines)
    kept = np.flatnonzero(found.alignment >= 0)
    people = original.people.take(kept)
    own: Any = {"alignment": found.alignment[kept]}
    made = replace(found, **own).leaving_out(release.min_people)  # type: ignore[type-var]
    return made, Original(original.data.take(kept), people, original.account)


def original_of(
    release: Release, data: object, reading: Mapping[str, Any], alignment: Path | str | None
) -> tuple[Release, Original]:
    """The release with its alignment, and the records that it was made from.

    Raises:
        ParameterError: if only the alignment says which these are, and it is not given.
    """
    whole = whole_original(data, reading, release)
    if alignment is None and most_of(release) is not None and len(whole.data) != len(release):
        allowed = "some records of people with several are left out: only the alignment says which"
        raise ParameterError("alignment", None, allowed)
    made, found = paired(release, whole, alignment)
    return made, found.without_rare(release.min_people)

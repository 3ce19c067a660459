"""Are there enough people among the records of a release, if a person has several of them?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from setveil.audit.verdict import Check, Witness
from setveil.data.arrays import Int64s
from setveil.promises.promise import Promise
from setveil.published.release import Release
from setveil.words import plural


def check_people(release: Release, people: Int64s, promise: Promise, limit: int = 1) -> Check:
    """Whether nobody has more records in a release than its promise says, exactly.

    Args:
        release: The release with its alignment.
        people: The person of each of its original records, as a number.
        promise: What it promises of records.
        limit: The most witnesses.
    """
    most, held = promise.most_records, np.bincount(people)
    over = np.flatnonzero(held > most)
    if len(over):
        witnesses = tuple(
            Witness(f"a person has {n:,} records in the release", count=n, private=True)
            for n in held[over[np.argsort(-held[over], kind="stable")]][:limit].tolist()
        )
        have = "1 person has" if len(over) == 1 else f"{len(over):,} people have"
        text = f"{have} more than {plural(most, 'record')} in the release"
        return Check("people", False, text, witnesses, True, {"people": len(over)})
    there = plural(int((held > 0).sum()), "person", "people")
    text = f"the records are of {there}, and nobody has more than {most:,} of them"
    fewest = _fewest(release, people, promise.crowd)
    if fewest is not None:
        text += (
            f"; in each group of {promise.crowd:,} records and more are at least {fewest:,} people"
        )
    return Check("people", True, text, private=True)


def _fewest(release: Release, people: Int64s, crowd: int) -> int | None:
    """The fewest people of what is published alike or together, where there are enough records."""
    if release.alignment is None or not len(people) or crowd < 1:
        return None
    pairs = np.unique(np.stack([release.alignment, people], axis=1), axis=0)
    records, persons = np.bincount(release.alignment), np.bincount(pairs[:, 0])
    large = persons[records >= crowd]
    return int(large.min()) if len(large) else None


def check_consistent(
    release: Release, people: Int64s, items: Iterable[tuple[str, Int64s]], promise: Promise
) -> Check:
    """Whether a release is consistent with at most some records of each person of an original, as
    far as that can be seen without its alignment.

    Args:
        release: The release.
        people: The person of each original record.
        items: Each item of the original and the records that have it.
        promise: What the release promises of records.
    """
    most = promise.most_records
    needed = int(np.minimum(np.bincount(people), most).sum())
    said = f"{plural(len(release), 'record')} {'is' if len(release) == 1 else 'are'} published"
    if len(release) != needed:
        text = f"{said}, but at most {most:,} of each person in the original are {needed:,}"
        return Check("people", False, text, private=True)
    for item, records in items:
        allowed = int(np.minimum(np.bincount(people[records]), most).sum())
        lower = release.support([item]).lower
        if lower > allowed:
            text = f"at most {allowed:,} records of at most {most:,} of each person have {item}"
            witness = Witness(f"{text}, and {lower:,} are published", (item,), lower, private=True)
            return Check("people", False, "an item is published too often", (witness,), True)
    text = f"consistent with at most {plural(most, 'record')} of each person: {said}, and no item"
    return Check(
        "people",
        True,
        f"{text} too often; who has which, only the alignment says",
        private=True,
        compared="the numbers of records and items agree",
    )

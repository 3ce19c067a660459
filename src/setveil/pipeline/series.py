"""A release that follows another one: by its rule or a coarser one, so that what both differ in
keeps the promise.

Newcomers whose records would be in the open are held back. Where that is not enough, because people
left or the promise does not hold any more, labels are left out everywhere until it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.errors import InfeasibleError
from setveil.methods import METHODS
from setveil.promises.promise import Promise
from setveil.published.release import RecordRelease
from setveil.words import plural, rough_share

Key = frozenset[str]
"""The labels of a record."""
Readings = Iterator[Counter[Key]]


class Follows(NamedTuple):
    """What is published of new records after an earlier release."""

    rows: Transactions
    """The records that are published, in the labels that are."""
    kept: Int64s
    """Which of the new records these are."""
    gone: tuple[str, ...]
    """Labels of the first release that are left out now."""
    held: int
    """How many are held back: newcomers, and people who changed."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done for the differences."""
        found = []
        if self.held:
            share = rough_share(self.held / max(self.held + len(self.kept), 1))
            text = f"{plural(self.held, 'record')} held back ({share}): newcomers, or people who "
            text += (
                "changed, whose records alone would not keep the promise. Publish them with more."
            )
            found.append(text)
        if self.gone:
            text = f"{plural(len(self.gone), 'label')} of the first release left out everywhere, "
            found.append(f"{text}so that the records of those who left or changed keep it too.")
        return tuple(found)


def following(first: RecordRelease, rows: Transactions, promise: Promise) -> Follows:
    """What of some records, in the labels of an earlier release, may be published after it."""
    shown, gone = set(first.shown), set[str]()
    before = [(frozenset(r), n) for r, n in zip(first.classes, first.sizes.tolist(), strict=True)]
    records = [frozenset(record) for record in rows]
    while True:
        new = dict[Key, list[int]]()
        for number, key in enumerate(records):
            new.setdefault(key - gone, []).append(number)
        counts = Counter({key: len(numbers) for key, numbers in new.items()})
        now = _published(before, counts, gone, promise)
        more = _may_go(now, promise, "this release")
        for old in _readings(before, now, gone):
            more |= _may_go(old - now, promise, "who left") - gone
        if not more - gone:
            break
        gone |= more
    held = counts - now
    out = {number for key, size in held.items() for number in _drawn(new[key], size)}
    kept = np.array([n for n in range(len(records)) if n not in out], dtype=np.int64)
    marks = np.array([label not in gone for label in rows.vocabulary], dtype=bool)
    chosen = rows.take(kept)
    stays = marks[chosen.items] if len(chosen.items) else np.zeros(0, dtype=bool)
    left = Transactions.from_pairs(
        chosen.rows[stays], chosen.items[stays], chosen.vocabulary, size=len(chosen)
    )
    return Follows(left, kept, tuple(sorted(gone & shown)), len(out))


def _readings(before: Sequence[tuple[Key, int]], now: Counter[Key], gone: set[str]) -> Readings:
    """The first release as others may compare it with the second: without the labels that were
    left out, without all that the second does not show, and as it is. Labels that nobody has any
    more look like those that were left out."""
    seen = {label for key in now for label in key}
    absent = {label for key, _ in before for label in key} - seen
    for drop in dict.fromkeys((frozenset(gone), frozenset(absent), frozenset[str]())):
        old = Counter[Key]()
        for key, size in before:
            old[key - drop] += size
        yield old


def _published(
    before: Sequence[tuple[Key, int]], counts: Counter[Key], gone: set[str], promise: Promise
) -> Counter[Key]:
    """The records without those that must wait, so that what is new keeps the promise alone."""
    now = counts
    while True:
        for old in _readings(before, now, gone):
            held = _held_back(now - old, promise)
            if held:
                now = now - held
                break
        else:
            return now


def _drawn(numbers: Sequence[int], size: int) -> list[int]:
    """Which of equal newcomers are held back: the system draws, so that no order decides it."""
    chosen = np.random.default_rng().choice(len(numbers), size, replace=False)
    return [numbers[at] for at in chosen.tolist()]


def _may_go(records: Mapping[Key, int], promise: Promise, whose: str) -> set[str]:
    """The same as `_must_go`, where nothing can be held back.

    Raises:
        InfeasibleError: if leaving out labels does not help.
    """
    found = _must_go(records, promise)
    if found is None:
        number = plural(sum(records.values()), "record")
        of = {"this release": "it publishes", "who left": "of people who left or changed"}[whose]
        problem = f"the {number} {of} cannot keep {promise.title}, whatever is left out"
        remedy = "publish this data on its own, without {after}"
        raise InfeasibleError(problem, remedy=remedy)
    return found


def _held_back(joined: Mapping[Key, int], promise: Promise) -> Counter[Key]:
    """The newcomers who must wait so that the others keep the promise alone."""
    left, held = Counter(joined), Counter[Key]()
    while left:
        gone = _must_go(left, promise)
        if gone is not None and not gone:
            break
        out = Counter({k: n for k, n in left.items() if gone is None or k & gone})
        left, held = left - out, held + out
    return held


def _must_go(records: Mapping[Key, int], promise: Promise) -> set[str] | None:
    """The labels that must be left out of some records so that these keep the promise; None if that
    does not help."""
    shown, total = {label for key in records for label in key}, sum(records.values())
    if not total:
        return set()
    if total < promise.crowd:  # coherence also asks it of records without items
        return None if "private" in promise.named_items else shown
    listed = Transactions.of([sorted(key) for key, size in records.items() for _ in range(size)])
    try:
        found = METHODS["suppression"]().anonymize(listed, promise)
    except InfeasibleError:
        return None
    return shown - found.shown

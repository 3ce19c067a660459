"""Items that look like identifiers: order numbers, mail addresses or times that were read as items.

An identifier has a shape that the other items lack, or is rarer than they are, and almost every
record has exactly one; or many have one, and none has two. Rare items alone are no sign: a record
may have thousands of them, and their number varies from record to record. What is found is private
and a question, not a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Flags, Int32s, Int64s
from setveil.data.itemshapes import CELLS, DATED, SPECIAL, described, joint_of, shape_of
from setveil.data.openings import (
    ALMOST,
    BOTH_ENDS,
    LEAST,
    SAMPLE,
    SAMPLE_OF_ITEMS,
    Opening,
    are_sorted,
    at_place,
    counts_up,
    rates,
    usual_places,
)
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import brief
from setveil.words import rough_share

MANY = 100
"""Fewer records of one item each say nothing."""
DISTINCT, FEW = 0.1, 20
"""Identifiers: so many distinct ones for each record, and most of them in so few records."""
USUAL, CLEAR = 0.5, 0.7
"""The share of records with exactly one of them: of a shape that says much, or of plain numbers."""
SELDOM = 0.5
"""The share of lines with a rare value at other positions, if almost all have one at one."""
SOME, NEVER = 0.2, 0.1
"""The share of records with exactly one if hardly any has two: so few of what chance would give."""
_JOINED, _OWN = 5_000, 5  # so many items are split; so many records share an item of their own
_EACH = (1, 2, 3)  # a table that is read as lines may have several columns of one shape
_CAPS = (1, 2, 5, FEW)
_SEED = 1

_NUMBERS, _DIGITS = "whole numbers", re.compile(r"\d")


class Some(NamedTuple):
    """Records to look at: all of them, or a random sample; and what is known of all."""

    indptr: Int64s
    items: Int32s
    vocabulary: Vocabulary
    supports: Int64s
    """How many of all records have each item."""
    records: int
    """How many there are in all."""


@dataclass(frozen=True)
class Doubt:
    """Items that look like identifiers; it shows none of them."""

    kind: str
    each: int
    """So many of them are in most records; 0 if `kind` is a question of its own."""
    share: float
    """The share of records with exactly so many."""
    items: Int32s
    """Those that were seen."""
    distinct: int
    place: int | None = None
    """Their position in the lines, from 1 on; -1 is the last."""
    joint: str | None = None
    """What joins the parts of these items, if they seem to be several in one."""

    @property
    def where(self) -> str:
        """The position, if it is known."""
        if self.place is None:
            return ""
        if self.place < -1:
            return f" at position {-self.place} from the end"
        return f" at {'the last position' if self.place < 0 else f'position {self.place}'}"

    @property
    def question(self) -> str:
        """What was found, in one line."""
        if self.each == 0:
            return f"{self.distinct:,} distinct items {self.kind}?"
        number = {1: "one", 2: "two", 3: "three"}[self.each]
        found = f"{self.distinct:,} distinct items{self.where} are {self.kind}, and"
        have = f"{rough_share(self.share)} of the records have exactly {number} of them"
        return f"{found} {have}: are they identifiers?"


def some_of(data: Transactions) -> Some:
    """The records themselves, or a random sample if they are many."""
    kept = sampled(np.diff(data.indptr), len(data), data.occurrences)
    held = data if kept is None else data.take(kept)
    return Some(held.indptr, held.items, data.vocabulary, data.supports(), len(data))


def sampled(lengths: Int64s, records: int, occurrences: int) -> Int64s | None:
    """Which of some of `records` records to look at, so that all together are few; None for all."""
    share = min(SAMPLE / max(records, 1), SAMPLE_OF_ITEMS / max(occurrences, 1))
    if share >= 1:
        return None
    return np.flatnonzero(np.random.default_rng(_SEED).random(len(lengths)) < share)


def find_identifiers(data: Some, opening: Opening | None = None) -> Doubt | None:
    """The items that look most like identifiers; None if none do.

    Args:
        data: The records.
        opening: How the lines of the file begin, if that is known.

    Cost:
        Linear in the sample, which is bounded, and in the number of items.

    Example:
        >>> rows = [[f"P00{n}", "milk", "beer"][: 2 + n % 2] for n in range(100, 150)]
        >>> found = find_identifiers(some_of(Transactions.of(rows)))
        >>> found.kind, found.distinct, found.share
        ("of the shape 'P#' (# is a number)", 50, 1.0)
    """
    lengths = np.diff(data.indptr)
    if not len(data.items):
        return None
    seen = _Seen(data, lengths)
    if (lengths > 0).sum() < LEAST:
        return seen.turned()
    found = next(seen.doubts(), None)
    if opening is None:
        return found
    return seen.by_position(opening) if found is None else seen.placed(found, opening)


class _Seen:
    """Records with the shapes of their items."""

    def __init__(self, data: Some, lengths: Int64s) -> None:
        self.data, self.lengths = data, lengths
        self.rows = np.repeat(np.arange(len(lengths)), lengths)
        self.held = np.flatnonzero(data.supports > 0)
        self.basis, self.looked = self._looked()
        names = [shape_of(label) for label in map(data.vocabulary.labels.__getitem__, self.looked)]
        self.names = sorted({name for name in names if name})
        numbers = {name: number for number, name in enumerate(self.names)} | {"": -1}
        self.codes = np.full(len(data.supports), -1, dtype=np.int64)
        self.codes[self.looked] = [numbers[name] for name in names]
        plain = np.array([name.isdecimal() for name in self.names], dtype=bool)
        self.plain = np.append(plain, False)[self.codes]  # of each item: a whole number

    def _looked(self) -> tuple[Int64s, Int64s]:
        """All items, or a random sample of them; and the same with those of the records."""
        if len(self.held) <= 10 * SAMPLE:
            return self.held, self.held
        basis = np.random.default_rng(_SEED).choice(self.held, 5 * SAMPLE, replace=False)
        return basis, np.union1d(np.unique(self.data.items), basis)

    def doubts(self) -> Iterator[Doubt]:
        """By shape first: it says most. Then by rarity, and then records of one item each."""
        yield from self._joined()
        yield from self._by_shape()
        yield from self._of(self.plain, _NUMBERS, CLEAR)
        for cap in _CAPS:
            rare = self.data.supports <= cap
            alone = "no other record has" if cap == 1 else f"at most {cap} records have"
            yield from self._of(rare, f"such that {alone} the same", 0.8)
        yield from self._single()
        yield from self._most(CELLS)
        yield from self._most(DATED)
        if turned := self.turned():
            yield turned

    def _by_shape(self) -> Iterator[Doubt]:
        size = len(self.names)
        codes = self.codes[self.data.items]
        known = codes >= 0
        keys, counts = np.unique(self.rows[known] * max(size, 1) + codes[known], return_counts=True)
        rows, shapes = keys // max(size, 1), keys % max(size, 1)
        totals = np.bincount(shapes, weights=counts, minlength=size)
        several = np.bincount(shapes[counts > 1], minlength=size)
        for each in _EACH:
            exact = counts == each
            inside = exact & (self.lengths[rows] > each)
            among = np.bincount(shapes[inside], minlength=size)
            all_of_them = np.bincount(shapes[exact], minlength=size)
            for shape in np.argsort(-among, kind="stable")[:_MOST_TRIED].tolist():
                plain = self.names[shape].isdecimal()
                usual = CLEAR if plain or each > 1 else USUAL
                single = each == 1 and self._is_never_twice(
                    int(all_of_them[shape]), int(several[shape]), int(totals[shape])
                )
                if single or self._is_most(int(among[shape]), int(all_of_them[shape]), each, usual):
                    share = all_of_them[shape] / (self.lengths > 0).sum()
                    text = described(self.names[shape])
                    yield from self._rare(self.codes == shape, text, each, share)

    def _of(self, marks: Flags, kind: str, usual: float) -> Iterator[Doubt]:
        """The doubt about items of which most records have one, or many one and none two."""
        counts = np.bincount(self.rows[marks[self.data.items]], minlength=len(self.lengths))
        one = counts == 1
        all_of_them, among = int(one.sum()), int((one & (self.lengths > 1)).sum())
        several, total = int((counts > 1).sum()), int(counts.sum())
        never_twice = self._is_never_twice(all_of_them, several, total)
        if never_twice or self._is_most(among, all_of_them, 1, usual):
            yield from self._rare(marks, kind, 1, all_of_them / (self.lengths > 0).sum())

    def _is_most(self, among: int, all_of_them: int, each: int, usual: float) -> bool:
        """Whether most records have exactly `each` of some items, and of those that have others too
        clearly more than half: if items were drawn one by one, it would be half at most."""
        longer = int((self.lengths > each).sum())
        if longer < max(LEAST, len(self.lengths) // 100):
            return False
        least = max(usual, 0.5 + 1.5 / longer**0.5)
        filled = int((self.lengths > 0).sum())
        return among >= least * longer and 2 * all_of_them > filled

    def _is_never_twice(self, one: int, several: int, total: int) -> bool:
        """Whether many records have exactly one of some items, and hardly any has several, although
        many would if each item were one of them by chance."""
        if one < SOME * (self.lengths > 0).sum():
            return False
        lengths, times = np.unique(self.lengths, return_counts=True)
        rest = 1 - total / max(len(self.rows), 1)
        none, single = rest**lengths, lengths * (1 - rest) * rest ** np.maximum(lengths - 1, 0)
        expected = float((times * (1 - none - single)).sum())
        return expected >= LEAST and several <= NEVER * expected

    def _rare(self, marks: Flags, kind: str, each: int, share: float) -> Iterator[Doubt]:
        """The doubt if there are many of these items, and most are in few records."""
        basis = self.basis[marks[self.basis]]
        distinct = round(len(basis) * len(self.held) / len(self.basis))
        if distinct < _least_distinct(self.data.records) or not len(basis):
            return
        shared = self.data.supports[self.data.items[marks[self.data.items]]]
        if np.median(self.data.supports[basis]) <= FEW and np.mean(shared <= FEW) > 0.5:
            seen = self.looked[marks[self.looked]]
            yield Doubt(kind, each, float(share), seen.astype(np.int32), distinct)

    def turned(self) -> Doubt | None:
        """Far more items than records, each in several of them, that are numbers of people: as if
        a table had been turned."""
        if len(self.held) < max(MANY, 2 * self.data.records):
            return None
        labels = map(self.data.vocabulary.labels.__getitem__, self.looked.tolist())
        long = np.array([len(_DIGITS.findall(label)) > 4 or "@" in label for label in labels])
        if long.mean() < 0.9 or np.median(self.data.supports[self.looked]) < 2:
            return None
        kind = "are each in several records, of which there are far fewer: are they people"
        return Doubt(kind, 0, 1.0, self.looked.astype(np.int32), len(self.held))

    def _joined(self) -> Iterator[Doubt]:
        """Items that seem to be several in one: whole sets, if most records have just one item."""
        least, both = (LEAST, 0.1) if self._are_alone() else (MANY, 1 / 3)
        some = self.looked[:: len(self.looked) // _JOINED + 1].tolist()
        labels = list(map(self.data.vocabulary.labels.__getitem__, some))
        joint = joint_of(labels, both) if len(labels) >= least else None
        if joint is not None:
            kind = f"seem to be several in one, joined by {brief(joint)}: are they whole sets"
            yield Doubt(kind, 0, 1.0, self.looked.astype(np.int32), len(self.held), joint=joint)

    def _are_alone(self) -> bool:
        """Whether almost all of enough records have one item each."""
        filled = int((self.lengths > 0).sum())
        return filled >= MANY and int((self.lengths > 1).sum()) <= 0.01 * filled

    def _single(self) -> Iterator[Doubt]:
        """Records of one item each, almost all of one shape, with digits, or rare; or many are
        rare, but nearly all others are in many records."""
        if not self._are_alone():
            return
        codes = self.codes[self.data.items]
        groups = [(_NUMBERS, self.plain)]
        if (codes >= 0).any():
            shape = int(np.bincount(codes[codes >= 0]).argmax())
            groups.insert(0, (described(self.names[shape]), self.codes == shape))
        special = np.zeros(len(self.codes), dtype=bool)
        labels = map(self.data.vocabulary.labels.__getitem__, self.looked)
        special[self.looked] = [SPECIAL.search(label) is not None for label in labels]
        groups.append(("texts with digits or an @", special))
        for kind, marks in groups:
            share = float(marks[self.data.items].mean())
            if share >= 0.9:
                yield from self._rare(marks, kind, 1, share)
        rare, held = self.data.supports <= _OWN, self.data.supports[self.data.items]
        share = float(np.mean(held <= _OWN))
        if share >= 0.9 or (held > FEW).sum() >= ALMOST * max((held > _OWN).sum(), 1):
            kind = f"such that at most {_OWN} records have the same"
            yield from self._rare(rare, kind, 1, share)

    def _most(self, kind: str) -> Iterator[Doubt]:
        """Most items, if they are lines of a table, or of parts of these; or have dates in them."""
        marks = self.codes == (self.names.index(kind) if kind in self.names else -2)
        if marks[self.data.items].mean() >= USUAL:
            counts = np.bincount(self.rows[marks[self.data.items]], minlength=len(self.lengths))
            shares = [(counts == each).sum() / (self.lengths > 0).sum() for each in _EACH]
            each = int(np.argmax(shares))
            yield from self._rare(marks, kind, _EACH[each], float(shares[each]))

    def by_position(self, opening: Opening) -> Doubt | None:
        """The values at one position of the lines, if they count the lines, or are rare where the
        values at all other positions are not. Lines that are sorted have rare values at their ends
        anyway."""
        numbers = self._numbers(opening)
        for place in usual_places(opening.lengths):
            if counts_up(opening, place):
                found = self._at_place(opening, numbers, place, "numbers that count the lines", 1.0)
                if found is not None:
                    return found
        if are_sorted(opening.lengths, numbers):
            return None
        supports = np.append(self.data.supports, 0)[numbers]
        for cap in _CAPS:
            rare = rates(opening.lengths, supports <= cap)
            for place in usual_places(opening.lengths):
                others = [rate for at, rate in rare.items() if at != place and at * place > 0]
                if rare[place] >= ALMOST and others and max(others) <= SELDOM:
                    kind = "in one record each" if cap == 1 else f"in at most {cap} records each"
                    found = self._at_place(opening, numbers, place, kind, rare[place])
                    if found is not None:
                        return found
        return None

    def _at_place(
        self, opening: Opening, numbers: Int64s, place: int, kind: str, share: float
    ) -> Doubt | None:
        """The doubt about the values at a position, if many are distinct."""
        items = np.unique(numbers[at_place(opening.lengths, place)])
        if len(items) < _least_distinct(len(opening.lengths)):
            return None
        distinct = round(len(items) * self.data.records / len(opening.lengths))
        return Doubt(kind, 1, share, items.astype(np.int32), distinct, place)

    def placed(self, found: Doubt, opening: Opening) -> Doubt:
        """The same with the position of these items in the lines, if almost all have one."""
        numbers = self._numbers(opening)
        marks = np.isin(numbers, found.items)
        for place in BOTH_ENDS:
            here = marks[at_place(opening.lengths, place)].sum()
            if marks.sum() and here >= 0.9 * marks.sum():
                return Doubt(**{**found.__dict__, "place": place})
        return found

    def _numbers(self, opening: Opening) -> Int64s:
        """The items of the lines in the numbers of the vocabulary; -1 if one is not there."""
        known = self.data.vocabulary.numbers
        numbers = np.array([known.get(label, -1) for label in opening.labels], dtype=np.int64)
        return numbers[opening.items] if len(numbers) else np.zeros(0, dtype=np.int64)


_MOST_TRIED = 20


def _least_distinct(records: int) -> float:
    """How many distinct values may be identifiers; fewer are answers on a scale, or kinds."""
    return max(DISTINCT * records, min(LEAST, records / 2))

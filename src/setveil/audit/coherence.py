"""Do known public items lead to at least k records, and to no private item in too many of them?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from setveil.alignment.merging import Counted
from setveil.audit.rareitemsets import coded_items
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags, Int64s, offsets, positions, ranges, sums
from setveil.promises.coherence import Coherence
from setveil.words import plural

Bits = npt.NDArray[np.uint64]

_MOST_COUNTED = 500
"""How many moles are counted at most, beyond those that are shown."""
_MOST_WORDS = 4_000_000
"""How many words of bitmaps are combined at once."""


@dataclass(frozen=True)
class Mole:
    """A set of public items that reveals too much."""

    items: tuple[str, ...]
    support: int
    private: str | None = None
    """The private item in too many of the records; None if there are too few records."""
    count: int = 0
    """How many of them contain it."""


def check_coherence(counted: Counted, promise: Coherence, limit: int = 1) -> Check:
    """Whether no set of up to p public items is a mole; the witnesses are the smallest moles."""
    search = find_moles(counted, promise)
    found = list(islice(search, limit))
    if not found:
        known = f"every set of up to {promise.p} public items"
        text = f"{known} that occurs, occurs in at least {promise.k} records"
        if promise.private:
            text += f", and no private item in more than {100 * promise.h:g} % of them"
        return Check(promise.model, True, text)
    size = len(found[0].items)
    known = f"a set of {plural(size, 'public item')}" if size else "being in the data at all"
    many = _count(counted, [*found, *islice(search, _MOST_COUNTED)])
    sets = f"{'at least ' * many.get('incomplete', 0)}{plural(many['itemsets'], 'set')}"
    text = (
        f"{known} reveals too much; {sets} of public items in {plural(many['records'], 'record')}"
    )
    text += f" {'does' if many['itemsets'] == 1 else 'do'}"
    witnesses = tuple(_witness(mole, promise) for mole in found)
    return Check(promise.model, False, text, witnesses, violations=many)


def _count(counted: Counted, moles: list[Mole]) -> dict[str, int]:
    """How many moles there are, at least, and how many records contain one."""
    data = counted.records
    codes, labels = coded_items(data)
    numbers = {label: number for number, label in enumerate(labels)}
    hit = np.zeros(len(data), dtype=bool)
    rows = data.rows[np.argsort(codes, kind="stable")]
    starts = offsets(np.bincount(codes, minlength=len(labels)))
    for mole in moles:
        both = np.arange(len(data))
        for item in mole.items:
            number = numbers[item]
            both = np.intersect1d(both, rows[starts[number] : starts[number + 1]])
        hit[both] = True
    found = {"records": int(counted.sizes[hit].sum()), "itemsets": len(moles)}
    return found if len(moles) < _MOST_COUNTED else {**found, "incomplete": 1}


def find_moles(counted: Counted, promise: Coherence) -> Iterator[Mole]:
    """Minimal moles, the smallest first, counted from the records alone.

    In bags, a public item with another count is another item: an adversary may know both. One who
    knows less finds the records of several such sets, none of which is a mole if this finds none.

    Cost: for each size, all smaller itemsets that occur and whose every item matters, by bitmaps.
    """
    search = _Search(counted, promise)
    found: list[set[str]] = []
    for size in range(min(promise.p, search.longest) + 1):
        for mole in search.of_size(size):
            if not any(known <= set(mole.items) for known in found):
                found.append(set(mole.items))
                yield mole


@dataclass(frozen=True)
class _Cohort:
    """The people who have some public items, as bitmaps of their other items."""

    size: int
    others: Int64s
    """Their public items of higher rank."""
    bits: Bits
    private: Int64s
    private_bits: Bits

    @property
    def whole(self) -> tuple[Bits, Int64s, int]:
        """Everybody, as a bitmap of ones, all other items, and the number of people."""
        everybody = np.full(self.bits.shape[1], ~np.uint64(0))
        return everybody, np.arange(len(self.others)), self.size

    def narrowed(self, mask: Bits, places: Int64s, size: int) -> _Cohort:
        """Only some of its people and some of its public items, as shorter bitmaps."""
        people = np.flatnonzero(np.unpackbits(mask.view(np.uint8)))
        bits, hidden = (
            _packed(np.unpackbits(each.view(np.uint8), axis=1)[:, people])
            for each in (self.bits[places], self.private_bits)
        )
        return _Cohort(size, self.others[places], bits, self.private, hidden)


class _Search:
    """All records, one row for each person, with public items ranked by rising support."""

    def __init__(self, counted: Counted, promise: Coherence) -> None:
        self.promise, self._allowed = promise, dict[int, int]()
        data = counted.records
        codes, labels = coded_items(data)
        hidden = data.vocabulary.marks(promise.private)[data.items]
        self.people = int(counted.sizes.sum())
        self._sizes, self._labels, self._names = counted.sizes, labels, data.vocabulary.labels
        rows, public = data.rows[~hidden], codes[~hidden]
        supports = sums(public, counted.sizes[rows], len(labels))
        self._order = np.argsort(supports, kind="stable")
        self.supports = supports[self._order]
        self._public = _Part.of(rows, positions(self._order)[public], len(data), len(labels))
        self.longest = int(np.diff(self._public.indptr).max(initial=0))
        """The most public items of a record."""
        self._private = _Part.of(
            data.rows[hidden], data.items[hidden].astype(np.int64), len(data), len(data.vocabulary)
        )

    def of_size(self, size: int) -> Iterator[Mole]:
        """The moles of this size whose items all matter and that contain no smaller one."""
        if size == 0:
            yield from self._of_nothing()
            return
        for first in np.flatnonzero(self.supports).tolist():
            if size == 1:
                yield from self._of_one(first)
            elif self.promise.k <= self.supports[first] < self.people:
                yield from self._descend(self._cohort(first), (first,), size - 1)

    def _of_nothing(self) -> Iterator[Mole]:
        if self.people:
            counts = sums(self._private.items, self._sizes[self._private.rows], len(self._names))
            yield from self._judge((), self.people, counts, np.arange(len(counts)))

    def _of_one(self, first: int) -> Iterator[Mole]:
        holders = self._public.holders(first)
        rows, items = self._private.entries(holders)
        counts = sums(items, self._sizes[holders][rows], len(self._names))
        yield from self._judge((first,), int(self.supports[first]), counts, np.arange(len(counts)))

    def _judge(
        self, ranks: tuple[int, ...], support: int, counts: Int64s, private: Int64s
    ) -> Iterator[Mole]:
        """These items as a mole, if they are one; `counts` are those of the `private` items."""
        if support < self.promise.k:
            yield Mole(self._named(ranks), support)
            return
        worst = int(np.argmax(counts)) if len(counts) else -1
        if worst >= 0 and counts[worst] > self._most_of(support):
            yield Mole(self._named(ranks), support, self._names[private[worst]], int(counts[worst]))

    def _most_of(self, support: int) -> int:
        """In how many of so many records a private item may be: exactly, in whole numbers."""
        if support not in self._allowed:
            share = self.promise.share
            self._allowed[support] = share.numerator * support // share.denominator
        return self._allowed[support]

    def _named(self, ranks: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(sorted(self._labels[self._order[rank]] for rank in ranks))

    def _cohort(self, first: int) -> _Cohort:
        holders = self._public.holders(first)
        people = np.repeat(np.arange(len(holders)), self._sizes[holders])
        rows, ranks = self._public.entries(holders)
        rows, ranks = rows[ranks > first], ranks[ranks > first]
        private_rows, private = self._private.entries(holders)
        counts = sums(private, self._sizes[holders][private_rows], len(self._names))
        matter = (counts > self._most_of(self.promise.k))[private]
        others, bits = _bitmaps(rows, ranks, people, len(holders))
        kept, private_bits = _bitmaps(private_rows[matter], private[matter], people, len(holders))
        return _Cohort(len(people), others, bits, kept, private_bits)

    def _descend(
        self,
        cohort: _Cohort,
        chosen: tuple[int, ...],
        left: int,
        part: tuple[Bits, Int64s, int] | None = None,
    ) -> Iterator[Mole]:
        """The moles of the chosen ranks and `left` more items; of a part of a cohort, given as the
        people who have the chosen ones, the places of their other items, and how many they are."""
        mask, places, size = part or cohort.whole
        joint = cohort.bits[places] & mask
        supports = np.bitwise_count(joint).sum(axis=1, dtype=np.int64)
        if left == 1:
            occurs = supports > 0
            yield from self._last(
                cohort, chosen, mask, places[occurs], joint[occurs], supports[occurs]
            )
            return
        useful = (supports >= self.promise.k) & (supports < size)
        places, joint, supports = places[useful], joint[useful], supports[useful]
        for at in range(len(places) - left + 1):
            rest, support = places[at + 1 :], int(supports[at])
            more = (*chosen, int(cohort.others[places[at]]))
            if left > 2 and 2 * support <= cohort.size:
                yield from self._descend(cohort.narrowed(joint[at], rest, support), more, left - 1)
            else:
                yield from self._descend(cohort, more, left - 1, (joint[at], rest, support))

    def _last(
        self,
        cohort: _Cohort,
        chosen: tuple[int, ...],
        mask: Bits,
        places: Int64s,
        joint: Bits,
        supports: Int64s,
    ) -> Iterator[Mole]:
        """Judge each itemset of the chosen items and one more."""
        nobody, ranks = np.zeros(0, dtype=np.int64), cohort.others[places]
        for at in np.flatnonzero(supports < self.promise.k).tolist():
            yield from self._judge((*chosen, int(ranks[at])), int(supports[at]), nobody, nobody)
        most = np.bitwise_count(cohort.private_bits & mask).sum(axis=1, dtype=np.int64)
        if not len(most):
            return
        values, place = np.unique(supports, return_inverse=True)
        allowed = np.array([self._most_of(value) for value in values.tolist()], np.int64)[place]
        doubtful = np.flatnonzero((supports >= self.promise.k) & (most.max() > allowed))
        for part in _alike(doubtful[np.argsort(supports[doubtful], kind="stable")], supports):
            close = np.flatnonzero(most > allowed[part[0]])
            block = max(_MOST_WORDS // (len(close) * len(mask)), 1)
            for start in range(0, len(part), block):
                some = part[start : start + block]
                both = joint[some][:, None, :] & cohort.private_bits[close]
                counts = np.bitwise_count(both).sum(axis=2, dtype=np.int64)
                too_many = (counts > allowed[some][:, None]).any(axis=1)
                for place, held in zip(some[too_many].tolist(), counts[too_many], strict=True):
                    items, support = (*chosen, int(ranks[place])), int(supports[place])
                    yield from self._judge(items, support, held, cohort.private[close])


@dataclass(frozen=True)
class _Part:
    """Some entries of the records, by record and by item."""

    rows: Int64s
    items: Int64s
    indptr: Int64s
    by_item: Int64s
    starts: Int64s

    @classmethod
    def of(cls, rows: Int64s, items: Int64s, records: int, width: int) -> _Part:
        indptr = offsets(np.bincount(rows, minlength=records))
        starts = offsets(np.bincount(items, minlength=width))
        return cls(rows, items, indptr, rows[np.argsort(items, kind="stable")], starts)

    def holders(self, item: int) -> Int64s:
        """The records that contain an item."""
        return self.by_item[self.starts[item] : self.starts[item + 1]]

    def entries(self, records: Int64s) -> tuple[Int64s, Int64s]:
        """The entries of some records: the number of the record among these, and the item."""
        lengths = self.indptr[records + 1] - self.indptr[records]
        places = ranges(self.indptr[records], lengths)
        return np.repeat(np.arange(len(records)), lengths), self.items[places]


def _bitmaps(rows: Int64s, items: Int64s, people: Int64s, records: int) -> tuple[Int64s, Bits]:
    """The items that occur in some records, ascending, and a bit for each person, whose record is
    `people[person]`."""
    occurs = np.bincount(items) > 0
    known = np.flatnonzero(occurs)
    table = np.zeros((len(known), records), dtype=bool)
    table[(np.cumsum(occurs) - 1)[items], rows] = True
    return known, _packed(table[:, people] if len(people) > records else table)


def _packed(table: Flags | npt.NDArray[np.uint8]) -> Bits:
    """Rows of truth values as rows of bits in whole words."""
    height, width = table.shape
    packed = np.zeros((height, 8 * ((width + 63) // 64)), dtype=np.uint8)
    if height:
        packed[:, : (width + 7) // 8] = np.packbits(table, axis=1)
    return packed.view(np.uint64)


def _alike(places: Int64s, supports: Int64s) -> Iterator[Int64s]:
    """Places in parts whose supports, ascending, grow by no more than a quarter in each."""
    while len(places):
        end = int(np.searchsorted(supports[places], 1.25 * supports[places[0]], side="right"))
        yield places[:end]
        places = places[end:]


def _witness(mole: Mole, promise: Coherence) -> Witness:
    records = plural(mole.support, "record")
    who = f"{show_items(mole.items)} occurs in {records}" if mole.items else f"there are {records}"
    if mole.private is None:
        return Witness(f"{who}, not {promise.k}", mole.items, mole.support)
    share = f"{mole.count} of them ({100 * mole.count / mole.support:.4g} %)"
    text = f"{who}; {share} contain the private item {mole.private}"
    return Witness(f"{text}, more than h = {100 * promise.h:g} %", mole.items, mole.support)

"""The worlds of one top-level cluster: the most records of one of them with an itemset, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setveil.alignment.flow import UNLIMITED, Budget, Network, TooLargeError

Itemset = frozenset[int]

TERMS = -1
"""In place of a chunk: the term chunk."""

_MOST_PARTS = 400
"""The most parts with records of an itemset."""


@dataclass(frozen=True)
class Part:
    """A simple cluster of a top-level cluster."""

    size: int
    has_terms: bool
    own: int
    """The number of subrecords in its record chunks."""
    source: Mapping[int, int]
    """The chunk that each item of its records comes from: a record chunk, `TERMS`, or the lowest
    shared chunk above with that item."""

    def left_empty(self, count: int, shares: int) -> int:
        """How many records are empty unless shared chunks fill them, if `count` records contain the
        itemset, each with this many own chunks."""
        return 0 if self.has_terms else max(0, (self.size - count) - (self.own - shares * count))


@dataclass(frozen=True)
class Chunk:
    """The distinct subrecords of a chunk, their counts, and the parts that may get them."""

    subrecords: Sequence[Itemset]
    counts: Sequence[int]
    parts: Sequence[Sequence[int]]
    is_shared: bool


@dataclass(frozen=True)
class Holder:
    """A part whose records may contain the itemset in question."""

    part: int
    shares: Mapping[int, Itemset]
    """The chunks with items of the itemset, and these items."""
    shared: frozenset[int]
    """The shared ones of these chunks."""
    most: int
    """At most so many of its records can contain it."""


@dataclass(frozen=True)
class _Demand:
    """What a part needs from the shared chunks."""

    part: int
    count: int
    """How many subrecords with each share."""
    empty: int
    """How many other records they must fill."""
    shares: frozenset[tuple[int, Itemset]]


class Worlds:
    """Answers about all worlds of one top-level cluster that is well formed.

    Let x_p be the number of records of part p that should contain S. An item of such a record comes
    from one place only (`Part.source`), so S splits into shares, one for each chunk. A world with
    these numbers exists if and only if, for every part p and chunk C,

    - C gives p at least x_p subrecords with C's share of S, if it has a share;
    - C gives p at most s_p subrecords, all subrecords of C are given, and a shared one only to
      parts it is not barred from;
    - the records of p without S are not empty: p has a term chunk, or the number of subrecords it
      is given, less one for each share and record with S, is at least s_p - x_p.

    Necessary: count in the world. Sufficient: the subrecords that a part gets from different chunks
    have no item in common, so any record can take them; give each of the x_p records its shares,
    put the others on empty records while there are any, then anywhere. (The last condition counts
    a chunk with more left than there are empty records in full, but then it alone fills them.)

    For given numbers this is a flow from the subrecords of shared chunks to the parts, with demands
    at its end: all must be sent and all demands met. If one flow sends all and another meets all
    demands, some flow does both (the symmetric supply-demand theorem of Ford and Fulkerson), so two
    largest flows decide. If some number of records with S is possible, so is every smaller one, so
    the search goes from large to small.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        chunks: Sequence[Chunk],
        budget: Budget,
        *,
        is_void: bool = False,
    ) -> None:
        self.parts, self.chunks, self.is_void = parts, chunks, is_void
        self._budget = budget
        self._shared = [number for number, chunk in enumerate(chunks) if chunk.is_shared]
        self._supply = sum(sum(chunks[number].counts) for number in self._shared)
        self._empty = {number: part.left_empty(0, 0) for number, part in enumerate(parts)}
        self._parts_with: dict[int, set[int]] = {}
        for number, part in enumerate(parts):
            for item in part.source:
                self._parts_with.setdefault(item, set()).add(number)
        self._matches: dict[tuple[int, Itemset, int], int] = {}
        self._answers: dict[frozenset[_Demand], bool] = {}

    def exist(self) -> bool:
        """Whether there is any world."""
        return self.is_void or self._possible({}, {})

    def can_hold(self, part: int, itemset: Itemset) -> bool:
        """Whether a record of this part contains the itemset in some world."""
        found = {holder.part: holder for holder in self.holders(itemset, 1)}
        return part in found and self._possible({part: 1}, found)

    def most(self, itemset: Itemset, enough: int) -> int:
        """The most records of a world with the itemset, up to `enough`; 0 if there is no world."""
        holders = {holder.part: holder for holder in self.holders(itemset, enough)}
        if not holders or not self.exist():
            return 0
        alone: dict[int, int] = {}
        for holder in sorted(
            holders.values(), key=lambda holder: (-holder.most, len(holder.shares), holder.part)
        ):
            alone[holder.part] = self._most_alone(holder, holders)
            if alone[holder.part] == enough:
                return enough
        order = sorted(
            (part for part, count in alone.items() if count), key=lambda part: (-alone[part], part)
        )
        return _Search(self, holders, alone, order, enough).run() if order else 0

    def holders(self, itemset: Itemset, enough: int) -> list[Holder]:
        """The parts whose records may contain the itemset, judged by single chunks."""
        found = []
        known = sorted((self._parts_with.get(item, set()) for item in itemset), key=len)
        for number in sorted(set.intersection(*known)) if known else ():
            part = self.parts[number]
            shares: dict[int, set[int]] = {}
            for item in itemset:
                shares.setdefault(part.source[item], set()).add(item)
            shares.pop(TERMS, None)
            kept = {chunk: frozenset(items) for chunk, items in shares.items()}
            most = min(
                enough,
                part.size,
                *(self._matching(chunk, items, number) for chunk, items in kept.items()),
            )
            self._budget.spend(1)
            if most > 0:
                shared = frozenset(chunk for chunk in kept if self.chunks[chunk].is_shared)
                found.append(Holder(number, kept, shared, most))
        return found

    def _matching(self, number: int, share: Itemset, part: int) -> int:
        """How many subrecords of a chunk contain a share of the itemset and may go to a part."""
        if (number, share, part) not in self._matches:
            chunk = self.chunks[number]
            self._budget.spend(len(chunk.counts))
            rows = zip(chunk.subrecords, chunk.counts, chunk.parts, strict=True)
            self._matches[number, share, part] = sum(
                count for items, count, parts in rows if share <= items and part in parts
            )
        return self._matches[number, share, part]

    def _most_alone(self, holder: Holder, holders: Mapping[int, Holder]) -> int:
        """The most records of this part with the itemset, if no other part needs any."""
        low, high = 0, holder.most
        while low < high:
            middle = high if low == 0 and high == holder.most else (low + high + 1) // 2
            if self._possible({holder.part: middle}, holders):
                low = middle
            else:
                high = middle - 1
        return low

    def _possible(self, numbers: Mapping[int, int], holders: Mapping[int, Holder]) -> bool:
        """Whether some world has at least so many records with the itemset in each part.

        The answer depends only on what parts need beyond any world: how many records the shared
        chunks must fill, and which subrecords they must give. Many itemsets need the same.
        """
        asked = frozenset(self._demand(holders[part], count) for part, count in numbers.items())
        question = frozenset(
            demand for demand in asked if demand.shares or demand.empty > self._empty[demand.part]
        )
        if question not in self._answers:
            self._budget.spend(len(self.parts))
            self._answers[question] = self._answer({demand.part: demand for demand in question})
        return self._answers[question]

    def _demand(self, holder: Holder, count: int) -> _Demand:
        empty = self.parts[holder.part].left_empty(count, len(holder.shares) - len(holder.shared))
        if not holder.shared:
            return _Demand(holder.part, 0, empty, frozenset())
        shares = frozenset((chunk, holder.shares[chunk]) for chunk in holder.shared)
        return _Demand(holder.part, count, empty, shares)

    def _answer(self, demands: Mapping[int, _Demand]) -> bool:
        empty = self._empty | {part: demand.empty for part, demand in demands.items()}
        if not self._shared:
            return not any(empty.values())
        if self._network(demands, None).fill() < self._supply:
            return False
        wanted = sum(empty.values()) + sum(
            demand.count * len(demand.shares) for demand in demands.values()
        )
        return self._network(demands, empty).fill() == wanted

    def _network(self, demands: Mapping[int, _Demand], empty: Mapping[int, int] | None) -> Network:
        """From the subrecords of shared chunks to the parts; with `empty`, each part takes no more
        subrecords than it has empty records."""
        network = Network(self._budget)
        for number in self._shared:
            chunk = self.chunks[number]
            asked = {
                part: share
                for part, demand in demands.items()
                for at, share in demand.shares
                if at == number
            }
            for part in {part for parts in chunk.parts for part in parts}:
                taken = demands[part].count if part in asked else 0
                network.join(("rest", number, part), ("part", part), self.parts[part].size - taken)
                if taken:
                    network.join(("share", number, part), network.sink, taken)
            self._join_subrecords(network, number, asked)
        for number in range(len(self.parts)):
            most = UNLIMITED if empty is None else empty[number]
            network.join(("part", number), network.sink, most)
        return network

    def _join_subrecords(self, network: Network, number: int, asked: Mapping[int, Itemset]) -> None:
        """Subrecords of the same parts and shares are one node."""
        chunk, kinds = self.chunks[number], dict[tuple[tuple[int, ...], tuple[int, ...]], int]()
        for items, count, parts in zip(chunk.subrecords, chunk.counts, chunk.parts, strict=True):
            sharers = tuple(part for part in parts if part in asked and asked[part] <= items)
            kind = (tuple(parts), sharers)
            kinds[kind] = kinds.get(kind, 0) + count
        for (parts, sharers), count in kinds.items():
            node = ("kind", number, parts, sharers)
            network.join(network.source, node, count)
            for part in parts:
                network.join(node, ("rest", number, part), UNLIMITED)
            for part in sharers:
                network.join(node, ("share", number, part), UNLIMITED)


@dataclass
class _Search:
    """The most records with the itemset over several parts, by trying large numbers first."""

    worlds: Worlds
    holders: Mapping[int, Holder]
    alone: Mapping[int, int]
    order: Sequence[int]
    enough: int
    best: int = 0

    def run(self) -> int:
        self.best = self.alone[self.order[0]]
        if self.best < self.enough:
            if len(self.order) > _MOST_PARTS:
                raise TooLargeError
            self._try(0, {}, 0)
        return self.best

    def _try(self, at: int, numbers: dict[int, int], total: int) -> None:
        self.best = max(self.best, total)
        room = sum(self.alone[part] for part in self.order[at:])
        if self.best >= self.enough or total + room <= self.best:
            return
        part = self.order[at]
        for count in range(min(self.alone[part], self.enough - total), -1, -1):
            chosen = {**numbers, part: count} if count else numbers
            if not count or self.worlds._possible(chosen, self.holders):
                self._try(at + 1, chosen, total + count)
            if self.best >= self.enough:
                return

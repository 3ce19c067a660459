"""The worlds of one top-level cluster: in how many records of one of them can an itemset stand at most? Exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setveil.audit.disassociation.flow import UNLIMITED, Budget, Network, TooLargeError

Itemset = frozenset[int]

TERMS = -1
"""In place of a chunk: the term chunk."""

_MOST_PARTS = 400
"""Over how many parts the records of an itemset are spread at most."""


@dataclass(frozen=True)
class Part:
    """A simple cluster of a top-level cluster."""

    size: int
    has_terms: bool
    own: int
    """The number of subrecords in its record chunks."""
    source: Mapping[int, int]
    """The chunk that each item of its records comes from: a record chunk, `TERMS`, or the lowest shared chunk above that holds it."""


@dataclass(frozen=True)
class Chunk:
    """The distinct subrecords of a chunk, how often each stands, and the parts whose records each may go to."""

    subrecords: Sequence[Itemset]
    counts: Sequence[int]
    parts: Sequence[Sequence[int]]
    is_shared: bool


@dataclass(frozen=True)
class Holder:
    """A part whose records may hold the itemset that is asked about."""

    part: int
    shares: Mapping[int, Itemset]
    """The chunks that hold items of the itemset, and which."""
    most: int
    """No more of its records than these can hold it."""


class Worlds:
    """Answers about all worlds of one top-level cluster that is well formed.

    Let x_p be the number of records of part p that shall hold S. An item of such a record comes from one place only (`Part.source`), so S
    falls into shares, one for each chunk. A world with these numbers exists if and only if, for every part p and chunk C,

    - C gives p at least x_p subrecords that hold C's share of S, where it has a share;
    - C gives p at most s_p subrecords, all subrecords of C are given, and a shared one only to parts it is not barred from;
    - the records of p without S are not empty: p has a term chunk, or the subrecords it is given, less one for each share and record
      with S, are at least s_p - x_p.

    Necessary: count in the world. Sufficient: what a part is given of different chunks has no item in common, so it can be laid on records
    at will; give each of the x_p records its shares, lay the others on empty records while there are any, then anywhere. (The last
    condition counts a chunk with more left than there are empty records in full, but then that chunk alone fills them.)

    For given numbers this is a flow from the subrecords of shared chunks to the parts, with demands at its end: all must be sent and all
    demands met. Where one flow sends all and another meets all demands, some flow does both (the symmetric supply-demand theorem of
    Ford and Fulkerson), so two largest flows decide. Fewer records with S are possible wherever more are, so the numbers are searched from
    above.
    """

    def __init__(self, parts: Sequence[Part], chunks: Sequence[Chunk], budget: Budget, *, is_void: bool = False) -> None:
        self.parts, self.chunks, self.is_void = parts, chunks, is_void
        self._budget = budget
        self._shared = [number for number, chunk in enumerate(chunks) if chunk.is_shared]
        self._exist: bool | None = None

    def exist(self) -> bool:
        """Whether there is any world."""
        if self._exist is None:
            self._exist = self.is_void or self._possible({}, {})
        return self._exist

    def most(self, itemset: Itemset, enough: int) -> int:
        """The most records of one world that hold the itemset, counted up to `enough`; 0 as well when there is no world."""
        holders = self.holders(itemset, enough)
        if not holders or not self.exist():
            return 0
        by_part = {holder.part: holder for holder in holders}
        alone = {holder.part: self._most_alone(holder, by_part) for holder in holders}
        order = sorted((part for part, count in alone.items() if count), key=lambda part: (-alone[part], part))
        return _Search(self, by_part, alone, order, enough).run() if order else 0

    def holders(self, itemset: Itemset, enough: int) -> list[Holder]:
        """The parts whose records may hold the itemset, for all that a look at single chunks tells."""
        found = []
        for number, part in enumerate(self.parts):
            if not all(item in part.source for item in itemset):
                continue
            shares: dict[int, set[int]] = {}
            for item in itemset:
                shares.setdefault(part.source[item], set()).add(item)
            shares.pop(TERMS, None)
            kept = {chunk: frozenset(items) for chunk, items in shares.items()}
            most = min(enough, part.size, *(self._matching(chunk, items, number) for chunk, items in kept.items()))
            if most > 0:
                found.append(Holder(number, kept, most))
        return found

    def _matching(self, number: int, share: Itemset, part: int) -> int:
        """How many subrecords of a chunk hold a share of the itemset and may go to a part."""
        chunk = self.chunks[number]
        self._budget.spend(len(chunk.counts))
        rows = zip(chunk.subrecords, chunk.counts, chunk.parts, strict=True)
        return sum(count for items, count, parts in rows if share <= items and part in parts)

    def _most_alone(self, holder: Holder, by_part: Mapping[int, Holder]) -> int:
        """The most records of this part that hold the itemset when no other part is asked for any."""
        low, high = 0, holder.most
        while low < high:
            middle = high if low == 0 and high == holder.most else (low + high + 1) // 2
            if self._possible({holder.part: middle}, by_part):
                low = middle
            else:
                high = middle - 1
        return low

    def _possible(self, numbers: Mapping[int, int], holders: Mapping[int, Holder]) -> bool:
        """Whether there is a world in which each part has at least so many records with the itemset."""
        empty = {number: self._left_empty(number, numbers.get(number, 0), holders) for number in range(len(self.parts))}
        self._budget.spend(len(empty))
        if not self._shared:
            return not any(empty.values())
        supply = sum(sum(self.chunks[number].counts) for number in self._shared)
        if self._network(numbers, holders, None).largest_flow() < supply:
            return False
        wanted = {part: sum(self.chunks[chunk].is_shared for chunk in holders[part].shares) for part in numbers}
        demand = sum(empty.values()) + sum(count * wanted[part] for part, count in numbers.items())
        return self._network(numbers, holders, empty).largest_flow() == demand

    def _left_empty(self, number: int, count: int, holders: Mapping[int, Holder]) -> int:
        """How many records of a part are empty unless a shared chunk fills them."""
        part = self.parts[number]
        if part.has_terms:
            return 0
        own_shares = sum(not self.chunks[chunk].is_shared for chunk in holders[number].shares) if count else 0
        return max(0, (part.size - count) - (part.own - own_shares * count))

    def _network(self, numbers: Mapping[int, int], holders: Mapping[int, Holder], demands: Mapping[int, int] | None) -> Network:
        """From the subrecords of shared chunks to the parts; with demands, no more than those can arrive."""
        network = Network(self._budget)
        for number in self._shared:
            chunk = self.chunks[number]
            asked = {part: holders[part].shares[number] for part in numbers if number in holders[part].shares}
            for part in {part for parts in chunk.parts for part in parts}:
                taken = numbers[part] if part in asked else 0
                network.join(("rest", number, part), ("part", part), self.parts[part].size - taken)
                if taken:
                    network.join(("share", number, part), network.sink, taken)
            self._join_subrecords(network, number, asked)
        for number in range(len(self.parts)):
            network.join(("part", number), network.sink, UNLIMITED if demands is None else demands[number])
        return network

    def _join_subrecords(self, network: Network, number: int, asked: Mapping[int, Itemset]) -> None:
        """Alike subrecords, those of the same parts and shares, are one node."""
        chunk, kinds = self.chunks[number], dict[tuple[tuple[int, ...], tuple[int, ...]], int]()
        for items, count, parts in zip(chunk.subrecords, chunk.counts, chunk.parts, strict=True):
            kind = tuple(parts), tuple(part for part in parts if part in asked and asked[part] <= items)
            kinds[kind] = kinds.get(kind, 0) + count
        for (parts, sharers), count in kinds.items():
            node = ("kind", number, parts, sharers)
            network.join(network.source, node, count)
            for part in parts:
                network.join(node, ("rest", number, part), UNLIMITED)
            for part in sharers:
                network.join(node, ("share", number, part), UNLIMITED)


class _Search:
    """The best numbers of records with the itemset over several parts, by trying large numbers first."""

    def __init__(self, worlds: Worlds, holders: Mapping[int, Holder], alone: Mapping[int, int], order: Sequence[int], enough: int) -> None:
        self._worlds, self._holders, self._alone, self._order, self._enough = worlds, holders, alone, order, enough
        self._best = alone[order[0]]

    def run(self) -> int:
        if self._best < self._enough:
            if len(self._order) > _MOST_PARTS:
                raise TooLargeError
            self._try(0, {}, 0)
        return self._best

    def _try(self, at: int, numbers: dict[int, int], total: int) -> None:
        self._best = max(self._best, total)
        room = sum(self._alone[part] for part in self._order[at:])
        if self._best >= self._enough or total + room <= self._best:
            return
        part = self._order[at]
        for count in range(min(self._alone[part], self._enough - total), -1, -1):
            chosen = {**numbers, part: count} if count else numbers
            if not count or self._worlds._possible(chosen, self._holders):
                self._try(at + 1, chosen, total + count)
            if self._best >= self._enough:
                return

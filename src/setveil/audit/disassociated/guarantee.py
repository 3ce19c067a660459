"""Guarantee 1 of disassociated data: each set of up to m items fits no record of any world, or k records of some world. Exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, islice, product

from setveil.audit.disassociated.flow import Budget, TooLargeError
from setveil.audit.disassociated.gather import Gatherer
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.proof import find_doubtful, prove
from setveil.audit.disassociated.worlds import TERMS, Itemset, Worlds
from setveil.audit.verdict import Check, Witness, show_items
from setveil.promises.kanonymity import KmAnonymity
from setveil.words import count, plural

MOST_WORK = 100_000_000
"""How many arcs of networks are looked at in all before the answer is `not proved`; about a minute."""


def check_guarantee(
    layout: Layout,
    promise: KmAnonymity,
    limit: int = 1,
    *,
    chunks_hold: bool = False,
    work: int = MOST_WORK,
) -> Check:
    """Whether Guarantee 1 holds for a well-formed release; the witnesses are itemsets with the most records that a world can hold of them.

    Most clusters are proved by counting (`prove`). For each other top-level cluster and each itemset of up to m of its items a world with
    as many records of it as possible is sought. What stands in several top-level clusters counts in all of them together, as a world of
    the release is one world of each.

    Args:
        layout: The release.
        promise: k and m.
        limit: How many witnesses to give at most.
        chunks_hold: Whether it is known that every chunk is k^m-anonymous.
        work: What may be spent on clusters that counting does not prove; when that is used up, the promise counts as broken.
    """
    proved = prove(layout, promise, chunks_hold=chunks_hold)
    open_tops, budget = layout.tops[~proved].tolist(), Budget(work)
    decision = (
        _Decision(Gatherer(layout, budget), promise, frozenset(layout.tops[proved].tolist()))
        if open_tops
        else None
    )
    witnesses: list[Witness] = []
    try:
        for top in open_tops:
            assert decision is not None
            witnesses.extend(
                islice(
                    (_witness(layout, *one, promise.k) for one in decision.violations(top)),
                    limit - len(witnesses),
                )
            )
            if len(witnesses) >= limit:
                break
    except TooLargeError:
        if not witnesses:
            return _not_proved(layout, promise, top, chunks_hold)
    if witnesses:
        return Check(promise.model, False, _failure(witnesses[0], promise), tuple(witnesses))
    ways = f"{plural(int(proved.sum()), 'cluster')} by counting, {count(len(open_tops))} by constructing the originals"
    text = f"every set of up to {promise.m} items fits {promise.k} records of a possible original, or none ({ways})"
    return Check(promise.model, True, text)


def _failure(witness: Witness, promise: KmAnonymity) -> str:
    if not witness.items:
        return "there is no data set that a cluster can have been made from"
    items = f"{len(witness.items)} item{'s' * (len(witness.items) != 1)}"
    return f"a set of {items} fits a record of a possible original, but never {promise.k} records"


def _witness(layout: Layout, top: int, itemset: Itemset, most: int, k: int) -> Witness:
    if not itemset:
        return Witness(
            f"there is no data set that {layout.name(top)} can have been made from", count=0
        )
    items = tuple(sorted(layout.label(item) for item in itemset))
    return Witness(
        f"{show_items(items)} stands in at most {most} record{'s' * (most != 1)} of any possible original, not {k}",
        items,
        most,
    )


def _not_proved(layout: Layout, promise: KmAnonymity, top: int, chunks_hold: bool) -> Check:
    doubtful = find_doubtful(layout, promise, chunks_hold=chunks_hold) & (layout.top == top)
    reason = f"{layout.name(int(doubtful.argmax()))} stands in the way of a proof by counting"
    witness = Witness(
        f"{reason}, and {layout.name(top)} is too large to construct its originals",
        count=int(layout.release.sizes[top]),
    )
    text = (
        "not proved: a cluster is not proved by counting, and too large to construct its originals"
    )
    return Check(promise.model, False, text, (witness,))


class _Decision:
    """Finds the itemsets that some world holds and none holds k times."""

    def __init__(self, gatherer: Gatherer, promise: KmAnonymity, proved: frozenset[int]) -> None:
        self._gatherer, self._k, self._proved = gatherer, promise.k, proved
        self._m = min(promise.m, gatherer.layout.width)

    def violations(self, top: int) -> Iterator[tuple[int, Itemset, int]]:
        """Those with items of one top-level cluster, smallest first: (cluster, itemset, most records); the empty set: it has no world."""
        worlds = self._gatherer.worlds(top)
        if not worlds.exist():
            yield top, frozenset(), 0
            return
        for itemset, most in self._scarce(worlds):
            total = self._total(top, itemset, most)
            if total < self._k:
                yield top, itemset, total
        self._gatherer.forget(top)

    def _scarce(self, worlds: Worlds) -> Iterator[tuple[Itemset, int]]:
        """The itemsets that this cluster alone holds at least once and never k times.

        Items that stand in the same subrecords and term chunks are of one kind; itemsets of the same kinds have the same answer. Kinds are
        put together level by level, as long as a world holds them.
        """
        kinds = _kinds(worlds)
        level: list[tuple[int, ...]] = [()]
        for _ in range(self._m):
            scarce: list[tuple[tuple[int, ...], int]] = []
            longer: list[tuple[int, ...]] = []
            for chosen in level:
                for kind in range(chosen[-1] + 1 if chosen else 0, len(kinds)):
                    most = worlds.most(
                        frozenset(kinds[number][0] for number in (*chosen, kind)), self._k
                    )
                    if most:
                        longer.append((*chosen, kind))
                    if 0 < most < self._k:
                        scarce.append(((*chosen, kind), most))
            for combination, most in scarce:
                for itemset in _itemsets([kinds[number] for number in combination], self._m):
                    self._gatherer.budget.spend(1)
                    yield itemset, most
            level = longer

    def _total(self, top: int, itemset: Itemset, most: int) -> int:
        """The most records of the whole release, counted up to k."""
        total = most
        for other in self._gatherer.tops_with(itemset):
            if other != top and total < self._k:
                worlds = self._gatherer.worlds(other)
                if other in self._proved:
                    total += self._k * bool(worlds.holders(itemset, self._k))
                else:
                    total += worlds.most(itemset, self._k - total)
        return total


def _kinds(worlds: Worlds) -> list[list[int]]:
    """The items of a cluster, those together that stand in the same subrecords and term chunks."""
    places: dict[int, list[tuple[int, int]]] = {}
    for number, chunk in enumerate(worlds.chunks):
        for at, items in enumerate(chunk.subrecords):
            for item in items:
                places.setdefault(item, []).append((number, at))
    for number, part in enumerate(worlds.parts):
        for item, chunk_number in part.source.items():
            if chunk_number == TERMS:
                places.setdefault(item, []).append((TERMS, number))
    kinds: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for item in sorted(places):
        kinds.setdefault(tuple(places[item]), []).append(item)
    return list(kinds.values())


def _itemsets(kinds: list[list[int]], most: int) -> Iterator[Itemset]:
    """The itemsets of at most so many items with at least one of each kind and none of another, smallest first."""
    spare = most - len(kinds) + 1
    chosen: Iterable[tuple[tuple[int, ...], ...]] = product(
        *(
            list(chain.from_iterable(combinations(kind, size) for size in range(1, spare + 1)))
            for kind in kinds
        )
    )
    for parts in chosen:
        itemset = frozenset(chain.from_iterable(parts))
        if len(itemset) <= most:
            yield itemset

"""Everything that a small release of records could have been made from. Slow, plain, standard
library only.

A published record is a mapping from labels to counts, a tree maps each node to its parent. Of an
original record only the set of its items matters here: how often it has one changes no support."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from tests.oracle.containment import Bag, Parents, path

Record = frozenset[str]


class Generalization(NamedTuple):
    """A generalized release: its distinct records with their sizes, and its tree."""

    classes: Sequence[tuple[Bag, int]]
    parents: Parents
    root: str
    is_global: bool

    def leaves(self, node: str) -> Record:
        """The leaves at or below a node."""
        nodes = set(self.parents) | {self.root}
        leaves = nodes - set(self.parents.values())
        return frozenset(leaf for leaf in leaves if node in path(leaf, self.parents))

    def originals(self, record: Bag) -> list[Record]:
        """Every original record that may have been published as this one."""
        shown = frozenset().union(*(self.leaves(node) for bag, _ in self.classes for node in bag))
        loose = self.leaves(self.root) - (shown if self.is_global else frozenset())
        if record and not self.is_global:
            loose = frozenset()
        pieces = [list(_subsets(self.leaves(node)))[1:] for node in record]
        return [frozenset().union(*chosen) for chosen in product(*pieces, _subsets(loose))]

    def bounds(self, asked: Sequence[str]) -> tuple[int, int]:
        """The least and the greatest number of original records with an item below each label."""
        below = [self.leaves(label) for label in asked]
        low = high = 0
        for record, size in self.classes:
            has = [all(one & items for items in below) for one in self.originals(record)]
            low, high = low + size * all(has), high + size * any(has)
        return low, high

    def allows(self, world: Sequence[Record]) -> bool:
        """Whether these records, in any order, may be the original."""
        return _matches(self.classes, world, lambda bag, one: one in set(self.originals(bag)))


def completions(seen: Generalization, unseen: str) -> Iterator[Generalization]:
    """All ways to complete a tree of which only a part was published.

    A node that was seen may have one more child, a leaf, and a leaf may be a group of such. One of
    these leaves may have the label `unseen`."""
    nodes = sorted(set(seen.parents) | {seen.root})
    for extra in _subsets(frozenset(nodes)):
        for named in [None, *sorted(extra)]:
            more = {unseen if node == named else f"? {node}": node for node in extra}
            yield seen._replace(parents={**seen.parents, **more})


class Typical(NamedTuple):
    """Typical bags: distinct bags of slots with their sizes, and what a slot may hold.

    `fits(slot, items)` says whether these may be the items of the people of a group, one each."""

    classes: Sequence[tuple[Bag, int]]
    items: Sequence[str]
    fits: Callable[[str, Sequence[str]], bool]

    def groups(self, bag: Bag, size: int) -> Iterator[tuple[Record, ...]]:
        """What the people of one bag may have in its slots. Whatever else they had is dropped."""
        slots = [slot for slot, count in bag.items() for _ in range(count)]
        columns = [
            [column for column in product(self.items, repeat=size) if self.fits(slot, column)]
            for slot in slots
        ]
        for chosen in product(*columns):
            rows = zip(*chosen, strict=True) if slots else [()] * size
            yield tuple(map(frozenset, rows))

    def least(self, below: Sequence[Record]) -> int:
        """The least number of people with an item of each of these sets."""
        return sum(
            min(
                sum(all(one & items for items in below) for one in group)
                for group in self.groups(bag, size)
            )
            for bag, size in self.classes
        )

    def allows(self, world: Sequence[Record]) -> bool:
        """Whether these people, in any order, may have had all and only what is published."""
        return self._shared(0, Counter(world))

    def _shared(self, at: int, left: Counter[Record]) -> bool:
        """Whether the people who are left can be the groups from number `at` on."""
        if at == len(self.classes):
            return not left
        groups = {frozenset(Counter(group).items()) for group in self.groups(*self.classes[at])}
        chosen = (Counter(dict(group)) for group in groups)
        return any(one <= left and self._shared(at + 1, left - one) for one in chosen)


def steps(one: str, other: str, parents: Parents) -> int:
    """How many edges are between two nodes of a tree."""
    left, right = path(one, parents), path(other, parents)
    return len(set(left) ^ set(right))


def lowest_above(items: Iterable[str], parents: Parents) -> str:
    """The lowest node at or above all these."""
    paths = [path(item, parents) for item in items]
    return next(node for node in paths[0] if all(node in one for one in paths))


def _subsets(items: Iterable[str]) -> Iterator[Record]:
    """All subsets, the empty one first."""
    known = sorted(items)
    for size in range(len(known) + 1):
        yield from map(frozenset, combinations(known, size))


def _matches(
    classes: Sequence[tuple[Bag, int]],
    world: Sequence[Record],
    fits: Callable[[Bag, Record], bool],
) -> bool:
    """Whether the records can be shared among the classes, to each as many as it represents."""
    if not classes:
        return not world
    (bag, size), rest = classes[0], classes[1:]
    able = [number for number, one in enumerate(world) if fits(bag, one)]
    return any(
        _matches(rest, [one for at, one in enumerate(world) if at not in chosen], fits)
        for chosen in combinations(able, size)
    )

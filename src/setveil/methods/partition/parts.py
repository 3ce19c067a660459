"""The first splits of Partition on records that do not fit in memory.

They are the splits of `setveil.kernels.partition`, made from counts: what expanding each node of a
cut gains follows from how many records have each leaf, the parts from how many records have each
set of children, and the records that fill a leftover are the least of the least of all blocks. A
partition that fits a task is left to the kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from operator import add
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.engines.parts import Block, Parts, Record
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.dividing import Share, Whole
from setveil.methods.partition.nodewords import (
    Least,
    Node,
    Word,
    assign_full,
    assign_words,
    count_equal,
    count_leaves,
    count_words,
    deal,
    least_gains,
    shortest,
    word_of,
)

CLOSED = -1


class Cut(NamedTuple):
    """The nodes that a partition shows, in the order of the tree, and which may be expanded."""

    nodes: tuple[int, ...]
    is_open: tuple[bool, ...]

    def closing(self, node: int) -> Cut:
        """The same cut, where this node may not be expanded again."""
        pairs = zip(self.nodes, self.is_open, strict=True)
        return self._replace(is_open=tuple(each != node and free for each, free in pairs))

    def expanding(self, node: int, children: Word, leaves: int) -> Cut:
        """The cut with these children instead of the node."""
        at = self.nodes.index(node)
        opened = tuple(child >= leaves for child in children)
        return Cut(
            (*self.nodes[:at], *children, *self.nodes[at + 1 :]),
            (*self.is_open[:at], *opened, *self.is_open[at + 1 :]),
        )


EMPTY = Cut((), ())
"""Of records that are published without items."""


def divide(parts: Parts, k: int, whole: Whole) -> list[Share]:
    """Split part 0 until each partition fits a task; tasks of several small ones.

    Args:
        parts: The records over the leaves of the tree; all of them in part 0.
        k: The fewest records of a partition.
        whole: What is known of them; a task has about `most` records."""
    assert whole.hierarchy is not None
    driver = _Driver(parts, k, whole, whole.hierarchy)
    settled = driver.start()
    while driver.pending:
        settled += driver.level()
        if whole.progress is not None:
            whole.progress(sum(parts.sizes.get(part, 0) for part, _ in settled), 0, "partitioning")
    return _shares(parts, settled, whole.most)


def _shares(parts: Parts, settled: list[tuple[int, Cut]], most: int) -> list[Share]:
    """Partitions in order, in groups of at most about `most` records."""
    groups, sizes = list[list[tuple[int, Cut]]](), list[int]()
    for part, cut in settled:
        size = parts.sizes.get(part, 0)
        if not size:
            continue
        if sizes and sizes[-1] + size <= most:
            groups[-1].append((part, cut))
            sizes[-1] += size
        else:
            groups.append([(part, cut)])
            sizes.append(size)
    if not groups:
        return [Share((0,), (EMPTY,))]
    return [Share(tuple(p for p, _ in each), tuple(cut for _, cut in each)) for each in groups]


@dataclass
class _Move:
    """How one partition is split."""

    node: Node
    parts: dict[Word, int]
    rest: int
    withdrawn: Counter[Record]


class _Driver:
    """Splits partitions of more than `most` records, all of a level at the same time."""

    def __init__(self, parts: Parts, k: int, whole: Whole, tree: Hierarchy) -> None:
        self.parts, self.k, self.most, self.tree = parts, k, max(whole.most, 2 * k), tree
        self.leaves = tree.leaf_count
        self.penalty = np.where(tree.widths == 1, 0, tree.widths).astype(np.int64)
        self.pending: dict[int, Cut] = {}
        self.fresh = 1

    def start(self) -> list[tuple[int, Cut]]:
        """Set the empty records apart, with as many others as they need to be k."""
        full, empty = self._number(), self._number()
        records, without = self.parts.sizes[0], 0
        for _, found in self.parts.fold({0: _count_empty}, add):
            without += found
        if records - without < self.k:
            return [(0, EMPTY)]
        need = self.k - without if 0 < without < self.k else 0
        if need and records - without - need < self.k:
            return [(0, EMPTY)]
        taken: Counter[Record] = Counter()
        if need:
            some = self.parts.fold({0: partial(shortest, need)})
            least = nsmallest(need, (each for _, found in some for each in found))
            taken = Counter(record for _, record in least)
        counts = self._copies({0: taken})
        self.parts.scatter({0: partial(assign_full, full, empty, frozenset(taken))})
        for record, times in taken.items():
            self.parts.add(empty, record, times)
            if counts[0][record] > times:
                self.parts.add(full, record, counts[0][record] - times)
        is_open = self.tree.root >= self.leaves
        settled = self._queue([(full, Cut((int(self.tree.root),), (is_open,)))])
        return [*settled, (empty, EMPTY)]

    def level(self) -> list[tuple[int, Cut]]:
        """Split all pending partitions once; gives those that are settled."""
        pending, self.pending = self.pending, {}
        gains = self._gains(pending)
        moves, made, settled = dict[int, _Move](), list[tuple[int, Cut]](), list[tuple[int, Cut]]()
        while pending:
            nodes = {part: _best(cut, gains[part]) for part, cut in pending.items()}
            for part, node in nodes.items():
                if node is None:  # one class, however large
                    settled += self._dealt(part, pending[part])
            pending = {part: cut for part, cut in pending.items() if nodes[part] is not None}
            chosen = {part: int(nodes[part] or 0) for part in pending}
            words = self._words(chosen)
            again: dict[int, Cut] = {}
            for part, cut in pending.items():
                large = [word for word, count in words[part].items() if count >= self.k]
                if not large:
                    again[part] = cut.closing(chosen[part])
                elif len(words[part]) == 1:
                    made.append((part, cut.expanding(chosen[part], large[0], self.leaves)))
                else:
                    moves[part], news = self._planned(cut, chosen[part], words[part])
                    made += news
            self._balance(moves, words)
            self._carry_out(moves)
            moves, pending = {}, again
        return settled + self._queue(made)

    def _queue(self, made: Iterable[tuple[int, Cut]]) -> list[tuple[int, Cut]]:
        """Keep what is still too large for the next level; gives the rest."""
        found = list(made)
        large = {part: cut for part, cut in found if self.parts.sizes.get(part, 0) > self.most}
        self.pending |= large
        return [(part, cut) for part, cut in found if part not in large]

    def _gains(self, cuts: Mapping[int, Cut]) -> dict[int, list[int]]:
        """What expanding each node of each cut gains, by how many records have each leaf."""
        supports = {part: np.zeros(self.leaves, dtype=np.int64) for part in cuts}
        works = dict.fromkeys(cuts, partial(count_leaves, self.leaves))
        for part, found in self.parts.fold(works, add):
            supports[part] += found
        return {
            part: [
                self._gain(node, supports[part]) if free else CLOSED
                for node, free in zip(cut.nodes, cut.is_open, strict=True)
            ]
            for part, cut in cuts.items()
        }

    def _gain(self, number: int, supports: Int64s) -> int:
        node = self._node(number)
        return int((supports[node.first : node.stop] * node.delta).sum())

    def _node(self, number: int) -> Node:
        tree = self.tree
        first, stop = int(tree.first[number]), int(tree.stop[number])
        child = tree.ancestors[first:stop, int(tree.depth[number]) + 1]
        return Node(first, stop, child, self.penalty[number] - self.penalty[child])

    def _words(self, chosen: Mapping[int, int]) -> dict[int, Counter[Word]]:
        works = {part: partial(count_words, self._node(node)) for part, node in chosen.items()}
        found: dict[int, Counter[Word]] = {part: Counter() for part in chosen}
        for part, words in self.parts.fold(works, add):
            found[part].update(words)
        return found

    def _planned(
        self, cut: Cut, node: int, words: Counter[Word]
    ) -> tuple[_Move, list[tuple[int, Cut]]]:
        """The new part of each word of k records or more; all others go to the rest."""
        large = sorted((word for word in words if words[word] >= self.k), key=self._order)
        small = sum(words.values()) - sum(words[word] for word in large)
        if 0 < small < self.k:
            spare = sum(words[word] - self.k for word in large)
            if spare < self.k - small:
                least = min(large, key=lambda word: (words[word], self._order(word)))
                large.remove(least)
        numbers = {word: self._number() for word in large}
        made = [(numbers[word], cut.expanding(node, word, self.leaves)) for word in large]
        rest = self._number()
        move = _Move(self._node(node), numbers, rest, Counter())
        if small:
            made.append((rest, cut.closing(node)))
        return move, made

    def _balance(self, moves: Mapping[int, _Move], words: Mapping[int, Counter[Word]]) -> None:
        """Choose the records that fill up leftovers of fewer than k."""
        needs = dict[int, int]()
        works = dict[int, partial[dict[Word, list[Least]]]]()
        for part, move in moves.items():
            rest = sum(n for word, n in words[part].items() if word not in move.parts)
            if 0 < rest < self.k:
                needs[part] = self.k - rest
                limits = {word: min(words[part][word] - self.k, needs[part]) for word in move.parts}
                limits = {word: limit for word, limit in limits.items() if limit > 0}
                works[part] = partial(least_gains, move.node, limits)
        found: dict[int, dict[Word, list[Least]]] = {part: {} for part in works}
        for part, answer in self.parts.fold(works):
            limits = works[part].args[1]
            for word, least in answer.items():
                both = [*found[part].get(word, []), *least]
                found[part][word] = nsmallest(limits[word], both)
        for part, need in needs.items():
            chosen = nsmallest(need, (each for least in found[part].values() for each in least))
            moves[part].withdrawn.update(record for _, record in chosen)

    def _carry_out(self, moves: Mapping[int, _Move]) -> None:
        """Move the records; copies of withdrawn ones are counted, and added to where they go."""
        copies = self._copies({part: move.withdrawn for part, move in moves.items()})
        self.parts.scatter(
            {
                part: partial(
                    assign_words, move.node, move.parts, move.rest, frozenset(move.withdrawn)
                )
                for part, move in moves.items()
            }
        )
        for part, move in moves.items():
            for record, times in move.withdrawn.items():
                self.parts.add(move.rest, record, times)
                left = copies[part][record] - times
                if left:
                    self.parts.add(move.parts[word_of(move.node, record)], record, left)

    def _copies(self, taken: Mapping[int, Counter[Record]]) -> dict[int, Counter[Record]]:
        works = {
            part: partial(count_equal, frozenset(records))
            for part, records in taken.items()
            if records
        }
        found: dict[int, Counter[Record]] = {part: Counter() for part in taken}
        for part, counts in self.parts.fold(works, add):
            found[part].update(counts)
        return found

    def _dealt(self, part: int, cut: Cut) -> list[tuple[int, Cut]]:
        """A class that is too large for a task, in even pieces: all of it is published alike."""
        pieces = self.parts.sizes[part] // self.most + 1
        numbers = [self._number() for _ in range(pieces)]
        self.parts.scatter({part: partial(deal, np.array(numbers, dtype=np.int32))})
        sizes = self.parts.sizes
        # Blocks of a few records give most of them to the first pieces. The largest has k or more.
        largest = np.array([max(numbers, key=lambda each: sizes.get(each, 0))], dtype=np.int32)
        small = [number for number in numbers if 0 < sizes.get(number, 0) < self.k]
        self.parts.scatter(dict.fromkeys(small, partial(deal, largest)))
        return [(number, cut) for number in numbers]

    def _order(self, word: Word) -> tuple[int, ...]:
        """Words in the order of the tree."""
        return tuple(int(self.tree.first[child]) for child in word)

    def _number(self) -> int:
        self.fresh += 1
        return self.fresh - 1


def _best(cut: Cut, gains: list[int]) -> int | None:
    """The first open node that gains most; None if all are closed."""
    best, most = None, CLOSED
    for node, free, gain in zip(cut.nodes, cut.is_open, gains, strict=True):
        if free and gain > most:
            best, most = node, gain
    return best


def _count_empty(block: Block) -> int:
    return int(np.count_nonzero(block.lengths == 0))

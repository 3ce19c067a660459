"""Partition [He2009] in plain Python: one recursion over lists, every choice spelled out."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction


class Tree:
    """A tree from `{child: parent}`; the order of siblings is the order in the mapping."""

    def __init__(self, parent: dict[str, str]) -> None:
        self.parent = dict(parent)
        self.children: dict[str, list[str]] = defaultdict(list)
        for child, above in self.parent.items():
            self.children[above].append(child)
        (self.root,) = set(self.parent.values()) - set(self.parent) or {next(iter(self.parent), "")}
        self.leaves: list[str] = []
        self.width: dict[str, int] = {}
        self.first: dict[str, int] = {}
        self._walk(self.root)

    def _walk(self, node: str) -> int:
        self.first[node] = len(self.leaves)
        if node not in self.children:
            self.leaves.append(node)
            self.width[node] = 1
        else:
            self.width[node] = sum(self._walk(child) for child in self.children[node])
        return self.width[node]

    def is_leaf(self, node: str) -> bool:
        return node not in self.children

    def child_over(self, node: str, leaf: str) -> str:
        """The child of `node` that covers `leaf`."""
        while self.parent[leaf] != node:
            leaf = self.parent[leaf]
        return leaf

    def covers(self, node: str, leaf: str) -> bool:
        return self.first[node] <= self.first[leaf] < self.first[node] + self.width[node]

    def penalty(self, node: str) -> int:
        """NCP times the number of leaves."""
        return 0 if self.width[node] == 1 else self.width[node]


def partition(records: list[set[str]], k: int, tree: Tree) -> list[frozenset[str]]:
    """The published record of each record, in the order given."""
    empty = [number for number, record in enumerate(records) if not record]
    order = sorted(
        (number for number, record in enumerate(records) if record),
        key=lambda number: _content(records[number], tree),
    )
    if 0 < len(empty) < k:
        shortest = sorted(
            order, key=lambda number: (len(records[number]), _content(records[number], tree))
        )
        moved = set(shortest[: k - len(empty)])
        order = [number for number in order if number not in moved]
    if len(order) < k:
        order = []
    published: list[frozenset[str]] = [frozenset()] * len(records)
    pending = [(order, [tree.root], frozenset())] if order else []
    while pending:
        members, cut, closed = pending.pop()
        node = _pick(members, cut, closed, records, tree)
        if node is None:
            for number in members:
                published[number] = frozenset(cut)
            continue
        buckets, leftover = _split(members, node, k, records, tree)
        if leftover:
            pending.append((leftover, cut, closed | {node}))
        for children, inside in buckets.items():
            pending.append(
                (inside, [other for other in cut if other != node] + list(children), closed)
            )
    return published


def ncp(records: list[set[str]], published: list[frozenset[str]], tree: Tree) -> Fraction:
    """The loss over the original occurrences; a suppressed one costs 1."""
    total, cost = 0, Fraction(0)
    for record, nodes in zip(records, published, strict=True):
        for item in record:
            total += 1
            over = [node for node in nodes if tree.covers(node, item)]
            cost += Fraction(tree.penalty(over[0]), len(tree.leaves)) if over else 1
    return cost / total if total else Fraction(0)


def _content(record: set[str], tree: Tree) -> list[int]:
    return sorted(tree.first[item] for item in record)


def _gain(record: set[str], node: str, tree: Tree) -> int:
    inside = [item for item in record if tree.covers(node, item)]
    return sum(tree.penalty(node) - tree.penalty(tree.child_over(node, item)) for item in inside)


def _pick(
    members: list[int], cut: list[str], closed: frozenset[str], records: list[set[str]], tree: Tree
) -> str | None:
    """The open inner node with the greatest gain; of equals the first in the tree."""
    open_nodes = [node for node in cut if not tree.is_leaf(node) and node not in closed]
    gains = {
        node: sum(_gain(records[number], node, tree) for number in members) for node in open_nodes
    }
    return min(open_nodes, key=lambda node: (-gains[node], tree.first[node]), default=None)


def _split(
    members: list[int], node: str, k: int, records: list[set[str]], tree: Tree
) -> tuple[dict[tuple[str, ...], list[int]], list[int]]:
    """Buckets of at least k records by the children present, and the leftover."""
    buckets: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in members:
        present = {
            tree.child_over(node, item) for item in records[number] if tree.covers(node, item)
        }
        buckets[tuple(sorted(present, key=tree.first.__getitem__))].append(number)
    leftover = [number for inside in buckets.values() if len(inside) < k for number in inside]
    large = {children: inside for children, inside in buckets.items() if len(inside) >= k}
    need = k - len(leftover) if leftover else 0
    if need <= 0 or not large:
        return large, leftover
    if sum(len(inside) - k for inside in large.values()) < need:
        smallest = min(
            large,
            key=lambda children: (len(large[children]), [tree.first[child] for child in children]),
        )
        return large, leftover + large.pop(smallest)
    givers = [
        (_gain(records[number], node, tree), _content(records[number], tree), children, number)
        for children, inside in large.items()
        for number in inside
    ]
    for _, _, children, number in sorted(givers, key=lambda giver: giver[:2]):
        if need and len(large[children]) > k:
            large[children].remove(number)
            leftover.append(number)
            need -= 1
    return large, leftover

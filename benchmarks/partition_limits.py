"""How far Partition is from what no method can beat: `python -m benchmarks.partition_limits`.

The bound: a record may be published as a set of nodes only if at least k records could be published
as the same set. The cheapest such set of each record, summed up, costs no more than any k-anonymous
release without suppression. The sets that k records share are few enough to list all of them.

The exchange search starts from the classes of Partition and knows all these sets. It opens a new
class where that gains, moves records to cheaper classes, and dissolves classes that lose too many.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import REAL_DATA, balanced, real, with_own_tree
from benchmarks.utility import FILES
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.partition import Partition
from setveil.promises import KAnonymity

OWN_TREES = {
    "groceries": "groceries.hierarchy.csv",
    "foodmart, baskets": "foodmart1997.hierarchy.csv",
    "foodmart, customers": "foodmart1997.hierarchy.csv",
}
LISTED = ("groceries", "foodmart, baskets", "msweb", "bms-webview-2")
"""Sets whose records are short enough to list all sets of nodes in minutes."""
SAMPLED = {"bms-webview-2": 20_000}
"""Of these sets only some records are drawn: with all of them the exchange search takes far longer
than the other sets together."""
SECONDS = 600.0
"""How long listing the sets of one setting may take."""
PASSES = 4


class Lattice(NamedTuple):
    """All sets of nodes that at least k records could be published as."""

    costs: list[dict[int, int]]
    """For each record, what each set costs it."""
    members: list[list[int]]
    """For each set, its records."""
    numbers: dict[tuple[int, ...], int]
    """The number of each set of nodes."""


def lattice(records: Sequence[tuple[int, ...]], tree: Hierarchy, k: int) -> Lattice | None:
    """Every set that k records share, each reached once: the first open node of a set either stays
    or is replaced by its children. None if there are too many to list."""
    found = Lattice([{} for _ in records], [], {})
    penalty = np.where(tree.widths == 1, 0, tree.widths).tolist()
    everyone = [record for record, leaves in enumerate(records) if leaves]
    stack = [(everyone, [0] * len(everyone), (tree.root,), ())] if len(everyone) >= k else []
    over = time.monotonic() + SECONDS
    while stack:
        if time.monotonic() > over:
            return None
        members, costs, still_open, done = stack.pop()
        if not still_open:
            number = len(found.members)
            found.numbers[tuple(sorted(done))] = number
            found.members.append(members)
            for record, cost in zip(members, costs, strict=True):
                found.costs[record][number] = cost
            continue
        node, rest = still_open[0], still_open[1:]
        if tree.widths[node] == 1:
            stack.append((members, costs, rest, (*done, int(tree.first[node]))))
            continue
        words = [_children(records[record], tree, node) for record in members]
        held = [cost + penalty[node] * len(word) for cost, word in zip(costs, words, strict=True)]
        stack.append((members, held, rest, (*done, node)))
        buckets: dict[tuple[int, ...], list[int]] = {}
        for place, word in enumerate(words):
            buckets.setdefault(tuple(dict.fromkeys(word)), []).append(place)
        for word, places in buckets.items():
            if len(places) >= k:
                inside = [members[place] for place in places]
                stack.append((inside, [costs[place] for place in places], (*word, *rest), done))
    return found


def _children(leaves: tuple[int, ...], tree: Hierarchy, node: int) -> list[int]:
    """The child of `node` above each occurrence under it."""
    first, stop, below = int(tree.first[node]), int(tree.stop[node]), int(tree.depth[node]) + 1
    return [int(tree.ancestors[leaf, below]) for leaf in leaves if first <= leaf < stop]


class Search:
    """Classes that are improved by opening, moving and dissolving."""

    def __init__(self, found: Lattice, classes: Sequence[int], k: int) -> None:
        self.costs, self.candidates, self.k = found.costs, found.members, k
        self.at = list(classes)
        self.members: dict[int, set[int]] = {}
        for record, number in enumerate(classes):
            self.members.setdefault(number, set()).add(record)

    def total(self) -> int:
        return sum(costs[self.at[record]] for record, costs in enumerate(self.costs) if costs)

    def run(self) -> None:
        """Visit all sets, the most common first, until nothing changes."""
        order = sorted(
            range(len(self.candidates)), key=lambda number: -len(self.candidates[number])
        )
        for _ in range(PASSES):
            if not sum(self._visit(number) for number in order):
                return

    def _visit(self, number: int) -> bool:
        """Let every record move to this set that gains by it, if k are there afterwards."""
        spare, take, stuck = {}, [], {}  # type: ignore[var-annotated]
        for gain, record in self._gains(number):
            here = self.at[record]
            spare.setdefault(here, len(self.members[here]) - self.k)
            if spare[here] > 0:
                spare[here] -= 1
                take.append(record)
            else:
                stuck.setdefault(here, []).append((gain, record))
        moves = [(record, number) for record in take]
        moves += self._dissolved(number, stuck, set(take))
        arriving = sum(target == number for _, target in moves)
        if not arriving or len(self.members.get(number, ())) + arriving < self.k:
            return False
        for record, target in moves:
            self.members[self.at[record]].discard(record)
            self.members.setdefault(target, set()).add(record)
            self.at[record] = target
        return True

    def _gains(self, number: int) -> list[tuple[int, int]]:
        gains = (
            (self.costs[record][self.at[record]] - self.costs[record][number], record)
            for record in self.candidates[number]
            if self.at[record] != number
        )
        return sorted((pair for pair in gains if pair[0] > 0), reverse=True)

    def _dissolved(
        self, number: int, stuck: dict[int, list[tuple[int, int]]], taken: set[int]
    ) -> list[tuple[int, int]]:
        """The moves that empty classes of exactly k, where all of it together gains."""
        plans = {}
        for here, leaving in stuck.items():
            movers = {record for _, record in leaving}
            gain, moves = sum(gain for gain, _ in leaving), [(record, number) for record in movers]
            for record in self.members[here] - movers - taken:
                cost, target = self._next_best(record, here, number)
                gain -= cost - self.costs[record][here]
                moves.append((record, target))
            if gain > 0:
                plans[here] = moves
        return [
            move
            for moves in plans.values()
            if not any(target in plans for _, target in moves)
            for move in moves
        ]

    def _next_best(self, record: int, here: int, opening: int) -> tuple[int, int]:
        ways = [
            (cost, number)
            for number, cost in self.costs[record].items()
            if number != here and (number == opening or len(self.members.get(number, ())) >= self.k)
        ]
        return min(ways, default=(1 << 60, here))


def title(name: str) -> str:
    """The name of a set, and how many of its records are drawn."""
    return name if name not in SAMPLED else f"{name}, {SAMPLED[name]:,} records"


def sample(name: str) -> Transactions:
    """A real data set, or always the same records of it."""
    data = real(FILES[name])
    if name not in SAMPLED:
        return data
    drawn = np.random.default_rng(1).permutation(len(data))[: SAMPLED[name]]
    return data.take(np.sort(drawn))


def leaf_records(data: Transactions, tree: Hierarchy) -> list[tuple[int, ...]]:
    """The leaves of each record, ascending."""
    leaves = tree.leaf_numbers(data.vocabulary)[data.items].tolist()
    edges = data.indptr.tolist()
    return [
        tuple(sorted(leaves[start:stop])) for start, stop in zip(edges, edges[1:], strict=False)
    ]


def row(data: Transactions, tree: Hierarchy, k: int) -> tuple[float, float, float] | None:
    """NCP of Partition, after the exchange search, and the bound."""
    found = lattice(leaf_records(data, tree), tree, k)
    if found is None:
        return None
    release = Partition().anonymize(data, KAnonymity(k=k), tree)
    node = {label: number for number, label in enumerate(tree.nodes)}
    single = [
        int(tree.first[number]) if tree.widths[number] == 1 else number
        for number in range(len(tree))
    ]
    classes = [
        found.numbers.get(tuple(sorted(single[node[label]] for label in cut)), -1)
        for cut in release.classes
    ]
    assert release.alignment is not None
    search = Search(found, [classes[number] for number in release.alignment.tolist()], k)
    before = search.total()
    search.run()
    crowds = Counter(search.at)
    assert all(size >= k for number, size in crowds.items() if number >= 0)
    bound = sum(min(costs.values()) for costs in found.costs if costs)
    whole = tree.leaf_count * data.occurrences
    return before / whole, search.total() / whole, bound / whole


def main(names: Sequence[str]) -> int:
    """Print a row for each data set, tree and k."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print("| data | tree | k | Partition | exchange search | no method below |")
    print("|---|---|---|---|---|---|")
    for name in names or LISTED:
        ways = [("fan-out 5", balanced(sample(name)))]
        if name in OWN_TREES:
            ways.append(("its own", with_own_tree(FILES[name], OWN_TREES[name])))
        for tree_name, (data, tree) in ways:
            for k in (5, 10, 25):
                figures = row(data, tree, k)
                cells = ["-"] * 3 if figures is None else [f"{100 * x:.2f} %" for x in figures]
                print(f"| {title(name)} | {tree_name} | {k} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

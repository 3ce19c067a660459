"""What was tried to make Partition lose less: `python -m benchmarks.partition_variants [NAME ...]`.

Plain Python, because each variant only has to show whether it loses less. Without a variant the
loss is exactly that of `Partition`, which every row checks. Each variant changes one decision.
Printed is by how much its ncp differs from that of the method.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.data import REAL_DATA, balanced, with_own_tree
from benchmarks.partition_limits import (
    LISTED,
    OWN_TREES,
    lattice,
    leaf_records,
    sample,
    title,
)
from benchmarks.utility import FILES
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.partition import Partition
from setveil.metrics import measure
from setveil.promises import KAnonymity

SMALL = 400
"""Parts of at most this many records are tried to the end."""

Record = tuple[int, ...]
Nodes = frozenset[int]


class Part(NamedTuple):
    """Records that show the same nodes; some nodes are closed."""

    members: tuple[int, ...]
    nodes: Nodes
    closed: Nodes = frozenset()


Choose = Callable[["Space", Part, list[int]], int]
Leave = Callable[["Space", dict[Nodes, list[int]], list[int], int], None]


class Space:
    """The records, the tree and k, and which decisions are taken."""

    def __init__(
        self, records: Sequence[Record], tree: Hierarchy, k: int, choose: Choose, leave: Leave
    ) -> None:
        self.records, self.tree, self.k = records, tree, k
        self.choose, self.leave = choose, leave
        self.penalty = np.where(tree.widths == 1, 0, tree.widths).tolist()
        self.first, self.stop = tree.first.tolist(), tree.stop.tolist()
        self.paths, self.depth = tree.ancestors.tolist(), tree.depth.tolist()

    def children(self, record: int, node: int) -> list[int]:
        """The child of a node above each occurrence below it."""
        first, stop, below = self.first[node], self.stop[node], self.depth[node] + 1
        return [self.paths[leaf][below] for leaf in self.records[record] if first <= leaf < stop]

    def gain(self, record: int, node: int) -> int:
        """What a record gains if a node is expanded."""
        here = self.penalty[node]
        return sum(here - self.penalty[child] for child in self.children(record, node))

    def candidates(self, part: Part) -> list[int]:
        """The nodes that may be expanded, the greatest gain first."""
        able = [n for n in part.nodes - part.closed if self.stop[n] - self.first[n] > 1]
        gains = {node: sum(self.gain(record, node) for record in part.members) for node in able}
        return sorted(able, key=lambda node: (-gains[node], self.first[node], self.depth[node]))

    def expand(self, part: Part, node: int) -> list[Part]:
        """The parts that a node makes, the leftover with the node closed last."""
        buckets: dict[Nodes, list[int]] = {}
        for record in part.members:
            buckets.setdefault(frozenset(self.children(record, node)), []).append(record)
        left = [record for held in buckets.values() if len(held) < self.k for record in held]
        large = {word: held for word, held in buckets.items() if len(held) >= self.k}
        if 0 < len(left) < self.k:
            self.leave(self, large, left, node)
        rest = part.nodes - {node}
        made = [Part(tuple(held), rest | word, part.closed) for word, held in large.items() if held]
        return [*made, *([Part(tuple(left), part.nodes, part.closed | {node})] if left else [])]

    def finish(self, part: Part) -> list[Part]:
        """The parts that are published."""
        pending, done = [part], []
        while pending:
            here = pending.pop()
            able = self.candidates(here)
            if able:
                pending += self.expand(here, self.choose(self, here, able))
            else:
                done.append(here)
        return done

    def cost(self, parts: Sequence[Part]) -> int:
        total = 0
        for part in parts:
            over = {leaf: self.penalty[n] for n in part.nodes for leaf in self.leaves(n)}
            total += sum(over[leaf] for record in part.members for leaf in self.records[record])
        return total

    def leaves(self, node: int) -> range:
        return range(self.first[node], self.stop[node])


def most_gain(space: Space, part: Part, able: list[int]) -> int:
    """The method's choice."""
    return able[0]


def real_gain(space: Space, part: Part, able: list[int], most: int = 8) -> int:
    """The node whose split really gains most: the leftover gains nothing."""
    return max(able[:most], key=lambda node: _gained(space, space.expand(part, node), node))


def one_step_ahead(space: Space, part: Part, able: list[int], most: int = 3) -> int:
    """The node whose split, and the best split of each part after it, gain most."""

    def worth(node: int) -> int:
        made = space.expand(part, node)
        total = _gained(space, made, node)
        for inner in made:
            after = space.candidates(inner)[:1]
            total += sum(_gained(space, space.expand(inner, n), n) for n in after)
        return total

    return max(able[:most], key=worth)


def result_below(space: Space, part: Part, able: list[int], most: int = 3) -> int:
    """The node after which least is lost in the end, by the method's choices; in small parts."""
    if len(part.members) > SMALL or len(able) == 1:
        return able[0]
    plain = Space(space.records, space.tree, space.k, most_gain, space.leave)

    def lost(node: int) -> int:
        return plain.cost([end for made in space.expand(part, node) for end in plain.finish(made)])

    return min(able[:most], key=lost)


def _gained(space: Space, made: Sequence[Part], node: int) -> int:
    return sum(
        space.gain(record, node)
        for part in made
        if node not in part.nodes
        for record in part.members
    )


def take_least(space: Space, large: dict[Nodes, list[int]], left: list[int], node: int) -> None:
    """The method's way to fill the leftover: records that gain least, else the smallest part."""
    spare = [
        (space.gain(record, node), space.records[record], record, word)
        for word, held in large.items()
        for record in _least(space, held, node)[: len(held) - space.k]
    ]
    need = space.k - len(left)
    if len(spare) < need:
        word = min(large, key=lambda w: (len(large[w]), sorted(space.first[n] for n in w)))
        left += large.pop(word)
        return
    for _, _, record, word in sorted(spare, key=lambda one: one[:2])[:need]:
        large[word].remove(record)
        left.append(record)


def best_fit(space: Space, large: dict[Nodes, list[int]], left: list[int], node: int) -> None:
    """The leftover joins the part that loses least by it, if taking records loses more."""
    if not large:
        return
    kept, rest = {word: list(held) for word, held in large.items()}, list(left)
    take_least(space, kept, rest, node)
    taken = sum(space.gain(record, node) for record in rest) - sum(
        space.gain(record, node) for record in left
    )
    losses = {word: sum(space.gain(r, node) for r in held) for word, held in large.items()}
    word = min(losses, key=losses.__getitem__)
    if losses[word] < taken:
        left += large.pop(word)
        return
    large.clear()
    large.update(kept)
    left[:] = rest


def _least(space: Space, held: list[int], node: int) -> list[int]:
    return sorted(held, key=lambda record: (space.gain(record, node), space.records[record]))


def split_again(space: Space, parts: list[Part]) -> list[Part]:
    """Closed nodes are tried again in the end, and kept if all parts have k records."""
    done, pending = [], list(parts)
    while pending:
        part = pending.pop()
        made = _reopened(space, part)
        if made is None:
            done.append(part)
        else:
            pending += [end for one in made for end in space.finish(one)]
    return done


def _reopened(space: Space, part: Part) -> list[Part] | None:
    best, gained = None, 0
    for node in part.closed & part.nodes:
        made = space.expand(part, node)
        gain = _gained(space, made, node)
        if gain > gained and all(len(one.members) >= space.k for one in made):
            best, gained = made, gain
    return best


def reallocate(space: Space, parts: list[Part], rounds: int = 5) -> list[Part]:
    """Records move to cheaper groups that show them as they are, while theirs keeps k; a group
    dissolves if its records lose less in others; then groups show what all their records share.
    Until nothing changes."""
    for _ in range(rounds):
        groups = _Groups(space, parts)
        moved = groups.move_records() + groups.dissolve()
        parts = [_refined(space, part) for part in groups.parts()]
        if not moved:
            break
    return parts


class _Groups:
    """The groups of a release, and which of them have each node."""

    def __init__(self, space: Space, parts: Sequence[Part]) -> None:
        merged: dict[Nodes, list[int]] = {}
        for part in parts:
            merged.setdefault(part.nodes, []).extend(part.members)
        self.space, self.nodes, self.members = space, list(merged), list(merged.values())
        self.of_node: dict[int, list[int]] = {}
        for number, nodes in enumerate(self.nodes):
            for node in nodes:
                self.of_node.setdefault(node, []).append(number)

    def parts(self) -> list[Part]:
        pairs = zip(self.nodes, self.members, strict=True)
        return [Part(tuple(held), nodes) for nodes, held in pairs if held]

    def costs(self, record: int) -> dict[int, int]:
        """The groups that show a record as it is, and what it loses in each."""
        leaves, penalty = self.space.records[record], self.space.penalty
        paths = [[node for node in self.space.paths[leaf] if node >= 0] for leaf in leaves]
        found = {}
        for number in {n for node in paths[0] for n in self.of_node.get(node, ())}:
            nodes = self.nodes[number]
            over = [node for path in paths for node in path if node in nodes]
            if len(over) == len(leaves) and len(set(over)) == len(nodes):
                found[number] = sum(penalty[node] for node in over)
        return found

    def move_records(self) -> int:
        """Let records move to their cheapest groups, the greatest gains first."""
        moves = []
        for number, held in enumerate(self.members):
            for record in held:
                costs = self.costs(record)
                gains = {to: costs[number] - cost for to, cost in costs.items() if self.members[to]}
                to = max(gains, key=lambda to: (gains[to], -to))
                moves += [(-gains[to], record, number, to)] if gains[to] > 0 else []
        done = 0
        for _, record, number, to in sorted(moves):
            if len(self.members[number]) > self.space.k:
                self.members[number].remove(record)
                self.members[to].append(record)
                done += 1
        return done

    def dissolve(self) -> int:
        """Empty the groups whose records lose less in others; the smallest first."""
        done = 0
        for number in sorted(range(len(self.members)), key=lambda n: len(self.members[n])):
            held, gain, targets = self.members[number], 0, []
            for record in held if len(held) < 2 * self.space.k else ():
                costs = self.costs(record)
                able = [n for n in costs if n != number and self.members[n]]
                if not able:
                    break
                targets.append(min(able, key=lambda n: (costs[n], n)))
                gain += costs[number] - costs[targets[-1]]
            if held and len(targets) == len(held) and gain > 0:
                for record, to in zip(held, targets, strict=True):
                    self.members[to].append(record)
                self.members[number] = []
                done += 1
        return done


def _refined(space: Space, part: Part) -> Part:
    """A group with the lowest nodes that all its records share."""
    pending, done = list(part.nodes), set()
    while pending:
        node, words = pending.pop(), set[Nodes]()
        if space.stop[node] - space.first[node] > 1:
            words = {frozenset(space.children(record, node)) for record in part.members}
        if len(words) == 1:
            pending += words.pop()
        else:
            done.add(node)
    return Part(part.members, frozenset(done))


def run(
    records: Sequence[Record],
    tree: Hierarchy,
    k: int,
    choose: Choose = most_gain,
    leave: Leave = take_least,
    after: Callable[[Space, list[Part]], list[Part]] = lambda space, parts: parts,
) -> int:
    """What a variant loses, in leaves; records without items are left out."""
    space = Space(records, tree, k, choose, leave)
    everyone = tuple(number for number, record in enumerate(records) if record)
    parts = after(space, space.finish(Part(everyone, frozenset([tree.root]))))
    assert all(len(part.members) >= k for part in parts)
    return space.cost(parts)


def close_small(records: Sequence[Record], tree: Hierarchy, k: int) -> int | None:
    """Each record gets its cheapest set, then the smallest sets are closed until all have k."""
    found = lattice(records, tree, k)
    if found is None:
        return None
    at = [min(costs, key=lambda n: (costs[n], n)) if costs else -1 for costs in found.costs]
    members: dict[int, set[int]] = {}
    for record, number in enumerate(at):
        members.setdefault(number, set()).add(record)
    is_open, root = set(range(len(found.members))), found.numbers[(tree.root,)]
    while small := [n for n, held in members.items() if n not in (-1, root) and 0 < len(held) < k]:
        closing = min(small, key=lambda n: (len(members[n]), n))
        is_open.discard(closing)
        for record in members.pop(closing):
            costs = found.costs[record]
            target = min((n for n in costs if n in is_open), key=lambda n: (costs[n], n))
            members.setdefault(target, set()).add(record)
            at[record] = target
    _fill(found.costs, at, members, root, k)
    return sum(costs[at[record]] for record, costs in enumerate(found.costs) if costs)


def _fill(
    costs: Sequence[dict[int, int]], at: list[int], members: dict[int, set[int]], root: int, k: int
) -> None:
    """Move the records for which it costs least to the root, if it has some but not k."""
    spare = {number: len(held) - k for number, held in members.items() if number not in (-1, root)}
    need = max(k - len(members[root]), 0) if members.get(root) else 0
    able = [record for record, number in enumerate(at) if number in spare]
    for record in sorted(able, key=lambda record: costs[record][root] - costs[record][at[record]]):
        if need > 0 and spare[at[record]] > 0:
            spare[at[record]] -= 1
            at[record], need = root, need - 1


VARIANTS: dict[str, Callable[[Sequence[Record], Hierarchy, int], int | None]] = {
    "node by real gain": partial(run, choose=real_gain),
    "one step ahead": partial(run, choose=one_step_ahead),
    "node by the result below": partial(run, choose=result_below),
    "leftover to the part that fits best": partial(run, leave=best_fit),
    "closed nodes tried again": partial(run, after=split_again),
    "records reallocated": partial(run, after=reallocate),
    "cheapest sets, small ones closed": close_small,
}


def main(names: Sequence[str]) -> int:
    """Print a row for each data set, tree and k."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print("| data | tree | k | Partition | " + " | ".join(VARIANTS) + " |")
    print("|---" * (4 + len(VARIANTS)) + "|")
    for name in names or LISTED:
        ways = [("fan-out 5", balanced(sample(name)))]
        if name in OWN_TREES:
            ways.append(("its own", with_own_tree(FILES[name], OWN_TREES[name])))
        for tree_name, (data, tree) in ways:
            for k in (5, 10, 25):
                print(
                    f"| {title(name)} | {tree_name} | {k} | {' | '.join(cells(data, tree, k))} |",
                    flush=True,
                )
    return 0


def cells(data: Transactions, tree: Hierarchy, k: int) -> list[str]:
    """The ncp of the method, and how much higher that of each variant is."""
    records = leaf_records(data, tree)
    release = Partition().anonymize(data, KAnonymity(k=k), tree)
    ncp = measure(release, data, ["ncp"])["ncp"]
    assert isinstance(ncp, float)
    base = run(records, tree, k)
    assert abs(base / tree.leaf_count / data.occurrences - ncp) < 1e-9
    costs = [variant(records, tree, k) for variant in VARIANTS.values()]
    return [f"{100 * ncp:.2f} %"] + [
        "-" if cost is None else f"{100 * (cost / base - 1):+.1f} %" for cost in costs
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Global recoding, plain and slow: Apriori, HgHs and mHgHs [Liu2010a], and all solutions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from tests.oracle.partition import Tree

Records = list[set[str]]
Itemset = frozenset[str]


def occurrences(records: Records, node: str, tree: Tree) -> int:
    """How often leaves under the node occur in the records."""
    return sum(tree.covers(node, item) for record in records for item in record)


def generalized(
    records: Records, cut: set[str], suppressed: set[str], tree: Tree
) -> list[frozenset[str]]:
    """Every item as the node of the cut over it, without the suppressed nodes."""
    over = {
        leaf: node for node in cut - suppressed for leaf in tree.leaves if tree.covers(node, leaf)
    }
    return [frozenset(over[item] for item in record if item in over) for record in records]


def rare_itemsets(records: list[frozenset[str]], k: int, m: int) -> dict[Itemset, int]:
    """Every itemset of up to m items that is in 1 to k - 1 records, with its support."""
    support: dict[Itemset, int] = {}
    for record in records:
        for size in range(1, min(m, len(record)) + 1):
            for itemset in combinations(sorted(record), size):
                support[frozenset(itemset)] = support.get(frozenset(itemset), 0) + 1
    return {itemset: count for itemset, count in support.items() if count < k}


def minimal_threats(records: Records, k: int, m: int, tree: Tree) -> set[Itemset]:
    """The smallest threats of all cuts: up to m nodes, not on one path, in 1 to k - 1 records."""
    extended = [
        frozenset(node for item in record for node in above(item, tree)) for record in records
    ]
    rare = [itemset for itemset in rare_itemsets(extended, k, m) if _is_antichain(itemset, tree)]
    return {itemset for itemset in rare if not any(smaller < itemset for smaller in rare)}


def above(node: str, tree: Tree) -> list[str]:
    """The node and everything over it, from the bottom up."""
    path = [node]
    while path[-1] in tree.parent:
        path.append(tree.parent[path[-1]])
    return path


def _is_antichain(nodes: Itemset, tree: Tree) -> bool:
    return not any(one in above(other, tree)[1:] for one in nodes for other in nodes)


def position(node: str, tree: Tree) -> tuple[int, int]:
    """The place of a node in the tree: from left to right, what is above first."""
    return tree.first[node], -tree.width[node]


def level_order(node: str, tree: Tree) -> tuple[int, int]:
    """The place of a node when the tree is read level by level."""
    return len(above(node, tree)), tree.first[node]


def apriori(records: Records, k: int, m: int, tree: Tree) -> set[str] | None:
    """The cut of Apriori; None if even the root is in fewer than k records."""
    cut = set(tree.leaves)
    for size in range(1, m + 1):
        while True:
            rare = [
                one
                for one in rare_itemsets(generalized(records, cut, set(), tree), k, size)
                if len(one) == size
            ]
            if not rare:
                break
            threat = min(
                (sorted(one, key=lambda node: position(node, tree)) for one in rare),
                key=lambda one: [position(n, tree) for n in one],
            )
            raised = cheapest_raise(records, cut, threat, k, tree)
            if raised is None:
                return None
            cut = raised
    return cut


def cheapest_raise(
    records: Records, cut: set[str], threat: list[str], k: int, tree: Tree
) -> set[str] | None:
    """The cheapest cut with members raised so that k records hold them; of equals the first."""
    best, least = None, None
    for targets in product(*(above(node, tree) for node in threat)):
        top = {
            node for node in targets if not any(other in above(node, tree)[1:] for other in targets)
        }
        new = {
            node for node in cut if not any(node in _below(target, tree) for target in top)
        } | top
        image = generalized(records, new, set(), tree)
        if sum(top <= record for record in image) < k:
            continue
        cost = sum(occurrences(records, node, tree) * tree.penalty(node) for node in new)
        if least is None or cost < least:
            best, least = new, cost
    return best


def _below(node: str, tree: Tree) -> set[str]:
    """The node and everything under it."""
    return {node}.union(*(_below(child, tree) for child in tree.children.get(node, ())))


def loss_metric(node: str, tree: Tree) -> Fraction:
    return Fraction(tree.width[node] - 1, max(len(tree.leaves) - 1, 1))


def cost_of(records: Records, cut: set[str], suppressed: set[str], tree: Tree) -> Fraction:
    """The cost of a solution in LM; a suppressed occurrence costs 1."""
    return sum(
        (
            occurrences(records, x, tree) * (1 if x in suppressed else loss_metric(x, tree))
            for x in cut
        ),
        Fraction(0),
    )


def suppression(records: Records, cut: set[str], threats: set[Itemset], tree: Tree) -> set[str]:
    """The inner loop of HgHs: keep nodes in descending suppression cost while it is safe."""
    price = {x: occurrences(records, x, tree) * (1 - loss_metric(x, tree)) for x in cut}
    kept: set[str] = set()
    for node in sorted(cut, key=lambda x: (-price[x], level_order(x, tree))):
        if not any(threat <= kept | {node} for threat in threats):
            kept.add(node)
    return cut - kept


Step = tuple[frozenset[str], frozenset[str], Fraction]


def hghs_steps(
    records: Records, k: int, m: int, tree: Tree, floor: set[str] | None = None
) -> Iterator[list[Step]]:
    """Each step of HgHs: all cuts it tries, with suppressed nodes and costs; the chosen one first.

    Nodes of `floor` are not expanded.
    """
    threats = minimal_threats(records, k, m, tree)
    current = _tried(records, {tree.root}, threats, tree)
    yield [current]
    while True:
        inner = [x for x in current[0] if not tree.is_leaf(x) and x not in (floor or set())]
        tried = [
            _tried(records, (set(current[0]) - {x}) | set(tree.children[x]), threats, tree)
            for x in sorted(inner, key=lambda x: level_order(x, tree))
        ]
        best = min(tried, key=lambda step: step[2], default=None)
        if best is None or best[2] >= current[2]:
            return
        current = best
        yield [best, *(step for step in tried if step is not best)]


def _tried(records: Records, cut: set[str], threats: set[Itemset], tree: Tree) -> Step:
    suppressed = suppression(records, cut, threats, tree)
    return frozenset(cut), frozenset(suppressed), cost_of(records, cut, suppressed, tree)


def hghs(records: Records, k: int, m: int, tree: Tree) -> tuple[set[str], set[str]]:
    """The cut of HgHs and what is suppressed of it."""
    *_, last = hghs_steps(records, k, m, tree)
    return set(last[0][0]), set(last[0][1])


def mhghs_rounds(records: Records, k: int, m: int, tree: Tree) -> list[tuple[set[str], set[str]]]:
    """The solution of each round of mHgHs, each on the tree above the last round's cut."""
    rounds: list[tuple[set[str], set[str]]] = []
    floor: set[str] = set(tree.leaves)
    for size in range(1, m + 1):
        *_, last = hghs_steps(records, k, size, tree, floor)
        rounds.append((set(last[0][0]), set(last[0][1])))
        floor = rounds[-1][0]
    return rounds


def cuts(tree: Tree, node: str | None = None) -> Iterator[set[str]]:
    """Every cut of the tree under a node."""
    node = tree.root if node is None else node
    yield {node}
    if not tree.is_leaf(node):
        for parts in product(*(list(cuts(tree, child)) for child in tree.children[node])):
            yield set().union(*parts)


def penalty_of(records: Records, cut: set[str], suppressed: set[str], tree: Tree) -> int:
    """NCP of a solution times leaves and occurrences; what is suppressed costs all leaves."""
    return sum(
        occurrences(records, x, tree) * (len(tree.leaves) if x in suppressed else tree.penalty(x))
        for x in cut
    )


def optimal(records: Records, k: int, m: int, tree: Tree, *, suppress: bool) -> int | None:
    """The least penalty of all solutions; None without any."""
    least = None
    for cut in cuts(tree):
        held = sorted(x for x in cut if occurrences(records, x, tree))
        choices = (
            set(some)
            for size in range(len(held) + 1 if suppress else 1)
            for some in combinations(held, size)
        )
        for suppressed in choices:
            penalty = penalty_of(records, cut, suppressed, tree)
            if (least is None or penalty < least) and not rare_itemsets(
                generalized(records, cut, suppressed, tree), k, m
            ):
                least = penalty
    return least

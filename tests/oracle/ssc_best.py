"""The best variant of SSC, plain and slow: what clusters keep, which bags join, which change places.

A bag is a list of terms with repeats; a tree is given by paths from leaf to root. What is kept is
counted in leaves: those that are not below a slot's node, and all of them once more for a
common term that is published as itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import product

Term = str
Bag = Sequence[Term]


class Tree:
    """What a slot keeps, by the lowest node over its terms."""

    def __init__(self, paths: Sequence[Sequence[str]], common: Set[Term] = frozenset()) -> None:
        self.common = common
        self.above = {path[0]: list(path) for path in paths}
        self.width = Counter(node for path in paths for node in path)
        self.parent = {
            node: above for path in paths for node, above in zip(path, [*path[1:], ""], strict=True)
        }
        self.whole = max(len(paths) - 1, 1)

    def node(self, terms: Sequence[Term]) -> str:
        """The lowest node over some terms."""
        others = [self.above[term] for term in terms]
        return next(node for node in others[0] if all(node in path for path in others))

    def kept(self, node: str) -> int:
        """What each member keeps of an occurrence at a node; 0 at the root."""
        if node in self.common:
            return 2 * self.whole
        return self.whole - (self.width[node] - 1)


def common_terms(bags: Sequence[Bag], least: int) -> Set[Term]:
    """The terms that enough bags have."""
    holders = Counter(term for bag in bags for term in set(bag))
    return {term for term, times in holders.items() if times >= least}


def best_matching(bags: Sequence[Bag], tree: Tree) -> int:
    """What each member keeps by the best of all matchings, by trying all of them."""
    if not all(bags):
        return 0
    first, rest = bags[0][0], [list(bags[0][1:]), *map(list, bags[1:])]
    best = best_matching(rest, tree)
    for partners in product(*(sorted(set(bag)) for bag in bags[1:])):
        left = [rest[0]]
        for bag, term in zip(rest[1:], partners, strict=True):
            at = bag.index(term)
            left.append([*bag[:at], *bag[at + 1 :]])
        kept = tree.kept(tree.node((first, *partners)))
        best = max(best, kept + best_matching(left, tree))
    return best


def profile(bag: Bag, tree: Tree) -> Counter[str]:
    """How many occurrences are at or below each node."""
    return Counter(node for term in bag for node in tree.above[term])


def value(bags: Sequence[Bag], tree: Tree) -> int:
    """What each member keeps, by the least count of any member below each node."""
    profiles = [profile(bag, tree) for bag in bags]
    total = 0
    for node, parent in tree.parent.items():
        above = tree.kept(parent) if parent else 0
        total += (tree.kept(node) - above) * min(counts[node] for counts in profiles)
    return total


def gather(bags: Sequence[Bag], k: int, tree: Tree) -> list[list[int]]:
    """Clusters of k: the first bag left, then the one by whose joining least is lost."""
    alive, clusters = list(range(len(bags))), []
    while len(alive) >= k:
        made = [alive.pop(0)]
        while len(made) < k:
            held = [bags[member] for member in made]

            def lost(row: int, held: list[Bag] = held) -> int:
                kept = (len(held) + 1) * value([*held, bags[row]], tree)
                return tree.whole * len(bags[row]) - kept

            made.append(alive.pop(min(range(len(alive)), key=lambda at: lost(alive[at]))))
        clusters.append(made)
    for row in alive:
        gains = [_all([*made, row], bags, tree) - _all(made, bags, tree) for made in clusters]
        clusters[gains.index(max(gains))].append(row)
    return clusters


def exchanged(clusters: list[list[int]], bags: Sequence[Bag], tree: Tree) -> list[list[int]]:
    """One round: each cluster offers the member without which the others keep most."""
    clusters = [list(made) for made in clusters]
    for here in clusters:
        rests = [value([bags[m] for m in here if m != row], tree) for row in here]
        row = here[rests.index(max(rests))]
        swap = max(_swaps(clusters, here, row, bags, tree), default=(0, 0, here), key=_order)
        if swap[0] > 0:
            _, other, there = swap
            here[here.index(row)], there[there.index(-other)] = -other, row
    return clusters


def _order(swap: tuple[int, int, list[int]]) -> tuple[int, int]:
    return swap[:2]


def _swaps(
    clusters: list[list[int]], here: list[int], row: int, bags: Sequence[Bag], tree: Tree
) -> Iterator[tuple[int, int, list[int]]]:
    """What each exchange gains, with the other bag as a negative number: the first is largest."""
    for there in clusters:
        for other in there:
            if there is not here:
                one = [other if member == row else member for member in here]
                two = [row if member == other else member for member in there]
                gain = _all(one, bags, tree) + _all(two, bags, tree)
                yield gain - _all(here, bags, tree) - _all(there, bags, tree), -other, there


def _all(members: list[int], bags: Sequence[Bag], tree: Tree) -> int:
    return len(members) * value([bags[member] for member in members], tree)

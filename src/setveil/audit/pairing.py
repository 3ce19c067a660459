"""Can every published occurrence be given an own occurrence of an original that it may stand for?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.hierarchy import Hierarchy
from setveil.published.vocabularies import Vocabularies


def unpaired(edges: Sequence[Sequence[int]], capacity: Sequence[int]) -> int | None:
    """The first on the left that gets no partner on the right, though everybody moves as far as possible; None when all get one.

    Args:
        edges: For each on the left, those on the right that may be its partner.
        capacity: How many each on the right may be the partner of.

    Example:
        >>> unpaired([[0, 1], [0]], [1, 1]), unpaired([[0], [0]], [1, 1])
        (None, 1)
    """
    held: list[list[int]] = [[] for _ in capacity]
    partner: dict[int, int] = {}
    for source in range(len(edges)):
        came = _search(source, edges, capacity, held)
        if came is None:
            return source
        right, found = came
        while True:
            left = found[right]
            before = partner.get(left)
            held[right].append(left)
            partner[left] = right
            if before is None:
                break
            held[before].remove(left)
            right = before
    return None


def _search(
    source: int, edges: Sequence[Sequence[int]], capacity: Sequence[int], held: Sequence[Sequence[int]]
) -> tuple[int, dict[int, int]] | None:
    """Breadth first from one on the left to one on the right with room; from whom each on the right was reached."""
    found: dict[int, int] = {}
    queue = [source]
    for left in queue:
        for right in edges[left]:
            if right in found:
                continue
            found[right] = left
            if len(held[right]) < capacity[right]:
                return right, found
            queue.extend(held[right])
    return None


@dataclass(frozen=True)
class Relation:
    """Which original items each published item may stand for; None where that is not known."""

    partners: tuple[frozenset[int], ...] | None
    """Numbers of original items for each published item."""

    @classmethod
    def of(cls, release: Vocabularies, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> Relation:
        """By the slots or the nodes of the release, or else by the distances in a tree, where both it and epsilon are known."""
        numbers = vocabulary.numbers
        if release.slots is not None:
            return cls(tuple(frozenset(numbers[item] for item in slot if item in numbers) for slot in release.slots))
        if release.hierarchy is not None:
            return cls(_under_nodes(release, vocabulary))
        epsilon = release.method.get("epsilon")
        if hierarchy is None or not isinstance(epsilon, int):
            return cls(None)
        near = hierarchy.neighbours(vocabulary, epsilon)
        bounds, items = near.indptr.tolist(), near.items.tolist()
        rows = {label: frozenset(items[bounds[number] : bounds[number + 1]]) for label, number in numbers.items() if label in release.items}
        return cls(tuple(rows.get(label, frozenset()) for label in release.items))

    def edges(self, published: Sequence[int], own: Sequence[int]) -> list[list[int]]:
        """For each published occurrence the positions in `own` of the original items that it may stand for."""
        if self.partners is None:
            return [list(range(len(own)))] * len(published)
        return [[at for at, item in enumerate(own) if item in self.partners[number]] for number in published]


def _under_nodes(release: Vocabularies, vocabulary: Vocabulary) -> tuple[frozenset[int], ...]:
    tree = release.hierarchy
    assert tree is not None
    item_of = {int(leaf): number for number, leaf in enumerate(tree.leaf_numbers(vocabulary).tolist())}
    nodes = tree.nodes.encode(release.items.labels).tolist()
    return tuple(
        frozenset(item_of[leaf] for leaf in range(int(tree.first[node]), int(tree.stop[node])) if leaf in item_of) for node in nodes
    )

"""Can each published occurrence be paired with a different one in an original, or every bag be
given to an original that it may represent?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from setveil.alignment.flow import Budget, Matching, Shortage, TooLargeError
from setveil.alignment.merging import Counted, count_records
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags, Int32s, Int64s
from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.tree import Hierarchy
from setveil.published.typical_bags import TypicalBags
from setveil.words import plural

BRANCH = "in the same branch of the hierarchy below its root"
MOST_PAIRS = 2_000_000
"""The most pairs of a distinct bag and a distinct original that may fit; some seconds."""
MOST_WORK = 20_000_000
"""How many pairs of a published and an original item are compared at most; about ten seconds."""
_MOST_BITS = 1 << 32
UNKNOWN = "which original each bag was made from is not known"


def unpaired(
    edges: Sequence[Sequence[int]], supply: Sequence[int], capacity: Sequence[int]
) -> int | None:
    """The first node on the left without enough partners on the right; None if all have enough.

    Equal occurrences are one node with a number, so that the cost does not depend on that number.

    Args:
        edges: For each node on the left, those on the right that may be its partner.
        supply: How many partners each node on the left needs.
        capacity: How many partners each node on the right can have.

    Example:
        >>> unpaired([[0, 1], [0]], [5, 3], [3, 5]), unpaired([[0], [0]], [1, 1], [1, 1])
        (None, 1)
    """
    held: list[dict[int, int]] = [{} for _ in capacity]
    room = list(capacity)
    for source, wanted in enumerate(supply):
        while wanted > 0:
            path = _search(source, edges, room, held)
            if path is None:
                return source
            moved = [(left, before) for (_, before), (left, _) in pairwise(path)]
            amount = min(wanted, room[path[-1][1]], *(held[before][left] for left, before in moved))
            for left, before in moved:
                held[before][left] -= amount
            for left, right in path:
                held[right][left] = held[right].get(left, 0) + amount
            room[path[-1][1]] -= amount
            wanted -= amount
    return None


def _search(
    source: int,
    edges: Sequence[Sequence[int]],
    room: Sequence[int],
    held: Sequence[Mapping[int, int]],
) -> list[tuple[int, int]] | None:
    """Breadth first to a node on the right with room: the pairs to make, each replacing another."""
    came: dict[int, int] = {}
    giver: dict[int, int | None] = {source: None}
    queue = [source]
    for left in queue:
        for right in edges[left]:
            if right in came:
                continue
            came[right] = left
            if room[right] > 0:
                return _path(right, came, giver)
            for other, amount in held[right].items():
                if amount > 0 and other not in giver:
                    giver[other] = right
                    queue.append(other)
    return None


def _path(
    end: int, came: Mapping[int, int], giver: Mapping[int, int | None]
) -> list[tuple[int, int]]:
    path, right = [], cast(int | None, end)
    while right is not None:
        path.append((came[right], right))
        right = giver[came[right]]
    return path[::-1]


@dataclass(frozen=True)
class Relation:
    """Which original items each published item may represent; None if that is not known."""

    partners: tuple[frozenset[int], ...] | None
    """Numbers of original items for each published item."""
    words: str = "that it may represent"
    """Which these are."""

    @classmethod
    def of(
        cls, release: TypicalBags, vocabulary: Vocabulary, hierarchy: Hierarchy | None
    ) -> Relation:
        """By slots or nodes of the release, else by the tree if it is known: by distances if there
        is an epsilon, by the branches below the root if it says so."""
        numbers = vocabulary.numbers
        if release.slots is not None:
            held = ((numbers[item] for item in slot if item in numbers) for slot in release.slots)
            return cls(tuple(map(frozenset, held)))
        if release.by_majority:
            return cls(_under_nodes(release, vocabulary), f"below a group or {BRANCH}")
        if release.hierarchy is not None:
            return cls(_under_nodes(release, vocabulary))
        if hierarchy is not None and release.same_branch:
            return cls(_in_branches(release, vocabulary, hierarchy), BRANCH)
        if hierarchy is None or release.epsilon is None:
            return cls(None)
        near = hierarchy.neighbours(vocabulary, release.epsilon)
        bounds, items = near.indptr.tolist(), near.items.tolist()
        rows = {
            label: frozenset(items[bounds[number] : bounds[number + 1]])
            for label, number in numbers.items()
            if label in release.items
        }
        partners = tuple(rows.get(label, frozenset()) for label in release.items)
        return cls(partners, f"at most {release.epsilon} steps away")

    def edges(self, published: Sequence[int], own: Sequence[int]) -> list[list[int]]:
        """For each published item the positions in `own` of the items that it may represent."""
        if self.partners is None:
            return [list(range(len(own)))] * len(published)
        return [
            [at for at, item in enumerate(own) if item in self.partners[number]]
            for number in published
        ]


@dataclass(frozen=True)
class Pairing:
    """Pairs the occurrences of published bags with those of originals."""

    classes: Bags
    originals: Bags
    relation: Relation
    budget: Budget | None = None

    def lost(self, row: int, number: int) -> int | None:
        """The first item of a bag, by its place in it, that cannot be paired with an occurrence of
        an original each time it occurs; None if all can."""
        classes, originals = self.classes, self.originals
        shown, own = classes.entries(row), originals.entries(number)
        if self.budget is not None:
            self.budget.spend(int((shown.stop - shown.start) * (own.stop - own.start)) + 1)
        edges = self.relation.edges(classes.items[shown].tolist(), originals.items[own].tolist())
        return unpaired(edges, classes.counts[shown].tolist(), originals.counts[own].tolist())


def branches_of(hierarchy: Hierarchy, vocabulary: Vocabulary) -> Int32s:
    """The node right below the root over each item."""
    branches: Int32s = hierarchy.ancestors[:, min(1, hierarchy.height)]
    return branches[hierarchy.leaf_numbers(vocabulary)]


def _in_branches(
    release: TypicalBags, vocabulary: Vocabulary, hierarchy: Hierarchy
) -> tuple[frozenset[int], ...]:
    branches = branches_of(hierarchy, vocabulary)
    held = {
        branch: frozenset(np.flatnonzero(branches == branch).tolist())
        for branch in np.unique(branches).tolist()
    }
    numbers = release.items.find(vocabulary)
    found = {
        int(place): held[int(branches[number])]
        for number, place in enumerate(numbers.tolist())
        if place >= 0
    }
    return tuple(found.get(place, frozenset()) for place in range(len(release.items)))


def _under_nodes(release: TypicalBags, vocabulary: Vocabulary) -> tuple[frozenset[int], ...]:
    """The items below each published node; in its branch, if it is an item shown by majority."""
    tree = release.hierarchy
    assert tree is not None
    leaves = tree.leaf_numbers(vocabulary)
    order = np.argsort(leaves)
    nodes = tree.nodes.encode(release.items.labels)
    if release.by_majority:
        branches = tree.ancestors[tree.first[nodes], min(1, tree.height)]
        nodes = np.where(nodes < tree.leaf_count, branches, nodes)
    ends = (np.searchsorted(leaves[order], bound[nodes]) for bound in (tree.first, tree.stop))
    return tuple(frozenset(order[low:high].tolist()) for low, high in zip(*ends, strict=True))


def check_assignment(release: TypicalBags, original: Bags, relation: Relation) -> Check | None:
    """Whether the bags can be given to the originals, one each, so that each occurrence in a bag
    can be paired with an occurrence of its original that it may represent.

    Equal originals are counted. A bag may fit an original that has, for each of its items, one that
    the item may represent; for these a pairing of occurrences is searched. Then a flow gives each
    bag as many originals as it represents.

    Returns:
        None if there are too many pairs of bags and originals that may fit.
    """
    originals = count_records(original)
    assert isinstance(originals.records, Bags)
    budget = Budget(MOST_WORK)
    try:
        possible = _candidates(release, originals.records, relation)
    except TooLargeError:
        return None
    exact = True
    try:
        pairs = Pairing(release.classes, originals.records, relation, budget)
        fitting = [
            [group for group in groups if pairs.lost(number, group) is None]
            for number, groups in enumerate(possible)
        ]
    except TooLargeError:
        fitting, exact = possible, False
    shortage = _match(fitting, originals, release.sizes)
    if shortage is not None:
        return _failed(release, shortage)
    text, near = "each published bag can be paired with one original", relation.words
    if exact:
        text += f", and each of its occurrences with one of that original, {near}; {UNKNOWN}"
    else:
        text += f" that has, for each item of the bag, one {near}; the data is too large to compare"
        text += f" how often; {UNKNOWN}"
    return Check("containment", True, text, compared="its bags can be paired")


def _candidates(release: TypicalBags, originals: Bags, relation: Relation) -> list[list[int]]:
    """For each bag the originals that are long enough and have a partner for each of its items."""
    assert relation.partners is not None
    if len(relation.partners) * len(originals) > _MOST_BITS:
        raise TooLargeError
    order = np.argsort(originals.items, kind="stable")
    bounds = np.searchsorted(originals.items[order], np.arange(len(originals.vocabulary) + 1))
    owners = np.split(originals.rows[order], bounds[1:-1])  # the originals that have each item
    holders: dict[int, Flags] = {}
    found, total = [], 0
    classes = release.classes
    rows = classes.parted(classes.items.tolist())
    for items, length in zip(rows, classes.totals.tolist(), strict=True):
        fits: Flags = originals.totals >= length
        for item in items:
            if item not in holders:
                holders[item] = np.zeros(len(originals), dtype=bool)
                for partner in relation.partners[item]:
                    holders[item][owners[partner]] = True
            fits = fits & holders[item]
        total += int(fits.sum())
        if total > MOST_PAIRS:
            raise TooLargeError
        found.append(np.flatnonzero(fits).tolist())
    return found


def _match(fitting: list[list[int]], originals: Counted, sizes: Int64s) -> Shortage | None:
    groups = np.array([group for each in fitting for group in each], dtype=np.int64)
    classes = np.repeat(np.arange(len(fitting)), [len(each) for each in fitting])
    order = np.argsort(groups, kind="stable")
    indptr = np.searchsorted(groups[order], np.arange(len(originals.sizes) + 1))
    return Matching(indptr, classes[order], originals.sizes, sizes).fill()


def _failed(release: TypicalBags, shortage: Shortage) -> Check:
    items = release.classes.shown(int(shortage.classes[0]))
    bags = f"{plural(shortage.needed, 'bag')} such as {show_items(items)}"
    text = f"{bags} can represent only {plural(shortage.fitting, 'original')}"
    witness = Witness(text, items, shortage.needed, private=True)
    text = "the published bags cannot be paired with originals that they may represent"
    return Check("containment", False, text, (witness,))

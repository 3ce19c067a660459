"""SSC [Liu2010b], plain and slow: distances by brute force or a textbook Hungarian method.

A bag is a list of terms with repeats. A slot is a tuple of terms, one of each member; a centre is a
list of slots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

Term = str
Slot = tuple[Term, ...]
Centre = list[Slot]
Distance = Callable[[Term, Term], int]
Choose = Callable[[list[int], list[tuple[Slot, ...]]], tuple[Slot, ...]]
"""Which of several best centres of some members is taken."""


def tree_distance(paths: Sequence[Sequence[str]]) -> Distance:
    """The edges between two leaves of a tree, which is given by paths from leaf to root."""
    above = {path[0]: list(path) for path in paths}

    def distance(one: Term, other: Term) -> int:
        first, second = above[one], above[other]
        meeting = next(node for node in first if node in second)
        return first.index(meeting) + second.index(meeting)

    return distance


class Space:
    """The numbers that all distances rest on."""

    def __init__(self, distance: Distance, epsilon: int, omega: float, model: str = "nil") -> None:
        self.distance, self.epsilon, self.omega, self.model = (
            distance,
            epsilon,
            Fraction(omega),
            model,
        )

    def weight(self, slot: Slot, term: Term) -> int | None:
        """The distance of a term to a slot: the sum over its terms; None if one is irrelevant."""
        parts = [self.distance(term, other) for other in slot]
        return None if any(part > self.epsilon for part in parts) else sum(parts)

    def distance_to(self, centre: Centre, bag: Sequence[Term]) -> Fraction:
        """The weight of the matching, and omega for each unmatched occurrence, also in slots."""
        return self.matchings(centre, bag)[0]

    def matchings(
        self, centre: Centre, bag: Sequence[Term]
    ) -> tuple[Fraction, list[tuple[Slot, ...]]]:
        """The distance, and every centre that a matching of this distance gives, sorted."""
        best: dict[tuple[int, Fraction], set[tuple[Slot, ...]]] = {}
        width = len(centre[0]) if centre else 0

        def extend(
            number: int, left: tuple[Term, ...], made: tuple[Slot, ...], weight: int
        ) -> None:
            if number == len(centre):
                unmatched = width * (len(centre) - len(made)) + len(left)
                total = weight + self.omega * unmatched
                key = (-len(made), total) if self.model == "maximum" else (0, total)
                best.setdefault(key, set()).add(tuple(sorted(made)))
                return
            extend(number + 1, left, made, weight)
            for term in sorted(set(left)):
                cost = self.weight(centre[number], term)
                if cost is not None:
                    rest = list(left)
                    rest.remove(term)
                    extend(number + 1, tuple(rest), (*made, (*centre[number], term)), weight + cost)

        extend(0, tuple(bag), (), 0)
        least = min(best)
        return least[1], sorted(best[least])


def raw_weight(one: Sequence[Term], other: Sequence[Term], distance: Distance, epsilon: int) -> int:
    """Model 1 as in the paper: the least weight of a maximum matching; unmatched terms are free."""
    space = Space(distance, epsilon, 0, "maximum")
    return int(space.distance_to([(term,) for term in one], other))


def hungarian(costs: list[list[float]]) -> float:
    """The least cost of a perfect matching of the rows of a matrix that is no taller than wide."""
    rows, columns = len(costs), len(costs[0]) if costs else 0
    up, across = [0.0] * (rows + 1), [0.0] * (columns + 1)
    match = [0] * (columns + 1)
    for row in range(1, rows + 1):
        match[0], column = row, 0
        shortest, previous, seen = (
            [float("inf")] * (columns + 1),
            [0] * (columns + 1),
            [False] * (columns + 1),
        )
        while match[column]:
            seen[column] = True
            here, delta, following = match[column], float("inf"), 0
            for other in range(1, columns + 1):
                if not seen[other]:
                    reduced = costs[here - 1][other - 1] - up[here] - across[other]
                    if reduced < shortest[other]:
                        shortest[other], previous[other] = reduced, column
                    if shortest[other] < delta:
                        delta, following = shortest[other], other
            for other in range(columns + 1):
                if seen[other]:
                    up[match[other]] += delta
                    across[other] -= delta
                else:
                    shortest[other] -= delta
            column = following
        while column:
            match[column], column = match[previous[column]], previous[column]
    return sum(
        costs[match[column] - 1][column - 1] for column in range(1, columns + 1) if match[column]
    )


def ssc(
    bags: Sequence[Sequence[Term]],
    k: int,
    space: Space,
    seed_rule: str = "farthest",
    choose: Choose | None = None,
) -> list[list[int]]:
    """The clusters, and the bags in each, in the order in which they were made.

    Algorithm 1 without empty bags. The canonical order is that of the sorted terms with their
    counts; ties go to the first in this order.
    """
    order = sorted(range(len(bags)), key=lambda number: sorted(Counter(bags[number]).items()))
    choose = choose or (lambda members, centres: centres[0])
    clusters: list[list[int]] = []
    centres: list[Centre] = []

    def joined(members: list[int], centre: Centre, number: int) -> Centre:
        _, best = space.matchings(centre, sorted(bags[number]))
        return list(choose([*members, number], best))

    @cache
    def nearness(number: int, centre: tuple[Slot, ...]) -> Fraction:
        return space.distance_to(list(centre), sorted(bags[number]))

    while len(order) >= k:
        seed = order[0]
        if seed_rule == "farthest" and centres:
            seed = max(
                order,
                key=lambda number: (
                    min(nearness(number, tuple(centre)) for centre in centres),
                    -order.index(number),
                ),
            )
        order.remove(seed)
        members, centre = [seed], [(term,) for term in sorted(bags[seed])]
        while len(members) < k:
            nearest = min(
                order, key=lambda number: (nearness(number, tuple(centre)), order.index(number))
            )
            centre = joined(members, centre, nearest)
            members.append(nearest)
            order.remove(nearest)
        clusters.append(members)
        centres.append(centre)
    for number in order:
        place = min(range(len(centres)), key=lambda c: (nearness(number, tuple(centres[c])), c))
        centres[place] = joined(clusters[place], centres[place], number)
        clusters[place].append(number)
    return clusters


def successive(
    bags: Sequence[Sequence[Term]],
    members: Sequence[int],
    space: Space,
    choose: Choose | None = None,
) -> Centre:
    """The centre of members that join in this order."""
    choose = choose or (lambda members, centres: centres[0])
    centre: Centre = [(term,) for term in sorted(bags[members[0]])]
    for count, number in enumerate(members[1:], start=1):
        _, best = space.matchings(centre, sorted(bags[number]))
        centre = list(choose(list(members[: count + 1]), best))
    return centre


def majority(centre: Centre, distance: Distance, frequency: Counter[Term]) -> Counter[Term]:
    """The typical bag: from each slot the term closest to the others; ties by frequency."""

    def rank(slot: Slot, term: Term) -> tuple[int, int, int, Term]:
        return (
            sum(distance(term, other) for other in slot),
            -slot.count(term),
            -frequency[term],
            term,
        )

    return Counter(min(set(slot), key=lambda term: rank(slot, term)) for slot in centre)


def generalized(centre: Centre, paths: Sequence[Sequence[str]]) -> Counter[str]:
    """The lowest node over all terms of each slot."""
    above = {path[0]: list(path) for path in paths}
    return Counter(
        next(node for node in above[slot[0]] if all(node in above[term] for term in slot))
        for slot in centre
    )

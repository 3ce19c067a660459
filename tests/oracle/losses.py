"""The losses of a release, occurrence by occurrence. Slow, plain, standard library only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from tests.oracle.containment import Bag, Parents, path

Pairs = Sequence[tuple[Bag, Bag]]
"""Each original record with the published one that represents it."""


def leaves(parents: Parents) -> dict[str, set[str]]:
    """The leaves under each node of a tree of two nodes or more."""
    labels = set(parents) | set(parents.values())
    under: dict[str, set[str]] = {label: set() for label in labels}
    for leaf in labels - set(parents.values()):
        for node in path(leaf, parents):
            under[node].add(leaf)
    return under


def ncp_of(node: str, parents: Parents) -> Fraction:
    width, total = _widths(node, parents)
    return Fraction(0) if width == 1 else Fraction(width, total)


def lm_of(node: str, parents: Parents) -> Fraction:
    width, total = _widths(node, parents)
    return Fraction(width - 1, max(total - 1, 1))


def _widths(node: str, parents: Parents) -> tuple[int, int]:
    """The number of leaves under a node and in the whole tree."""
    under = leaves(parents)
    return len(under.get(node, {node})), max(map(len, under.values()), default=1)


def ncp(pairs: Pairs, parents: Parents, *, counted: bool = False) -> Fraction:
    return _average(pairs, parents, ncp_of, counted)


def lm(pairs: Pairs, parents: Parents, *, counted: bool = False) -> Fraction:
    return _average(pairs, parents, lm_of, counted)


def distortion(pairs: Pairs, parents: Parents, *, counted: bool = False) -> Fraction:
    return _average(pairs, parents, lambda node, tree: Fraction(0), counted)


def support(records: Iterable[Bag], query: Iterable[str]) -> int:
    """The number of records that hold all items of a query."""
    return sum(all(item in record for item in query) for record in records)


def estimate(published: Iterable[Bag], query: Sequence[str], parents: Parents) -> Fraction:
    """The expected number of records with a query if each published node is any of its leaves."""
    return sum((_chance(record, query, parents) for record in published), Fraction(0))


def _chance(record: Bag, query: Sequence[str], parents: Parents) -> Fraction:
    chance = Fraction(1)
    for item in query:
        over = [node for node in path(item, parents) if node in record]
        chance *= (
            1 - (1 - Fraction(1, _widths(over[0], parents)[0])) ** record[over[0]] if over else 0
        )
    return chance


def _average(
    pairs: Pairs, parents: Parents, cost: Callable[[str, Parents], Fraction], counted: bool
) -> Fraction:
    """The average cost of an occurrence.

    If `counted`, a node with count c publishes c occurrences, and the others cost 1.
    """
    total, costs = 0, Fraction(0)
    for record, published in pairs:
        places = dict(published)
        for item, count in record.items():
            total += count
            over = [node for node in path(item, parents) if node in published]
            for _ in range(count):
                if not over or (counted and places[over[0]] == 0):
                    costs += 1
                    continue
                places[over[0]] -= 1
                costs += cost(over[0], parents)
    return costs / total if total else Fraction(0)


def item_error(
    originals: Sequence[Bag], published: Sequence[Bag], parents: Parents, items: Iterable[str]
) -> Fraction:
    """The occurrences that are counted for the wrong item or not at all, as a share of all."""
    truth = {item: support(originals, [item]) for item in items}
    wrong = sum(abs(n - estimate(published, [item], parents)) for item, n in truth.items())
    return Fraction(wrong, total) if (total := sum(truth.values())) else Fraction(0)

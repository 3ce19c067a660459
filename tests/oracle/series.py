"""What two releases of a series show together: the first is raised to the rule of the second, and
what one has more of than the other is counted, set by set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations

Record = frozenset[str]


def faults(
    first: Iterable[Iterable[str]],
    second: Iterable[Iterable[str]],
    above: Mapping[str, str],
    k: int,
    m: int,
) -> list[str]:
    """What is wrong with a second release; `above` has the group of each label, if it has one."""
    one, two = (Counter(map(frozenset, each)) for each in (first, second))
    shown = {label for record in two for label in record}
    becomes = {}
    for label in {label for record in one for label in record}:
        place = label
        while place not in shown and place in above:
            place = above[place]
        if place in shown:
            becomes[label] = place
    wrong = [f"{label} is new" for label in sorted(shown - set(becomes.values()))]
    for absent_are_kept in (False, True):
        raised: Counter[Record] = Counter()
        for record, size in one.items():
            labels = [becomes.get(x, x) for x in record if x in becomes or absent_are_kept]
            raised[frozenset(labels)] += size
        for who, more, less in (("left", raised, two), ("joined", two, raised)):
            rest = [r for r, size in more.items() for _ in range(size - less[r])]
            wrong += [f"{who}: {found}" for found in rare(rest, k, m)]
    return wrong


def rare(records: list[Record], k: int, m: int) -> list[str]:
    """The sets of at most m labels that fewer than k of these records have."""
    counts = Counter(
        part
        for record in records
        for size in range(1, m + 1)
        for part in combinations(sorted(record), size)
    )
    return [f"{part} in {count}" for part, count in sorted(counts.items()) if count < k]

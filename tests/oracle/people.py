"""Who could be a person with several records: a plain search over who may have which records.

An adversary knows items of a person, and which of them are in one record. A release never says
which records belong together, so any that different people may have could be theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations


def groups_of(items: Sequence[str]) -> Iterator[tuple[frozenset[str], ...]]:
    """Every way to divide items into groups: one for each record that they are from."""
    if not items:
        yield ()
        return
    first, *rest = items
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [item for item in rest if item not in others]
            for more in groups_of(left):
                yield (frozenset([first, *others]), *more)


def known_of(person: Sequence[frozenset[str]], most: int) -> set[tuple[frozenset[str], ...]]:
    """What may be known of a person: up to `most` items in all, from different records."""
    found = {()}
    for record in person:
        some = [
            frozenset(each)
            for size in range(most + 1)
            for each in combinations(sorted(record), size)
        ]
        found = {
            (*known, each) if each else known
            for known in found
            for each in some
            if sum(map(len, known)) + len(each) <= most
        }
    return {tuple(sorted(known, key=sorted)) for known in found if known}


def people_with(known: Sequence[frozenset[str]], records: Sequence[frozenset[str]]) -> int:
    """How many people there may be, each of whom has for all that is known a record of their own.

    Whoever could be the person takes one record for each part of what is known, and nobody else has
    it: a matching of k copies of each part with records, found by augmenting paths."""
    people = 0
    while _matches([part for part in known for _ in range(people + 1)], records):
        people += 1
    return people


def _matches(parts: Sequence[frozenset[str]], records: Sequence[frozenset[str]]) -> bool:
    taken: dict[int, int] = {}

    def place(part: int, seen: set[int]) -> bool:
        for at, record in enumerate(records):
            if at in seen or not parts[part] <= record:
                continue
            seen.add(at)
            if at not in taken or place(taken[at], seen):
                taken[at] = part
                return True
        return False

    return all(place(part, set()) for part in range(len(parts)))

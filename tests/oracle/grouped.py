"""Whether every adversary finds enough people in a release of groups: who knows all columns of a
person and some of the person's items. Slow, plain, standard library only.

A group is `{"covers", "size", "rows" or "clusters"}`: `covers` has for each column the set of
values that the group's cell covers; `rows` are pairs of published labels and how many people have
them; clusters are as in `data.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from tests.oracle.disassociation import most_records, worlds

Group = dict[str, Any]
Person = tuple[tuple[str, ...], frozenset[str]]
Below = Mapping[str, frozenset[str]]
"""The items that each published label may represent."""


def violations(
    people: Sequence[Person], groups: Sequence[Group], below: Below, k: int, m: int
) -> Iterator[tuple[tuple[str, ...], frozenset[str], int]]:
    """Each person's values and known items for which no possible original has k people with these
    items in groups that cover these values, and how many the best one has."""
    known: dict[tuple[int, frozenset[str]], int] = {}
    for values, items in sorted(set(people), key=repr):
        fits = [at for at, group in enumerate(groups) if covers(group, values)]
        for size in range(min(m, len(items)) + 1):
            for chosen in combinations(sorted(items), size):
                asked = frozenset(chosen)
                for at in fits:
                    if (at, asked) not in known:
                        known[at, asked] = most(groups[at], asked, below)
                found = sum(known[at, asked] for at in fits)
                if found < k:
                    yield values, asked, found


def covers(group: Group, values: Sequence[str]) -> bool:
    return all(value in held for value, held in zip(values, group["covers"], strict=True))


def most(group: Group, asked: frozenset[str], below: Below) -> int:
    """The most people of a group who have these items in one possible original."""
    if "clusters" in group:
        return sum(most_records(worlds(cluster), sorted(asked)) for cluster in group["clusters"])
    labels = {label for row, _ in group["rows"] for label in row}
    shown = {item for label in labels for item in below[label]}
    return sum(count for row, count in group["rows"] if may_have(row, asked, shown, group, below))


def may_have(
    row: frozenset[str], asked: frozenset[str], shown: set[str], group: Group, below: Below
) -> bool:
    """Whether a published set can be that of a person with these items.

    If the group leaves out the same items of everybody (`everywhere`), an item that it shows
    nowhere may be anybody's; otherwise only an empty set may stand for anything."""
    if not row and not group["everywhere"]:
        return True
    here = {item for label in row for item in below[label]}
    free = group["everywhere"]
    return all(item in here or (free and item not in shown) for item in asked)

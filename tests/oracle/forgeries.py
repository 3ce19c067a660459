"""Whether a release folder keeps a promise, and whether it can come from an original. Slow, plain,
standard library only.

An original record is a mapping from items to counts; a promise is what `release.json` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.oracle import coherence, containment, disassociation, folders, kanonymity, km, originals
from tests.oracle.containment import Bag, Parents

Said = dict[str, Any]
Rows = Sequence[Bag]


def keeps(folder: Path, promise: Said) -> bool:
    """Whether a release is well formed and keeps a promise."""
    said = folders.facts(folder)
    if said["form"] == "disassociated":
        return _keeps_apart(folders.clusters(folder), promise)
    records = folders.records(folder)
    if said["form"] == "generalized" and _nested(records, _parents(folder), said):
        return False
    if "h" in promise:
        numbers = (str(promise["h"]), promise["k"], promise["p"])
        return not coherence.moles(records, set(promise["private"]), *numbers)
    if "m" in promise:
        return not km.violations(records, promise["k"], promise["m"])
    return not kanonymity.rare_records(records, promise["k"])


def comes_from(
    folder: Path, data: Rows, promise: Said, private: Path | None, tree: Parents
) -> bool:
    """Whether a release can come from this original, by the rules of its form.

    Args:
        folder: The release.
        data: The original.
        promise: Names the items that must not be suppressed.
        private: The alignment; then each record must fit the one that is published for it.
        tree: What typical bags were compared with.
    """
    said = folders.facts(folder)
    data = _without_rare(data, said.get("min_people", 0))
    if said["records"] != len(data):
        return False
    if said["form"] == "disassociated":
        clusters = folders.clusters(folder)
        if private is None:
            return is_possible(clusters, data)
        return _is_aligned(clusters, data, private.read_text(encoding="utf-8").split())
    records = folders.records(folder)
    fits = _RULES[said["form"]](folder, records, data, promise, tree)
    if fits is None:
        return False
    if private is None:
        return _assignable([[fits(row, record) for row in data] for record in records])
    links = folders.alignment(private)
    same = Counter(map(kanonymity.as_bag, links)) == Counter(map(kanonymity.as_bag, records))
    return same and all(map(fits, data, links))


Fits = Callable[[Bag, Bag], bool]
"""Whether an original may be published as a record."""


def _generalized(folder: Path, records: Rows, data: Rows, promise: Said, tree: Parents) -> Fits:
    parents, said = _parents(folder), folders.facts(folder)
    if said.get("recoding") != "global":
        return lambda row, record: containment.fits(row, record, parents)
    shown = set().union(*records)

    def is_image(row: Bag, record: Bag) -> bool:
        held: Counter[str] = Counter()
        for item, count in row.items():
            for node in shown.intersection(containment.path(item, parents)):
                held[node] += count
        return set(held) == set(record) and all(record[node] <= held[node] for node in record)

    return is_image


def _suppressed(
    folder: Path, records: Rows, data: Rows, promise: Said, tree: Parents
) -> Fits | None:
    shown, least = set().union(*records), folders.facts(folder).get("min_support", 0) * len(data)
    support = Counter(item for row in data for item in row)
    rare = {item for item in support if support[item] < least}
    if rare & shown or any(item in support for item in {*promise["private"]} - shown - rare):
        return None
    return lambda row, record: set(row) & shown == set(record)


def _typical(folder: Path, records: Rows, data: Rows, promise: Said, tree: Parents) -> Fits | None:
    """As documented: each occurrence of a bag has a partner in the original, near enough; and each
    group has what it shows at least once."""
    facts = folders.facts(folder)
    epsilon = facts.get("epsilon")
    if epsilon is None and facts.get("same_branch") is not None:
        return None  # a release that can say how similar items must be has to say it
    held = sum((Counter(row) for row in data), Counter[str]())
    groups = {kanonymity.as_bag(record): record for record in records}.values()
    shown = sum((Counter(record) for record in groups), Counter[str]())
    if not shown <= held:
        return None

    def represents(row: Bag, record: Bag) -> bool:
        own, others = [*Counter(row).elements()], [*Counter(record).elements()]
        if epsilon is None:
            return len(others) <= len(own)
        near = [[originals.steps(one, item, tree) <= epsilon for item in own] for one in others]
        return _assignable(near)

    return represents


_RULES = {"generalized": _generalized, "suppressed": _suppressed, "typical-bags": _typical}


def _keeps_apart(clusters: list[Said], promise: Said) -> bool:
    if not disassociation.holds(clusters, promise["k"], promise["m"]):
        return False
    diversity = promise.get("diversity")
    return diversity is None or all(
        _is_diverse(cluster, set(diversity["sensitive"]), diversity["l"]) for cluster in clusters
    )


def _is_diverse(cluster: Said, sensitive: set[str], least: int) -> bool:
    simples = disassociation.simple_clusters(cluster)
    terms = set().union(*(simple["terms"] for simple in simples))
    small = any(simple["size"] < least and sensitive & {*simple["terms"]} for simple in simples)
    linked = any(sensitive & set(items) for items in _subrecords(cluster))
    return (
        not small
        and not linked
        and not (sensitive & terms and disassociation.certainties(cluster, sensitive, 5))
    )


def _subrecords(cluster: Said) -> Iterator[list[str]]:
    for chunk in cluster["chunks" if "size" in cluster else "shared"]:
        yield from (items for items, _ in chunk)
    for part in cluster.get("parts", ()):
        yield from _subrecords(part)


def is_possible(clusters: list[Said], data: Rows) -> bool:
    """Whether some world of the clusters has exactly these records."""
    left = Counter(tuple(sorted(row)) for row in data)
    return _is_union([disassociation.worlds(cluster) for cluster in clusters], left)


def _is_union(possible: list[set[disassociation.World]], left: Counter[tuple[str, ...]]) -> bool:
    if not possible:
        return not left
    ways = {frozenset(Counter(sum(world, ())).items()) for world in possible[0]}
    chosen = (Counter(dict(way)) for way in ways)
    return any(one <= left and _is_union(possible[1:], left - one) for one in chosen)


def is_within_bounds(clusters: list[Said], data: Rows, most: int) -> bool:
    """Whether no support of up to `most` items in the original is impossible in every world."""
    possible = [disassociation.worlds(cluster) for cluster in clusters]
    items = sorted(set().union(*data, *map(disassociation.terms_of, clusters)))
    for size in range(1, most + 1):
        for wanted in combinations(items, size):
            ranges = [_supports(worlds, set(wanted)) for worlds in possible]
            truth = sum(set(wanted) <= set(row) for row in data)
            if not sum(map(min, ranges)) <= truth <= sum(map(max, ranges)):
                return False
    return True


def _supports(worlds: set[disassociation.World], wanted: set[str]) -> set[int]:
    return {sum(wanted <= set(record) for part in world for record in part) for world in worlds}


def _is_aligned(clusters: list[Said], data: Rows, lines: list[str]) -> bool:
    number, used = 0, 0
    for cluster in clusters:
        groups = []
        for node in _preorder(cluster):
            number += 1
            if "size" in node:
                own = [row for row, line in zip(data, lines, strict=True) if int(line) == number]
                groups.append([tuple(row) for row in own])
                used += len(own)
        if not disassociation.is_world(cluster, groups):
            return False
    return used == len(data)


def _preorder(cluster: Said) -> list[Said]:
    return [cluster, *(node for part in cluster.get("parts", ()) for node in _preorder(part))]


def _nested(records: Rows, parents: Parents, said: Said) -> bool:
    """Whether a group and a member of it are in one record; of a global cut, in any records."""
    rows: Rows = [dict.fromkeys(set().union(*records), 1)] if "recoding" in said else records
    return any(
        above in row
        for row in rows
        for node in row
        for above in containment.path(node, parents)[1:]
    )


def _parents(folder: Path) -> Parents:
    return {child: above for child, above in folders.parents(folder).items() if above}


def _without_rare(data: Rows, people: int) -> Rows:
    support = Counter(item for row in data for item in row)
    return [{item: row[item] for item in row if support[item] >= people} for row in data]


def _assignable(fits: list[list[bool]]) -> bool:
    """Whether each on the left can have another one on the right: augmenting paths."""
    owner: dict[int, int] = {}

    def give(left: int, seen: set[int]) -> bool:
        for right, is_fit in enumerate(fits[left]):
            if is_fit and right not in seen:
                seen.add(right)
                if right not in owner or give(owner[right], seen):
                    owner[right] = left
                    return True
        return False

    return all(give(left, set()) for left in range(len(fits)))

"""How records are divided into parts before they are disassociated, slowly and plainly."""

from __future__ import annotations

from collections import Counter

Record = frozenset[int]


def divided(records: list[Record], least: int, most: int) -> list[list[Record]]:
    """The parts in order; each is a list of records."""
    if len(records) <= most:
        return [records]
    return _divided(records, frozenset(), least, most)


def _divided(
    records: list[Record], used: frozenset[int], least: int, most: int
) -> list[list[Record]]:
    support = Counter(item for record in records for item in record if item not in used)
    ranked = sorted(support, key=lambda item: (-support[item], item))
    groups: list[tuple[int | None, list[Record]]] = []
    left = list(records)
    for item in ranked:
        group = [record for record in left if item in record]
        left = [record for record in left if item not in record]
        if group:
            groups.append((item, group))
    empty = [record for record in left if not record]
    for kind in sorted({tuple(sorted(record)) for record in left if record}):
        same = [record for record in left if tuple(sorted(record)) == kind]
        pieces = -(-len(same) // most)
        for at in range(pieces):
            size = (len(same) + at) // pieces
            groups.append((None, [frozenset(kind)] * size))
    packed = _packed(groups, least, most) or [[]]
    found = []
    for number, part in enumerate(packed):
        inside = [record for _, group in part for record in group] + (empty if number == 0 else [])
        large = [(item, group) for item, group in part if len(group) > most]
        if large and large[0][0] is not None:
            found += _divided(inside, used | {large[0][0]}, least, most)
        else:
            found.append(inside)
    return found


def _packed(groups, least, most):
    packed: list[list] = []
    for group in groups:
        if packed and _size(packed[-1]) + len(group[1]) <= most:
            packed[-1].append(group)
        else:
            packed.append([group])
    at = 0
    while at < len(packed):
        if _size(packed[at]) >= least or len(packed) == 1:
            at += 1
            continue
        beside = [each for each in (at - 1, at + 1) if 0 <= each < len(packed)]
        other = min(beside, key=lambda each: _size(packed[each]))
        low, high = min(at, other), max(at, other)
        packed[low] = packed[low] + packed.pop(high)
        at = low
    return packed


def _size(part):
    return sum(len(group) for _, group in part)

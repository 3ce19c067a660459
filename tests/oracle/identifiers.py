"""Which data may have identifiers among its items: counted one by one, in plain Python."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

SHAPES = [
    r"[^@\s]+@[^@\s]+\.[^@\s.]+",
    r"\d\d\d\d-\d\d-\d\d( \d\d:\d\d:\d\d)?",
    r"\d+\.\d\d",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}",
    r"\+\d\d \d\d\d \d{7}",
]
"""Those that the tests write: mail addresses, times, prices, UUIDs and hashes, phone numbers."""


def shape(item: str) -> object:
    """What kind of text an item is; None if it has no digits and is no mail address."""
    if item.isdecimal():
        return len(item)
    for number, pattern in enumerate(SHAPES):
        if re.fullmatch(pattern, item):
            return f"shape {number}"
    return re.sub(r"\d+", "#", item) if re.search(r"\d", item) else None


def has_identifiers(records: Iterable[Sequence[str]]) -> bool:
    """Whether most records have exactly one (two, three) of the items of a kind among others, or
    many have one and none has two, there are as many distinct ones as a tenth of the records, and
    few records share them."""
    rows = [sorted(set(record)) for record in records]
    filled = [row for row in rows if row]
    supports = Counter(item for row in rows for item in row)
    if len(filled) < 10:
        return False
    groups: dict[object, set[str]] = defaultdict(set)
    for item in supports:
        kind = shape(item)
        if kind is not None:
            groups[kind].add(item)
    plain = {item for item in supports if item.isdecimal()}
    cases = [
        (group, each, 0.7 if isinstance(kind, int) or each > 1 else 0.5)
        for kind, group in groups.items()
        for each in (1, 2, 3)
    ]
    cases.append((plain, 1, 0.7))
    cases += [({i for i in supports if supports[i] <= cap}, 1, 0.8) for cap in (1, 2, 5, 20)]
    found = any(
        (_is_most(filled, len(rows), *case) or (case[1] == 1 and _is_never_twice(filled, case[0])))
        and _rare(case[0], supports, filled, len(rows))
        for case in cases
    )
    special = {item for item in supports if re.search(r"[\d@]", item)}
    return found or _single(filled, [*groups.values(), plain, special], supports, len(rows))


def _is_most(filled: list[list[str]], size: int, group: set[str], each: int, usual: float) -> bool:
    counts = [(sum(item in group for item in row), len(row)) for row in filled]
    longer = [count for count, length in counts if length > each]
    if len(longer) < max(10, size // 100):
        return False
    least = max(usual, 0.5 + 1.5 / len(longer) ** 0.5)
    exact = sum(count == each for count, _ in counts)
    return longer.count(each) >= least * len(longer) and 2 * exact > len(filled)


def _is_never_twice(filled: list[list[str]], group: set[str]) -> bool:
    """Of records whose items are in the group by chance, ten or more would have several of it, and
    at least ten times as many as have; and a fifth of the records has one."""
    counts = [sum(item in group for item in row) for row in filled]
    share = sum(counts) / sum(map(len, filled))
    expected = 0.0
    for row in filled:
        none = (1 - share) ** len(row)
        expected += 1 - none - len(row) * share * (1 - share) ** (len(row) - 1)
    several = sum(count > 1 for count in counts)
    return expected >= 10 and several <= 0.1 * expected and 5 * counts.count(1) >= len(filled)


def _rare(group: set[str], supports: Counter[str], filled: list[list[str]], size: int) -> bool:
    least = max(0.1 * size, min(10, size / 2))
    if not group or len(group) < least or median(supports[item] for item in group) > 20:
        return False
    shared = [supports[item] <= 20 for row in filled for item in row if item in group]
    return 2 * sum(shared) > len(shared)


def _single(
    filled: list[list[str]], groups: list[set[str]], supports: Counter[str], size: int
) -> bool:
    if len(filled) < 100 or sum(len(row) > 1 for row in filled) > 0.01 * len(filled):
        return False
    items = [item for row in filled for item in row]
    own = {item for item in supports if supports[item] <= 5}
    others = [supports[item] > 20 for item in items if item not in own]
    is_most = sum(item in own for item in items) >= 0.9 * len(items)
    is_apart = bool(others) and sum(others) >= 0.95 * len(others)
    if (is_most or is_apart) and _rare(own, supports, filled, size):
        return True
    return any(
        sum(item in group for item in items) >= 0.9 * len(items)
        and _rare(group, supports, filled, size)
        for group in groups
    )

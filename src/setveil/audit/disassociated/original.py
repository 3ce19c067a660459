"""Does a disassociated release come from this original: is it one of the possible worlds, or are
the supports of its items and itemsets as the release allows?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from setveil.alignment.merging import item_supports, renamed
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.projections import Difference, Placed, compare
from setveil.audit.records import check_record_count
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags, Int64s, distinct, find, ranges, sums
from setveil.data.transactions import Bags, Transactions
from setveil.published.release import Support
from setveil.words import are, count, plural

MOST_PAIRS = 10_000_000
"""The most pairs of items in records that are counted; about two seconds."""
MOST_SETS = 1_000
"""How many itemsets are compared with all bounds of the release; about a millisecond each."""
_FEW = 20_000
"""So many sets of one size, with repeats, are few enough to count them one by one."""
Codes = tuple[Int64s, Int64s]
"""Pairs of items as `low * width + high`, ascending, and how many records have each."""


def check_original(layout: Layout, original: Transactions, limit: int = 1) -> list[Check]:
    """Every check of a well-formed release against its original.

    The private alignment gives the simple cluster of each original record, which decides whether
    the original is one of the worlds. Without it (a release read from disk) only numbers of records
    and the supports of items, pairs and larger sets are compared, and the answer says so.
    """
    data = original.sets() if isinstance(original, Bags) else original
    records = _check_records(layout, data)
    checks = [records, check_items(layout, data, limit), check_supports(layout, data, limit)]
    if layout.release.alignment is not None:
        checks.append(check_world(layout, data, limit))
    elif all(check.holds for check in checks):
        most = min(getattr(layout.release.promise, "m", 2), layout.width)
        numbers = _renumber(layout, data).astype(np.int32)
        checks.append(
            check_pairs(layout, renamed(data, numbers, layout.release.items), most, limit)
        )
    return checks


def _check_records(layout: Layout, original: Transactions) -> Check:
    """Whether there is one record for each original, and one empty one for each empty one."""
    release = layout.release
    records = check_record_count(len(release), len(original))
    published, empty = int(release.sizes[layout.is_void].sum()), int((original.lengths == 0).sum())
    if records.holds and published != empty:
        text = f"{are(published, 'empty record')} published for {plural(empty, 'empty original')}"
        return Check("records", False, text, (Witness(text, count=published),))
    return records


def check_items(layout: Layout, original: Transactions, limit: int = 1) -> Check:
    """Whether every item of the original is published, and no other."""
    published = {layout.label(item) for item in np.flatnonzero(layout.bounds[1]).tolist()}
    known = {original.vocabulary[item] for item in np.flatnonzero(item_supports(original)).tolist()}
    lost, invented = sorted(known - published), sorted(published - known)
    if not lost and not invented:
        text = f"{are(len(known), 'item')} in the original, all are published, and no others"
        return Check("items", True, text)
    witnesses = [Witness(f"{item} is lost", (), original=(item,), private=True) for item in lost]
    witnesses += [Witness(f"{item} does not occur in the original", (item,)) for item in invented]
    text = f"{are(len(lost), 'item')} lost and {count(len(invented))} invented"
    return Check("items", False, text, tuple(witnesses[:limit]))


def check_supports(layout: Layout, original: Transactions, limit: int = 1) -> Check:
    """Whether the original support of each item is between its least and greatest possible one."""
    (low, high), numbers = layout.bounds, _renumber(layout, original)
    supports = sums(numbers[numbers >= 0], item_supports(original)[numbers >= 0], layout.width)
    wrong = np.flatnonzero((supports < low) | (supports > high))
    if not len(wrong):
        text = "the support of every item is within its bounds"
        if layout.release.alignment is None:
            text += "; whether the original is one of the possible worlds was not checked"
            text += " (that requires the private alignment)"
        return Check("supports", True, text, compared="item counts agree")
    witnesses = []
    for item in wrong[:limit].tolist():
        label, support = layout.label(item), int(supports[item])
        text = f"{label} occurs in {plural(support, 'original')}"
        text += f", but in {low[item]} to {high[item]} records of every possible world"
        witnesses.append(Witness(text, (label,), support, private=True))
    supports_of = "the support of" if len(wrong) == 1 else "the supports of"
    text = f"{supports_of} {are(len(wrong), 'item')} out of bounds"
    return Check("supports", False, text, tuple(witnesses))


def check_world(layout: Layout, original: Transactions, limit: int = 1) -> Check:
    """Whether the original is a world, with each record in the cluster the alignment gives it."""
    faults = _find_faults(layout, original, limit)
    if faults:
        text = "the original is not one of the possible worlds"
        return Check("world", False, text, tuple(faults[:limit]))
    text = "the original is one of the possible worlds: its records project to the chunks"
    compared = "each record is in its own cluster"
    return Check("world", True, text, compared=compared, exact=True)


def _find_faults(layout: Layout, original: Transactions, limit: int) -> list[Witness]:
    release, alignment = layout.release, layout.release.alignment
    assert alignment is not None
    inside = bool(((alignment >= 0) & (alignment < layout.node_count)).all())
    if len(alignment) != len(original) or not (inside and release.is_simple[alignment].all()):
        text = f"the alignment does not give each of {len(original)} originals a simple cluster"
        return [Witness(text, count=len(alignment))]
    held = np.bincount(alignment, minlength=layout.node_count)
    wrong = np.flatnonzero(release.is_simple & (held != release.sizes))
    if len(wrong):
        given = [(layout.name(node), int(held[node])) for node in wrong[:limit].tolist()]
        return [Witness(f"{name} has {plural(own, 'original')}", count=own) for name, own in given]
    empty = np.flatnonzero((original.lengths == 0) & ~layout.is_void[alignment])
    if len(empty):
        name = layout.name(int(alignment[empty[0]]))
        return [Witness(f"an empty original record is in {name}", private=True)]
    return _compare(layout, original, alignment, limit)


def _compare(
    layout: Layout, original: Transactions, alignment: Int64s, limit: int
) -> list[Witness]:
    """Find each item of each original in its cluster, and compare with what is published there."""
    numbers = _renumber(layout, original)
    if ((numbers < 0) & (item_supports(original) > 0)).any():
        lost = original.record(int(original.rows[numbers[original.items] < 0][0]))
        text = "an item of an original record is not published"
        return [Witness(text, original=lost, private=True)]
    layout, found = compare(Placed(layout, original, alignment, numbers), limit)
    if found.missing is not None:
        row, node, item = found.missing
        text = f"{layout.name(node)} does not show {layout.label(item)}, but an original has it"
        own = original.record(row)
        return [Witness(text, (layout.label(item),), original=own, private=True)]
    if found.idle is not None:
        node, number = divmod(found.idle, layout.width)
        where = f"in the term chunk of {layout.name(node)}, but in none of its originals"
        text = f"{layout.label(number)} is {where}"
        return [Witness(text, (layout.label(number),), 0, private=True)]
    return [_projection_witness(layout, one) for one in found.differences]


def _projection_witness(layout: Layout, found: Difference) -> Witness:
    items = tuple(layout.label(item) for item in found.items)
    here, there = found.published, found.projected
    text = f"{show_items(items)} occurs {plural(here, 'time')} in a chunk"
    text += f", but {plural(there, 'original')} {'projects' if there == 1 else 'project'} to it"
    return Witness(text, items, here, private=True)


def _renumber(layout: Layout, original: Transactions) -> Int64s:
    """The number in the release of each item of the original; -1 if it is not there."""
    if original.vocabulary == layout.release.items:
        return np.arange(len(original.vocabulary))
    return layout.release.items.find(original.vocabulary)


def check_pairs(layout: Layout, original: Transactions, most: int, limit: int = 1) -> Check:
    """Whether the original supports of pairs of items are within what the release allows.

    Each subrecord belongs to a record of its own. So at least as many originals contain a pair as
    subrecords do; all pairs are compared with that. The bounds of `Release.support` also count
    pairs whose items are in different chunks; those pairs are compared with them that have the
    least or the most to explain. If few, sets of up to `most` items are compared too.

    Args:
        layout: The release, well formed.
        original: The original, its items numbered as in the release.
        most: The m of the promise.
        limit: The most witnesses.

    Cost: linear in the pairs of items in records, up to `MOST_PAIRS`; beyond, only pairs of some of
    the items are counted, and the answer says so.
    """
    chosen = _choose(layout, original)
    inside = _count(layout.release.subrecords, layout.release.subrecord_counts, chosen)
    there = _count(original, np.ones(len(original), dtype=np.int64), chosen)
    wrong = list[Witness]()  # pairs in more subrecords than originals
    supports = _at(there, inside[0])
    for at in np.flatnonzero(supports < inside[1])[:limit].tolist():
        items = _labels(layout, divmod(int(inside[0][at]), layout.width))
        wrong.append(_pair_witness(items, int(supports[at]), f"in {inside[1][at]} subrecords"))
    larger = None if wrong else _larger(layout, original, most)
    few = layout.width * (layout.width - 1) // 2 <= MOST_SETS
    complete = few and larger is not None and bool(chosen.all())
    if not wrong:
        pairs: list[tuple[int, ...]] = (
            list(combinations(range(len(layout.release.items)), 2))
            if complete
            else _suspects(layout, inside, there, chosen)
        )
        codes = np.array([low * layout.width + high for low, high in map(sorted, pairs)], np.int64)
        counted = dict(zip(pairs, _at(there, codes).tolist(), strict=True))
        wrong = [*_out_of_bounds(layout, {**counted, **(larger or {})}, limit)]
    if wrong:
        text = "the support of a set of items is out of bounds"
        return Check("pairs", False, text, tuple(wrong[:limit]))
    compared = "item and pair counts" if complete else "item counts and some pair counts"
    text = _held(most, complete, bool(chosen.all()))
    return Check("pairs", True, text, compared=f"{compared} agree")


def _held(most: int, complete: bool, all_items: bool) -> str:
    """What was checked; without any number that only the original has."""
    if complete:
        sets = "every pair of items" if most < 3 else f"every set of up to {most} items"
        return f"the support of {sets} is within its bounds"
    pairs = "every pair of items in a chunk" if all_items else "pairs of some items in chunks"
    more = f"the {MOST_SETS:,} pairs with the most to explain are within their bounds"
    return f"the support of {pairs} is at least that of its subrecords, and {more}"


def _choose(layout: Layout, original: Transactions) -> Flags:
    """Items whose pairs can be counted: all, or every second, fourth ... of them."""
    numbers = np.arange(layout.width)
    step = 1
    while True:
        # Neighbours in the vocabulary are often alike, so the choice scatters.
        chosen = (numbers * 2_654_435_761) % (1 << 32) < (1 << 32) // step
        total = sum(_pair_count(rows, chosen) for rows in (layout.release.subrecords, original))
        if total <= MOST_PAIRS or not chosen.any():
            return chosen
        step *= 2


def _pair_count(rows: Transactions, chosen: Flags) -> int:
    lengths = np.bincount(rows.rows[chosen[rows.items]], minlength=1)
    return int((lengths * (lengths - 1) // 2).sum())


def _count(rows: Transactions, weights: Int64s, chosen: Flags) -> Codes:
    """The pairs of chosen items that occur in rows, and how often, each row as often as it says."""
    kept = chosen[rows.items]
    items, owners, width = rows.items[kept].astype(np.int64), rows.rows[kept], len(chosen)
    later = np.searchsorted(owners, owners, side="right") - np.arange(len(items)) - 1
    first = np.repeat(np.arange(len(items)), later)
    second = ranges(np.arange(len(items)) + 1, later)
    low, high = np.minimum(items[first], items[second]), np.maximum(items[first], items[second])
    return _totals(low * width + high, weights[owners[first]])


def _totals(codes: Int64s, weights: Int64s) -> Codes:
    """The distinct codes and the sum of the weights of each."""
    known = distinct(codes)
    return known, sums(np.searchsorted(known, codes), weights, len(known))


def _suspects(layout: Layout, inside: Codes, there: Codes, chosen: Flags) -> list[tuple[int, ...]]:
    """The pairs with the most to explain: shown by no subrecord, or forced by a cluster."""
    crowded = _crowded(layout, chosen)
    codes = np.concatenate((there[0], crowded[0]))
    scores = np.concatenate((there[1] - _at(inside, there[0]), crowded[1]))
    first = codes[np.argsort(-scores, kind="stable")[: 2 * MOST_SETS]].tolist()
    return [divmod(code, layout.width) for code in dict.fromkeys(first)][:MOST_SETS]


def _crowded(layout: Layout, chosen: Flags) -> Codes:
    """Pairs of items that are, each, in more than half of the records of a simple cluster."""
    release = layout.release
    rows = release.subrecords
    chunks = release.subrecord_chunk[rows.rows]
    places = release.chunk_node[chunks] * layout.width + rows.items
    known, times = _totals(places, release.subrecord_counts[rows.rows])
    nodes, items = np.divmod(known, layout.width)
    kept = release.is_simple[nodes] & (2 * times > release.sizes[nodes])
    frequent = Transactions.from_pairs(
        nodes[kept], items[kept].astype(np.int32), release.items, size=layout.node_count
    )
    if _pair_count(frequent, chosen) > MOST_PAIRS:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return _count(frequent, release.sizes, chosen)


def _larger(layout: Layout, original: Transactions, most: int) -> dict[tuple[int, ...], int] | None:
    """The supports of sets of 3 to `most` items; None if they are too many to count."""
    found: Counter[tuple[int, ...]] = Counter()
    for size in range(3, most + 1):
        rows = (original, layout.release.subrecords)
        if sum(_subsets(each, size) for each in rows) > _FEW:
            return None
        counted = Counter(_sets(original, size))
        found.update(counted)
        shown = dict.fromkeys(_sets(rows[1], size), 0)
        found.update(shown)
        if not counted and not shown:
            break
    return dict(found) if len(found) <= MOST_SETS else None


def _subsets(rows: Transactions, size: int) -> int:
    """At least the number of sets of this size in all rows; exact if it is small."""
    total = rows.lengths.astype(np.float64)
    for at in range(1, size):
        total = total * np.maximum(rows.lengths - at, 0) / (at + 1)
    return int(min(total.sum(), 1e18))


def _sets(rows: Transactions, size: int) -> Iterator[tuple[int, ...]]:
    for items in rows.parted(rows.items.tolist()):
        yield from combinations(sorted(items), size)


def _out_of_bounds(
    layout: Layout, counted: dict[tuple[int, ...], int], limit: int
) -> Iterator[Witness]:
    for numbers, support in counted.items():
        if limit <= 0:
            return
        items = _labels(layout, numbers)
        bounds: Support = layout.release.support(items)
        if not bounds.lower <= support <= bounds.upper:
            limit -= 1
            where = f"in {bounds.lower} to {bounds.upper} records of every possible world"
            yield _pair_witness(items, support, where)


def _at(codes: Codes, wanted: Int64s) -> Int64s:
    """How often each wanted pair occurs."""
    return np.append(codes[1], 0)[find(codes[0], wanted)]


def _labels(layout: Layout, numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(sorted(layout.label(number) for number in numbers))


def _pair_witness(items: tuple[str, ...], support: int, where: str) -> Witness:
    text = f"{show_items(items)} occurs in {plural(support, 'original')}, but {where}"
    return Witness(text, items, support, private=True)

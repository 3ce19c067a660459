"""Does a disassociated release come from this original: is it one of the possible worlds?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.merging import item_supports, renamed
from setveil.audit.disassociated.blocks import Placed, compare
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.pairs import check_pairs
from setveil.audit.disassociated.projections import Difference
from setveil.audit.records import check_record_count
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Int64s, sums
from setveil.data.transactions import Bags, Transactions
from setveil.words import are, count, plural


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
        checks.append(check_pairs(layout, _renumbered(layout, data), most, limit))
    return checks


def _renumbered(layout: Layout, original: Transactions) -> Transactions:
    """The original with its items numbered as in the release, which has all of them."""
    numbers = _renumber(layout, original).astype(np.int32)
    return renamed(original, numbers, layout.release.items)


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
    if len(alignment) != len(original) or not _names_simple(layout, alignment):
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


def _names_simple(layout: Layout, alignment: Int64s) -> bool:
    inside = bool(((alignment >= 0) & (alignment < layout.node_count)).all())
    return inside and bool(layout.release.is_simple[alignment].all())


def _compare(
    layout: Layout, original: Transactions, alignment: Int64s, limit: int
) -> list[Witness]:
    """Find each item of each original in its cluster, and compare with what is published there."""
    numbers = _renumber(layout, original)
    if ((numbers < 0) & (item_supports(original) > 0)).any():
        entry = int(np.flatnonzero(numbers[original.items] < 0)[0])
        text = "an item of an original record is not published"
        return [Witness(text, original=original.record(_owner(original, entry)), private=True)]
    layout, found = compare(Placed(layout, original, alignment, numbers), limit)
    if found.missing is not None:
        return [_missing_witness(layout, original, *found.missing)]
    if found.idle is not None:
        node, number = divmod(found.idle, layout.width)
        where = f"in the term chunk of {layout.name(node)}, but in none of its originals"
        text = f"{layout.label(number)} is {where}"
        return [Witness(text, (layout.label(number),), 0, private=True)]
    return [_projection_witness(layout, one) for one in found.differences]


def _owner(original: Transactions, entry: int) -> int:
    return int(np.searchsorted(original.indptr, entry, side="right")) - 1


def _missing_witness(
    layout: Layout, original: Transactions, row: int, node: int, item: int
) -> Witness:
    label = layout.label(item)
    text = f"{layout.name(node)} does not show {label}, but an original has it"
    return Witness(text, (label,), original=original.record(row), private=True)


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

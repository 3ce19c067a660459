"""Does a grouped release come from its original: are its columns covered, and its sets of it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.alignment.align import over_whole_tree
from setveil.alignment.flow import Matching
from setveil.alignment.merging import item_supports, recounted
from setveil.audit.disassociated.check import check_disassociated
from setveil.audit.generalized import check_generalized
from setveil.audit.grouped.apart import Apart
from setveil.audit.grouped.cells import covered_values, point_of
from setveil.audit.suppressed import check_suppressed
from setveil.audit.verdict import Check, Question, Witness
from setveil.data.arrays import Flags, Int64s, offsets, sums
from setveil.data.columns import Column, Table
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.published.grouped.cells import Span
from setveil.published.grouped.form import Grouped
from setveil.words import are, plural

_MOST_PAIRS = 20_000_000
"""How many pairs of a group and a combination of values are compared at once."""


def check_columns(release: Grouped, data: Table, limit: int) -> Check:
    """Whether the cells of each person's group cover the person's values; without the alignment,
    whether people can be given to groups so that they do."""
    covers = [covered_values(*each) for each in zip(release.columns, data.columns, strict=True)]
    if release.alignment is None:
        return _by_flow(release, data, covers)
    homes = release.alignment
    count = len(release.groups)
    inside = len(homes) == len(data) and bool(((homes >= 0) & (homes < count)).all())
    people = [len(group) for group in release.groups]
    if not inside or np.bincount(homes, minlength=count).tolist() != people:
        text = "the alignment does not give each group as many originals as it has people"
        return Check("values", False, text)
    witnesses, wrong = list[Witness](), np.zeros(len(data), dtype=bool)
    for place, (column, held) in enumerate(zip(release.columns, data.columns, strict=True)):
        cells = release.cells[homes, place]
        missed = np.flatnonzero(~covers[place][cells, held.codes])
        wrong[missed] = True
        for row in missed[:limit].tolist():
            value, shown = held.values[held.codes[row]], column.shown(int(cells[row]))
            text = f"{column.name} {value or 'missing'} is published as {shown}"
            witnesses.append(Witness(text, (), original=data.record(row), private=True))
    if witnesses:
        text = f"{are(int(wrong.sum()), 'original')} in a group that does not cover their values"
        many = {"people": int(wrong.sum())}
        return Check("values", False, text, tuple(witnesses[:limit]), violations=many)
    text = "each published value covers those of all people of its group (by the alignment)"
    return Check("values", True, text, compared="each group covers its own", exact=True)


def _by_flow(release: Grouped, data: Table, covers: Sequence[Flags]) -> Check:
    codes = np.stack([column.codes for column in data.columns], axis=1)
    kinds, member = np.unique(codes, axis=0, return_inverse=True)
    supply = np.bincount(member.reshape(-1), minlength=len(kinds)).astype(np.int64)
    owners, places = list[Int64s](), list[Int64s]()
    step = max(_MOST_PAIRS // max(len(release.groups), 1), 1)
    for start in range(0, len(kinds), step):
        block = kinds[start : start + step]
        fits = np.ones((len(block), len(release.groups)), dtype=bool)
        for place, each in enumerate(covers):
            fits &= each[release.cells[:, place]][:, block[:, place]].T
        rows, groups = np.nonzero(fits)
        owners.append(rows + start)
        places.append(groups)
    owner, group = np.concatenate(owners), np.concatenate(places)
    lengths = np.bincount(owner, minlength=len(kinds))
    none = np.flatnonzero(lengths == 0)
    if len(none):
        pairs = zip(data.columns, kinds[none[0]].tolist(), strict=True)
        said = ", ".join(f"{each.name} {each.values[code] or 'missing'}" for each, code in pairs)
        many = int(supply[none].sum())
        witness = Witness(f"no group covers {said}", (), int(supply[none[0]]), private=True)
        text = f"{are(many, 'original')} covered by no group"
        return Check("values", False, text, (witness,), violations={"people": many})
    sizes = np.array([len(each) for each in release.groups], dtype=np.int64)
    shortage = Matching(offsets(lengths), group, supply, sizes).fill()
    if shortage is not None:
        text = f"some groups have {shortage.needed:,} people, but only {shortage.fitting:,} "
        return Check("values", False, f"{text}originals have values that they cover")
    text = "the originals can be given to groups that cover their values"
    return Check("values", True, text, compared="columns can be given to groups")


def check_ends(release: Grouped, data: Table, crowd: int, limit: int) -> Check:
    """Whether no end of an interval is a value that some people have, but fewer than k."""
    witnesses = list[Witness]()
    for place, (column, held) in enumerate(zip(release.columns, data.columns, strict=True)):
        used = np.unique(release.cells[:, place]).tolist()
        spans = [cell for cell in map(column.cells.__getitem__, used) if isinstance(cell, Span)]
        ends = {end for span in spans for end in (span.low, span.high) if end is not None}
        people = _people_at(held)
        for end in sorted(ends):
            many = people.get(point_of(end, column.kind), 0)
            if 0 < many < crowd:
                said = f"the end {end} of {column.name} is the value of"
                text = f"{said} {plural(many, 'person', 'people')}"
                witnesses.append(Witness(text, (), many, private=True))
    if witnesses:
        text = f"{plural(len(witnesses), 'end')} of intervals: values of fewer than {crowd} people"
        return Check(
            "ends", False, text, tuple(witnesses[:limit]), violations={"ends": len(witnesses)}
        )
    text = f"no end of an interval is a value that fewer than {crowd} people have"
    return Check("ends", True, text)


def _people_at(column: Column) -> dict[object, int]:
    """How many people have each value."""
    counts = np.bincount(column.codes, minlength=len(column.values)).tolist()
    found = dict[object, int]()
    for value, many in zip(column.values, counts, strict=True):
        point = point_of(value, column.kind)
        if many and point is not None:
            found[point] = found.get(point, 0) + many
    return found


def check_sets(apart: Apart, data: Table, question: Question) -> list[Check]:
    """Whether the sets of each group come from those of its people; without the alignment, whether
    all sets together can come from all of theirs."""
    release = apart.release
    sets = Transactions(data.indptr, data.items, data.vocabulary)
    known = apart.aligned is not None
    found = _OF_SETS[release.groups[0].form](apart, sets, question, known)
    kept = [each for each in found if each.name not in ("records", "private", "structure")]
    return [_of_groups(each, known) for each in kept]


def _of_groups(check: Check, known: bool) -> Check:
    """A check of sets in the words of groups."""
    compared = f"values fit their groups, and {check.compared}" if check.compared else ""
    if not known:
        return replace(check, compared=compared)
    text = f"within each group, {check.text}"
    if check.name == "items" and check.holds:  # its number counts an item once for each group
        text = "each group publishes all items of its people, and no others"
    return replace(check, text=text, compared=compared)


def _suppressed(apart: Apart, sets: Transactions, question: Question, known: bool) -> list[Check]:
    if not known:
        return [_at_most(apart.release, sets)]
    joined: Any = recounted(apart.joined)
    return check_suppressed(joined, replace(question, original=apart.original(sets)))


def _generalized(apart: Apart, sets: Transactions, question: Question, known: bool) -> list[Check]:
    release = over_whole_tree(apart.release, sets)
    some: Any = release.groups
    if not some[0].is_global:
        rows: Any = Apart((), apart.homes, release).joined
        return check_generalized(rows, replace(question, original=sets))
    if not known:
        return [_at_most(release, sets)]
    homes = release.alignment
    assert homes is not None
    checks: list[Check] = []
    for number, group in enumerate(some):
        rows = np.flatnonzero(homes == number)
        checks = check_generalized(group, replace(question, original=sets.take(rows)))
        if not all(check.holds for check in checks):
            break
    return checks


def _at_most(release: Grouped, sets: Transactions) -> Check:
    """Whether no item or group of items is published for more people than have one of it."""
    some: Any = release.groups
    tree = release.tree
    labels = tree.nodes.numbers if tree is not None else sets.vocabulary.numbers
    published = np.zeros(len(labels), dtype=np.int64)
    foreign = set[str]()
    for group in some:
        names = group.classes.vocabulary.labels
        often = sums(group.classes.items, group.sizes[group.classes.rows], len(names))
        for number in np.flatnonzero(often).tolist():
            if names[number] in labels:
                published[labels[names[number]]] += often[number]
            else:
                foreign.add(names[number])
    most = item_supports(sets) if tree is None else _people_below(tree, sets)
    over = [label for label, number in labels.items() if published[number] > most[number]]
    wrong = [*sorted(foreign), *over]
    if wrong:
        text = f"{are(len(wrong), 'item')} published for more people than have it"
        witness = Witness(f"{wrong[0]} is", (wrong[0],), private=True)
        return Check("containment", False, text, (witness,))
    text = "no item or group of items is published for more people than have it"
    return Check("containment", True, text, compared="counts agree")


def _people_below(tree: Hierarchy, sets: Transactions) -> Int64s:
    """How many people have an item at or below each node."""
    leaves, rows = tree.nodes.find(sets.vocabulary.labels)[sets.items], sets.rows
    nodes, rows = leaves[leaves >= 0], rows[leaves >= 0]
    found = np.zeros(len(tree), dtype=np.int64)
    seen = np.zeros(0, dtype=np.int64)
    while len(nodes):
        seen = np.union1d(seen, rows * len(tree) + nodes)
        nodes = tree.parent[nodes].astype(np.int64)
        nodes, rows = nodes[nodes >= 0], rows[nodes >= 0]
    found += np.bincount(seen % len(tree), minlength=len(tree))
    return found


def _disassociated(
    apart: Apart, sets: Transactions, question: Question, known: bool
) -> list[Check]:
    before = apart.original(sets) if known else sets
    made: Any = apart.joined if known else Apart((), apart.homes, apart.release).joined
    done = {each.name for each in check_disassociated(made, replace(question, original=None))}
    found = check_disassociated(made, replace(question, original=before))
    return [each for each in found if each.name not in done]


_OF_SETS = {
    "suppressed": _suppressed,
    "generalized": _generalized,
    "disassociated": _disassociated,
}
"""By form of the sets: whether they come from their original."""

"""Are the private matches of a release what its published bags were made of? They are checked one by one, by nothing but counting."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.audit.kanonymity import shown_record
from setveil.audit.typical_bags.pairing import unpaired
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.transactions import Bags
from setveil.hierarchy.ancestors import common_ancestors
from setveil.hierarchy.neighbours import Neighbours
from setveil.hierarchy.tree import Hierarchy
from setveil.published.typical_bags import Matches, TypicalBags

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Slots:
    """The slots of all groups, renumbered from 0; the matches sorted by slot."""

    records: Numbers
    items: Numbers
    slots: Numbers
    starts: Numbers
    """Slot s has the matches from `starts[s]` to `starts[s + 1]`."""

    @classmethod
    def of(cls, matches: Matches) -> Slots:
        names, slots = np.unique(matches.slots, return_inverse=True)
        order = np.lexsort((matches.items, slots))
        starts = np.searchsorted(slots[order], np.arange(len(names) + 1))
        return cls(
            matches.records[order].astype(np.int64),
            matches.items[order].astype(np.int64),
            slots[order],
            starts,
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def members(self, slot: int) -> list[int]:
        """The items of a slot, one for each person."""
        found: list[int] = self.items[self.starts[slot] : self.starts[slot + 1]].tolist()
        return found


def check_matches(
    release: TypicalBags,
    matches: Matches,
    original: Bags,
    hierarchy: Hierarchy | None,
    limit: int = 1,
) -> Check:
    """Whether each published occurrence stands for one own occurrence of each person of its group, and shows what these have in common.

    Args:
        release: The release, with an alignment that fits its sizes.
        matches: What was matched.
        original: The data.
        hierarchy: The tree by which items are near each other; when not given, that is not looked at.
        limit: How many witnesses to give.
    """
    slots = Slots.of(matches)
    faults = _not_own(slots, original) or _not_shared(slots, release)
    faults = faults or _not_shown(slots, release, original)
    tree, near = release.hierarchy if hierarchy is None else hierarchy, ""
    epsilon = release.epsilon
    if not faults and tree is not None and epsilon is not None:
        near = f", none of which are farther than {epsilon} from each other"
        faults = _not_near(slots, tree.neighbours(original.vocabulary, epsilon), original)
    if faults:
        return Check(
            "containment", False, "what was matched is not what is published", tuple(faults[:limit])
        )
    return Check(
        "containment",
        True,
        f"each published occurrence stands for one own occurrence of each of its originals{near}",
    )


def _not_own(slots: Slots, original: Bags) -> list[Witness]:
    """Records that are matched with more occurrences of an item than they have."""
    width = max(len(original.vocabulary), 1)
    if len(slots.records) and not (
        0 <= slots.records.min() <= slots.records.max() < len(original)
        and 0 <= slots.items.min() <= slots.items.max() < width
    ):
        return [Witness("a match names a record or an item that the original does not have")]
    codes, used = np.unique(slots.records * width + slots.items, return_counts=True)
    own = original.rows * width + original.items
    place = np.minimum(np.searchsorted(own, codes), max(len(own) - 1, 0))
    held = (
        np.where(own[place] == codes, original.counts[place], 0)
        if len(own)
        else np.zeros(len(codes), dtype=np.int64)
    )
    return [
        Witness(
            f"{used[at]} occurrences of {original.vocabulary[code % width]} are published for an original that has {held[at]}",
            original=shown_record(original, code // width),
            private=True,
        )
        for at, code in zip(
            np.flatnonzero(used > held).tolist(), codes[used > held].tolist(), strict=True
        )
    ]


def _not_shared(slots: Slots, release: TypicalBags) -> list[Witness]:
    """Groups whose people do not have one occurrence each in the same slots, as many as their published bag is long."""
    alignment = release.alignment
    assert alignment is not None
    lengths = release.classes.totals[alignment]
    matched = np.bincount(slots.records, minlength=len(alignment))
    first = np.full(len(alignment), len(slots), dtype=np.int64)
    np.minimum.at(first, slots.records, slots.slots)
    people = np.bincount(first, minlength=len(slots) + 1)
    wrong = matched != lengths
    sizes = np.diff(slots.starts)
    wrong[slots.records[sizes[slots.slots] != people[first[slots.records]]]] = True
    leader = first[slots.records[slots.starts[:-1]]] if len(slots) else slots.starts[:0]
    wrong[slots.records[first[slots.records] != leader[slots.slots]]] = True
    wrong[slots.records[alignment[slots.records] != _of_leaders(slots, alignment)]] = True
    codes = np.sort(slots.records * max(len(slots), 1) + slots.slots)
    wrong[codes[1:][codes[1:] == codes[:-1]] // max(len(slots), 1)] = True
    return [
        _witness(
            release,
            int(alignment[record]),
            "is not matched with one occurrence of each of the same originals in each of its slots",
        )
        for record in np.flatnonzero(wrong).tolist()
    ]


def _of_leaders(slots: Slots, alignment: Numbers) -> Numbers:
    """For each match the class of the first record of its slot."""
    return alignment[slots.records[slots.starts[:-1]]][slots.slots] if len(slots) else slots.slots


def _not_shown(slots: Slots, release: TypicalBags, original: Bags) -> list[Witness]:
    """Groups whose bag does not show what its slots hold: themselves, the lowest node over them, or one of their items each."""
    alignment = release.alignment
    assert alignment is not None
    leader = slots.records[slots.starts[:-1]]
    first = np.full(len(alignment), len(slots), dtype=np.int64)
    np.minimum.at(first, slots.records, slots.slots)
    group = first[leader]
    if release.hierarchy is not None:
        tree = release.hierarchy
        nodes = common_ancestors(
            tree, slots.slots, tree.leaf_numbers(original.vocabulary)[slots.items], len(slots)
        )
        shown: list[object] = [tree.labels[node] for node in nodes.tolist()]
    elif release.slots is not None:
        shown = [_counted(slots.members(slot), original) for slot in range(len(slots))]
    else:
        return _without_item(slots, group, leader, release, original)
    numbers = {meaning: number for number, meaning in enumerate(release.meanings())}
    found: dict[int, dict[int, int]] = {}
    for slot, meaning in enumerate(shown):
        bag = found.setdefault(int(group[slot]), {})
        number = numbers.get(meaning, -1)
        bag[number] = bag.get(number, 0) + 1
    told = "is not what its slots hold"
    return [
        _witness(release, int(alignment[leader[slot]]), told)
        for slot, bag in found.items()
        if bag != _bag(release, int(alignment[leader[slot]]))
    ]


def _without_item(
    slots: Slots, group: Numbers, leader: Numbers, release: TypicalBags, original: Bags
) -> list[Witness]:
    """Groups in which some published item is not one of those that its slot holds, whichever slot it may be that of."""
    assert release.alignment is not None
    place = [release.items.numbers.get(label, -1) for label in original.vocabulary]
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.unique(group)).tolist()
    faults = []
    for start, stop in zip(bounds, [*bounds[1:], len(order)], strict=False):
        row = int(release.alignment[leader[order[start]]])
        bag = _bag(release, row)
        at = {item: position for position, item in enumerate(bag)}
        kinds = Counter(
            frozenset(at[place[item]] for item in slots.members(slot) if place[item] in at)
            for slot in order[start:stop].tolist()
        )
        if (
            unpaired([sorted(kind) for kind in kinds], list(kinds.values()), list(bag.values()))
            is not None
        ):
            faults.append(
                _witness(
                    release,
                    row,
                    "has items that none of the originals it stands for has in that place",
                )
            )
    return faults


def _not_near(slots: Slots, near: Neighbours, original: Bags) -> list[Witness]:
    """Pairs of different items of one slot that are farther apart than epsilon."""
    width = max(len(original.vocabulary), 1)
    distinct = np.unique(slots.slots * width + slots.items)
    owner, item = np.divmod(distinct, width)
    lengths = np.bincount(owner, minlength=len(slots))
    many = lengths[owner]
    begins = np.concatenate(([0], np.cumsum(lengths)))[:-1]
    left = np.repeat(item, many)
    ends = np.cumsum(many)
    right = item[
        np.arange(ends[-1] if len(ends) else 0)
        - np.repeat(ends - many, many)
        + np.repeat(begins[owner], many)
    ]
    pairs = np.unique(left * width + right)
    known = np.repeat(np.arange(len(near)), np.diff(near.indptr)) * width + near.items
    place = np.minimum(np.searchsorted(known, pairs), max(len(known) - 1, 0))
    labels = original.vocabulary.labels
    return [
        Witness(
            f"{labels[pair // width]} and {labels[pair % width]} are in one slot, but farther apart than {near.epsilon}",
            private=True,
        )
        for pair in pairs[known[place] != pairs].tolist()
        if pair // width < pair % width
    ]


def _counted(items: list[int], original: Bags) -> frozenset[tuple[str, int]]:
    labels = original.vocabulary.labels
    return frozenset((labels[item], items.count(item)) for item in set(items))


def _bag(release: TypicalBags, row: int) -> dict[int, int]:
    classes = release.classes
    entries = slice(classes.indptr[row], classes.indptr[row + 1])
    return dict(zip(classes.items[entries].tolist(), classes.counts[entries].tolist(), strict=True))


def _witness(release: TypicalBags, row: int, what: str) -> Witness:
    items = shown_record(release.classes, row)
    return Witness(f"the bag {show_items(items)} {what}", items, int(release.sizes[row]))

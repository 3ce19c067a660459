"""Do the private matches of a release explain its published bags, and does each bag show all that
its people share? Checked by counting alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from setveil.alignment.merging import item_supports
from setveil.audit.typical_bags.pairing import BRANCH, branches_of, unpaired
from setveil.audit.verdict import Check, Question, Witness, show_items
from setveil.data.arrays import Flags, Int32s, Int64s, find, offsets, ranges, sums
from setveil.data.transactions import Bags
from setveil.hierarchy.neighbours import Neighbours
from setveil.hierarchy.tree import Hierarchy
from setveil.published.typical_bags import Matches, TypicalBags
from setveil.words import plural

OWN = "each bag represents its own"


@dataclass(frozen=True)
class Slots:
    """The slots of all groups, renumbered from 0; the matches sorted by slot."""

    records: Int64s
    items: Int64s
    slots: Int64s
    starts: Int64s
    """Slot s has the matches from `starts[s]` to `starts[s + 1]`."""

    @classmethod
    def of(cls, matches: Matches) -> Slots:
        names, slots = np.unique(matches.slots, return_inverse=True)
        order = np.lexsort((matches.items, slots))
        starts = np.searchsorted(slots[order], np.arange(len(names) + 1))
        records, items = (each[order].astype(np.int64) for each in (matches.records, matches.items))
        return cls(records, items, slots[order], starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def leaders(self) -> Int64s:
        """The first record of each slot."""
        return self.records[self.starts[:-1]]

    def first_of(self, people: int) -> Int64s:
        """The first slot of each original record; one past the last slot if it has none."""
        first = np.full(people, len(self), dtype=np.int64)
        np.minimum.at(first, self.records, self.slots)
        return first

    def members(self, slot: int) -> list[int]:
        """The items of a slot, one for each person."""
        found: list[int] = self.items[self.starts[slot] : self.starts[slot + 1]].tolist()
        return found


def check_matches(
    release: TypicalBags, matches: Matches, original: Bags, question: Question
) -> Check:
    """Whether each published occurrence is matched with one occurrence of each person of its group,
    and shows what these have in common.

    Args:
        release: The release, with an alignment that fits its sizes.
        matches: What was matched.
        original: The data.
        question: Its hierarchy gives the distances of items, which are not checked without one.
    """
    slots = Slots.of(matches)
    faults = _not_own(slots, original) or _not_shared(slots, release)
    faults = faults or _not_shown(slots, release, original)
    tree = release.hierarchy if question.hierarchy is None else question.hierarchy
    text = "each published occurrence is matched with one in each original"
    epsilon = release.epsilon
    if not faults and tree is not None and epsilon is not None:
        text += f", at most {epsilon} steps from each other"
        faults = _not_near(slots, tree.neighbours(original.vocabulary, epsilon), original)
    if not faults and tree is not None and release.same_branch:
        text += f", {BRANCH}"
        faults = _not_in_one_branch(slots, branches_of(tree, original.vocabulary), original)
    if faults:
        text = "the matched items are not those that are published"
        return Check("containment", False, text, tuple(faults[: question.limit]))
    close = tree is not None and (epsilon is not None or bool(release.same_branch))
    known = close or release.slots is not None or release.hierarchy is not None
    return Check("containment", True, text, compared=OWN, exact=known)


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
    held = np.append(original.counts, 0)[find(own, codes)]
    faults = []
    for at in np.flatnonzero(used > held).tolist():
        record, item = divmod(int(codes[at]), width)
        verb = "is" if used[at] == 1 else "are"
        text = f"{plural(int(used[at]), 'occurrence')} of {original.vocabulary[item]} {verb}"
        text += f" published for an original that has {held[at]}"
        faults.append(Witness(text, original=original.shown(record), private=True))
    return faults


def _not_shared(slots: Slots, release: TypicalBags) -> list[Witness]:
    """Groups whose people do not have one occurrence each in every slot of their published bag."""
    alignment = release.alignment
    assert alignment is not None
    lengths = release.classes.totals[alignment]
    matched = np.bincount(slots.records, minlength=len(alignment))
    first = slots.first_of(len(alignment))
    people = np.bincount(first, minlength=len(slots) + 1)
    wrong = matched != lengths
    sizes = np.diff(slots.starts)
    wrong[slots.records[sizes[slots.slots] != people[first[slots.records]]]] = True
    leaders = slots.leaders[slots.slots]
    wrong[slots.records[first[slots.records] != first[leaders]]] = True
    wrong[slots.records[alignment[slots.records] != alignment[leaders]]] = True
    codes = np.sort(slots.records * max(len(slots), 1) + slots.slots)
    wrong[codes[1:][codes[1:] == codes[:-1]] // max(len(slots), 1)] = True
    text = "is not matched with one occurrence of each of the same originals in each of its slots"
    numbers = alignment[np.flatnonzero(wrong)].tolist()
    return [_witness(release, number, text) for number in numbers]


def _not_shown(slots: Slots, release: TypicalBags, original: Bags) -> list[Witness]:
    """Groups whose bag shows none of what may represent one of its slots."""
    alignment = release.alignment
    assert alignment is not None
    leader = slots.leaders
    group = slots.first_of(len(alignment))[leader]
    if release.by_majority:
        return _without_item(slots, group, release, _majority(slots, release, original))
    if release.hierarchy is not None:
        shown: list[object] = list(_over(slots, release.hierarchy, original))
    elif release.slots is not None:
        labels, members = original.vocabulary.labels, map(slots.members, range(len(slots)))
        shown = [frozenset((labels[i], each.count(i)) for i in set(each)) for each in members]
    else:
        place = release.items.find(original.vocabulary).tolist()
        items = [frozenset(place[item] for item in slots.members(i)) for i in range(len(slots))]
        return _without_item(slots, group, release, items)
    numbers = {meaning: number for number, meaning in enumerate(release.meanings())}
    found: dict[int, Counter[int]] = {}
    for slot, meaning in enumerate(shown):
        found.setdefault(int(group[slot]), Counter())[numbers.get(meaning, -1)] += 1
    text = "does not show what its slots hold"
    return [
        _witness(release, int(alignment[leader[slot]]), text)
        for slot, bag in found.items()
        if bag != _bag(release, int(alignment[leader[slot]]))
    ]


def _over(slots: Slots, tree: Hierarchy, original: Bags) -> list[str]:
    """The lowest node above the items of each slot."""
    leaves = tree.leaf_numbers(original.vocabulary)[slots.items]
    if not len(slots):
        return []
    nodes = np.minimum.reduceat(leaves, slots.starts[:-1]).astype(np.int64)
    ends = np.maximum.reduceat(leaves, slots.starts[:-1])
    while (above := tree.stop[nodes] <= ends).any():  # climb until the last item is below too
        nodes[above] = tree.parent[nodes[above]]
    return [tree.labels[node] for node in nodes.tolist()]


def _majority(slots: Slots, release: TypicalBags, original: Bags) -> list[frozenset[int]]:
    """What may show each slot: the lowest node above it, and items of half its people at least."""
    assert release.hierarchy is not None
    place = release.items.find(original.vocabulary).tolist()
    numbers, found = release.items.numbers, []
    for slot, node in enumerate(_over(slots, release.hierarchy, original)):
        votes = Counter(slots.members(slot))
        shows = {place[item] for item, times in votes.items() if 2 * times >= votes.total()}
        found.append(frozenset(shows | {numbers.get(node, -1)}))
    return found


def _without_item(
    slots: Slots, group: Int64s, release: TypicalBags, shows: list[frozenset[int]]
) -> list[Witness]:
    """Groups in which some published item cannot be assigned to a slot that may show it."""
    assert release.alignment is not None
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.unique(group)).tolist()
    faults = []
    for start, stop in zip(bounds, [*bounds[1:], len(order)], strict=False):
        row = int(release.alignment[slots.leaders[order[start]]])
        bag = _bag(release, row)
        at = {item: position for position, item in enumerate(bag)}
        kinds = Counter(
            frozenset(at[item] for item in shows[slot] if item in at)
            for slot in order[start:stop].tolist()
        )
        edges = [sorted(kind) for kind in kinds]
        if unpaired(edges, list(kinds.values()), list(bag.values())) is not None:
            text = "has an item that none of its originals has in that slot"
            faults.append(_witness(release, row, text))
    return faults


def _not_near(slots: Slots, near: Neighbours, original: Bags) -> list[Witness]:
    """Pairs of different items of one slot that are farther apart than epsilon."""
    width = max(len(original.vocabulary), 1)
    distinct = np.unique(slots.slots * width + slots.items)
    owner, item = np.divmod(distinct, width)
    lengths = np.bincount(owner, minlength=len(slots))
    right = item[ranges(offsets(lengths)[owner], lengths[owner])]
    pairs = np.unique(np.repeat(item, lengths[owner]) * width + right)
    known = np.repeat(np.arange(len(near)), np.diff(near.indptr)) * width + near.items
    labels, faults = original.vocabulary.labels, []
    for one, other in zip(*np.divmod(pairs[find(known, pairs) < 0], width), strict=True):
        if one < other:
            text = f"{labels[one]} and {labels[other]} are in one slot"
            text += f", but more than {near.epsilon} steps apart"
            faults.append(Witness(text, private=True))
    return faults


def _not_in_one_branch(slots: Slots, branches: Int32s, original: Bags) -> list[Witness]:
    """Slots whose items have nothing but the root in common."""
    firsts = slots.items[slots.starts[slots.slots]]
    odd = branches[slots.items] != branches[firsts]
    labels, faults = original.vocabulary.labels, []
    for one, other in zip(firsts[odd].tolist(), slots.items[odd].tolist(), strict=True):
        text = f"{labels[one]} and {labels[other]} are in one slot"
        faults.append(Witness(f"{text}, but have only the root in common", private=True))
    return faults


def _bag(release: TypicalBags, row: int) -> dict[int, int]:
    classes = release.classes
    entries = classes.entries(row)
    return dict(zip(classes.items[entries].tolist(), classes.counts[entries].tolist(), strict=True))


def _witness(release: TypicalBags, row: int, what: str) -> Witness:
    items = release.classes.shown(row)
    return Witness(f"the bag {show_items(items)} {what}", items, int(release.sizes[row]))


def check_complete(release: TypicalBags, original: Bags, limit: int = 1) -> Check:
    """Whether no item belongs to all people of a bag that does not show it.

    Without the alignment it is not known who these people are. Then only this is compared: at least
    one person for each bag that does not show an item does not have it."""
    if release.alignment is None:
        return _check_counts(release, original, limit)
    width = max(len(original.vocabulary), 1)
    codes = release.alignment[original.rows] * width + original.items
    held, people = np.unique(codes, return_counts=True)
    everybody = held[people == release.sizes[held // width]]
    missing = everybody[find(_shown(release, original), everybody) < 0]
    witnesses = []
    for code in missing[:limit].tolist():
        row, item = divmod(code, width)
        bag = release.classes.shown(row)
        text = f"all people of the bag {show_items(bag)} have {original.vocabulary[item]}"
        witnesses.append(Witness(f"{text}, which it does not show", bag, private=True))
    if witnesses:
        text = f"{plural(len(missing), 'item')} that all people of a bag have and it does not show"
        return Check("complete", False, text, tuple(witnesses))
    return Check("complete", True, "each bag shows every item that all its people have")


def _check_counts(release: TypicalBags, original: Bags, limit: int) -> Check:
    width = max(len(original.vocabulary), 1)
    bags = sums(_shown(release, original) % width, 1, width)[: len(original.vocabulary)]
    most = len(release) - len(release.classes) + bags
    wrong = np.flatnonzero(item_supports(original) > most)
    witnesses = tuple(
        Witness(f"{label} belongs to more people than the bags allow", (), private=True)
        for label in (original.vocabulary[item] for item in wrong[:limit].tolist())
    )
    text = "more people have an item than bags that do not show it allow"
    if not witnesses:
        text = "no item belongs to more people than the bags allow; whose bag is whose was not used"
    return Check("complete", not witnesses, text, witnesses)


def _shown(release: TypicalBags, original: Bags) -> Int64s:
    """The items that each bag shows as what all its people may have: class and item, ascending."""
    classes, slots, width = release.classes, release.slots, max(len(original.vocabulary), 1)
    labels = release.items.labels
    alone: Flags = np.ones(len(release.items), dtype=bool)
    if slots is not None:
        alone = slots.lengths == 1
        labels = tuple(slots.vocabulary[at] for at in slots.items[slots.indptr[:-1]].tolist())
    place = np.where(alone, original.vocabulary.find(labels), -1)[classes.items]
    return np.unique((classes.rows * width + place)[place >= 0])

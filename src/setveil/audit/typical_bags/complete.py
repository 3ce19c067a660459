"""Does each bag show every item that all its people have, as the release says?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.merging import item_supports
from setveil.audit.records import shown_record
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags, Int64s, find, sums
from setveil.data.transactions import Bags
from setveil.published.typical_bags import TypicalBags
from setveil.words import plural


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
        bag = shown_record(release.classes, row)
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

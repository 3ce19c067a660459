"""Can every typical bag be given to an original that it may represent, if nobody knows to which?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.flow import Budget, Matching, Shortage, TooLargeError
from setveil.alignment.merging import Counted, count_records
from setveil.audit.records import shown_record
from setveil.audit.typical_bags.pairing import Pairing, Relation
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import Flags, Int64s
from setveil.data.transactions import Bags
from setveil.published.typical_bags import TypicalBags
from setveil.words import plural

MOST_PAIRS = 2_000_000
"""The most pairs of a distinct bag and a distinct original that may fit; some seconds."""
MOST_WORK = 20_000_000
"""How many pairs of a published and an original item are compared at most; about ten seconds."""
_MOST_BITS = 1 << 32

UNKNOWN = "which original each bag was made from is not known"


def check_assignment(release: TypicalBags, original: Bags, relation: Relation) -> Check | None:
    """Whether the bags can be given to the originals, one each, so that each occurrence in a bag
    can be paired with an occurrence of its original that it may represent.

    Equal originals are counted. A bag may fit an original that has, for each of its items, one that
    the item may represent; for these a pairing of occurrences is searched. Then a flow gives each
    bag as many originals as it represents.

    Returns:
        None if there are too many pairs of bags and originals that may fit.
    """
    originals = count_records(original)
    assert isinstance(originals.records, Bags)
    budget = Budget(MOST_WORK)
    try:
        possible = _candidates(release, originals.records, relation)
    except TooLargeError:
        return None
    exact = True
    try:
        pairs = Pairing(release.classes, originals.records, relation, budget)
        fitting = [
            [group for group in groups if pairs.lost(number, group) is None]
            for number, groups in enumerate(possible)
        ]
    except TooLargeError:
        fitting, exact = possible, False
    shortage = _match(fitting, originals, release.sizes)
    if shortage is not None:
        return _failed(release, shortage)
    compared = "its bags can be paired"
    return Check("containment", True, _held(relation.words, exact), compared=compared)


def _held(near: str, exact: bool) -> str:
    if exact:
        text = "each published bag can be paired with one original, and each of its occurrences"
        return f"{text} with one of that original, {near}; {UNKNOWN}"
    text = "each published bag can be paired with one original that has, for each item of the bag,"
    return f"{text} one {near}; the data is too large to compare how often; {UNKNOWN}"


def _candidates(release: TypicalBags, originals: Bags, relation: Relation) -> list[list[int]]:
    """For each bag the originals that are long enough and have a partner for each of its items."""
    assert relation.partners is not None
    if len(relation.partners) * len(originals) > _MOST_BITS:
        raise TooLargeError
    owners = _owners(originals)
    holders: dict[int, Flags] = {}
    found, total = [], 0
    classes = release.classes
    rows = classes.parted(classes.items.tolist())
    for items, length in zip(rows, classes.totals.tolist(), strict=True):
        fits: Flags = originals.totals >= length
        for item in items:
            if item not in holders:
                holders[item] = _holders(relation.partners[item], owners, len(originals))
            fits = fits & holders[item]
        total += int(fits.sum())
        if total > MOST_PAIRS:
            raise TooLargeError
        found.append(np.flatnonzero(fits).tolist())
    return found


def _owners(originals: Bags) -> list[Int64s]:
    """The originals that have each item."""
    order = np.argsort(originals.items, kind="stable")
    bounds = np.searchsorted(originals.items[order], np.arange(len(originals.vocabulary) + 1))
    return np.split(originals.rows[order], bounds[1:-1])


def _holders(partners: frozenset[int], owners: list[Int64s], size: int) -> Flags:
    holds = np.zeros(size, dtype=bool)
    for item in partners:
        holds[owners[item]] = True
    return holds


def _match(fitting: list[list[int]], originals: Counted, sizes: Int64s) -> Shortage | None:
    groups = np.array([group for each in fitting for group in each], dtype=np.int64)
    classes = np.repeat(np.arange(len(fitting)), [len(each) for each in fitting])
    order = np.argsort(groups, kind="stable")
    indptr = np.searchsorted(groups[order], np.arange(len(originals.sizes) + 1))
    return Matching(indptr, classes[order], originals.sizes, sizes).fill()


def _failed(release: TypicalBags, shortage: Shortage) -> Check:
    items = shown_record(release.classes, int(shortage.classes[0]))
    bags = f"{plural(shortage.needed, 'bag')} such as {show_items(items)}"
    text = f"{bags} can represent only {plural(shortage.fitting, 'original')}"
    witness = Witness(text, items, shortage.needed, private=True)
    text = "the published bags cannot be paired with originals that they may represent"
    return Check("containment", False, text, (witness,))

"""Does every record, or every set of up to m items that occurs, occur at least k times?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from setveil.alignment.merging import Counted
from setveil.audit.rareitemsets import Search, Vertical
from setveil.audit.verdict import Check, Witness, show_items
from setveil.promises.kanonymity import ALL, KAnonymity, KmAnonymity, VocabularyKAnonymity
from setveil.words import count, plural

_MOST_COUNTED = 20_000_000
"""How many violating itemsets are counted at most."""
_FEW = 1 << 18
"""How many extensions of itemsets are counted at once if no witness is needed."""

Codes = npt.NDArray[np.uint64]
Violation = tuple[tuple[str, ...], int]
"""An itemset and its support."""


def check_km_anonymity(counted: Counted, promise: KmAnonymity, limit: int = 1) -> Check:
    """Whether each set of up to m items occurs in k records or in none; the smallest violations
    are the witnesses."""
    k = promise.k
    if not (counted.sizes < k).any():
        text = f"every record occurs at least {k} times (k-anonymity), so every set of items does"
        return Check(promise.model, True, text)
    data = Vertical.of(counted)
    found = find_violations(data, promise, limit)
    if not found:
        items = "any number of" if promise.m >= ALL else f"up to {promise.m}"
        text = f"every set of {items} items that occurs, occurs in at least {k} records"
        return Check(promise.model, True, text)
    many = count_violations(data, promise)
    text = f"a set of {plural(len(found[0][0]), 'item')} occurs in fewer than {k} records"
    text += f"; {said(many)}"
    witnesses = tuple(
        Witness(
            f"{show_items(items)} occurs in {plural(support, 'record')}, not {k}", items, support
        )
        for items, support in found
    )
    return Check(promise.model, False, text, witnesses, violations=many)


def find_violations(
    counted: Counted | Vertical, promise: KmAnonymity, limit: int = 1
) -> list[Violation]:
    """Up to `limit` minimal itemsets of at most m items with 0 < support < k, smallest first.

    Cost: supports for one item, sorting of coded pairs for two, and so on; the number of itemsets
    in records that occur fewer than k times decides. It stops at the first size with `limit`.
    """
    data = counted if isinstance(counted, Vertical) else Vertical.of(counted)
    found = list[Violation]()
    if not is_violated(data, promise):
        return found
    search = Search(data, promise.k)
    for size in range(1, promise.m + 1):
        for rare in search.of_size(size):
            smaller = [set(items) for items, _ in found]
            for at in rare.supports.argsort(kind="stable").tolist():
                items = data.named(rare.itemsets[at])
                if len(found) < limit and not any(known <= set(items) for known in smaller):
                    found.append((items, int(rare.supports[at])))
            if len(found) >= limit:
                return found
        if search.exhausted:
            break
    return found


def is_violated(data: Vertical, promise: KmAnonymity) -> bool:
    """Whether some itemset of at most m items has 0 < support < k.

    Few itemsets at a time are counted, so that the caches of a processor hold them: that takes
    half as long, but the witnesses are then the first ones and not the rarest of many."""
    search = Search(data, promise.k, at_once=_FEW)
    for size in range(1, promise.m + 1):
        if any(len(rare.supports) for rare in search.of_size(size)):
            return True
        if search.exhausted:
            return False
    return False


def count_violations(
    data: Vertical, promise: KmAnonymity, records: str = "records"
) -> dict[str, int]:
    """How many minimal itemsets violate the promise, and how many records contain one of them.

    It stops after many millions of itemsets; then there are at least so many (`incomplete` is 1).
    """
    minimal = np.zeros(0, dtype=np.uint64)
    # A random number for each item; the code of an itemset is their sum. Two itemsets have the same
    # code with a chance of 2^-64.
    codes: Codes = np.random.default_rng(0).integers(0, 1 << 64, size=data.width, dtype=np.uint64)
    search = Search(data, promise.k)
    hit, itemsets = np.zeros(len(data.weights), dtype=bool), 0
    for size in range(1, promise.m + 1):
        found = [minimal]
        for rare in search.of_size(size):
            hit[rare.carriers] = True
            fresh = _minimal_codes(codes[rare.itemsets], minimal)
            itemsets += len(fresh)
            found.append(fresh)
            if itemsets > _MOST_COUNTED:
                break
        minimal = np.sort(np.concatenate(found))
        if search.exhausted or itemsets > _MOST_COUNTED:
            break
    many = {records: int(data.weights[hit].sum()), "itemsets": itemsets}
    return {**many, "incomplete": 1} if itemsets > _MOST_COUNTED else many


def said(many: Mapping[str, int], noun: str = "record") -> str:
    """What was counted, in words."""
    sets = f"{plural(many['itemsets'], 'set')} of items"
    records = plural(next(iter(many.values())), noun)
    more = "at least " * many.get("incomplete", 0)
    return f"{more}{sets} in {records} {'does' if many['itemsets'] == 1 else 'do'}"


def _minimal_codes(rows: Codes, smaller: Codes) -> Codes:
    """The codes of those of some itemsets that contain none of the smaller ones, given as codes."""
    size = rows.shape[1]
    clean = np.ones(len(rows), dtype=bool)
    for length in range(1, size) if len(smaller) else ():
        for part in combinations(range(size), length):
            code = rows[:, part].sum(axis=1, dtype=np.uint64)
            at = np.minimum(np.searchsorted(smaller, code), len(smaller) - 1)
            clean &= smaller[at] != code
    found: Codes = rows[clean].sum(axis=1, dtype=np.uint64)
    return found


def check_k_anonymity(
    counted: Counted, promise: KAnonymity | VocabularyKAnonymity, limit: int = 1
) -> Check:
    """Whether every record occurs at least k times; the witnesses are the rarest records."""
    rare = np.flatnonzero(counted.sizes < promise.k)
    records = plural(len(counted.sizes), "distinct record")
    if not len(rare):
        text = f"each record is identical to at least {plural(promise.k - 1, 'other')}"
        if len(counted.sizes):
            text += f"; the rarest of {records} occurs {count(counted.sizes.min())} times"
        return Check(promise.model, True, text)
    rare = rare[np.argsort(counted.sizes[rare], kind="stable")]
    verb = "occurs" if len(rare) == 1 else "occur"
    text = f"{count(len(rare))} of {records} {verb} fewer than {promise.k} times"
    witnesses = []
    for number in rare[:limit].tolist():
        items, size = counted.records.shown(number), int(counted.sizes[number])
        fault = f"the record {show_items(items)} occurs {plural(size, 'time')}, not {promise.k}"
        witnesses.append(Witness(fault, items, size))
    many = {"records": int(counted.sizes[rare].sum()), "distinct records": len(rare)}
    return Check(promise.model, False, text, tuple(witnesses), violations=many)

"""Does every record occur at least k times?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.merging import Counted
from setveil.audit.records import shown_record
from setveil.audit.verdict import Check, Witness, show_items
from setveil.promises.kanonymity import KAnonymity, VocabularyKAnonymity
from setveil.words import count, plural


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
    witnesses = (_witness(counted, number, promise.k) for number in rare[:limit].tolist())
    many = {"records": int(counted.sizes[rare].sum()), "distinct records": len(rare)}
    return Check(promise.model, False, text, tuple(witnesses), violations=many)


def _witness(counted: Counted, number: int, k: int) -> Witness:
    items, size = shown_record(counted.records, number), int(counted.sizes[number])
    text = f"the record {show_items(items)} occurs {plural(size, 'time')}, not {k}"
    return Witness(text, items, size)

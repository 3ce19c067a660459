"""A toy promise with a number of its own, and the check that verifies it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from setveil.audit.verdict import Check, Witness
from setveil.parameters import about
from setveil.promises.promise import Promise


@dataclass(frozen=True, repr=False)
class Quorum(Promise):
    """Every published item is held by at least q people."""

    model: ClassVar[str] = "quorum"

    q: int = field(metadata=about("Publish only items that this many people have.", least=2))

    @property
    def crowd(self) -> int:
        return self.q

    def describe(self, *, possible: bool = False) -> str:
        return f"Every published item is held by at least {self.q} people."

    def limits(self) -> str:
        return "Nothing is promised about combinations of items."


def check_quorum(counted, promise, limit):
    """Whether enough people have each item that occurs."""
    records = counted.records
    held = np.bincount(records.items, counted.sizes[records.rows], len(records.vocabulary))
    rare = np.flatnonzero((held > 0) & (held < promise.q))
    labels = [records.vocabulary[item] for item in rare[:limit].tolist()]
    witnesses = tuple(Witness(f"{label} is too rare", (label,)) for label in labels)
    return Check(promise.model, not len(rare), f"{len(rare)} items are too rare", witnesses)

"""A release in parts: as large as a disk, and read into memory only if somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.promises.promise import Promise
from setveil.published.release import Release, Support


@dataclass(frozen=True, repr=False, eq=False)
class InParts(Release):
    """What was published in parts. Its content is read when it is first needed."""

    form: str  # type: ignore[misc]
    records: int
    promise: Promise
    method: Mapping[str, object]
    read: Callable[[], Release]
    """Reads all of it into memory."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Its promise in words: `meaning` and `not_promised`."""
    frame: Any = None
    """The published lines or rows as a Spark DataFrame, if the data was one."""
    alignment: Int64s | None = None

    def __len__(self) -> int:
        return self.records

    def __repr__(self) -> str:
        return f"InParts({self.records} records, {self.form}, {self.promise})"

    def describe(self) -> str:
        return self.said["meaning"]

    def limits(self) -> str:
        return self.said["not_promised"]

    @cached_property
    def whole(self) -> Release:
        """The release in memory."""
        return self.read()

    @property
    def items(self) -> Vocabulary:
        return self.whole.items

    def certain_rows(self) -> tuple[Transactions, Int64s]:
        return self.whole.certain_rows()

    def support(self, itemset: Iterable[object]) -> Support:
        return self.whole.support(itemset)

    def reconstruct(self, seed: int | None = None) -> Transactions:
        return self.whole.reconstruct(seed)

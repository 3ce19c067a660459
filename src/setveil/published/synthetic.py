"""The synthetic form: records drawn from noisy counts, and the noisy counts themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.items import texts_of
from setveil.data.seeds import random_from
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.promises.promise import Promise
from setveil.published.ledger import Expense
from setveil.published.release import Release, Support
from setveil.published.rows import merged, tidy

LEVEL = 0.95
"""How sure the interval of a support is."""
SEVERAL = (
    "If a person has several records, only each of them is protected, not the person: join the "
    "records of one person first."
)


class NoisySupport(NamedTuple):
    """How many records contain an itemset, with noise."""

    items: tuple[str, ...]
    """One or two items, sorted."""
    support: int
    scale: float
    """Of the noise in it, which is Laplace noise: it is off by more than x * scale with a chance
    of exp(-x)."""

    @property
    def margin(self) -> int:
        """How far off the support is at most, 95 times of 100."""
        return math.ceil(self.scale * math.log(1 / (1 - LEVEL)))


@dataclass(frozen=True, eq=False, repr=False)
class Synthetic(Release):
    """Records of nobody in particular, which on the whole are as frequent as the original ones.

    Example:
        >>> from setveil.promises import DifferentialPrivacy
        >>> beer = NoisySupport(("beer",), 3, 1.0)
        >>> rows = [["beer"], ["beer", "wine"], ["beer"]]
        >>> release = Synthetic.of(rows, DifferentialPrivacy(epsilon=1), supports=[beer])
        >>> len(release), list(release.classes), release.sizes.tolist()
        (3, [('beer',), ('beer', 'wine')], [2, 1])
        >>> release.support(["beer"])
        Support(lower=0, upper=6, expected=3.0)
    """

    form: ClassVar[str] = "synthetic"
    shows_records: ClassVar[bool] = False
    expected_is: ClassVar[str] = "a noisy count, or a count of synthetic records"
    bounds_are: ClassVar[str] = "95 % sure"
    stands_alone: ClassVar[bool] = True
    no_rule: ClassVar[str] = "its records are drawn at random"

    classes: Transactions
    """The distinct records in a canonical order."""
    sizes: Int64s
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    people: int = 0
    """The number of original records, with noise; there may be fewer synthetic ones."""
    ledger: tuple[Expense, ...] = ()
    supports: tuple[NoisySupport, ...] = ()
    """Noisy supports of items and pairs; empty if only records are published."""
    alignment: Int64s | None = None
    """Always None: no record belongs to anyone."""

    def __post_init__(self) -> None:
        if type(self.people) is not int or self.people < 0:
            raise DataError("people is not a number of records")
        if self.alignment is not None:
            raise DataError("a synthetic release has no alignment: its records are nobody's")
        super().__post_init__()

    @classmethod
    def of(
        cls,
        records: Iterable[Iterable[object]],
        promise: Promise,
        *,
        ledger: Sequence[Expense] = (),
        supports: Sequence[NoisySupport] = (),
    ) -> Synthetic:
        """From records in any order."""
        return cls.of_rows(Transactions.of(records), promise, ledger=ledger, supports=supports)

    @classmethod
    def of_rows(
        cls,
        rows: Transactions,
        promise: Promise,
        method: Mapping[str, object] | None = None,
        *,
        weights: Int64s | None = None,
        people: int | None = None,
        ledger: Sequence[Expense] = (),
        supports: Sequence[NoisySupport] = (),
    ) -> Synthetic:
        """From records in any order; equal ones are merged, and unused items dropped."""
        classes, sizes, _ = merged(tidy(rows), weights)
        ordered = tuple(sorted(supports, key=lambda one: (len(one.items), -one.support, one.items)))
        number = int(sizes.sum()) if people is None else people
        return cls(classes, sizes, promise, method or {}, number, tuple(ledger), ordered)

    def __len__(self) -> int:
        return int(self.sizes.sum())

    def __eq__(self, other: object) -> bool:
        """Whether both publish the same records equally often, and the same supports."""
        if not isinstance(other, Synthetic) or self.supports != other.supports:
            return False
        return self.sizes.tolist() == other.sizes.tolist() and self.classes == other.classes

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counted = f"{len(self.supports)} noisy supports, " if self.supports else ""
        return f"Synthetic({len(self)} records, {counted}{self.promise})"

    @property
    def items(self) -> Vocabulary:
        return self.classes.vocabulary

    @property
    def silent(self) -> int:
        return int(self.sizes[self.classes.lengths == 0].sum())

    @property
    def facts(self) -> dict[str, object]:
        return {"people": self.people, "ledger": [expense.to_dict() for expense in self.ledger]}

    def certain_rows(self) -> tuple[Transactions, Int64s]:
        """The synthetic records; nothing in them is certain."""
        return self.classes, self.sizes

    def support(self, itemset: Iterable[object]) -> Support:
        """How many original records contain all these items: at least `lower` and at most `upper`
        in 95 of 100 releases, as far as noise goes.

        If the noisy support of the itemset is published, it is the estimate. Otherwise the estimate
        is the number of synthetic records, and the upper bound that of its rarest part."""
        labels = tuple(sorted(set(texts_of(itemset))))
        found = self._table.get(labels)
        if found is not None:
            expected = max(found.support, 0)
            return Support(
                max(expected - found.margin, 0), expected + found.margin, float(expected)
            )
        inner = (*combinations(labels, 1), *combinations(labels, 2))
        parts = [self._table[part] for part in inner if part in self._table]
        most = max(min([self._most, *(one.support + one.margin for one in parts)]), 0)
        return Support(0, most, float(min(self._drawn(labels), most)))

    def support_note(self, itemset: Sequence[str]) -> str:
        labels = tuple(sorted(set(itemset)))
        if labels in self._table:
            return (
                "The interval is about the noise alone. Long records were cut before they were "
                "counted, so the number may also be somewhat low."
            )
        return "Nothing was counted for these items together: this is what synthetic records show."

    @property
    def reconstruction_note(self) -> str:
        return "These are the published records themselves: they belong to nobody."

    def reconstruct(self, seed: int | None = None) -> Transactions:
        """The published records."""
        return self.records(seed)

    def records(self, seed: int | None = None) -> Transactions:
        """All published records in random order: from the system, or from a seed."""
        rows = np.repeat(np.arange(len(self.classes)), self.sizes)
        return self.classes.take(random_from(seed).permutation(rows))

    def _whole_records(self, seed: int | None) -> Transactions:
        return self.records(seed)

    def limits(self) -> str:
        return f"{self.promise.limits()} {SEVERAL}"

    def covered(self, original: Transactions) -> Transactions:
        return original

    @cached_property
    def _table(self) -> dict[tuple[str, ...], NoisySupport]:
        return {one.items: one for one in self.supports}

    @cached_property
    def _holders(self) -> dict[str, frozenset[int]]:
        found: dict[str, set[int]] = {label: set() for label in self.items}
        for row, item in zip(self.classes.rows.tolist(), self.classes.items.tolist(), strict=True):
            found[self.items[item]].add(row)
        return {label: frozenset(rows) for label, rows in found.items()}

    def _drawn(self, labels: Sequence[str]) -> int:
        """How many synthetic records contain all these items."""
        held = [self._holders.get(label, frozenset()) for label in labels]
        if not held:
            return len(self)
        rows = frozenset.intersection(*held)
        return int(self.sizes[list(rows)].sum()) if rows else 0

    @property
    def _most(self) -> int:
        """No more records than this, 95 times of 100, contain an item that is not counted."""
        scale = max((one.scale for one in self.ledger if one.counts == "records"), default=0.0)
        return self.people + math.ceil(scale * math.log(1 / (1 - LEVEL)))

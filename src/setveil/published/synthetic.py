"""The synthetic form: records drawn from noisy counts, and the noisy counts themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Self

from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import texts_of
from setveil.errors import DataError
from setveil.promises.promise import Promise
from setveil.published.ledger import Expense, least, margin
from setveil.published.release import Support, TableRelease

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
    """The best estimate; so many synthetic records contain an item."""
    scale: float
    """Of the noise in `counted`, which is Laplace noise: it is off by more than x * scale with a
    chance of exp(-x)."""
    counted: int | None = None
    """How many of the records contain it, with noise, after long ones were cut. Releases before
    version 9 of the format do not say."""
    missed: int = 0
    """How many records it may have been cut from, with noise of the same scale."""
    noises: int = 0
    """How many noisy counts are added up in `missed`; if 0, it was cut from none."""


@dataclass(frozen=True, eq=False, repr=False)
class Synthetic(TableRelease):
    """Records of nobody in particular, which on the whole are as frequent as the original ones.

    Example:
        >>> from setveil.promises import DifferentialPrivacy
        >>> beer = NoisySupport(("beer",), 3, 1.0)
        >>> rows = [["beer"], ["beer", "wine"], ["beer"]]
        >>> release = Synthetic.of(rows, DifferentialPrivacy(epsilon=1), supports=[beer])
        >>> len(release), list(release.classes), release.sizes.tolist()
        (3, [('beer',), ('beer', 'wine')], [2, 1])
        >>> release.support(["beer"])
        Support(lower=0, upper=3, expected=None, accuracy='not determined')
    """

    form: ClassVar[str] = "synthetic"
    shows_records: ClassVar[bool] = False
    expected_is: ClassVar[str] = "a noisy count, or a count of synthetic records"
    open_because: ClassVar[str] = (
        "nothing was counted, or noise and cut records may be as many as the number"
    )
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
    def of_rows(
        cls,
        rows: Transactions,
        promise: Promise,
        method: Mapping[str, object] | None = None,
        *,
        ledger: Sequence[Expense] = (),
        supports: Sequence[NoisySupport] = (),
        **facts: Any,
    ) -> Self:
        """As of other forms, without an alignment."""
        ordered = tuple(sorted(supports, key=lambda one: (len(one.items), -one.support, one.items)))
        if facts.get("people") is None:
            weights = facts.get("weights")
            facts["people"] = len(rows) if weights is None else int(weights.sum())
        facts |= {"alignment": None, "ledger": tuple(ledger), "supports": ordered}
        return super().of_rows(rows, promise, method, **facts)

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
    def shown(self) -> frozenset[str]:
        return super().shown.union(item for one in self.supports for item in one.items)

    @property
    def facts(self) -> dict[str, object]:
        return {"people": self.people, "ledger": [expense.to_dict() for expense in self.ledger]}

    def support(self, itemset: Iterable[object]) -> Support:
        """How many original records contain all these items: at least `lower` and at most `upper`
        for 95 of 100 itemsets that are published.

        If the itemset was counted, `lower` follows from its noisy count in records that were cut,
        and `upper` also from how many records were cut where it may have been lost. Otherwise the
        estimate is the number of synthetic records, and the upper bound that of its rarest part.
        """
        labels = tuple(sorted(set(texts_of(itemset))))
        found = self._table.get(labels)
        inner = (part for size in (1, 2) for part in combinations(labels, size) if part != labels)
        parts = [self._table[part] for part in inner if part in self._table]
        if found is None:
            upper = self._at_most(parts, 1 - LEVEL)
            return Support(0, upper, float(min(self._drawn(labels), upper)))
        lower, upper = self._in_cut_records(found)
        if found.counted is None or found.noises:
            upper = self._at_most(parts, (1 - LEVEL) / 10)
        if found.noises:
            upper = min(_most(found, (1 - LEVEL) * 0.4), upper)
        upper = max(lower, upper)
        return Support(lower, upper, float(min(max(found.support, lower), upper)))

    def counted_support(self, itemset: Iterable[object]) -> tuple[int, int] | None:
        """At least and at most how many of the records contain an itemset after long records were
        cut, for 95 of 100 that are published; None if the release has no noisy support of it."""
        found = self._table.get(tuple(sorted(set(texts_of(itemset)))))
        return None if found is None else self._in_cut_records(found)

    def _in_cut_records(self, found: NoisySupport) -> tuple[int, int]:
        counted, scale = self._counted(found)
        lower = least(counted, self._threshold(len(found.items)), scale, (1 - LEVEL) / 2)
        return lower, max(counted + math.ceil(scale * margin(1, (1 - LEVEL) / 2)), 0)

    def support_note(self, itemset: Sequence[str]) -> str:
        labels = tuple(sorted(set(itemset)))
        found, is_one = self._table.get(labels), len(labels) == 1
        if found is None:
            what = "this item" if is_one else "these items together"
            return (
                f"No noisy count of {what} is published: an expected number is what synthetic "
                "records show."
            )
        fewest, most = self._in_cut_records(found)
        it = "it" if is_one else "both"
        text = (
            f"Long records were cut before they were counted: {fewest:,} to {most:,} of the cut "
            f"records contain {it}, 95 % sure."
        )
        if found.counted is None:
            lost = "it" if is_one else "one of them"
            return f"{text} How many lost {lost} is not known, so the original may have more."
        if not found.noises:
            lost = "it" if is_one else "either"
            return f"{text} No record can have lost {lost}, so the same is true of the original."
        return f"{text} The bounds are for the original, where more may contain {it}."

    @property
    def noise(self) -> dict[str, float]:
        scales = {
            kind: [one.scale for one in self.supports if len(one.items) == size]
            for kind, size in (("items", 1), ("pairs", 2))
        }
        sure = margin(1, (1 - LEVEL) / 2)
        return {kind: math.ceil(max(found) * sure) for kind, found in scales.items() if found}

    @property
    def reconstruction_note(self) -> str:
        return "These are the published records themselves: they belong to nobody."

    def reconstruct(self, seed: int | None = None) -> Transactions:
        """The published records."""
        return self.records(seed)

    def limits(self) -> str:
        several = SEVERAL if self.promise.records_per_person is None else ""
        return " ".join(filter(None, (self.promise.limits(), several)))

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

    def _at_most(self, parts: Sequence[NoisySupport], chance: float) -> int:
        """No more records than this contain all of some parts; with this chance, more do."""
        each = chance / (1 + len(parts))
        scale = max((one.scale for one in self.ledger if one.counts == "records"), default=0.0)
        found = [self.people + math.ceil(scale * margin(1, each))]
        found += [_most(one, each) for one in parts if one.counted is not None]
        return max(min(found), 0)

    def _counted(self, one: NoisySupport) -> tuple[int, float]:
        """The noisy count of an itemset in cut records, and its scale; old releases raised both."""
        if one.counted is not None:
            return one.counted, one.scale
        name = ("items", "pairs")[len(one.items) - 1]
        scale = max((each.scale for each in self.ledger if each.counts == name), default=one.scale)
        return math.floor(one.support * scale / one.scale), scale

    def _threshold(self, size: int) -> int:
        """The least noisy count with which itemsets of a size are published."""
        name = ("items", "pairs")[size - 1]
        known = max((one.threshold for one in self.ledger if one.counts == name), default=0)
        return known or min(
            self._counted(one)[0] for one in self.supports if len(one.items) == size
        )


def _most(one: NoisySupport, chance: float) -> int:
    """No more original records than this contain an itemset; with this chance, more do."""
    noise = math.ceil(one.scale * margin(1 + one.noises, chance))
    return (one.counted or 0) + max(one.missed, 0) + noise

"""What methods that keep differential privacy share: the budget, the public items, the noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, cast

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import ParameterError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method, Request
from setveil.methods.noise import Noise, SystemNoise
from setveil.promises import DifferentialPrivacy, Promise
from setveil.published.ledger import Expense, exact
from setveil.published.synthetic import Synthetic


class Budget:
    """Divides epsilon and delta among mechanisms, adds their noise, and keeps the ledger.

    All that a method learns about the data goes through `count`, so the ledger is complete. A
    person has up to `most` records, and each changes the counts by their sensitivity."""

    def __init__(self, promise: DifferentialPrivacy, noise: Noise) -> None:
        self.epsilon, self.delta = exact(promise.epsilon), exact(promise.delta)
        self.most = promise.most_records
        self.noise = noise
        self.ledger: list[Expense] = []

    def count(
        self, what: str, counts: Int64s, share: Fraction, *, sensitivity: int = 1
    ) -> tuple[Int64s, float]:
        """Counts with noise, for a share of the whole budget, and the scale of the noise; one
        record changes them by the sensitivity."""
        changes = self.most * sensitivity
        spent = self.spend(Expense.of(what, self.epsilon * share, sensitivity=changes))
        return self.noise.laplace(np.asarray(counts, dtype=np.int64), spent.scale), spent.scale

    def publish_from(self, threshold: int) -> int:
        """Note in the ledger the least of the last counts that is published."""
        self.ledger[-1] = replace(self.ledger[-1], threshold=threshold)
        return threshold

    def spend(self, expense: Expense) -> Expense:
        """Enter an expense into the ledger."""
        self.ledger.append(expense)
        assert sum(one.epsilon for one in self.ledger) <= self.epsilon
        assert sum(one.delta for one in self.ledger) <= self.delta
        return expense


@dataclass(frozen=True)
class Private:
    """What a private method works on."""

    data: Transactions
    """The records over the public items; over all items by code point, if no list is public."""
    promise: DifferentialPrivacy
    tree: Hierarchy | None
    is_public: bool
    """Whether the list of the items is public."""
    budget: Budget
    request: Request[DifferentialPrivacy]


@dataclass(frozen=True, kw_only=True)
class PrivateMethod(Method[Synthetic]):
    """A method that keeps differential privacy.

    Its result is random and never repeatable: with a seed, anyone could subtract the noise."""

    promises: ClassVar[tuple[type[Promise], ...]] = (DifferentialPrivacy,)
    reads: ClassVar[Literal["sets"]] = "sets"
    form: ClassVar[str] = Synthetic.form
    draws_noise: ClassVar[bool] = True
    finds_items: ClassVar[bool] = False
    """Whether it can do without a public list of items if delta is above 0."""

    def anonymize(
        self,
        data: object,
        promise: Promise,
        hierarchy: Hierarchy | None = None,
        *,
        engine: Engine = LOCAL,
        progress: Progress | None = None,
        domain: Iterable[object] | None = None,
        noise: Noise | None = None,
    ) -> Synthetic:
        """A release of `data` that keeps `promise`.

        Args:
            data: The records; of each person no more than the promise says.
            promise: The epsilon, and perhaps a delta.
            hierarchy: A tree that is public knowledge; its leaves are the items that may occur.
            engine: Where loops run.
            progress: Is called with how far the work is.
            domain: The items that may occur, if their list is public and there is no tree.
            noise: Another source of noise, for tests only: the promise rests on it.
        """
        records = self.admit(data)
        self.check(len(records), promise, hierarchy, engine)
        asked = cast(DifferentialPrivacy, promise)  # `check` has refused any other
        items = self._domain(asked, hierarchy, domain)
        known = by_code_point(records) if items is None else _over(records, items)
        request: Request[Any] = Request(records, promise, hierarchy, engine, progress)
        budget = Budget(asked, SystemNoise() if noise is None else noise)
        return self._publish(Private(known, asked, hierarchy, items is not None, budget, request))

    @abstractmethod
    def _publish(self, private: Private) -> Synthetic:
        """A release; the data is looked at only through the budget."""

    def _anonymize(self, request: Request[Any]) -> Synthetic:
        return self.anonymize(request.records, request.promise, request.hierarchy)

    def _domain(
        self,
        promise: DifferentialPrivacy,
        hierarchy: Hierarchy | None,
        domain: Iterable[object] | None,
    ) -> Vocabulary | None:
        """The public list of items; None if they are to be found privately."""
        if hierarchy is not None and hierarchy.origin.parameters.get("order") == "frequency":
            allowed = "a tree in the order of frequency is made from the data, so it is not public"
            raise ParameterError("hierarchy", "balanced by frequency", allowed)
        if domain is not None:
            return Vocabulary(sort_labels(set(map(str, domain))))
        if hierarchy is not None and hierarchy.origin.is_public:
            return Vocabulary(hierarchy.labels[: hierarchy.leaf_count])
        problem = self.needs_public_items(promise)
        if problem:
            raise ParameterError("public_items", None, problem)
        return None

    def needs_public_items(self, promise: Promise) -> str:
        if self.finds_items and bool(getattr(promise, "delta", 0)):
            return ""
        text = (
            "which items occur in the data is private, so the list of items that may occur must "
            "be public knowledge: give it as the leaves of a hierarchy file with {hierarchy}, or "
            "declare that the items of the data are such a list with {public_items=True}"
        )
        return text + ", or let them be found privately with {delta=1e-6}" * self.finds_items


def by_code_point(records: Transactions) -> Transactions:
    """The same records, with the items ordered by code point.

    Ties are broken by this order, so it must not depend on an item that is never published. That
    of the data does: it is numeric only if every single label is a number."""
    return _over(records, Vocabulary(sorted(records.vocabulary.labels)))


def _over(records: Transactions, items: Vocabulary) -> Transactions:
    """The same records over a public list of items."""
    numbers, used = items.find(records.vocabulary.labels), records.supports() > 0
    missing = np.flatnonzero((numbers < 0) & used).tolist()
    if missing:
        labels = [records.vocabulary[number] for number in missing]
        raise UnknownItemError(labels, "the public list of items does not contain")
    return Transactions.from_pairs(records.rows, numbers[records.items], items, size=len(records))

"""The method Suppression: find the minimal moles, give up the items that end them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import ParameterError
from setveil.methods.method import Method, Request
from setveil.methods.suppression.choose import choose
from setveil.methods.suppression.moles import Task, as_weights, find_moles
from setveil.promises import Coherence, KmAnonymity, Promise
from setveil.published.suppressed import Suppressed

Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Suppression(Method[Suppressed]):
    """Takes some public items out of all records, so that what is left of the others tells too little about anybody.

    A mole is a set of up to p public items that occurs, but in fewer than k records or beside a private item in more than a share of h
    of them. Moles of one item are suppressed at once. The minimal moles of more items are found size by size, and the item that ends most
    of them for its loss is suppressed, until none is left. [Xu2008] section 3. Then items that turn out not to be needed come back.

    An item is suppressed everywhere or nowhere, so every itemset of published items keeps its support; private items stay as they are
    (unless `min_support` leaves out rare items of both kinds beforehand, as the paper does with its data). A
    record whose items were all suppressed is published empty. Of bags the sets are taken. The result depends on the records alone; of
    equal scores the item of lesser loss goes, then the first of the vocabulary.

    Departures from the paper:
        - After the greedy choice suppressed items come back, the dearest first, while no mole appears; `restore=False` leaves that out.
        - For `mm/il` items also come back from the answers of `mm` and of `1/il`, and the cheapest of the three is taken: the ratio alone
          may lose more than either of its halves. `restore=False` leaves that out as well.
        - Its figure 4 would also count candidates of support 0 as moles; they occur nowhere and are none.
        - A table of moles by item takes the place of the MOLE-tree: the same answer, and work in proportion to the moles as well.

    Cost:
        That of finding the sets of up to p - 1 public items of support k, and the moles next to them; by bitmaps over the records of
        the rarest item of each. Choosing is linear in the number of minimal moles.

    Example:
        Figure 1 of the paper:

        >>> records = ["a c d f g Diabetes", "a b c f Hepatitis", "b d f x Hepatitis", "b c g y z HIV", "a c f g HIV"]
        >>> promise = Coherence(h=0.8, k=2, p=2, private=["Diabetes", "Hepatitis", "HIV"])
        >>> release = Suppression().anonymize([record.split() for record in records], promise)
        >>> list(release.items)
        ['Diabetes', 'HIV', 'Hepatitis', 'a', 'c', 'f', 'g']
    """

    name: ClassVar[str] = "suppression"
    promises: ClassVar[tuple[type[Promise], ...]] = (Coherence, KmAnonymity)
    needs_hierarchy: ClassVar[bool] = False
    reads: ClassVar[Literal["sets"]] = "sets"
    trial: ClassVar[Promise] = Coherence(h=0.5, k=3, p=3, private=[f"e{i}" for i in range(7)])
    form: ClassVar[str] = Suppressed.form

    score: Literal["mm/il", "mm", "1/il", "rmall"] = "mm/il"
    """What is suppressed next: most minimal moles for the loss, most minimal moles, or the least loss; `rmall` is all public items."""
    restore: bool = True
    """Whether items come back while no mole appears, for `mm/il` also from `mm` and `1/il`; never a worse answer. Not for `rmall`."""
    search: bool = False
    """Whether a local search exchanges suppressed items for cheaper ones, from the answers of all scores; `score` is then of no account."""
    weights: Literal["occurrences", "items"] | Mapping[str, float] = "occurrences"
    """The loss of an item: its occurrences, 1, or what is given for it (items without a number lose their occurrences)."""
    min_support: float = 0.0
    """Items in less than this share of the records, private ones too, are left out everywhere before the moles are sought."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.min_support < 1:
            raise ParameterError(
                "min_support",
                self.min_support,
                "it must be a share of the records, from 0 to less than 1",
            )

    def _anonymize(self, request: Request[Coherence | KmAnonymity]) -> Suppressed:
        records, promise = request.records, request.promise
        gone = self.suppressed(Task.of(records, promise), request.engine, request.progress)
        rows = without(records, gone)
        return Suppressed.of_rows(
            rows,
            _as_published(promise, rows),
            self.to_dict(),
            alignment=np.arange(len(records)),
            min_support=self.min_support,
        )

    def suppressed(
        self, task: Task, engine: Engine = LOCAL, progress: Progress | None = None
    ) -> Marks:
        """Which items are suppressed, as marks over the vocabulary.

        Raises:
            InfeasibleError: when a private item stands in more than a share of h of all records.
        """
        task.check_feasible()
        rare = self.rare(task.data)
        if self.score == "rmall" and not self.search:
            return task.public | rare
        losses = as_weights(self.weights, task)
        moles = find_moles(task.without(rare), engine, progress)
        return rare | choose(moles, losses, self.score, restore=self.restore, search=self.search)

    def rare(self, data: Transactions) -> Marks:
        """The items that are left out beforehand because they stand in too few records, as marks over the vocabulary."""
        return np.asarray(data.supports() < self.min_support * len(data))

    def to_dict(self) -> dict[str, object]:
        """The method as it stands in `release.json`; weights, which name items that may be gone, are not told."""
        weights = self.weights if isinstance(self.weights, str) else "given"
        return {**super().to_dict(), "weights": weights}

    @classmethod
    def warmup(cls) -> None:
        super().warmup()
        cls(search=True)._try_out()


def without(data: Transactions, gone: Marks) -> Transactions:
    """The same records without some items."""
    kept = ~gone[data.items]
    return Transactions.from_pairs(
        data.rows[kept], data.items[kept], data.vocabulary, size=len(data)
    )


def _as_published(promise: Promise, rows: Transactions) -> Promise:
    """The promise as the release tells it: of private items that stand nowhere, or are left out as too rare, it says nothing."""
    if not isinstance(promise, Coherence):
        return promise
    published = frozenset(rows.vocabulary[item] for item in np.unique(rows.items).tolist())
    return replace(promise, private=promise.private & published)

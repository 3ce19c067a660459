"""The method Suppression: find the minimal moles, and suppress the items that end them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from setveil.data.arrays import Flags, Floats, offsets
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import ParameterError
from setveil.methods.method import Method, Request
from setveil.methods.suppression.moles import Moles, Setting, find_moles
from setveil.parameters import with_default
from setveil.promises import Coherence, KmAnonymity, Promise
from setveil.published.suppressed import Suppressed

if TYPE_CHECKING:
    from setveil.kernels.suppression.hitting import IndexedMoles
    from setveil.methods.suppression.explain import LossExplanation


@dataclass(frozen=True, kw_only=True)
class Suppression(Method[Suppressed]):
    """Removes some public items from all records, so that the others reveal too little of anyone.

    A mole is a set of up to p public items that occurs, but in fewer than k records, or with a
    private item in more than a share h of them. Moles of one item are suppressed at once. The
    minimal moles of more items are found size by size, and the item that ends most of them per unit
    of loss is suppressed, until none is left. [Xu2008] section 3. Then items that turn out not to
    be needed are restored.

    An item is suppressed everywhere or nowhere, so every itemset of published items keeps its
    support; private items stay as they are (unless `min_support` first removes rare items of both
    kinds, as the paper does with its data). A record whose items are all suppressed is published
    empty. The counts of bags are dropped. The result depends only on the records; ties go to the
    item of least loss, then to the first of the vocabulary.

    Departures from the paper:
        - After the greedy choice suppressed items are restored, the most expensive first, while no
          mole appears; `restore=False` turns this off.
        - For `mm/il` items are also restored in the answers of `mm` and `1/il`, and the cheapest of
          the three is taken: the ratio alone may lose more than either of its halves.
        - Its figure 4 would also count candidates of support 0 as moles; they do not occur.
        - A table of moles by item replaces the MOLE-tree: same answer, and work in proportion to
          the moles as well.

    Cost: That of finding the sets of up to p - 1 public items of support k, and the moles next to
        them, by bitmaps over the records of the rarest item of each. Choosing is linear in the
        minimal moles.

    Example:
        Figure 1 of the paper:

        >>> records = ["a c d f g Diabetes", "a b c f Hepatitis", "b d f x Hepatitis",
        ...     "b c g y z HIV", "a c f g HIV"]
        >>> promise = Coherence(h=0.8, k=2, p=2, private=["Diabetes", "Hepatitis", "HIV"])
        >>> release = Suppression().anonymize([record.split() for record in records], promise)
        >>> list(release.items)
        ['Diabetes', 'HIV', 'Hepatitis', 'a', 'c', 'f', 'g']
    """

    name: ClassVar[str] = "suppression"
    promises: ClassVar[tuple[type[Promise], ...]] = (Coherence, KmAnonymity)
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {
        Coherence: "it is the method for coherence"
    }
    needs_hierarchy: ClassVar[bool] = False
    runs_anywhere: ClassVar[bool] = True
    reads: ClassVar[Literal["sets"]] = "sets"
    trial: ClassVar[Promise] = Coherence(h=0.5, k=3, p=3, private=[f"e{i}" for i in range(7)])
    form: ClassVar[str] = Suppressed.form
    tunes: ClassVar[Mapping[str, tuple[Any, ...]]] = {"search": (False, True)}

    score: Literal["mm/il", "mm", "1/il", "rmall"] = with_default(
        "mm/il",
        "Which item to suppress next: most violations removed per item lost (`mm/il`), most "
        "violations removed (`mm`), or least loss (`1/il`); `rmall` suppresses all items.",
    )
    restore: bool = with_default(
        True, "Restore suppressed items that are not needed; never loses more."
    )
    search: bool = with_default(
        False, "Search for cheaper items to suppress, from all scores; `score` is ignored."
    )
    weights: Literal["occurrences", "items"] | Mapping[str, float] = with_default(
        "occurrences", "What an item costs: its `occurrences`, or the same for all (`items`)."
    )
    """In Python also a number for each item; for others their occurrences."""
    min_support: float = with_default(
        0.0,
        "First remove items, private ones too, in less than this share of the records.",
        metavar="SHARE",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.min_support < 1:
            allowed = "it must be a share of the records, from 0 to less than 1"
            raise ParameterError("min_support", self.min_support, allowed)

    def _anonymize(self, request: Request[Coherence | KmAnonymity]) -> Suppressed:
        records, promise = request.records, request.promise
        gone = self.suppressed(Setting.of(records, promise), request.engine, request.progress)
        rows = without(records, gone)
        stated, numbers = _as_published(promise, rows), np.arange(len(records))
        return Suppressed.of_rows(
            rows, stated, self.to_dict(), alignment=numbers, min_support=self.min_support
        )

    def suppressed(
        self, setting: Setting, engine: Engine = LOCAL, progress: Progress | None = None
    ) -> Flags:
        """Which items are suppressed, as marks over the vocabulary."""
        setting.check_feasible()
        rare = self.rare(setting.data)
        if self.score == "rmall" and not self.search:
            return setting.public | rare
        losses = losses_of(setting.data, self.weights)
        moles = find_moles(setting.without(rare), engine, progress)
        return rare | choose(moles, losses, self.score, restore=self.restore, search=self.search)

    def rare(self, data: Transactions) -> Flags:
        """The items that are removed first because they are in too few records, as marks."""
        return np.asarray(data.supports() < self.min_support * len(data))

    def explain(self, data: object, promise: Promise, *, engine: Engine = LOCAL) -> LossExplanation:
        from setveil.methods.suppression.explain import explain

        return explain(data, promise, self, engine=engine)

    def to_dict(self) -> dict[str, object]:
        """The method as written in `release.json`; weights, which may name lost items, are not."""
        weights = self.weights if isinstance(self.weights, str) else "given"
        return {**super().to_dict(), "weights": weights}

    @classmethod
    def warmup(cls) -> None:
        super().warmup()
        cls(search=True)._try_out()


def without(data: Transactions, gone: Flags) -> Transactions:
    """The same records without some items."""
    kept, size = ~gone[data.items], len(data)
    return Transactions.from_pairs(data.rows[kept], data.items[kept], data.vocabulary, size=size)


def _as_published(promise: Promise, rows: Transactions) -> Promise:
    """The promise as the release states it: without private items that are not published."""
    if "private" not in promise.named_items:
        return promise
    published = frozenset(rows.vocabulary[item] for item in np.unique(rows.items).tolist())
    left: dict[str, Any] = {"private": promise.named_items["private"] & published}
    return replace(promise, **left)


SCORES = ("mm/il", "mm", "1/il", "rmall")
PARTS = {"mm/il": ("mm/il", "mm", "1/il")}
"""The scores whose answers are tried when items are restored; the cheapest answer is taken."""
ROUNDS = 50  # how often the local search visits all items at most


def choose(
    moles: Moles, losses: Floats, score: str, *, restore: bool = True, search: bool = False
) -> Flags:
    """Which items are suppressed, as marks over the vocabulary.

    With `restore`, items are restored, the most expensive first, while every mole stays hit. For
    `mm/il` this is also done for the answers of `mm` and `1/il`, and the best of the three is
    taken: on some data one half of the ratio alone does better. With `search`, the answers of all
    scores are improved by exchanges. `rmall` suppresses every item of a mole."""
    from setveil.kernels.suppression import hitting

    indexed = indexed_moles(moles, losses)
    order = np.lexsort((np.arange(len(losses)), -losses))
    answers: list[Flags] = []
    for name in _starts(score, restore, search):
        marks = np.zeros(len(losses), dtype=bool)
        greedy = name != "rmall"
        items = hitting.eliminate(indexed, SCORES.index(name)) if greedy else moles.items
        marks[items] = True
        if search:
            marks = hitting.improve(indexed, marks, order, ROUNDS)
        elif restore:
            marks = hitting.restore(indexed, marks, order)
        answers.append(marks)
    return min(answers, key=lambda marks: float(losses[marks].sum()))


def _starts(score: str, restore: bool, search: bool) -> tuple[str, ...]:
    """The scores whose greedy answers are tried."""
    if search:
        return SCORES
    return PARTS.get(score, (score,)) if restore else (score,)


def indexed_moles(moles: Moles, losses: Floats) -> IndexedMoles:
    """The moles as the kernels take them."""
    from setveil.kernels.steps import fill_holders
    from setveil.kernels.suppression.hitting import IndexedMoles

    starts = offsets(np.bincount(moles.items, minlength=len(losses)))
    holders = np.empty(len(moles.items), dtype=np.int32)
    fill_holders(moles.indptr, moles.items, starts, holders)
    return IndexedMoles(moles.indptr, moles.items, starts, holders, losses)


def losses_of(data: Transactions, weights: str | Mapping[str, float]) -> Floats:
    """What suppressing each item costs."""
    losses = np.maximum(data.supports(), 1).astype(np.float64)
    if weights == "items":
        return np.ones(len(losses))
    if isinstance(weights, Mapping):
        numbers = data.vocabulary.numbers
        for item, value in weights.items():
            if not isinstance(value, int | float) or not 0 < value < float("inf"):
                allowed = f"the weight of {item!r} must be a number above 0"
                raise ParameterError("weights", value, allowed)
            if item in numbers:
                losses[numbers[item]] = value
    return losses

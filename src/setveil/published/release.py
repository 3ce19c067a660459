"""The release: the base type of all published forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from setveil.data.arrays import Floats, Int32s, Int64s, random_from, sums
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary, texts_of
from setveil.errors import DataError
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.promises.promise import Promise
from setveil.published.countable import Counting, counted_one_by_one
from setveil.published.countable import Support as Support
from setveil.published.rows import merged, same_records, tidy
from setveil.showing import Shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Holders = Callable[[str], tuple[Int64s, Int64s, Floats]]
ALWAYS = "The release may reveal who is in the data."
"""What no promise covers."""
ON_ITS_OWN = "If a person has several records, each is protected on its own."
"""Also not covered, if it is not known whose the records are."""


class Frozen:
    """A dataclass whose arrays are read-only, also after it was sent to another process."""

    def __post_init__(self: DataclassInstance) -> None:
        for each in fields(self):
            array = getattr(self, each.name)
            if isinstance(array, np.ndarray) and array.flags.writeable:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, each.name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        Frozen.__post_init__(self)  # type: ignore[arg-type]


class Release(Shown, Frozen, ABC):
    """What is published, with the promise it keeps.

    Each form is a frozen dataclass. Code outside this folder does not ask which form it has: what
    all forms can do is below, and what differs is in tables by `form`."""

    form: ClassVar[str]
    """The name of the form in `release.json` and in the tables."""
    shows_records: ClassVar[bool] = True
    """Whether each person has one published record, so that an alignment can link the two."""
    expected_is: ClassVar[str] = "an estimate"
    """What the expected support of an itemset is."""
    open_because: ClassVar[str] = "the release does not show these items as such"
    """Why the bounds of a support may be too wide for an estimate."""
    bounds_are: ClassVar[str] = "certain"
    """How sure the bounds of supports are."""
    stands_alone: ClassVar[bool] = False
    """Whether its promise is about how it was made, so that a file beside it in its folder breaks
    it, and so would withholding it after a look at the original."""
    no_rule: ClassVar[str] = "its records depend on each other"
    """Why it has no rule that other records could follow; see `images`."""
    hides_items: ClassVar[bool] = False
    """Whether any record may have an item that the release does not publish."""
    compares_by_tree: ClassVar[bool] = False
    """Whether the tree that items were compared with helps to compare it with its original."""

    semantics: Origin | None = None
    """How to build the tree that items were compared with, if the release does not have it."""

    min_people: int = 0
    """Items that fewer people of the original have were left out of all records."""

    promise: Promise
    method: Mapping[str, object]
    """The method's name and parameters, for display only: nothing is computed from them."""
    alignment: Int64s | None
    """Private: which published record (or cluster) each original record belongs to."""

    @classmethod
    def named(cls, form: str) -> type[Release]:
        """The class of the form with this name."""
        kinds = [cls]
        for kind in kinds:
            kinds += kind.__subclasses__()
        return next(kind for kind in kinds if getattr(kind, "form", None) == form)

    @abstractmethod
    def __len__(self) -> int:
        """The number of published records."""

    @property
    @abstractmethod
    def items(self) -> Vocabulary:
        """The labels that may occur in the release."""

    @property
    def shown(self) -> frozenset[str]:
        """The labels that do occur in the release."""
        return frozenset(self.items)

    @property
    def tree(self) -> Hierarchy | None:
        """The hierarchy whose nodes are published; None if only items are."""
        return None

    @property
    def empty(self) -> int:
        """How many people are published with an empty record."""
        return 0

    @property
    def group_sizes(self) -> Int64s:
        """How many records each group has whose members are published alike or together; empty if
        the form has no such groups."""
        return np.zeros(0, dtype=np.int64)

    def replaced(self, original: Transactions) -> tuple[int, int]:
        """How many published occurrences there are whose people have another item instead, and how
        many of all; none if nobody can know."""
        return 0, 0

    @property
    def facts(self) -> dict[str, object]:
        """What a check or a metric must know about the release besides its records, as JSON
        values."""
        return {}

    @abstractmethod
    def certain_rows(self) -> tuple[Transactions, Int64s]:
        """Rows of published labels and how often each occurs: what the release says for certain."""

    @abstractmethod
    def support(self, itemset: Iterable[object]) -> Support:
        """How many original records contain all these items, computed from the release alone."""

    def counted_support(self, itemset: Iterable[object]) -> tuple[int, int] | None:
        """At least and at most how many records contain an itemset as they were counted, if other
        records were counted than the original ones."""
        return None

    def support_note(self, itemset: Sequence[str]) -> str:
        """What a reader must know about the expected support of an itemset; usually nothing."""
        return ""

    def counting(self) -> Counting:
        """The bounds of everything that is published; forms override it if that is faster."""
        return counted_one_by_one(self)

    def supports_of(self, itemsets: Iterable[Sequence[str]]) -> list[Support]:
        """The supports of several itemsets."""
        return list(map(self.support, itemsets))

    @property
    def noise(self) -> dict[str, float]:
        """How far off noisy counts are, 95 times of 100; empty if there is no noise."""
        return {}

    @property
    def caution(self) -> str:
        """What an adversary who knows more than the promise covers may see, as the template of a
        note; usually nothing is said."""
        return ""

    @property
    def reconstruction_note(self) -> str:
        """What a reader must know about reconstructions; usually nothing."""
        return ""

    def estimates(self, items: Sequence[str], queries: Int64s) -> Floats:
        """The guessed supports of many itemsets, whatever their bounds are; see `Support.guess`.
        A query is a row of positions in `items`; -1 fills shorter ones."""
        different, place = np.unique(queries, axis=0, return_inverse=True)
        asked = ([items[at] for at in row if at >= 0] for row in different.tolist())
        found = (self.guess(itemset) for itemset in asked)
        return np.fromiter(found, dtype=np.float64, count=len(different))[place.reshape(-1)]

    def guess(self, itemset: Sequence[str]) -> float:
        """The guessed support of an itemset; forms override it if that is faster alone."""
        return self.support(itemset).guess

    @abstractmethod
    def reconstruct(self, seed: int | None = None) -> Transactions:
        """Records over original items that this release could have been made from, at random; the
        same ones for the same seed."""

    def to_pandas(self, seed: int | None = None) -> Any:
        """The published records, in random order, as a long pandas table: record, item[, count].

        Not of forms that do not show whole records; their reconstructions can be tables."""
        return self._whole_records(seed).to_pandas()

    def to_polars(self, seed: int | None = None) -> Any:
        """The same as `to_pandas`, as a polars table."""
        return self._whole_records(seed).to_polars()

    def to_onehot(self, seed: int | None = None) -> Any:
        """The published records, in random order, as a pandas table with a true/false column for
        each label that occurs."""
        return self._whole_records(seed).without_rare(1).to_onehot()

    def _whole_records(self, seed: int | None) -> Transactions:
        problem = f"a {self.form} release does not show whole records"
        remedy = "make a table of possible ones, such as reconstruct(seed).to_pandas()"
        raise DataError(problem, remedy=remedy)

    def published_as(self, number: int, record: Sequence[str]) -> str:
        """Private: what is published for an original record, by its number and its items, as the
        alignment says; empty if unknown."""
        return ""

    def describe(self) -> str:
        """What the release promises, for a reader who is not an expert."""
        said = self.promised(self.promise, **self.facts), self.promise.about_people
        return " ".join(filter(None, said))

    @classmethod
    def promised(cls, promise: Promise, **facts: object) -> str:
        """The same before there is a release; `facts` may be parameters of its method."""
        return promise.describe(possible=not cls.shows_records)

    def limits(self) -> str:
        """What is not promised, for the same reader."""
        alone = ON_ITS_OWN if self.promise.records_per_person is None else ""
        return " ".join(filter(None, (self.promise.limits(), ALWAYS, alone)))

    def images(self, vocabulary: Vocabulary) -> Int32s:
        """What each item becomes in every record, as a number of `items`; -1 if it is left out. A
        `DataError` if the release has no one rule for all records."""
        problem = f"this {self.form} release has no rule that other data could follow"
        remedy = "anonymize the other data on its own"
        raise DataError(f"{problem}: {self.no_rule}", remedy=remedy)

    def like(self, rows: Transactions) -> Self:
        """A release of other records over `items`, in the order of their originals, under the same
        promise; for forms with a rule."""
        raise NotImplementedError

    def suppressed_items(self, original: Transactions) -> tuple[str, ...]:
        """Private: the items of the original that are removed everywhere; empty if none can be."""
        return ()

    def without_alignment(self) -> Self:
        """The same release without anything private."""
        return replace(self, alignment=None)  # type: ignore[type-var]

    def paired_as(self, other: Self) -> Self | None:
        """Private: this release, which was read from files, with the alignment of the same one in
        memory; None if its parts may be in another order."""
        return None

    def leaving_out(self, people: int) -> Self:
        """The same release, made from data without the items that fewer people have."""
        made = copy(self)
        object.__setattr__(made, "min_people", people)
        return made


class TableRelease(Release):
    """A release whose files list records, held as distinct records and how many there are of
    each."""

    kind: ClassVar[type[Transactions]] = Transactions
    """Of what type the records are if nothing else is said."""

    classes: Transactions
    """The distinct published records in a canonical order, never that of the input."""
    sizes: Int64s

    @classmethod
    def of(
        cls,
        records: Iterable[Iterable[object]],
        promise: Promise,
        *,
        method: Mapping[str, object] | None = None,
        **facts: Any,
    ) -> Self:
        """From published records, in the order of the original records; `facts` are fields of the
        form."""
        rows = cls.kind.of(records)
        return cls.of_rows(rows, promise, method, alignment=np.arange(len(rows)), **facts)

    @classmethod
    def of_rows(
        cls,
        rows: Transactions,
        promise: Promise,
        method: Mapping[str, object] | None = None,
        *,
        alignment: Int64s | None = None,
        weights: Int64s | None = None,
        as_read: bool = False,
        **facts: Any,
    ) -> Self:
        """From published records in any order, of which each represents so many people (1 if not
        given); equal ones are merged, or left apart as they were read from a file.

        The alignment has the row of each original; `facts` are fields of the form."""
        rows, form = cls.prepared(rows), cast("Callable[..., Self]", cls)
        classes, sizes, member = merged(rows, weights, as_read=as_read)
        facts["alignment"] = None if alignment is None else member[alignment]
        return form(classes=classes, sizes=sizes, promise=promise, method=method or {}, **facts)

    @classmethod
    def prepared(cls, rows: Transactions) -> Transactions:
        """The rows without unused items; forms over a whole vocabulary override it."""
        return tidy(rows)

    def __len__(self) -> int:
        return int(self.sizes.sum())

    @property
    def items(self) -> Vocabulary:
        return self.classes.vocabulary

    def certain_rows(self) -> tuple[Transactions, Int64s]:
        return self.classes, self.sizes

    def records(self, seed: int | None = None) -> Transactions:
        """All published records in random order: from the system, or from a seed."""
        rows = np.repeat(np.arange(len(self.classes)), self.sizes)
        return self.classes.take(random_from(seed).permutation(rows))

    def _whole_records(self, seed: int | None) -> Transactions:
        return self.records(seed)


class RecordRelease(TableRelease):
    """A release in which each person has a record."""

    def __eq__(self, other: object) -> bool:
        """Whether both publish the same records equally often; the alignment does not matter."""
        return type(other) is type(self) and same_records(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({len(self)} records in {len(self.classes)} classes, {self.promise})"

    @property
    def shown(self) -> frozenset[str]:
        labels = self.classes.vocabulary.labels
        return frozenset(labels[number] for number in np.unique(self.classes.items).tolist())

    @property
    def empty(self) -> int:
        return int(self.sizes[self.classes.lengths == 0].sum())

    @property
    def group_sizes(self) -> Int64s:
        return self.sizes

    def published_as(self, number: int, record: Sequence[str]) -> str:
        assert self.alignment is not None
        return ", ".join(self.classes.shown(int(self.alignment[number]))) or "an empty record"

    def with_terms(self) -> Self:
        """The same release with every published label as an item of its own; most forms have no
        other."""
        return self

    def term_totals(self) -> dict[str, int]:
        """How often each item is published for all people together."""
        classes = self.classes
        people = self.sizes[classes.rows] * classes.times
        totals = sums(classes.items, people, len(classes.vocabulary))
        return dict(zip(classes.vocabulary.labels, totals.tolist(), strict=True))

    def supports_of(self, itemsets: Iterable[Sequence[str]]) -> list[Support]:
        known = cache(self._holders)  # the same items occur in many of them
        return [self._support(itemset, known) for itemset in itemsets]

    def support(self, itemset: Iterable[object]) -> Support:
        return self._support(itemset, self._holders)

    def _support(self, itemset: Iterable[object], holders: Holders) -> Support:
        labels = sorted(set(texts_of(itemset)))
        sizes = self.sizes
        lower, upper, expected = sizes, sizes, sizes.astype(np.float64)
        for label in labels:
            least, most, chance = holders(label)
            # If a of n people have one item and b another, at least a + b - n have both.
            lower = np.maximum(lower + least - sizes, 0)
            upper, expected = np.minimum(upper, most), expected * chance
        expected = np.clip(expected, lower, upper)
        return Support(int(lower.sum()), int(upper.sum()), float(expected.sum()))

    @abstractmethod
    def _holders(self, label: str) -> tuple[Int64s, Int64s, Floats]:
        """For each class: the least and most people with the item, and the chance of one."""

    def meanings(self) -> list[object]:
        """What each published item means, for comparing two releases."""
        return list(self.items.labels)

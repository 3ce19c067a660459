"""k-anonymity of sets and of bags, k^m-anonymity, and l-diversity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from setveil.errors import ParameterError
from setveil.parameters import about
from setveil.promises.promise import Promise


@dataclass(frozen=True, repr=False)
class LDiversity(Promise):
    """Each sensitive item is published on its own, for a whole cluster of at least l records.
    [Terrovitis2012] section 5

    Definition: a sensitive item occurs in no record chunk and no shared chunk, only in the term
    chunks of clusters with at least l records, and it is not all that a cluster can have. So
    whatever other items of a person are known, in some possible original the person lacks it.

    Example:
        >>> LDiversity(l=3, sensitive=["viagra", "flu"]).to_dict()["sensitive"]
        ['flu', 'viagra']
    """

    model: ClassVar[str] = "l-diversity"
    of_records: ClassVar[bool] = False

    l: int = field(
        metadata=about(
            "Hide each sensitive item among at least this many records.",
            option="-l",
            metavar="N",
            least=2,
            per_person="times",
        )
    )
    sensitive: frozenset[str] = field(metadata=about("The sensitive items."))

    if TYPE_CHECKING:

        def __init__(self, l: int, sensitive: Iterable[object]) -> None: ...

    @property
    def crowd(self) -> int:
        return self.l

    def describe(self, *, possible: bool = False) -> str:
        return (
            f"Each sensitive item is published only for a group of at least {self.l} records as a "
            "whole: no other item of a person says which of these records has it, and in some "
            "possible original not all of them do."
        )

    def limits(self) -> str:
        return (
            "The release does not say how many records of a group have a sensitive item: at least "
            "one, perhaps all. Anyone who knows a person's group knows which sensitive items "
            "occur in it. Anyone who knows that a person has NONE of the other items of the group "
            "knows that the person has a sensitive one, because no record of it is "
            "empty. Items that are not listed as sensitive are not covered, even if they reveal as "
            "much."
        )


K = about(
    "Hide each person among at least this many records.",
    option="-k",
    metavar="N",
    least=2,
    per_person="times",
)
"""What the parameter k of every promise means."""
COMBINED = (
    "Several releases of the same people can be combined; each keeps the promise only on its own."
)


@dataclass(frozen=True, repr=False)
class KAnonymity(Promise):
    """Each published record is identical to at least k - 1 others. [He2009] section 3.1

    Definition: for every published record t, |{ t' : t' = t }| >= k.

    Example:
        >>> KAnonymity(k=10).model
        'k-anonymity'
    """

    model: ClassVar[str] = "k-anonymity"
    covers_lacking: ClassVar[bool] = True
    fear: ClassVar[str] = "everything"
    feared: ClassVar[str] = "somebody knows everything about a person"

    k: int = field(metadata=K)

    @property
    def weaker(self) -> tuple[Promise, ...]:
        found = KmAnonymity(k=self.k, m=2)
        return (replace(found, records_per_person=self.records_per_person),)

    def describe(self, *, possible: bool = False) -> str:
        return (
            f"Each published record is identical to at least {others(self.k)}. An adversary who "
            f"knows any number of a person's items, even all of them, finds at least {self.k} "
            "records that could be that person's, or none."
        )

    def limits(self) -> str:
        shared = f"An item that all {self.k} records share is revealed for each of these people."
        return f"{shared} {COMBINED}"


@dataclass(frozen=True, repr=False)
class VocabularyKAnonymity(Promise):
    """Each published bag is identical to at least k - 1 others, in its counts too. [Liu2010b]

    A vocabulary is the paper's word for the bag of terms in one person's queries.

    Definition: for every published bag t, |{ t' : t' = t }| >= k, where equal bags have the same
    items with the same counts. For sets, where every count is 1, this is k-anonymity.

    Example:
        >>> VocabularyKAnonymity(k=5).to_dict()["model"]
        'vocabulary-k-anonymity'
    """

    model: ClassVar[str] = "vocabulary-k-anonymity"
    covers_lacking: ClassVar[bool] = True
    fear: ClassVar[str] = "counts"
    feared: ClassVar[str] = "somebody knows everything about a person, also how often"
    covers_counts: ClassVar[bool] = True

    k: int = field(metadata=K)

    def describe(self, *, possible: bool = False) -> str:
        return (
            f"Each published bag is identical to at least {others(self.k)}, in its items and in "
            "how often each occurs. An adversary who knows any number of a person's items, and "
            f"how often that person used each, finds at least {self.k} bags that could be that "
            "person's, or none."
        )

    def limits(self) -> str:
        return (
            f"An item that all {self.k} bags share is revealed for each of these people, or one of "
            "similar meaning is. An item that only one person has may be published to represent "
            f"similar items: remove names and addresses first. {COMBINED}"
        )


ALL = 1_000_000  # as m: any number of items


@dataclass(frozen=True, repr=False)
class KnownItems(Promise):
    """What the promises about up to m known items have in common."""

    k: int = field(metadata=K)
    m: int = field(
        metadata=about(
            "How many items of a person an adversary may know.",
            option="-m",
            metavar="N|all",
            least=1,
            words={"all": ALL},
        )
    )

    diversity: LDiversity | None = field(
        default=None, metadata=about("What is also promised of sensitive items.")
    )
    """Only disassociated data can keep it."""

    def __post_init__(self) -> None:
        if self.diversity is not None and not isinstance(self.diversity, LDiversity):
            allowed = "it must be an LDiversity, such as LDiversity(l=3, sensitive=[...])"
            raise ParameterError("diversity", self.diversity, allowed)
        super().__post_init__()
        object.__setattr__(self, "m", min(self.m, ALL))

    @property
    def most_known(self) -> int | None:
        return None if self.m >= ALL else self.m

    @property
    def weaker(self) -> tuple[Promise, ...]:
        return (replace(self, m=2),) if self.m > 2 else ()


@dataclass(frozen=True, repr=False)
class KmAnonymity(KnownItems):
    """Every set of up to m items that occurs is in at least k records. [Terrovitis2012] section 2

    Definition: for every itemset S with |S| <= m, sup(S) = 0 or sup(S) >= k. k-anonymity implies it
    for every m.

    Example:
        >>> KmAnonymity(k=5, m=2).model
        'km-anonymity'
    """

    model: ClassVar[str] = "km-anonymity"
    fear: ClassVar[str] = "some"
    feared: ClassVar[str] = "somebody knows a few items of a person"

    if TYPE_CHECKING:

        def __init__(
            self, k: int, m: int | Literal["all"], diversity: LDiversity | None = None
        ) -> None: ...

    def describe(self, *, possible: bool = False) -> str:
        found = (
            f"cannot narrow that person down to fewer than {self.k} records: at least {self.k} "
            f"records could contain {'it' if self.m == 1 else 'them'}."
            if possible
            else f"finds at least {self.k} records that contain "
            f"{'it' if self.m == 1 else 'them'}, or "
            f"none: that person cannot be told apart from {others(self.k)}."
        )
        besides = f" {self.diversity.describe()}" if self.diversity else ""
        return f"An adversary who knows {known(self.m, 'item')} of a person {found}{besides}"

    def limits(self) -> str:
        more = (
            ""
            if self.m >= ALL
            else f"more than {self.m} item{'s' * (self.m != 1)} of a person, or "
        )
        besides = f" {self.diversity.limits()}" if self.diversity else ""
        return (
            f"An adversary who knows {more}items that the person does NOT have, may find fewer "
            f"than {self.k} records. An item that all {self.k} records share is revealed.{besides}"
        )


def others(k: int) -> str:
    """Among whom a person is hidden.

    Example:
        >>> others(2), others(10)
        ('1 other', '9 others')
    """
    return "1 other" if k == 2 else f"{k - 1:,} others"


def known(number: int, noun: str) -> str:
    """What an adversary may know.

    Example:
        >>> known(1, "item"), known(3, "public item"), known(ALL, "item")
        ('1 item', 'up to 3 public items', 'any number of items')
    """
    if number == 1:
        return f"1 {noun}"
    return f"any number of {noun}s" if number >= ALL else f"up to {number} {noun}s"

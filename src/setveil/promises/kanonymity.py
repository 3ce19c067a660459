"""k-anonymity and k^m-anonymity of set-valued data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from setveil.errors import ParameterError, check_count
from setveil.promises.ldiversity import LDiversity
from setveil.promises.promise import Promise, check_enough, others


@dataclass(frozen=True, repr=False)
class KAnonymity(Promise):
    """Every published record stands at least k times, alike in all its items. [He2009] section 3.1

    Definition: for every published record t, |{ t' : t' = t }| >= k.

    Example:
        >>> KAnonymity(k=10).model
        'k-anonymity'
    """

    model: ClassVar[str] = "k-anonymity"

    k: int
    """How many equal records there are at least; 2 or more."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k, 2))

    def describe(self) -> str:
        return (
            f"Every published record stands at least {self.k} times, alike in every item. Whoever knows any number of items of a person, "
            f"even all of them, finds at least {self.k} records that may be that person's, or none."
        )

    def limits(self) -> str:
        return (
            f"The {self.k} records may agree in what an adversary wants to learn: a person is hidden among them, but what all of them show "
            "is shown of that person. Several releases of the same people can be compared with each other; each keeps the promise alone."
        )

    def check_feasible(self, records: int) -> None:
        check_enough(records, self.k)


ALL = 1_000_000
"""As m: all items that a person may have."""


@dataclass(frozen=True, repr=False)
class KmAnonymity(Promise):
    """Every set of up to m published items that occurs, occurs in at least k records. [Terrovitis2012] section 2

    Definition: for every itemset S with |S| <= m, sup(S) = 0 or sup(S) >= k. k-anonymity implies it for every m.

    Example:
        >>> KmAnonymity(k=5, m=2).model
        'km-anonymity'
    """

    model: ClassVar[str] = "km-anonymity"

    k: int
    """How many records hold each combination at least; 2 or more."""
    m: int
    """How many items of a person an adversary may know; 1 or more, or `"all"`, which becomes `ALL`."""
    diversity: LDiversity | None = None
    """What is promised of sensitive items besides; only disassociated data can keep it."""

    if TYPE_CHECKING:

        def __init__(
            self, k: int, m: int | Literal["all"], diversity: LDiversity | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k, 2))
        asked: object = self.m
        object.__setattr__(
            self,
            "m",
            ALL
            if isinstance(asked, str) and asked == "all"
            else min(check_count("m", asked, 1), ALL),
        )
        if self.diversity is not None and not isinstance(self.diversity, LDiversity):
            raise ParameterError(
                "diversity",
                self.diversity,
                "it must be an LDiversity, such as LDiversity(l=3, sensitive=[...])",
            )

    def __repr__(self) -> str:
        return (
            super().__repr__().replace(f"m={self.m}", "m='all'")
            if self.m >= ALL
            else super().__repr__()
        )

    def describe(self) -> str:
        return (
            f"Whoever knows {self._known} of a person finds at least {self.k} records that hold them, or none: the person cannot be told "
            f"from {others(self.k)}.{self._besides}"
        )

    def describe_worlds(self) -> str:
        """What is promised by a release that fits several possible originals, as disassociated data does."""
        return (
            f"Whoever knows {self._known} of a person cannot rule out that at least {self.k} records hold them: wherever an original that "
            f"fits the release has such a record, one that fits has {self.k}. So the person cannot be told from "
            f"{others(self.k)}.{self._besides}"
        )

    @property
    def _known(self) -> str:
        return (
            "any number of items"
            if self.m >= ALL
            else "one item"
            if self.m == 1
            else f"up to {self.m} items"
        )

    @property
    def _besides(self) -> str:
        return f" {self.diversity.describe()}" if self.diversity else ""

    def limits(self) -> str:
        more = (
            ""
            if self.m >= ALL
            else f"more than {self.m} item{'s' * (self.m != 1)} of a person, or "
        )
        return (
            f"An adversary who knows {more}items that the person does NOT have, "
            f"may find fewer than {self.k} records. What all of the {self.k} records show is shown of the person."
            + (f" {self.diversity.limits()}" if self.diversity else "")
        )

    def check_feasible(self, records: int) -> None:
        check_enough(records, self.k)
        if self.diversity is not None:
            self.diversity.check_feasible(records)

    def to_dict(self) -> dict[str, object]:
        besides = {} if self.diversity is None else {"diversity": self.diversity.to_dict()}
        return {
            "model": self.model,
            "k": self.k,
            "m": "all" if self.m >= ALL else self.m,
            **besides,
            "meaning": self.describe(),
        }

"""(h,k,p)-coherence: some items are private, all others public knowledge. [Xu2008]"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from numbers import Real
from typing import TYPE_CHECKING, ClassVar

from setveil.errors import ParameterError, check_count
from setveil.promises.promise import Promise, check_enough, check_items, others


@dataclass(frozen=True, repr=False)
class Coherence(Promise):
    """Up to p public items of a person lead to k records or more, and to no private item in more than a share of h. [Xu2008] section 2

    Definition: for every set S of at most p public items with sup(S) > 0, the empty set among them, sup(S) >= k and, for every private item
    e, sup(S + e) / sup(S) <= h. A set that breaks this is called a mole. k^m-anonymity is the case without private items, p = m.

    Example:
        >>> Coherence(h=0.8, k=2, p=2, private=["HIV", "Diabetes"]).to_dict()["private"]
        ['Diabetes', 'HIV']
    """

    model: ClassVar[str] = "coherence"

    h: float
    """The greatest share of the records that agree with what an adversary knows which may hold one private item; above 0, at most 1."""
    k: int
    """How many records hold each combination of public items at least; 2 or more."""
    p: int
    """How many public items of a person an adversary may know; 1 or more."""
    private: frozenset[str] = frozenset()
    """The private items; any iterable of items may be given. All other items are public."""

    if TYPE_CHECKING:

        def __init__(self, h: float, k: int, p: int, private: Iterable[object] = ()) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.h, Real) or isinstance(self.h, bool) or not 0 < self.h <= 1:
            raise ParameterError("h", self.h, "it must be a number above 0 and at most 1")
        object.__setattr__(self, "h", self.h if isinstance(self.h, int) else float(self.h))
        object.__setattr__(self, "k", check_count("k", self.k, 2))
        object.__setattr__(self, "p", check_count("p", self.p, 1))
        object.__setattr__(self, "private", check_items("private", self.private))

    def describe(self) -> str:
        items = "one public item" if self.p == 1 else f"up to {self.p} public items"
        text = f"Whoever knows {items} of a person finds at least {self.k} records that hold them, or none"
        if not self.private:
            return f"{text}: the person cannot be told from {others(self.k)}."
        return f"{text}; and at most {100 * self.h:g} % of the records found hold any one private item."

    def limits(self) -> str:
        return (
            f"An adversary who knows more than {self.p} public item{'s' * (self.p != 1)} of a person, or a private item of that person, or "
            "items the person does NOT have, may learn more. That a person has one of several private items may be more likely than "
            f"{100 * self.h:g} %: each item is bounded by itself."
        )

    def check_feasible(self, records: int) -> None:
        check_enough(records, self.k)

    def to_dict(self) -> dict[str, object]:
        numbers = {"h": self.h, "k": self.k, "p": self.p}
        return {
            "model": self.model,
            **numbers,
            "private": sorted(self.private),
            "meaning": self.describe(),
        }


def matching_items(items: Iterable[str], pattern: str) -> frozenset[str]:
    """The items that a pattern names: `*` is any text, `?` one sign, `[ab]` one of several; upper and lower case differ.

    Example:
        >>> sorted(matching_items(["dx:flu", "dx:HIV", "beer"], "dx:*"))
        ['dx:HIV', 'dx:flu']
    """
    return frozenset(item for item in items if fnmatchcase(item, pattern))

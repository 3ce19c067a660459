"""(h,k,p)-coherence: some items are private, and all others are public knowledge. [Xu2008]"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, ClassVar

from setveil.errors import ParameterError
from setveil.parameters import about
from setveil.promises.kanonymity import K, known, others
from setveil.promises.promise import Promise


@dataclass(frozen=True, repr=False)
class Coherence(Promise):
    """Up to p public items of a person lead to at least k records, and reveal no private item.
    [Xu2008] section 2

    Definition: for every set S of at most p public items with sup(S) > 0, including the empty set,
    sup(S) >= k and, for every private item e, sup(S + e) / sup(S) <= h. A set that violates this is
    called a mole. k^m-anonymity is the case without private items, with p = m.

    Example:
        >>> Coherence(h=0.8, k=2, p=2, private=["HIV", "Diabetes"]).to_dict()["private"]
        ['Diabetes', 'HIV']
    """

    model: ClassVar[str] = "coherence"
    fear: ClassVar[str] = "links"
    feared: ClassVar[str] = "items that are known reveal private ones"

    h: float = field(
        metadata=about(
            "The largest share of the matching records that may contain any one private item.",
            metavar="SHARE",
            per_person="share",
        )
    )
    """Above 0 and at most 1."""
    k: int = field(metadata=K)
    p: int = field(
        metadata=about(
            "How many public items of a person an adversary may know.",
            option="-p",
            metavar="N",
            least=1,
        )
    )
    private: frozenset[str] = field(
        default=frozenset(), metadata=about("The private items; all others are public.")
    )

    if TYPE_CHECKING:

        def __init__(self, h: float, k: int, p: int, private: Iterable[object] = ()) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.h, Real) or isinstance(self.h, bool) or not 0 < self.h <= 1:
            raise ParameterError("h", self.h, "it must be a number above 0 and at most 1")
        super().__post_init__()

    @property
    def share(self) -> Fraction:
        """h as people write it: 0.8 is 4/5, not the nearest number that a computer has.

        Example:
            >>> Coherence(h=0.8, k=2, p=2).share
            Fraction(4, 5)
        """
        return Fraction(str(self.h))

    @property
    def most_known(self) -> int:
        return self.p

    @property
    def assumed_unknown(self) -> frozenset[str]:
        return self.private

    @property
    def doubts(self) -> tuple[str, ...]:
        if self.private or self.h == 1:
            return ()
        return (f"No items are named as private, so h = {self.h:g} has no effect.",)

    @property
    def gap(self) -> str:
        return "" if self.private else "it promises nothing about private items"

    def describe(self, *, possible: bool = False) -> str:
        text = (
            f"An adversary who knows {known(self.p, 'public item')} of a person finds at least "
            f"{self.k} records that contain {'it' if self.p == 1 else 'them'}, or none"
        )
        if not self.private:
            alike = f"that person cannot be told apart from {others(self.k)}"
            return f"{text}: {alike}. No items are named as private: nothing is promised about any."
        return f"{text}; and at most {100 * self.h:g} % of those contain any one private item."

    def limits(self) -> str:
        items = f"more than {self.p} public item{'s' * (self.p != 1)} of a person"
        lacking = "items that the person does NOT have, may learn more."
        if not self.private:
            return f"An adversary who knows {items}, or {lacking}"
        return (
            f"An adversary who knows {items}, or a private item, or {lacking} "
            "Each private item is limited on its own: that a person has one of several may be "
            f"more likely than {100 * self.h:g} %."
        )


def matching_items(items: Iterable[str], pattern: str) -> frozenset[str]:
    """The items that a pattern matches: `*` is any text, `?` one character, `[ab]` one of several.

    Upper and lower case differ.

    Example:
        >>> sorted(matching_items(["dx:flu", "dx:HIV", "beer"], "dx:*"))
        ['dx:HIV', 'dx:flu']
    """
    return frozenset(item for item in items if fnmatchcase(item, pattern))

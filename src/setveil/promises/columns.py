"""(k, k^m) for tables: who knows columns of a person and some of the person's items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from setveil.promises.kanonymity import ALL, COMBINED, KnownItems, LDiversity, known


@dataclass(frozen=True, repr=False)
class Columns(KnownItems):
    """Who knows all published columns of a person and up to m of the person's items finds at least
    k people who could be that person. [Poulis2013]

    Definition: for every person t and every set S of at most m items of t there is a possible
    original in which at least k people have S, and published columns that cover the values of t.

    Example:
        >>> Columns(k=5, m=2).title, Columns(k=5, m="all").most_known
        ('columns (k = 5, m = 2)', None)
    """

    model: ClassVar[str] = "columns"
    feared: ClassVar[str] = "somebody knows columns of a person, such as age, and a few items"
    shown_by: ClassVar[str] = "columns"
    of_records: ClassVar[bool] = False

    if TYPE_CHECKING:

        def __init__(
            self, k: int, m: int | Literal["all"], diversity: LDiversity | None = None
        ) -> None: ...

    def describe(self, *, possible: bool = False) -> str:
        besides = f" {self.diversity.describe()}" if self.diversity else ""
        return (
            "An adversary who knows the values of all published columns of a person, and "
            f"{known(self.m, 'item')} of that person, cannot narrow that person down to fewer than "
            f"{self.k} people: at least {self.k} could have these values and "
            f"{'it' if self.m == 1 else 'them'}.{besides}"
        )

    def limits(self) -> str:
        besides = f" {self.diversity.limits()}" if self.diversity else ""
        more = "" if self.m >= ALL else f"more than {self.m} item{'s' * (self.m != 1)}, or "
        return (
            f"An adversary who knows {more}items that the person does NOT have, may find fewer "
            f"than {self.k} people. Anyone who knows a person's columns may find the person's "
            "group, and learns what all people of the group have in common: narrow columns, and "
            f"items that all of them share. {COMBINED}{besides}"
        )

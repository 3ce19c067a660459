"""l-diversity: which items are sensitive, and among how many records each of them hides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from setveil.errors import check_count
from setveil.promises.promise import Promise, check_enough, check_items


@dataclass(frozen=True, repr=False)
class LDiversity(Promise):
    """Every sensitive item is published apart from all others, for a cluster of at least l records as a whole. [Terrovitis2012] section 5

    Definition: a sensitive item stands in no record chunk and no shared chunk, only in term chunks of clusters with at least l records.

    Example:
        >>> LDiversity(l=3, sensitive=["viagra", "flu"]).to_dict()["sensitive"]
        ['flu', 'viagra']
    """

    model: ClassVar[str] = "l-diversity"

    l: int
    """Among how many records a sensitive item hides at least; 2 or more."""
    sensitive: frozenset[str]
    """The sensitive items; any iterable of items may be given."""

    if TYPE_CHECKING:

        def __init__(self, l: int, sensitive: Iterable[object]) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_count("l", self.l, 2))
        object.__setattr__(self, "sensitive", check_items("sensitive", self.sensitive))

    def describe(self) -> str:
        return (
            f"Each sensitive item is published for a group of at least {self.l} records as a whole, apart from everything else: no other "
            f"item of a person tells which of the {self.l} or more records of a group has it."
        )

    def limits(self) -> str:
        return (
            "It is not told how many records of a group have a sensitive item: at least one, perhaps all. Whoever knows which group a "
            "person is in knows which sensitive items that group has. An item that is not on the list is not protected by this promise, "
            "even where it tells as much as one that is."
        )

    def check_feasible(self, records: int) -> None:
        check_enough(records, self.l)

    def to_dict(self) -> dict[str, object]:
        return {
            "model": self.model,
            "l": self.l,
            "sensitive": sorted(self.sensitive),
            "meaning": self.describe(),
        }

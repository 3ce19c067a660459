"""l-diversity: which items are sensitive, and how many records each of them is hidden among."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

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

    l: int = field(
        metadata=about(
            "Hide each sensitive item among at least this many records.",
            option="-l",
            metavar="N",
            least=2,
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

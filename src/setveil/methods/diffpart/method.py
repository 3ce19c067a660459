"""The method DiffPart: noisy counts of ever smaller groups of records, down a public tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from setveil.errors import ParameterError
from setveil.methods.diffpart.walk import Walk
from setveil.methods.private import Private, PrivateMethod
from setveil.parameters import with_default
from setveil.published.synthetic import Synthetic

MOST_FANOUT = 16


@dataclass(frozen=True, kw_only=True)
class DiffPart(PrivateMethod):
    """Divides the records by a public tree as long as noisy counts say that there are enough.

    All records begin in one part, in which every item is the root. A part is divided by one node of
    its cut: by which of the node's children a record has items under. Each division that is not
    empty gets a noisy count, and is divided further if it passes a threshold. The empty ones, of
    which there may be very many, must pass it by their noise as well: how many do is drawn, and
    then which. A part whose cut has only leaves is published as so many equal records as its noisy
    count says. [Chen2011]

    One hundredth of epsilon counts the records, and half of the rest is for dividing. A part
    spends an equal share of what its path has left for each node that may still be divided below
    its cut. The other half is for the counts of leaves.

    Departures from the paper:
        - Nodes with more than `max_fanout` children get groups of neighbours in between, so the
          work does not grow with 2 to the power of the fan-out.
        - Noise is discrete and exact. The threshold is also so high that of the empty parts of one
          division hardly any passes.
        - The widest node of a cut is divided first, not a random one.
        - Empty records are a part of their own.

    Cost: One noise for each part that is not empty, and the drawn ones.

    Example:
        >>> from setveil import DifferentialPrivacy, Hierarchy
        >>> tree = Hierarchy.from_paths([(drink, "Drinks") for drink in ("beer", "tea", "wine")])
        >>> data = [["beer", "wine"], ["beer"]] * 2_000
        >>> release = DiffPart().anonymize(data, DifferentialPrivacy(epsilon=1), tree)
        >>> {("beer",), ("beer", "wine")} <= set(release.classes)
        True
    """

    name: ClassVar[str] = "diffpart"
    needs_hierarchy: ClassVar[bool] = True

    max_fanout: int = with_default(
        10,
        f"Nodes of the hierarchy with more children are divided in steps; at most {MOST_FANOUT}.",
        metavar="N",
        least=2,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_fanout > MOST_FANOUT:
            allowed = f"it must be a whole number from 2 to {MOST_FANOUT}"
            raise ParameterError("max_fanout", self.max_fanout, allowed)

    def _publish(self, private: Private) -> Synthetic:
        walk = Walk(private, self.max_fanout)
        rows, weights = walk.run()
        return Synthetic.of_rows(
            rows,
            private.promise,
            self.to_dict(),
            weights=weights,
            people=walk.people,
            ledger=private.budget.ledger,
        )

"""Apriori: k^m-anonymity by one cut of the tree for all records. [He2009] section 5, [Liu2010a] section 1"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from setveil.engines.base import Progress
from setveil.methods.recoding.bottomup import apriori_cut
from setveil.methods.recoding.frame import Frame, Shown
from setveil.methods.recoding.method import GlobalRecoding
from setveil.methods.recoding.search import from_root, refined

LARGER = (1.5, 2.0)
"""The paper's search is also run for k times these: what it finds is not always dearer, and holds for k as well."""


@dataclass(frozen=True, kw_only=True)
class Apriori(GlobalRecoding):
    """Generalizes items to the nodes of one cut, so that every set of up to m nodes that occurs, occurs in k records (AA).

    The paper's search begins with the leaves. For i = 1 to m it takes the threats of i nodes (1 to k - 1 records) one after the other, the
    first in the tree first, and raises members of each, siblings along, in the way that costs least NCP and gives the itemset k records.
    What is safe stays safe when nodes are raised, so safe cuts lie above a border, and a good one is on it. `best` therefore lowers that
    cut again wherever all children of a node are safe, does the same from the root downward in several orders and for the cuts of
    some larger k, and keeps the cheapest.

    Departures from the paper:
        - Where even the root stands in fewer than k records (nearly all records are empty), everything is suppressed.
        - A chain of single children counts as its lowest node.

    Cost:
        Searches of itemsets look at each record once for each of its itemsets of i nodes, over the nodes of the cut, which is
        coarse before i is large. About (m + 3) x 4 bytes for each occurrence, and 4 more for each level of the tree.

    Example:
        Table 2 of [He2009]: {a2, b1} stands in one record, so b1 and b2 become B everywhere.

        >>> from setveil.data.transactions import Transactions
        >>> from setveil.hierarchy.tree import Hierarchy
        >>> from setveil.promises import KmAnonymity
        >>> tree = Hierarchy.from_paths([("a1", "A", "ALL"), ("a2", "A", "ALL"), ("b1", "B", "ALL"), ("b2", "B", "ALL")])
        >>> data = Transactions.of([["a1"], ["a1", "a2"], ["b1", "b2"], ["b1", "b2"], ["a1", "a2", "b2"], ["a1", "a2", "b1", "b2"]])
        >>> release = Apriori().anonymize(data, KmAnonymity(k=2, m=2), tree)
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('B',), 2), (('a1',), 1), (('a1', 'a2'), 1), (('a1', 'a2', 'B'), 2)]
    """

    name: ClassVar[str] = "apriori"

    def solve(self, frame: Frame, k: int, progress: Progress | None = None) -> Shown:
        cut = apriori_cut(frame, k, frame.m, progress)
        return cut if self.variant == "paper" else best_cut(frame, k, self.restarts, cut, progress)


def best_cut(
    frame: Frame, k: int, restarts: int, cut: Shown, progress: Progress | None = None
) -> Shown:
    """The cheapest cut found from the leaves upward (`cut` is the one for k), for some larger k, and from the root downward."""
    found = [refined(frame, k, frame.m, cut, suppress=False)]
    for factor in LARGER:
        higher = int(k * factor)
        if k < higher <= frame.holders(0):
            found.append(
                refined(frame, k, frame.m, apriori_cut(frame, higher, frame.m), suppress=False)
            )
    found.append(from_root(frame, k, frame.m, suppress=False, restarts=restarts, progress=progress))
    return min(found, key=frame.loss)

"""Apriori: k^m-anonymity by one cut of the tree. [He2009] section 5, [Liu2010a] section 1"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setveil.engines.base import Engine, Progress
from setveil.methods.recoding.frame import SUPPRESSED, Frame, GlobalRecoding, Shown
from setveil.methods.recoding.search import Task, from_root, searched

LARGER = (1.5, 2.0)  # the paper's search is also run for k times these; such a cut may lose less


@dataclass(frozen=True, kw_only=True)
class Apriori(GlobalRecoding):
    """Generalizes items to the nodes of one cut: up to m nodes are in k records or in none (AA).

    The paper's search begins with the leaves. For i = 1 to m it takes the threats of i nodes (in 1
    to k - 1 records) one after the other, the first in the tree first. It raises members of each,
    siblings included, in the way that costs least NCP and puts the itemset in k records. A safe cut
    stays safe if nodes are raised, so safe cuts are above a border, and a good one is on it. So
    `best` lowers that cut again wherever all children of a node are safe, does the same from the
    root downward in several orders and for the cuts of some larger k, and takes the cheapest.

    Departures from the paper:
        - If even the root is in fewer than k records (nearly all records are empty), everything is
          suppressed.
        - A chain of single children counts as its lowest node.

    Cost: A search for itemsets of i nodes reads each record once for each of them, over the nodes
        of the cut, which is coarse before i is large. About (m + 3) x 4 bytes per occurrence, and 4
        more for each level of the tree.

    Example:
        Table 2 of [He2009]: {a2, b1} is in one record, so b1 and b2 become B everywhere.

        >>> from setveil import Hierarchy, KmAnonymity
        >>> paths = ["a1 A ALL", "a2 A ALL", "b1 B ALL", "b2 B ALL"]
        >>> tree = Hierarchy.from_paths(path.split() for path in paths)
        >>> records = ["a1", "a1 a2", "b1 b2", "b1 b2", "a1 a2 b2", "a1 a2 b1 b2"]
        >>> data = [record.split() for record in records]
        >>> release = Apriori().anonymize(data, KmAnonymity(k=2, m=2), tree)
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('B',), 2), (('a1',), 1), (('a1', 'a2'), 1), (('a1', 'a2', 'B'), 2)]
    """

    name: ClassVar[str] = "apriori"

    def solve(self, frame: Frame, k: int, engine: Engine, progress: Progress | None) -> Shown:
        if self.variant == "paper":
            return apriori_cut(frame, k, progress)
        return best_cut(frame, k, self.restarts, engine, progress)


def best_cut(
    frame: Frame, k: int, restarts: int, engine: Engine, progress: Progress | None
) -> Shown:
    """The cheapest cut found from the leaves upward, for k or more, and from the root downward."""
    cut = apriori_cut(frame, k, progress)
    larger = [int(k * factor) for factor in LARGER]
    in_root = int(frame.records.starts[1])
    higher = engine.map(_cut, [(frame, other) for other in larger if k < other <= in_root])
    task = Task(frame, k, frame.m, suppress=False)
    lowered = [task._replace(shown=shown) for shown in (cut, *higher)]
    tasks = [*lowered, *from_root(task, restarts)]
    found = searched(tasks, "searching for a cut", engine, progress)
    return min(found, key=frame.loss)


def _cut(task: tuple[Frame, int]) -> Shown:
    return apriori_cut(*task)


def apriori_cut(frame: Frame, k: int, progress: Progress | None = None) -> Shown:
    """The cut of the paper's search; all is suppressed if the root is in fewer than k records."""
    from setveil.kernels.recoding.raising import Cut
    from setveil.kernels.recoding.threats import repair

    cut = Cut(frame.tree.over.copy(), np.zeros(len(frame), dtype=np.int64))
    scratch = frame.scratch(frame.m)
    for size in range(1, frame.m + 1):
        if not repair(frame.records, frame.tree, scratch, cut, size, k):
            return np.full_like(cut.shown, SUPPRESSED)
        if progress is not None:
            progress(size, frame.m, "generalizing")
    return cut.shown

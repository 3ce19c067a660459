"""Apriori, HgHs and mHgHs: k^m-anonymity by one cut of the tree. [He2009] section 5, [Liu2010a]"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setveil.engines.base import Engine, Progress
from setveil.methods.recoding.frame import SUPPRESSED, Frame, GlobalRecoding, Shown
from setveil.methods.recoding.search import Task, from_root, reinserted, run, searched
from setveil.promises.kanonymity import KmAnonymity
from setveil.promises.promise import Promise

LARGER = (1.5, 2.0)  # the paper's search is also run for k times these; such a cut may lose less


@dataclass(frozen=True, kw_only=True)
class Apriori(GlobalRecoding):
    """Generalizes items to the nodes of one cut: up to m nodes are in k records or in none (AA).

    The paper's search begins with the leaves. For i = 1 to m it takes the threats of i nodes (in 1
    to k - 1 records) in turn, the first in the tree first. It raises members of each,
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


@dataclass(frozen=True, kw_only=True)
class HgHs(GlobalRecoding):
    """Heuristic generalization with heuristic suppression: a cut of the tree without some nodes.

    The paper's search begins with the cut {root} and replaces one node by its children, always the
    one that gives the cheapest cut, while the cost falls. For each cut, nodes are kept in
    descending suppression cost while the kept ones hold no threat; the others are suppressed. The
    cost is in LM; a suppressed occurrence costs 1. [Liu2010a] section 3

    `best` shows nodes one by one, each only if this creates no threat or if what must be suppressed
    for it is worth less. It replaces a node by its children (or what is safe below them) if that
    lowers the loss, retries what is suppressed, and replaces what is below a node by the node if
    too much of that is suppressed; in several orders.

    Departures from the paper:
        - Ties go to the node that is first level by level; the paper does not say.
        - A chain of single children counts as its lowest node; expanding it never lowers the cost.
        - `best` minimizes NCP, by which results are compared, not LM.

    Cost: `best` reads only the records under the node that it tries to show. `paper` holds all
        minimal threats of all cuts and reads them for each cut: it is for small data.

    Example:
        >>> from setveil import Hierarchy, KmAnonymity
        >>> drinks = [(drink, "Drinks", "ALL") for drink in ("beer", "wine", "milk")]
        >>> tree = Hierarchy.from_paths([*drinks, ("caviar", "ALL")])
        >>> records = ["beer wine", "beer wine", "milk caviar", "milk", "milk"]
        >>> data = [record.split() for record in records]
        >>> release = HgHs().anonymize(data, KmAnonymity(k=2, m=2), tree)
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('beer', 'wine'), 2), (('milk',), 3)]
    """

    name: ClassVar[str] = "hghs"

    def solve(self, frame: Frame, k: int, engine: Engine, progress: Progress | None) -> Shown:
        if self.variant == "best":
            tasks = from_root(Task(frame, k, frame.m, suppress=True), self.restarts)
            return min(searched(tasks, "searching", engine, progress), key=frame.loss)
        from setveil.methods.recoding.paper import hghs_cut

        return hghs_cut(frame, k)


@dataclass(frozen=True, kw_only=True)
class MHgHs(GlobalRecoding):
    """HgHs in rounds 1 to m: round i knows threats of up to i nodes, and stays above the last cut.

    `best` takes the best of HgHs, of rounds that begin with what is still safe of the round before,
    and of the cut of `Apriori`, in which it then suppresses and expands nodes: it never loses more
    than either. [Liu2010a] section 4

    Example:
        >>> from setveil import Hierarchy, KmAnonymity
        >>> data = [["beer", "wine"], ["beer", "wine"], ["beer", "caviar"]]
        >>> tree = Hierarchy.balanced(["beer", "caviar", "wine"], fanout=2)
        >>> release = MHgHs().anonymize(data, KmAnonymity(k=2, m=2), tree)
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('beer',), 1), (('beer', 'wine'), 2)]
    """

    name: ClassVar[str] = "mhghs"
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {
        KmAnonymity: "it usually loses least of the methods that generalize"
    }

    def solve(self, frame: Frame, k: int, engine: Engine, progress: Progress | None) -> Shown:
        if self.variant == "paper":
            from setveil.methods.recoding.paper import rounds_of_hghs

            return rounds_of_hghs(frame, k)
        cut = best_cut(frame, k, self.restarts, engine, progress)
        task = Task(frame, k, frame.m, suppress=True)
        tasks = [task._replace(shown=cut), *from_root(task, self.restarts)]
        from_cut, *others = searched(tasks, "searching", engine, progress)
        shown = run(Task(frame, k, 1, suppress=True))
        for size in range(2, frame.m + 1):
            shown = reinserted(frame, k, size, shown)
        return min([from_cut, shown, *others], key=frame.loss)

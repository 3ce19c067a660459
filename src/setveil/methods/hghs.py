"""HgHs and mHgHs: k^m-anonymity by one cut of the tree, with some nodes suppressed. [Liu2010a]"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setveil.engines.base import Engine, Progress
from setveil.methods.apriori import best_cut
from setveil.methods.recoding.frame import Frame, GlobalRecoding, Shown
from setveil.methods.recoding.paper import hghs_steps
from setveil.methods.recoding.search import Task, from_root, reinserted, run, searched
from setveil.promises.kanonymity import KmAnonymity
from setveil.promises.promise import Promise


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
        *_, last = hghs_steps(frame, k, frame.m)
        return last.shown(frame)


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
            return _rounds_of_paper(frame, k)
        cut = best_cut(frame, k, self.restarts, engine, progress)
        task = Task(frame, k, frame.m, suppress=True)
        tasks = [task._replace(shown=cut), *from_root(task, self.restarts)]
        from_cut, *others = searched(tasks, "searching", engine, progress)
        return min([from_cut, _rounds(frame, k), *others], key=frame.loss)


def _rounds_of_paper(frame: Frame, k: int) -> Shown:
    floor = np.flatnonzero(np.bincount(frame.tree.up[1:], minlength=len(frame)) == 0)
    for size in range(1, frame.m + 1):
        *_, last = hghs_steps(frame, k, size, floor)
        floor = last.cut
    return last.shown(frame)


def _rounds(frame: Frame, k: int) -> Shown:
    """Round by round, each with what is still safe of the round before."""
    shown = run(Task(frame, k, 1, suppress=True))
    for size in range(2, frame.m + 1):
        shown = reinserted(frame, k, size, shown)
    return shown

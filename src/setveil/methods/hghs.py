"""HgHs and mHgHs: k^m-anonymity by one cut of the tree and the suppression of some of its nodes. [Liu2010a]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setveil.engines.base import Progress
from setveil.methods.apriori import best_cut
from setveil.methods.recoding.bottomup import apriori_cut
from setveil.methods.recoding.frame import Frame, Shown
from setveil.methods.recoding.method import GlobalRecoding
from setveil.methods.recoding.paper import hghs_steps
from setveil.methods.recoding.search import from_root, refined, reinserted


@dataclass(frozen=True, kw_only=True)
class HgHs(GlobalRecoding):
    """Heuristic generalization with heuristic suppression: a cut from the root downward, and some of its nodes left out everywhere.

    The paper's search begins with the cut {root} and goes to the cheapest cut in which one node is replaced by its children, while the
    cost falls. For each cut, nodes are kept in descending suppression cost while the kept ones hold no threat; the others are
    suppressed. The cost is in LM; a suppressed occurrence costs 1. [Liu2010a] section 3

    `best` shows nodes one by one, each only if no threat comes with it or if what must be suppressed for it is worth less: a
    node is replaced by its children (or what is safe of the nodes below them) where that lowers the loss, what is suppressed is tried
    again, and a node takes the place of what is below it where too much of that is suppressed; in several orders.

    Departures from the paper:
        - Ties go to the node that is first when the tree is read level by level; the paper does not say.
        - A chain of single children counts as its lowest node, for expanding one would never lower the cost.
        - `best` minds NCP, by which results are compared, not LM.

    Cost:
        `best` looks only at the records under the node it tries to show. `paper` holds all minimal threats of all cuts and looks at them
        for each cut: it is for small data.

    Example:
        >>> from setveil.data.transactions import Transactions
        >>> from setveil.hierarchy.tree import Hierarchy
        >>> from setveil.promises import KmAnonymity
        >>> tree = Hierarchy.from_paths([(drink, "Drinks", "ALL") for drink in ("beer", "wine", "milk")] + [("caviar", "ALL")])
        >>> data = Transactions.of([["beer", "wine"], ["beer", "wine"], ["milk", "caviar"], ["milk"], ["milk"]])
        >>> release = HgHs().anonymize(data, KmAnonymity(k=2, m=2), tree)
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('beer', 'wine'), 2), (('milk',), 3)]
    """

    name: ClassVar[str] = "hghs"

    def solve(self, frame: Frame, k: int, progress: Progress | None = None) -> Shown:
        if self.variant == "best":
            return from_root(
                frame, k, frame.m, suppress=True, restarts=self.restarts, progress=progress
            )
        *_, last = hghs_steps(frame, k, frame.m)
        return last.shown(frame)


@dataclass(frozen=True, kw_only=True)
class MHgHs(GlobalRecoding):
    """HgHs in rounds 1 to m: round i knows threats of up to i nodes and stays above the cut of the round before.

    `best` takes the best of HgHs, of rounds that begin with what is still safe of the round before, and of the cut of
    `Apriori`, in which it then suppresses and expands nodes: it never loses more than either. [Liu2010a] section 4

    Example:
        >>> from setveil.data.transactions import Transactions
        >>> from setveil.hierarchy.tree import Hierarchy
        >>> from setveil.promises import KmAnonymity
        >>> data = Transactions.of([["beer", "wine"], ["beer", "wine"], ["beer", "caviar"]])
        >>> release = MHgHs().anonymize(data, KmAnonymity(k=2, m=2), Hierarchy.balanced(data.vocabulary, fanout=2))
        >>> sorted(zip(release.classes, release.sizes.tolist()))
        [(('beer',), 1), (('beer', 'wine'), 2)]
    """

    name: ClassVar[str] = "mhghs"

    def solve(self, frame: Frame, k: int, progress: Progress | None = None) -> Shown:
        if self.variant == "paper":
            floor = np.flatnonzero(np.bincount(frame.up[1:], minlength=len(frame.up)) == 0)
            for size in range(1, frame.m + 1):
                *_, last = hghs_steps(frame, k, size, floor)
                floor = last.cut
            return last.shown(frame)
        cut = best_cut(frame, k, self.restarts, apriori_cut(frame, k, frame.m, progress))
        found = [refined(frame, k, frame.m, cut, suppress=True), _in_rounds(frame, k)]
        found.append(
            from_root(frame, k, frame.m, suppress=True, restarts=self.restarts, progress=progress)
        )
        return min(found, key=frame.loss)


def _in_rounds(frame: Frame, k: int) -> Shown:
    """Round by round, each with what is still safe of the round before."""
    shown = from_root(frame, k, 1, suppress=True, restarts=0)
    for size in range(2, frame.m + 1):
        shown = reinserted(frame, k, size, shown)
    return shown

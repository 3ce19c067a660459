"""HgHs as in the paper: all minimal threats, then cuts from the root. [Liu2010a] section 3"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s, positions
from setveil.errors import ParameterError
from setveil.methods.recoding.frame import SUPPRESSED, Frame, Shown

MOST = 100_000_000
"""How many numbers the threats of all cuts may take (400 MB); if there are more, it is refused."""


@dataclass(frozen=True)
class Solution:
    """A cut, which of its nodes are suppressed, and its cost: LM x occurrences x (leaves - 1)."""

    cut: Int64s
    suppressed: Int64s
    cost: int

    def shown(self, frame: Frame) -> Shown:
        shown = np.full(frame.tree.whole, SUPPRESSED, dtype=np.int32)
        for node in np.setdiff1d(self.cut, self.suppressed).tolist():
            shown[frame.spans[node]] = node
        return shown


def hghs_cut(frame: Frame, k: int) -> Shown:
    """What HgHs shows."""
    *_, last = hghs_steps(frame, k, frame.m)
    return last.shown(frame)


def rounds_of_hghs(frame: Frame, k: int) -> Shown:
    """What mHgHs shows: round i knows threats of up to i nodes, and stays above the last cut."""
    floor = np.flatnonzero(np.bincount(frame.tree.up[1:], minlength=len(frame)) == 0)
    for size in range(1, frame.m + 1):
        *_, last = hghs_steps(frame, k, size, floor)
        floor = last.cut
    return last.shown(frame)


def hghs_steps(frame: Frame, k: int, m: int, floor: Int64s | None = None) -> Iterator[Solution]:
    """The solutions that HgHs visits, each cheaper than the last; `floor` is not expanded."""
    closed = np.zeros(len(frame), dtype=bool)
    closed[[] if floor is None else floor] = True
    below, up = np.zeros(len(frame), dtype=bool), frame.tree.up
    for each in range(1, len(frame)):
        below[each] = below[up[each]] or closed[up[each]]
    judge = _Judge(frame, minimal_threats(frame, k, m, (~below).astype(np.uint8)))
    current = judge.judge(np.array([0]))
    yield current
    while True:
        cut = current.cut.tolist()
        inner = [node for node in cut if frame.children[node] and not closed[node]]
        inner.sort(key=lambda node: judge.order[node])
        tried = [
            judge.judge(np.array([other for other in cut if other != node] + frame.children[node]))
            for node in inner
        ]
        best = min(tried, key=lambda solution: solution.cost, default=current)
        if best.cost >= current.cost:
            return
        current = best
        yield current


def minimal_threats(
    frame: Frame, k: int, m: int, allowed: npt.NDArray[np.uint8] | None = None
) -> Int32s:
    """The smallest threats of all cuts: up to m nodes, no two on one path, in 1 to k - 1 records.

    Returns:
        One row per threat, filled up with its first node."""
    from setveil.kernels.recoding.threats import are_minimal, collect

    room, fits = 1 << 13, False
    allowed = np.ones(len(frame), dtype=np.uint8) if allowed is None else allowed
    while not fits:
        room *= 8
        if room > MOST:
            most = MOST // (m + 1)
            problem = f"there are more than {most:,} threats in all cuts; use best, or a smaller m"
            raise ParameterError("variant", "paper", problem)
        scratch = frame.scratch(m, rows=len(frame.records.holders), out=room)
        fits, out = collect(frame.records, frame.tree, scratch, allowed, m, k)
    sizes, flat = _parted(out)
    minimal = are_minimal(frame.records, sizes, flat, k) > 0
    starts = (np.cumsum(sizes) - sizes)[minimal]
    columns = np.arange(max(m, 1))
    places = np.where(columns < sizes[minimal][:, None], columns, 0)
    itemsets: Int32s = flat[starts[:, None] + places]
    return itemsets


def _parted(out: Int32s) -> tuple[Int64s, Int32s]:
    """The sizes and the nodes of threats that are written one by one, each after its size."""
    heads, at, written = [], 0, out.tolist()
    while at < len(written):
        heads.append(at)
        at += written[at] + 1
    places = np.array(heads, dtype=np.int64)
    return out[places].astype(np.int64), np.ascontiguousarray(np.delete(out, places))


class _Judge:
    """Finds what to suppress in a cut, and the cost."""

    def __init__(self, frame: Frame, threats: Int32s) -> None:
        self.tree, self.threats = frame.tree, threats
        self.narrow = (frame.tree.stop - frame.tree.first - 1).astype(np.int64)
        self.whole = max(frame.tree.whole - 1, 1)
        self.price = frame.tree.weight * (self.whole - self.narrow)
        depth = np.zeros(len(frame), dtype=np.int64)
        for node in range(1, len(frame)):
            depth[node] = depth[frame.tree.up[node]] + 1
        self.order = np.empty(len(frame), dtype=np.int64)
        self.order[np.lexsort((frame.tree.first, depth))] = np.arange(len(frame))

    def judge(self, cut: Int64s) -> Solution:
        """Keep nodes in descending suppression cost, level by level, while they hold no threat."""
        ranked = cut[np.lexsort((self.order[cut], -self.price[cut]))]
        places = positions(ranked, len(self.order))[self.threats]
        places = places[(places >= 0).all(axis=1)]
        kept = np.ones(len(ranked), dtype=bool)
        last = places.max(axis=1, initial=-1)
        for place, row in sorted(zip(last.tolist(), places.tolist(), strict=True)):
            if kept[place] and all(kept[other] for other in row):
                kept[place] = False
        costs = np.where(kept, self.narrow[ranked], self.whole) * self.tree.weight[ranked]
        return Solution(np.sort(cut), np.sort(ranked[~kept]), int(costs.sum()))

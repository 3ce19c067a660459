"""HgHs as the paper has it: all minimal threats of all cuts first, then cuts from the root downward. [Liu2010a] sections 3 and 4"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.errors import ParameterError
from setveil.methods.recoding.frame import SUPPRESSED, Frame, Int64s, Shown

Itemsets = npt.NDArray[np.int32]
"""One row for each threat, filled up with its first node."""

MOST = 100_000_000
"""How many numbers the threats of all cuts may take (400 MB); where there are more, the search is refused."""


@dataclass(frozen=True)
class Solution:
    """A cut, which of its nodes are suppressed, and the cost: LM times occurrences times the leaves but one."""

    cut: Int64s
    suppressed: Int64s
    cost: int

    def shown(self, frame: Frame) -> Shown:
        shown = np.full(frame.leaf_count, SUPPRESSED, dtype=np.int32)
        for node in np.setdiff1d(self.cut, self.suppressed).tolist():
            frame.show(shown, node)
        return shown


def hghs_steps(frame: Frame, k: int, m: int, floor: Int64s | None = None) -> Iterator[Solution]:
    """The solutions that HgHs goes through, each cheaper than the one before; nodes of `floor` are not expanded."""
    closed = np.zeros(len(frame.up), dtype=bool)
    closed[[] if floor is None else floor] = True
    threats = minimal_threats(frame, k, m, _allowed(frame, closed))
    judge = _Judge(frame, threats)
    current = judge.judge(np.array([0]))
    yield current
    while True:
        inner = [node for node in current.cut.tolist() if frame.children[node] and not closed[node]]
        inner.sort(key=lambda node: judge.order[node])
        looked = [
            judge.judge(
                np.array([x for x in current.cut.tolist() if x != node] + frame.children[node])
            )
            for node in inner
        ]
        best = min(looked, key=lambda solution: solution.cost, default=current)
        if best.cost >= current.cost:
            return
        current = best
        yield current


def minimal_threats(
    frame: Frame, k: int, m: int, allowed: npt.NDArray[np.uint8] | None = None
) -> Itemsets:
    """The smallest threats of all cuts: up to m nodes, no two on one path, that stand in 1 to k - 1 records.

    Raises:
        ParameterError: when there are too many to hold.
    """
    room = 1 << 16
    allowed = np.ones(len(frame.up), dtype=np.uint8) if allowed is None else allowed
    while True:
        desk = frame.desk(m, rows=len(frame.data.holders), out=room)
        if not frame.kernels.collect(frame.data, frame.tree, desk, frame.over, allowed, m, k):
            break
        room *= 8
        if room > MOST:
            raise ParameterError(
                "variant",
                "paper",
                f"all cuts have more than {MOST // (m + 1)} threats; take best, or a smaller m",
            )
    sizes, flat = _parted(desk.out[: desk.used[0]])
    minimal = np.zeros(len(sizes), dtype=np.uint8)
    frame.kernels.are_minimal(frame.data, sizes, flat, k, minimal)
    starts = (np.cumsum(sizes) - sizes)[minimal > 0]
    columns = np.arange(max(m, 1))
    itemsets: Itemsets = flat[
        starts[:, None] + np.where(columns < sizes[minimal > 0][:, None], columns, 0)
    ]
    return itemsets


def _parted(out: Itemsets) -> tuple[Int64s, Itemsets]:
    """The sizes and the nodes of threats that are written one after the other, each behind its size."""
    heads, at = [], 0
    written = out.tolist()
    while at < len(written):
        heads.append(at)
        at += written[at] + 1
    flat = np.delete(out, heads) if heads else out
    return out[heads].astype(np.int64) if heads else np.empty(
        0, dtype=np.int64
    ), np.ascontiguousarray(flat)


def _allowed(frame: Frame, closed: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """The nodes that are not below a closed one."""
    below = np.zeros(len(frame.up), dtype=bool)
    for node in range(1, len(frame.up)):
        above = frame.up[node]
        below[node] = below[above] or closed[above]
    return (~below).astype(np.uint8)


class _Judge:
    """Finds what to suppress of a cut, and the cost."""

    def __init__(self, frame: Frame, threats: Itemsets) -> None:
        self.frame, self.threats = frame, threats
        self.narrow = (frame.stop - frame.first - 1).astype(np.int64)
        self.whole = max(frame.leaf_count - 1, 1)
        self.price = frame.weight * (self.whole - self.narrow)
        depth = np.zeros(len(frame.up), dtype=np.int64)
        for node in range(1, len(frame.up)):
            depth[node] = depth[frame.up[node]] + 1
        self.order = np.empty(len(frame.up), dtype=np.int64)
        self.order[np.lexsort((frame.first, depth))] = np.arange(len(frame.up))

    def judge(self, cut: Int64s) -> Solution:
        """Keep nodes in descending suppression cost while the kept ones hold no threat; of equals the first, level by level."""
        ranked = cut[np.lexsort((self.order[cut], -self.price[cut]))]
        rank = np.full(len(self.frame.up), -1, dtype=np.int64)
        rank[ranked] = np.arange(len(ranked))
        places = rank[self.threats]
        places = places[(places >= 0).all(axis=1)]
        kept = np.ones(len(ranked), dtype=bool)
        last = places.max(axis=1, initial=-1)
        for place, row in sorted(zip(last.tolist(), places.tolist(), strict=True)):
            if kept[place] and all(kept[other] for other in row):
                kept[place] = False
        costs = np.where(kept, self.narrow[ranked], self.whole) * self.frame.weight[ranked]
        return Solution(np.sort(cut), np.sort(ranked[~kept]), int(costs.sum()))

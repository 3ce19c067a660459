"""Apriori anonymization itself: from the leaves upward, size by size, each threat in the cheapest way."""

from __future__ import annotations

import numpy as np

from setveil.engines.base import Progress
from setveil.methods.recoding.frame import SUPPRESSED, Frame, Shown


def apriori_cut(frame: Frame, k: int, m: int, progress: Progress | None = None) -> Shown:
    """The cut of Apriori anonymization; everything is suppressed where even the root stands in fewer than k records."""
    shown = frame.over.copy()
    current = np.zeros(len(frame.up), dtype=np.int64)
    desk = frame.desk(m)
    for size in range(1, m + 1):
        if frame.kernels.repair(frame.data, frame.tree, desk, shown, current, size, k):
            shown[:] = SUPPRESSED
            break
        if progress is not None:
            progress(size, m, "generalizing")
    return shown

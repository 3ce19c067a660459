"""Steps over arrays that grow."""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import step


@step
def roomier(values, size):
    """The same array, or a copy of twice `size` places where it has fewer than that; new ones are 0."""
    if size <= len(values):
        return values
    more = np.zeros(2 * size, dtype=values.dtype)
    for at in range(len(values)):
        more[at] = values[at]
    return more


@step
def grown(rows, used):
    """The same rows, with room for one more."""
    if used < len(rows):
        return rows
    larger = np.empty((2 * len(rows) + 64, rows.shape[1]), dtype=rows.dtype)
    larger[: len(rows)] = rows
    return larger

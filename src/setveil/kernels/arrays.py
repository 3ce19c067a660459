"""The types of the arrays that kernels take, and steps over arrays that grow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setveil.kernels.jit import step

Int32s = npt.NDArray[np.int32]
"""Items and nodes."""
Int64s = npt.NDArray[np.int64]
"""Offsets, counts, and numbers of records."""
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
"""Bitmaps."""


@step
def roomier(values, size):
    """The array, or a copy with room for twice `size` values if it is shorter than `size`."""
    if size <= len(values):
        return values
    more = np.zeros(2 * size, dtype=values.dtype)
    for at in range(len(values)):
        more[at] = values[at]
    return more


@step
def grown(rows, used):
    """The rows, or a larger copy if all of them are used."""
    if used < len(rows):
        return rows
    larger = np.empty((2 * len(rows) + 64, rows.shape[1]), dtype=rows.dtype)
    larger[: len(rows)] = rows
    return larger

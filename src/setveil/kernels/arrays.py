"""The types of the arrays that kernels take."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
"""Items and nodes."""
Int64s = npt.NDArray[np.int64]
"""Offsets, counts, and numbers of records."""
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
"""Bitmaps."""

"""The types of the arrays that kernels take."""

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]  # items and nodes
Int64s = npt.NDArray[np.int64]  # offsets, counts, and numbers of records
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]  # bitmaps

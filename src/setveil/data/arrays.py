"""The types of the arrays that everything is held in."""

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]  # items and nodes
Int64s = npt.NDArray[np.int64]  # offsets, counts, and numbers of records
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

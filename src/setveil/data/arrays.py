"""The types of arrays, and ranges of numbers."""

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]  # items and nodes
Int64s = npt.NDArray[np.int64]  # offsets, counts, and numbers of records
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def ranges(starts: Int64s, lengths: Int64s) -> Int64s:
    """The numbers `starts[i]` to `starts[i] + lengths[i] - 1`, one range after the other."""
    ends = np.cumsum(lengths)
    shift: Int64s = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(ends[-1] if len(ends) else 0) + shift

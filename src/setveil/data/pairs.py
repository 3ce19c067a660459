"""Turns pairs (record number, item number) into compressed rows, and checks arrays of numbers."""

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int32s, Int64s
from setveil.errors import DataError


def frozen(name: str, values: npt.ArrayLike, dtype: type[np.integer]) -> npt.NDArray[np.integer]:
    """A read-only array of whole numbers of this type."""
    array = np.ascontiguousarray(whole(name, values))
    if array.dtype != dtype:
        bounds = np.iinfo(dtype)
        if array.size and (array.min() < bounds.min or array.max() > bounds.max):
            raise DataError(f"{name} must be whole numbers of at most {bounds.max}")
        array = array.astype(dtype)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def whole(name: str, values: npt.ArrayLike) -> npt.NDArray[np.integer]:
    """A one-dimensional array of whole numbers."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"{name} must be a one-dimensional array of whole numbers")
    return array if array.size else array.astype(np.int64)


def pair_columns(
    records: npt.ArrayLike, items: npt.ArrayLike
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
    """Both columns of the pairs as arrays of equal length."""
    owners, entries = whole("records", records), whole("items", items)
    if len(owners) != len(entries):
        counts = f"{len(owners)} record numbers, {len(entries)} item numbers"
        raise DataError(f"pairs need one record number for each item number, not {counts}")
    return owners, entries


def compress(
    records: npt.NDArray[np.integer],
    items: npt.NDArray[np.integer],
    counts: Int64s | None,
    width: int,
    size: int,
) -> tuple[Int64s, Int32s, Int64s | None]:
    """Sort pairs by record and item, and merge equal ones, whose counts are added up."""
    if len(items) and (
        items.min() < 0 or items.max() >= width or records.min() < 0 or records.max() >= size
    ):
        allowed = f"record numbers from 0 to {size - 1} and item numbers from 0 to {width - 1}"
        raise DataError(f"pairs must have {allowed}")
    width = max(width, 1)
    codes = records.astype(np.int64)
    codes *= width
    codes += items
    if not (codes[1:] > codes[:-1]).all():
        codes, counts = _merged(codes, counts)
    indptr = np.searchsorted(codes, np.arange(size + 1, dtype=np.int64) * width)
    codes %= width
    return indptr, codes.astype(np.int32), counts


def _merged(codes: Int64s, counts: Int64s | None) -> tuple[Int64s, Int64s | None]:
    """Distinct codes, ascending, with the sum of their counts; sorts `codes` to save memory."""
    if counts is not None:
        counts = counts[np.argsort(codes, kind="stable")]
    codes.sort()
    first = np.ones(len(codes), dtype=bool)
    np.not_equal(codes[1:], codes[:-1], out=first[1:])
    return codes[first], None if counts is None else np.add.reduceat(counts, np.flatnonzero(first))

"""Hashes of records: equal records have equal hashes."""

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags, Transactions

Hashes = npt.NDArray[np.uint64]

_CHUNK = 4_000_000  # entries that are hashed at a time, to limit memory


def hash_records(data: Transactions, stream: int) -> Hashes:
    """A hash of each record: the sum, modulo 2**64, of one random number per item.

    In bags that number is mixed with the item's count."""
    random = np.random.Generator(np.random.PCG64(stream))
    keys = random.integers(0, 1 << 64, size=len(data.vocabulary), dtype=np.uint64)
    hashes = np.zeros(len(data), dtype=np.uint64)
    record = 0
    while record < len(data):
        full = np.searchsorted(data.indptr, data.indptr[record] + _CHUNK, side="right") - 1
        stop = max(int(full), record + 1)
        bounds = data.indptr[record : stop + 1]
        values = keys[data.items[bounds[0] : bounds[-1]]]
        if isinstance(data, Bags):
            values = _mixed(values + data.counts[bounds[0] : bounds[-1]].astype(np.uint64))
        sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)))
        hashes[record:stop] = sums[bounds[1:] - bounds[0]] - sums[bounds[:-1] - bounds[0]]
        record = stop
    return hashes


def _mixed(values: Hashes) -> Hashes:
    """Numbers whose every bit depends on all given bits (the last steps of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

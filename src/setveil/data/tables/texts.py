"""Records of texts on their way to arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError


class Rows:
    """Records as they come, their items numbered in the order in which they are first seen."""

    def __init__(self) -> None:
        self._numbers = Numbers()
        self._items = array("i")
        self.lengths = array("q")

    def add(self, items: Sequence[str]) -> None:
        self._items.extend(map(self._numbers.__getitem__, items))
        self.lengths.append(len(items))

    def finish(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], Vocabulary]:
        """The record and the item of every entry, over the sorted vocabulary."""
        vocabulary = Vocabulary(sort_labels(self._numbers))
        lengths = (
            np.frombuffer(self.lengths, dtype=np.int64)
            if self.lengths
            else np.zeros(0, dtype=np.int64)
        )
        items = (
            np.frombuffer(self._items, dtype=np.int32)
            if self._items
            else np.zeros(0, dtype=np.int32)
        )
        return (
            np.repeat(np.arange(len(lengths)), lengths),
            vocabulary.encode(self._numbers)[items],
            vocabulary,
        )


class Numbers(dict[str, int]):
    """A dictionary that numbers its keys in the order in which they are first asked for."""

    def __missing__(self, key: str) -> int:
        self[key] = number = len(self)
        return number


def checked_records(records: Iterable[Iterable[object]]) -> Iterable[Iterable[object]]:
    """The same iterable, when it may be one of records."""
    if isinstance(records, str | bytes):
        raise DataError(
            "records must be an iterable of records, not one text; read files with setveil.read"
        )
    if not isinstance(records, Iterable) or isinstance(records, Mapping):
        kind = type(records).__name__
        raise DataError(
            f"a {kind} is no iterable of records; setveil.as_transactions takes tables, matrices and mappings too"
        )
    return records

"""Records from matrices: a row for each record, a column for each item, 0 where the item is not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setveil.data.items import short, text_of
from setveil.data.tables.columns import Wanted
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, ParameterError

_MOST = 1 << 53
"""Counts in a table are below this: its numbers may be floats, which skip whole numbers from here on."""


def of_matrix(
    matrix: npt.NDArray[Any], labels: Iterable[object] | None, wanted: Wanted
) -> Transactions:
    """Records from a dense matrix."""
    numbers = matrix.astype(np.float64) if matrix.dtype.kind == "O" else matrix
    rows, columns = np.nonzero(numbers)
    return of_entries(
        rows, columns, numbers[rows, columns], len(matrix), _listed(labels, matrix.shape[1]), wanted
    )


def of_sparse(thing: Any, labels: Iterable[object] | None, wanted: Wanted) -> Transactions:
    """Records from a sparse matrix of scipy; entries of one place add up, and those that are 0 are none."""
    if len(thing.shape) != 2:
        raise DataError(
            f"a sparse array of {len(thing.shape)} dimensions cannot be taken as records: it must have a row for each record"
        )
    entries = thing.tocsr(copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    entries = entries.tocoo()
    return of_entries(
        entries.row,
        entries.col,
        entries.data,
        entries.shape[0],
        _listed(labels, entries.shape[1]),
        wanted,
    )


def of_entries(
    rows: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    values: npt.NDArray[Any],
    size: int,
    labels: Sequence[object],
    wanted: Wanted,
) -> Transactions:
    """Records from the entries of a table that are not 0; only items that occur are kept."""
    used, place = np.unique(columns, return_inverse=True)
    texts = [text_of(labels[number]) for number in used.tolist()]
    vocabulary = Vocabulary.of(texts)
    codes = vocabulary.encode(texts)[place] if len(used) else np.zeros(0, dtype=np.int32)
    if wanted.bags:
        return Bags.from_pairs(rows, codes, vocabulary, size=size, counts=whole_counts(values))
    wrong = np.flatnonzero(values != 1)
    if len(wrong):
        raise DataError(_complaint(values[wrong[0]], labels[columns[wrong[0]]], len(labels) > 1))
    return Transactions.from_pairs(rows, codes, vocabulary, size=size)


def _complaint(value: Any, label: object, among_others: bool) -> str:
    if value != value:
        return f"the column {label!r} has a cell without a value: fill it, with 0 where the item is not there"
    person = (
        f", or record={label!r} when it tells whose row it is"
        if among_others and isinstance(label, str)
        else ""
    )
    return f"the column {label!r} holds {value:g} where only 0 and 1 are allowed: say bags=True when these are counts{person}"


def whole_counts(counts: Sequence[object] | npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Counts as whole numbers of 1 or more, whatever they come as."""
    if isinstance(counts, np.ndarray) and counts.dtype.kind in "biu":
        values = counts
    else:
        try:
            values = np.array(
                [np.nan if count is None else count for count in counts], dtype=np.float64
            )
        except (TypeError, ValueError):
            values = np.array([_number(count) for count in counts])
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((values >= 1) & (values < _MOST)) | (values % 1 != 0))
    if len(bad):
        raise DataError(
            f"the count {_shown(counts[bad[0]])} is not allowed: it must be a whole number of 1 or more, below {_MOST:.0e}"
        )
    return values.astype(np.int64)


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def _shown(value: object) -> str:
    return short(value.item() if isinstance(value, np.generic) else value)


def _listed(labels: Iterable[object] | None, width: int) -> Sequence[object]:
    if labels is None:
        return range(width)
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise ParameterError("labels", labels, "it must be a list of items, one for each column")
    given = list(labels)
    if len(given) != width:
        raise DataError(f"{len(given)} labels are given for {width} columns")
    return given

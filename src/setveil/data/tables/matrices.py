"""Records from matrices: a row for each record, a column for each item, 0 if it is absent."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s
from setveil.data.items import text_of
from setveil.data.tables.columns import Wanted
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, ParameterError, brief
from setveil.words import plural

_MOST = 1 << 53
"""Counts in a table must be below this: they may be floats, which skip whole numbers above it."""


class Cells(NamedTuple):
    """The non-zero cells of a matrix or one-hot table."""

    rows: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    values: npt.NDArray[Any]
    size: int  # the number of records, empty ones included
    labels: Sequence[object]  # the item of each column


def of_matrix(
    matrix: npt.NDArray[Any], labels: Iterable[object] | None, wanted: Wanted
) -> Transactions:
    """The records of a dense matrix."""
    numbers = matrix.astype(np.float64) if matrix.dtype.kind == "O" else matrix
    rows, columns = np.nonzero(numbers)
    items = _listed(labels, matrix.shape[1])
    return of_cells(Cells(rows, columns, numbers[rows, columns], len(matrix), items), wanted)


def of_sparse(thing: Any, labels: Iterable[object] | None, wanted: Wanted) -> Transactions:
    """The records of a scipy sparse matrix; entries for the same cell add up."""
    if len(thing.shape) != 2:
        raise DataError(
            f"a sparse array of {len(thing.shape)} dimensions does not hold records: "
            "it must have a row for each record"
        )
    entries = thing.tocsr(copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    entries = entries.tocoo()
    size, items = entries.shape[0], _listed(labels, entries.shape[1])
    return of_cells(Cells(entries.row, entries.col, entries.data, size, items), wanted)


def of_cells(cells: Cells, wanted: Wanted) -> Transactions:
    """The records of non-zero cells; only items that occur enter the vocabulary."""
    rows, columns, values, size, labels = cells
    used, place = np.unique(columns, return_inverse=True)
    texts = [text_of(labels[number]) for number in used.tolist()]
    vocabulary = Vocabulary.of(texts)
    codes = vocabulary.encode(texts)[place] if len(used) else np.zeros(0, dtype=np.int32)
    if wanted.bags:
        return Bags.from_pairs(rows, codes, vocabulary, size=size, counts=whole_counts(values))
    wrong = np.flatnonzero(values != 1)
    if len(wrong):
        raise _not_one(values[wrong[0]], labels[columns[wrong[0]]], len(labels) > 1)
    return Transactions.from_pairs(rows, codes, vocabulary, size=size)


def whole_counts(counts: Sequence[object] | npt.NDArray[Any]) -> Int64s:
    """Counts of any type as whole numbers of 1 or more."""
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
            f"the count {_shown(counts[bad[0]])} is not allowed: "
            f"it must be a whole number of 1 or more, below {_MOST:.0e}"
        )
    return values.astype(np.int64)


def _not_one(value: Any, label: object, among_others: bool) -> DataError:
    """The error for a cell of a set that is neither 0 nor 1; its column may be the record."""
    if value != value:
        problem = f"the column {brief(label)} has an empty cell"
        return DataError(problem, remedy="fill it, with 0 if the record does not have the item")
    may_be_record = among_others and isinstance(label, str)
    return DataError(
        f"the column {brief(label)} contains {value:g}, but only 0 and 1 are allowed",
        remedy="use {bags=True} if these are counts"
        + (f", or {{record={label}}} if it is the record" if may_be_record else ""),
    )


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def _shown(value: object) -> str:
    return brief(value.item() if isinstance(value, np.generic) else value)


def _listed(labels: Iterable[object] | None, width: int) -> Sequence[object]:
    if labels is None:
        return range(width)
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise ParameterError("labels", labels, "it must be a list of items, one for each column")
    given = list(labels)
    if len(given) != width:
        raise DataError(f"there are {len(given)} labels for {plural(width, 'column')}")
    return given

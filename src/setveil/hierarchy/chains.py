"""Chains of labels as people have them: tuples, lists, arrays, the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from setveil.data.items import is_missing, text_of
from setveil.errors import ParameterError


def chains_of(things: object, name: str, wanted: str) -> list[Sequence[str]]:
    """Rows of labels as texts; a label that is missing (None, NaN) is an empty one.

    Args:
        things: An iterable of iterables, a 2-D array, or a table of pandas or polars.
        name: What the parameter is called in errors.
        wanted: What each row should be, in words.

    Example:
        >>> chains_of([("beer", "Alcohol", None), (7, "ALL")], "paths", "paths")
        [('beer', 'Alcohol', ''), ('7', 'ALL')]
    """
    rows: Any = things
    for rows_of in ("iter_rows", "itertuples"):
        if hasattr(things, rows_of):
            rows = getattr(things, rows_of)(
                **({"index": False, "name": None} if rows_of == "itertuples" else {})
            )
            break
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes | Mapping):
        raise ParameterError(name, type(things).__name__, f"it must hold {wanted}")
    return [_labels(row, name, wanted) for row in rows]


def _labels(row: object, name: str, wanted: str) -> Sequence[str]:
    if not isinstance(row, Iterable) or isinstance(row, str | bytes):
        raise ParameterError(name, row, f"it must hold {wanted}")
    labels = row if isinstance(row, tuple | list) else tuple(row)
    if set(map(type, labels)) <= {str}:
        return labels
    return tuple("" if is_missing(label) else text_of(label) for label in labels)

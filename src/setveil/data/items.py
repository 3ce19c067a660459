"""Turns items of any type into text, and recognizes missing ones."""

from collections.abc import Iterable

import numpy as np

from setveil.errors import DataError, brief

_NESTED = (list, dict, set, frozenset, np.ndarray)
_PLAIN = "biuSUO"
"""Kinds of arrays whose elements print as Python's do, unlike dates and short floats."""


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN or a missing value of pandas or NumPy.

    Example:
        >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
        [True, True, False, False]
    """
    if value is None:
        return True
    try:
        return bool(value != value)
    except (ArithmeticError, TypeError, ValueError):
        return type(value).__name__ == "NAType"


def text_of(item: object) -> str:
    """The text of an item.

    Example:
        >>> text_of("wine"), text_of(7), text_of(b"wine")
        ('wine', '7', 'wine')
    """
    if isinstance(item, bytes):
        try:
            return item.decode()
        except UnicodeDecodeError:
            raise DataError(f"the item {brief(item)} is not UTF-8 text") from None
    if isinstance(item, _NESTED):
        kind = type(item).__name__
        raise DataError(f"an item must be a single value, not the {kind} {brief(item)}")
    return str(item)


def texts_of(record: object) -> list[str]:
    """The items of a record as texts, without missing ones."""
    if isinstance(record, str | bytes):
        raise DataError(
            f"a record must be an iterable of items, not the text {brief(record)}",
            remedy=f"write [{brief(record)}] for one item",
        )
    if not isinstance(record, Iterable) or (isinstance(record, np.ndarray) and not record.ndim):
        raise DataError(f"a record must be an iterable of items, not {brief(record)}")
    items = (
        record.tolist()
        if isinstance(record, np.ndarray) and record.dtype.kind in _PLAIN
        else list(record)
    )
    kinds = set(map(type, items))
    if kinds == {str}:
        return items
    if kinds == {int}:
        return list(map(str, items))
    return [
        item if type(item) is str else text_of(item)
        for item in items
        if type(item) is str or not is_missing(item)
    ]

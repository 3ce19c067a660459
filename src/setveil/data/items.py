"""Items on entry: whatever stands for an item becomes text, and what stands for none is left out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from setveil.errors import DataError

_NESTED = (list, dict, set, frozenset, np.ndarray)
_PLAIN = "biuSUO"
"""Kinds of arrays whose elements have the same text as Python's; dates and short floats have not."""


def is_missing(value: object) -> bool:
    """Whether a value says that there is none: None, NaN, and the like of pandas and NumPy.

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
            raise DataError(f"the item {item!r} is no text: bytes must be UTF-8") from None
    if isinstance(item, _NESTED):
        raise DataError(
            f"an item must be a single value, not the {type(item).__name__} {short(item)}"
        )
    return str(item)


def texts_of(record: object) -> list[str]:
    """The items of a record as texts, without what is missing."""
    if isinstance(record, str | bytes):
        raise DataError(
            f"a record must be an iterable of items, not the text {short(record)}; write [{short(record)}] for one item"
        )
    if not isinstance(record, Iterable) or (isinstance(record, np.ndarray) and not record.ndim):
        raise DataError(f"a record must be an iterable of items, not {short(record)}")
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


def short(value: object) -> str:
    """A value as it stands in a message, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:56]} ..."

"""A vocabulary: the items of a data set, each with a number. Items of any type become text."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import Literal

import numpy as np

from setveil.data.arrays import Flags, Int32s, Int64s
from setveil.errors import DataError, ParameterError, UnknownItemError, brief, did_you_mean

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


Order = Literal["numeric", "alphabetical"]

_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,1000}\Z", re.ASCII)
"""More digits are text: Python does not convert numbers of several thousand digits."""


class Vocabulary:
    """Items in a fixed order; the position of an item is its number.

    Items are distinct texts. A vocabulary never shows the order of the data: `Vocabulary.of` sorts
    numerically if every item is a whole number, else alphabetically.

    Example:
        >>> words = Vocabulary.of(["wine", "beer", "wine"])
        >>> list(words), words.number("wine")
        (['beer', 'wine'], 1)
    """

    __slots__ = ("__dict__", "labels")

    labels: tuple[str, ...]

    def __init__(self, labels: Iterable[object]) -> None:
        object.__setattr__(self, "labels", tuple(map(text_of, labels)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a vocabulary cannot be changed; make a new one")

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[tuple[str, ...]]]:
        return type(self), (self.labels,)

    @classmethod
    def of(cls, items: Iterable[object]) -> Vocabulary:
        """The sorted vocabulary of any items, without repeats and missing ones (None, NaN)."""
        return cls(sort_labels({text_of(item) for item in items if not is_missing(item)}))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each item; made on first use."""
        numbers = {label: number for number, label in enumerate(self.labels)}
        if len(numbers) != len(self.labels):
            raise DataError("an item occurs twice in this vocabulary")
        return numbers

    def number(self, label: object) -> int:
        """The number of one item."""
        text = text_of(label)
        if text not in self.numbers:
            near = did_you_mean(text, self.labels)
            raise UnknownItemError([text], "the vocabulary does not contain", near)
        return self.numbers[text]

    def encode(self, labels: Iterable[object]) -> Int32s:
        """The numbers of several items."""
        numbers, texts = self.numbers, list(map(text_of, labels))
        missing = [text for text in texts if text not in numbers]
        if missing:
            raise UnknownItemError(missing, "the vocabulary does not contain")
        return np.fromiter(map(numbers.__getitem__, texts), dtype=np.int32, count=len(texts))

    def find(self, labels: Iterable[str]) -> Int64s:
        """The numbers of several items; -1 for those that are not here."""
        return np.array([self.numbers.get(label, -1) for label in labels], dtype=np.int64)

    def marks(self, chosen: Container[str]) -> Flags:
        """Whether each item is one of the chosen ones."""
        return np.array([label in chosen for label in self.labels], dtype=bool)

    @property
    def order(self) -> Order:
        """How `sort_labels` would order these items."""
        return natural_order(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __getitem__(self, number: int) -> str:
        return self.labels[number]

    def __contains__(self, label: object) -> bool:
        return text_of(label) in self.numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.labels == other.labels

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        shown = ", ".join(self.labels[:3]) + (", ..." if len(self) > 3 else "")
        return f"Vocabulary({len(self)} items: {shown})"


def vocabulary_of(thing: object) -> Vocabulary:
    """A given vocabulary, that of data, or the distinct items of a list in its order."""
    if isinstance(thing, Vocabulary):
        return thing
    held = getattr(thing, "vocabulary", None)
    if isinstance(held, Vocabulary):
        return held
    if (
        isinstance(thing, str | bytes)
        or not isinstance(thing, Iterable)
        or hasattr(thing, "columns")
    ):
        allowed = "it must be a vocabulary, data that has one, or a list of items"
        raise ParameterError("vocabulary", thing, allowed)
    return Vocabulary(dict.fromkeys(text_of(item) for item in thing if not is_missing(item)))


def natural_order(labels: Iterable[str]) -> Order:
    """`numeric` if every label is a whole number, else `alphabetical`."""
    return "numeric" if all(_WHOLE_NUMBER.match(label) for label in labels) else "alphabetical"


def sort_labels(labels: Iterable[str], order: Order | None = None) -> list[str]:
    """Labels in numeric or alphabetical order (by code point), by default their natural order.

    Labels of equal value ("7" and "07") are ordered by their text, whatever the given order."""
    labels = list(labels)
    if (order or natural_order(labels)) == "numeric":
        return sorted(labels, key=lambda label: (int(label), label))
    return sorted(labels)

"""What a method needs to work on parts of the records, for engines that cannot hold all of them."""

from __future__ import annotations

from typing import NamedTuple

from setveil.data.arrays import Int32s
from setveil.data.vocabulary import Vocabulary
from setveil.engines.base import Progress
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise


class Coding(NamedTuple):
    """How the records are numbered while a method works on their parts."""

    numbers: Int32s
    """The number of each item of the data."""
    vocabulary: Vocabulary


class Whole(NamedTuple):
    """What a method knows of all records before it divides them."""

    promise: Promise
    hierarchy: Hierarchy | None
    items: int
    """How many numbers the coding has."""
    most: int
    """How many records a task may have, if that makes no difference to the release."""
    progress: Progress | None = None


class Share(NamedTuple):
    """Parts that one task anonymizes together, and what the method must know of them."""

    parts: tuple[int, ...]
    state: object = None

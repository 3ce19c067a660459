"""Methods that can work on parts of the records, for engines that cannot hold all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from setveil.data.arrays import Int32s
from setveil.data.vocabulary import Vocabulary
from setveil.engines.base import Progress
from setveil.engines.parts import Block, Parts
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Form, Method, Request
from setveil.promises.promise import Promise

USUAL_PART = 500_000
"""The most records of a part on engines that always divide: not a matter of memory, so that the
release is the same on any machine."""


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


@dataclass(frozen=True, kw_only=True)
class Divisible(Method[Form]):
    """An optional part of a method: the promise of the whole follows from that of each part."""

    def in_parts(self) -> Self:
        """The method as it runs on an engine that always divides the records."""
        return self

    def coding(self, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> Coding:
        """How items are numbered while it works on parts."""
        return Coding(np.arange(len(vocabulary), dtype=np.int32), vocabulary)

    @abstractmethod
    def divide(self, parts: Parts, whole: Whole) -> list[Share]:
        """Divide part 0, by counts alone; what each task then does depends on nothing else."""

    @abstractmethod
    def anonymize_share(
        self, blocks: Sequence[Block], state: object, request: Request[Any]
    ) -> Form:
        """The release of the records of the request, which are those of the blocks in order."""

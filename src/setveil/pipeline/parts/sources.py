"""Where records are read to on each engine that does not hold them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from setveil.data.transactions import Transactions
from setveil.disk import private_folder
from setveil.disk.limits import USUAL_MEMORY, bytes_of
from setveil.engines.distinct import Distinct
from setveil.engines.table import ENGINES, check_name
from setveil.errors import ParameterError
from setveil.pipeline.parts.loading import Read, Source
from setveil.pipeline.stages import Stages


class Where(NamedTuple):
    """An engine and its options."""

    engine: str
    memory: str | None = None
    master: str | None = None
    threads: int | None = None

    @property
    def allowed(self) -> str:
        """The memory as the user gave it."""
        return self.memory or USUAL_MEMORY

    @property
    def room(self) -> int:
        """The memory in bytes."""
        return bytes_of(self.allowed)

    def check(self) -> None:
        """Refuse an engine that is not there, and options of another one."""
        check_name(self.engine)
        if self.master is not None and self.engine != "spark":
            allowed = "only the engine spark has it: add {engine=spark}"
            raise ParameterError("master", self.master, allowed)
        _ = self.room


class Tallied(NamedTuple):
    """Distinct records, how often each occurs, and how they were read."""

    data: Transactions
    sizes: Any
    read: Read


@contextmanager
def open_source(where: Where, stages: Stages) -> Iterator[Source]:
    """A place that records can be read to; they are private, and removed after the block."""
    module, _, name = ENGINES[where.engine].partition(":")
    opened = getattr(import_module(module), name)
    with private_folder() as work, opened(where, work, stages) as source:
        yield source


def count_distinct(
    data: object, reading: Mapping[str, Any], where: Where, stages: Stages
) -> Tallied:
    """Read data, and count its distinct records.

    Raises:
        EngineError: if these do not fit in the memory.
    """
    with open_source(where, stages) as source, stages("reading"):
        read = source.read(data, reading)
        words = read.tally.vocabulary
        source.recode(np.arange(len(words), dtype=np.int32), len(words))
        found: Distinct = source.distinct(where.room, where.allowed)
    return Tallied(Transactions(*found.block, words), found.sizes, read)

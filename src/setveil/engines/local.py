"""The local engine: all records in memory, and threads of this machine for kernels that release
the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from setveil.data.identifiers import Some, some_of
from setveil.data.people import holders
from setveil.engines.base import (
    Answer,
    Engine,
    Made,
    Progress,
    Read,
    Reader,
    Shares,
    Source,
    Task,
    Where,
)
from setveil.errors import ParameterError
from setveil.threads import on_threads, thread_count

AHEAD = 4
"""Tasks that are made ahead of time for each thread: enough that no thread waits for the
slowest."""


@dataclass(frozen=True)
class Local(Engine):
    """Runs tasks on the threads of this machine; the answers do not depend on how many."""

    name: ClassVar[str] = "local"

    threads: int | None = None
    """How many threads; by default all that this process may use."""

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise ParameterError("threads", self.threads, "it must be 1 or more")

    @property
    def width(self) -> int:
        return thread_count() if self.threads is None else self.threads

    def map(self, work: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        return on_threads(work, tasks, width=self.width, ahead=AHEAD)


LOCAL = Local()


@contextmanager
def open_local(where: Where, work: Path, progress: Progress | None) -> Iterator[Source]:
    """Keeps the records in memory."""
    yield LocalSource()


class LocalSource(Source):
    """Records that are held; all of them are one share, which has them from the run."""

    def read(self, data: object, reading: Mapping[str, Any], reader: Reader) -> Read:
        found, account = reader(data, reading)
        return Read(found, len(found), account)

    def some(self, read: Read) -> Some:
        people = None if read.account is None else read.account.people
        return some_of(read.data)._replace(supports=holders(read.data, people))

    def publish(self, work: Shares[Made]) -> Iterator[Made]:
        return (work.make(number, [], work.folder) for number in range(len(work.parts)))

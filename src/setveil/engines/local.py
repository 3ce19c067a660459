"""The local engine: threads of this machine, for kernels that release the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from setveil.engines.base import Answer, Engine, Task
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

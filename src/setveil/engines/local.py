"""The local engine: threads of this machine, for kernels that release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from contextvars import copy_context
from dataclasses import dataclass
from typing import ClassVar

from setveil.engines.base import Answer, Engine, Task
from setveil.errors import ParameterError

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
        if self.threads is not None:
            return self.threads
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    def map(self, work: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        if self.width == 1:
            yield from map(work, tasks)
            return
        pending: deque[Future[Answer]] = deque()
        with ThreadPoolExecutor(self.width) as pool:
            try:
                for task in tasks:
                    pending.append(pool.submit(copy_context().run, work, task))
                    if len(pending) > AHEAD * self.width:
                        yield _result(pending.popleft())
                while pending:
                    yield _result(pending.popleft())
            finally:
                for future in pending:
                    future.cancel()


def _result(future: Future[Answer]) -> Answer:
    """Waits in short steps, so that an interruption is noticed."""
    while True:
        try:
            return future.result(timeout=0.1)
        except TimeoutError:
            if future.done():
                raise


LOCAL = Local()

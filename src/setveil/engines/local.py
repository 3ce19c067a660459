"""The local engine: threads of this machine, for kernels that release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol, TypeVar

from setveil.errors import ParameterError

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Progress(Protocol):
    """Is told how far the work is; may raise to stop it."""

    def __call__(self, done: int, total: int, stage: str) -> None: ...


@dataclass(frozen=True)
class Local:
    """Runs tasks on the threads of this machine.

    The answers never depend on the number of threads.
    """

    threads: int | None = None
    """How many threads; by default as many as this process may use."""

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise ParameterError("threads", self.threads, "it must be 1 or more")

    @property
    def width(self) -> int:
        """How many tasks run at once."""
        return (
            self.threads or len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else self.threads or os.cpu_count() or 1
        )

    def map(self, work: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        """The answers as they become ready, in no particular order.

        An error in a task, or in the loop that reads the answers, cancels what has not begun.
        """
        tasks = list(tasks)
        if self.width == 1 or len(tasks) <= 1:
            yield from map(work, tasks)
            return
        with ThreadPoolExecutor(self.width) as pool:
            pending: set[Future[Answer]] = {pool.submit(work, task) for task in tasks}
            try:
                while pending:
                    ready, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in ready)
            finally:
                for future in pending:
                    future.cancel()


LOCAL = Local()

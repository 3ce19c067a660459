"""The engine seam: where loops run.

A task is a pure function of the arrays it is given. It returns arrays and never writes into arrays
that other tasks can see. So the same task runs on threads, on blocks on disk or on a cluster, and
the answers never depend on which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Protocol, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Progress(Protocol):
    """Is called with how far the work is; a total of 0 means unknown. May raise to stop the
    work."""

    def __call__(self, done: int, total: int, stage: str) -> None: ...


class Engine(ABC):
    """Runs tasks."""

    name: ClassVar[str]
    """By which it is known; see `engines.table`."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many tasks run at once."""

    @abstractmethod
    def map(self, work: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        """The answers in the order of the tasks, each as soon as it and those before it are ready.

        An error in a task, or in the loop that reads the answers, cancels what has not begun.

        Args:
            work: A pure function at the top level of a module.
            tasks: What it is called with, one by one; arrays, or tuples of arrays and numbers.
        """

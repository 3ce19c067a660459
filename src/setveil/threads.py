"""Work on threads, for checks and measures: most of their time is spent in array functions and
compiled loops, which release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_LIMIT: ContextVar[int | None] = ContextVar("thread_limit", default=None)
_AHEAD = 1
"""Few tasks wait, since each may hold much memory."""


@contextmanager
def thread_limit(count: int | None) -> Iterator[None]:
    """A context in which `on_threads` uses at most `count` threads; None sets no limit."""
    token = _LIMIT.set(count)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def thread_count() -> int:
    """How many threads `on_threads` uses here: all that this process may, or as many as allowed."""
    limit = _LIMIT.get()
    return cores() if limit is None else limit


def cores() -> int:
    """How many processors this process may use."""
    able: Any = getattr(os, "sched_getaffinity", None)
    return len(able(0)) if able else os.cpu_count() or 1


def on_threads(
    work: Callable[[Task], Answer],
    tasks: Iterable[Task],
    *,
    width: int | None = None,
    ahead: int = _AHEAD,
    alone: bool = True,
) -> Iterator[Answer]:
    """The answers in the order of the tasks, which must not depend on each other.

    An error, or an end of the loop that reads the answers, cancels what has not begun.

    Args:
        work: What is called with each task.
        tasks: The tasks; they are made shortly before they run.
        width: How many threads; by default `thread_count`.
        ahead: How many tasks wait for each thread.
        alone: Whether a task that itself asks for threads gets none but its own.

    Example:
        >>> list(on_threads(abs, [-2, 3]))
        [2, 3]
    """
    width = thread_count() if width is None else width
    if width == 1:
        yield from map(work, tasks)
        return
    pending: deque[Future[Answer]] = deque()
    with ThreadPoolExecutor(width) as pool:
        try:
            for task in tasks:
                run = partial(_alone, work) if alone else work
                pending.append(pool.submit(copy_context().run, run, task))
                if len(pending) > ahead * width:
                    yield _result(pending.popleft())
            while pending:
                yield _result(pending.popleft())
        finally:
            for future in pending:
                future.cancel()


def at_once(*works: Callable[[], Any], width: int | None = None) -> list[Any]:
    """The answers of several pieces of work that do not depend on each other.

    The first one stays on the thread of the caller, where it may report progress and use threads of
    its own; the others have one thread each.

    Example:
        >>> at_once(list, dict)
        [[], {}]
    """
    width = thread_count() if width is None else width
    if width == 1 or len(works) < 2:
        return [work() for work in works]
    with ThreadPoolExecutor(width) as pool:
        others = [
            pool.submit(copy_context().run, _alone, lambda one: one(), work) for work in works[1:]
        ]
        try:
            return [works[0](), *map(_result, others)]
        finally:
            for future in others:
                future.cancel()


def _alone(work: Callable[[Task], Answer], task: Task) -> Answer:
    with thread_limit(1):
        return work(task)


def _result(future: Future[Answer]) -> Answer:
    """Waits in short steps, so that an interruption is noticed."""
    while not future.done():
        wait((future,), timeout=0.1)
    return future.result()

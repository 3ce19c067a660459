"""Says that kernels are being compiled, so that nobody takes a first run for a slow one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

from setveil.engines.base import Progress
from setveil.kernels.small import plain_if_small

COMPILING = "compiling kernels (once)"

Answer = TypeVar("Answer")


@contextmanager
def compile_if_needed(progress: Progress | None, stage: str) -> Iterator[None]:
    """Compile only what small data would take longer without, and announce it."""
    with announce_compiling(progress, stage), plain_if_small():
        yield


@contextmanager
def announce_compiling(progress: Progress | None, stage: str) -> Iterator[None]:
    """Report to `progress` when a kernel that is not cached is compiled, and afterwards that
    `stage` goes on."""
    if progress is None:
        yield
        return
    from setveil.kernels.jit import watch_compiling

    with watch_compiling(lambda: progress(0, 0, COMPILING), lambda: progress(0, 0, stage)):
        yield


def if_compiled(work: Callable[[], Answer]) -> list[Answer]:
    """What `work` returns, or nothing if a kernel that it runs in this thread is not compiled."""
    from setveil.kernels.jit import NotCompiledError, compiled_only

    try:
        with compiled_only():
            return [work()]
    except NotCompiledError:
        return []


def is_compiled(module: str, kernel: str) -> bool:
    """Whether a kernel was compiled before, by this process or another one."""
    cache = getattr(getattr(import_module(module), kernel), "_cache", None)
    return not getattr(cache, "is_empty", False)

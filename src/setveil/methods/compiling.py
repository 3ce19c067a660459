"""Says that kernels are being compiled, so that nobody takes a first run for a slow one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from setveil.engines.base import Progress

COMPILING = "compiling kernels (once)"


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

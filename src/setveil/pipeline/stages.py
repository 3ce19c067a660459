"""The stages of a verb: each says that it begins, and is timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from setveil.engines.base import Progress
from setveil.kernels.small import plain_if_small

COMPILING = "compiling kernels (once)"


class Stages:
    """Reports each stage to `progress`, if anyone listens, and notes how long it took."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str, *, compiles: bool = False) -> Iterator[None]:
        """A stage of the work; `compiles` if it may have to compile kernels, which is reported
        too."""
        if self.progress:
            self.progress(0, 0, name)
        start = time.perf_counter()
        with _compiling(self.progress, name) if compiles else nullcontext():
            yield
        self.seconds[name] = time.perf_counter() - start


@contextmanager
def _compiling(progress: Progress | None, stage: str) -> Iterator[None]:
    """Compile only what small data would take longer without, and report it if it takes time."""
    with plain_if_small():
        if progress is None:
            yield
            return
        from setveil.kernels.jit import watch_compiling

        with watch_compiling(lambda: progress(0, 0, COMPILING), lambda: progress(0, 0, stage)):
            yield

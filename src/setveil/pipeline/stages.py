"""The stages of a verb: each says that it begins, and is timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from setveil.engines.base import Progress
from setveil.methods.compiling import compile_if_needed


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
        with compile_if_needed(self.progress, name) if compiles else nullcontext():
            yield
        self.seconds[name] = time.perf_counter() - start

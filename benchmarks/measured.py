"""What one case gave, and how it is measured."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

BASE_MB = 400
"""Memory that a process may take whatever the data: interpreter, NumPy, Numba, machine code."""


@dataclass(frozen=True)
class Measured:
    """One row of the table."""

    name: str
    seconds: float
    """The best of several runs, kernels warm."""
    baseline: float
    """A plain NumPy or Python job over the same data, in the same process."""
    records: int
    occurrences: int
    peak_mb: float
    """The most memory that the whole process held."""
    asked_seconds: float | None = None
    asked_mb: float | None = None
    family: str = ""
    """Cases of one family differ in size only."""

    @property
    def per_record(self) -> float:
        return 1e6 * self.seconds / max(self.records, 1)

    @property
    def is_over(self) -> bool:
        too_slow = self.asked_seconds is not None and self.seconds > self.asked_seconds
        too_large = self.asked_mb is not None and self.peak_mb > self.asked_mb
        return too_slow or too_large

    def row(self) -> str:
        """The row as text."""
        seconds = "" if self.asked_seconds is None else f"{self.asked_seconds:.2g} s"
        asked = f"{seconds} {'' if self.asked_mb is None else f'{self.asked_mb:,.0f} MB'}".strip()
        each = (self.peak_mb - BASE_MB) * 1e6 / self.occurrences if self.occurrences else 0.0
        figures = (
            f"{self.seconds:.3f}",
            f"{self.baseline:.3f}",
            f"{self.seconds / self.baseline:.2f}" if self.baseline else "-",
            f"{self.per_record:.2f}",
            f"{self.peak_mb:,.0f}",
            f"{max(each, 0):.0f}",
            asked,
            "OVER" if self.is_over else "ok" if asked else "",
        )
        return "  ".join([f"{self.name:32}", *(f"{figure:>12}" for figure in figures)])


def best_of(times: int, work: Callable[[], object]) -> float:
    """The shortest of several runs in seconds."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def peak_mb() -> float:
    """The most memory that this process held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6

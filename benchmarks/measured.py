"""What one case gave, and how it is measured."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

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


def tree_cpu() -> float:
    """The processor seconds of this process, of all below it, and of those that have ended."""
    ticks = sum(sum(map(int, stat[11:15])) for stat in _tree().values())
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else time.process_time()


class TreePeak:
    """Watches, on a thread, how much memory this process and all below it hold together."""

    def __init__(self, every: float = 0.2) -> None:
        self.megabytes, self._over = 0.0, Event()
        self._thread = Thread(target=self._watch, args=(every,), daemon=True)

    def __enter__(self) -> TreePeak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.megabytes = max(self.megabytes, peak_mb())

    def _watch(self, every: float) -> None:
        size = os.sysconf("SC_PAGE_SIZE")
        while not self._over.wait(every):
            pages = sum(int(stat[21]) for stat in _tree().values())
            self.megabytes = max(self.megabytes, pages * size / 1e6)


def _tree() -> dict[int, list[str]]:
    """This process and all below it, each with what its `/proc/PID/stat` says after the name."""
    known: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            known[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
    own = {os.getpid()} & known.keys()
    while more := {pid for pid, stat in known.items() if int(stat[1]) in own} - own:
        own |= more
    return {pid: known[pid] for pid in own}

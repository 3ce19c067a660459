"""Processes: one for each cell, as many at once as cores and memory allow.

A process of its own means that a cell that runs out of memory takes nothing else with it, and that
its peak memory is known."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.children import start_child
from setveil.pipeline.comparing.cells import Cell
from setveil.pipeline.comparing.store import read_cell, write_cell
from setveil.pipeline.comparing.worker import FAILED, Row, Task, run_task

PAUSE = 0.02  # seconds between two looks at the processes
FIRST_MB = 700.0  # what a cell is expected to need before one has finished
MORE = 1.3  # how much more than the largest so far a cell may need

Finished = Callable[[int, Row, float], None]
"""Is called with the place of a task, its row, and how many seconds it took."""


@dataclass
class _Running:
    place: int
    process: subprocess.Popen[bytes]
    since: float


def run_here(tasks: Sequence[Task], finished: Finished) -> None:
    """Run all tasks in this process, one after the other."""
    for place, task in enumerate(tasks):
        since = time.monotonic()
        row = run_task(task)
        if task.store is not None:
            write_cell(task.store, task.key, row)
        finished(place, row, time.monotonic() - since)


def run_apart(tasks: Sequence[Task], most: int, work: Path, finished: Finished) -> None:
    """Run each task in a process of its own, at most `most` at once.

    An error or an interruption ends all processes; what they had finished is kept.
    """
    waiting, running, largest = list(range(len(tasks))), list[_Running](), FIRST_MB
    try:
        while waiting or running:
            while waiting and len(running) < most and (not running or _has_room(largest)):
                place = waiting.pop(0)
                process = _start(tasks[place], work / f"task-{place}")
                running.append(_Running(place, process, time.monotonic()))
            done = [one for one in running if one.process.poll() is not None]
            for one in done:
                running.remove(one)
                row = _row(tasks[one.place], one.process)
                largest = max(largest, MORE * float(row.get("peak_mb") or 0))
                finished(one.place, row, time.monotonic() - one.since)
            if not done:
                time.sleep(PAUSE)
    finally:
        for one in running:
            one.process.kill()
            one.process.wait()


def cores() -> int:
    """How many processors this process may use."""
    able: Any = getattr(os, "sched_getaffinity", None)
    return len(able(0)) if able else os.cpu_count() or 1


class Clock:
    """Guesses how long the cells that are left will take, from those that are done."""

    def __init__(self, cells: Sequence[Cell], width: int) -> None:
        self.cells, self.width = list(cells), max(width, 1)
        self.times: dict[int, float] = {}

    def finish(self, place: int, seconds: float) -> None:
        self.times[place] = seconds

    @property
    def left(self) -> float | None:
        """Seconds; None before a cell is done."""
        if not self.times:
            return None
        overall = sum(self.times.values()) / len(self.times)
        by_method: dict[str, list[float]] = {}
        for place, seconds in self.times.items():
            by_method.setdefault(self.cells[place].method, []).append(seconds)
        open_cells = (cell for at, cell in enumerate(self.cells) if at not in self.times)
        found = (by_method.get(cell.method, [overall]) for cell in open_cells)
        return sum(sum(times) / len(times) for times in found) / self.width


def _start(task: Task, place: Path) -> subprocess.Popen[bytes]:
    place.write_bytes(pickle.dumps(task))
    module = "setveil.pipeline.comparing.worker"
    return start_child(module, str(place), stderr=subprocess.PIPE)


def _row(task: Task, process: subprocess.Popen[bytes]) -> Row:
    """What the process has kept, or why it has kept nothing."""
    assert task.store is not None and process.stderr is not None
    said = process.stderr.read().decode("utf-8", "replace").strip().splitlines()
    found = read_cell(task.store, task.key) if process.returncode == 0 else None
    if found is not None:
        return found
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        return {"status": FAILED, "reason": f"its process was killed ({name}); out of memory?"}
    return {"status": FAILED, "reason": said[-1] if said else "its process ended early"}


def _has_room(megabytes: float) -> bool:
    """Whether so much memory is free; yes where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(line for line in lines if line.startswith("MemAvailable"))
        return int(free.split()[1]) * 1024 / 1e6 > megabytes
    except (OSError, StopIteration, ValueError):
        return True

"""Cells are anonymized, verified and measured: each in a process of its own, as many at once as
cores and memory allow.

So a cell that runs out of memory takes nothing else with it, and its peak memory is known."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from setveil.children import Death, run_apart
from setveil.data.people import People, without_rare
from setveil.data.transactions import Transactions
from setveil.errors import SetveilError
from setveil.metrics import METRICS, measure
from setveil.metrics.table import within
from setveil.pipeline.anonymize import job_from, make
from setveil.pipeline.comparing.cells import Cell
from setveil.pipeline.comparing.results import write_cell
from setveil.pipeline.job import Job
from setveil.pipeline.share import checked
from setveil.pipeline.stages import Stages
from setveil.pipeline.trials import DRAWS
from setveil.published import Release

Row = dict[str, Any]

OK, REFUSED, FAILED = "ok", "refused", "failed"
FIRST_MB = 700.0  # what a cell is expected to need before one has finished
MORE = 1.3  # how much more than the largest so far a cell may need

Finished = Callable[[int, Row, float], None]
"""Is called with the place of a task, its row, and how many seconds it took."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A cell with everything that is needed to run it."""

    key: str
    words: Mapping[str, Any]
    data: Path
    """The pickled records."""
    store: Path
    """The folder that gets the row."""
    metrics: tuple[str, ...] = ()
    """Names of `METRICS`; those that a form does not have are left out. Without any: the usual
    ones of the form and those that every form has."""
    seed: int = 0
    tree_words: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None


def run_cells(tasks: Sequence[Task], width: int, work: Path, finished: Finished) -> None:
    """Run all tasks, at most `width` at once; in this process if it is 0.

    An error or an interruption ends all processes; what they had finished is kept.
    """
    make, largest = partial(_kept, tasks), FIRST_MB
    if not width:
        for number in range(len(tasks)):
            since = time.monotonic()
            finished(number, make(number), time.monotonic() - since)
        return

    def has_room() -> bool:
        return _free_mb() > largest

    for number, answer, took in run_apart(make, len(tasks), width, work, has_room):
        row = answer if isinstance(answer, dict) else {"status": FAILED, "reason": _why(answer)}
        largest = max(largest, MORE * float(row.get("peak_mb") or 0))
        finished(number, row, took)


def _kept(tasks: Sequence[Task], number: int) -> Row:
    task = tasks[number]
    row = run_task(task)
    write_cell(task.store, task.key, row)
    return row


def _why(ended: Death | Exception) -> str:
    if isinstance(ended, Death):
        killed = f"its process was killed ({ended.signal}); out of memory?" * bool(ended.signal)
        return killed or ended.said or "its process ended early"
    return f"{type(ended).__name__}: {ended}"


def _free_mb() -> float:
    """How many megabytes of memory are free; any number where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(line for line in lines if line.startswith("MemAvailable"))
        return int(free.split()[1]) * 1024 / 1e6
    except (OSError, StopIteration, ValueError):
        return inf


def run_task(task: Task) -> Row:
    """The row of a cell. What the library refuses is a row with the reason."""
    row: Row = {"status": OK, "reason": ""}
    try:
        row |= _measured(task)
    except SetveilError as error:
        row |= {"status": REFUSED, "reason": str(error)}
    except MemoryError:
        row |= {"status": FAILED, "reason": "there is not enough memory"}
    return row | {"peak_mb": _peak()}


def _measured(task: Task) -> Row:
    """The figures of a cell. Where a method draws noise, they are means over several draws: one
    draw says more about chance than about the method, and the luckier of two says nothing else."""
    job = _job(task, *pickle.loads(task.data.read_bytes()))
    type(job.method).warmup()  # so that the time to load kernels is not counted
    if not job.method.draws_noise:
        return _drawn(task, job)
    rows = [_drawn(task, job) for _ in range(DRAWS)]
    failed = next((row for row in rows if not row["holds"]), None)
    figures = [name for name, value in rows[0].items() if type(value) is float]
    means = {name: fmean(row[name] for row in rows) for name in figures}
    return failed or {**rows[0], **means, "draws": DRAWS}


def _drawn(task: Task, job: Job) -> Row:
    stages, spent = Stages(), time.process_time()
    made = make(job, stages)
    used = time.process_time() - spent
    verdict = checked(made)
    row: Row = {
        "promise": made.promise.title,
        "form": made.release.form,
        "records": len(made.data),
        "items": int((made.data.supports() > 0).sum()),
        "holds": verdict.holds,
        "seconds": round(stages.seconds["anonymizing"], 3),
        "cpu_seconds": round(used, 3),
    }
    if not verdict.holds:
        failed = "; ".join(check.text for check in verdict.failed)
        return row | {"status": FAILED, "reason": f"the promise does not hold: {failed}"}
    names = task.metrics or tuple(_usual(made.release, made.tree is not None))
    worlds = task.words.get("reconstructions", 1)
    losses = measure(
        made.release,
        made.data,
        [name for name in names if METRICS[name].fits(made.release.form, within(made.release))],
        seed=task.seed,
        reconstructions=worlds,
        hierarchy=made.tree,
    )
    return row | _flat(losses)


def _usual(release: Release, has_tree: bool) -> list[str]:
    """The usual metrics of a release, and those that every form has."""
    treeless = not has_tree and release.tree is None and release.semantics is None
    return [
        name
        for name, row in METRICS.items()
        if row.on_request or (row.is_usual(release) and not (treeless and "hierarchy" in row.needs))
    ]


def _flat(losses: Mapping[str, Any]) -> Row:
    flat: Row = {}
    for name, value in losses.items():
        parts = value.items() if isinstance(value, Mapping) else [("", value)]
        flat |= {f"{name}_{part}" if part else name: float(number) for part, number in parts}
    return flat


def _job(task: Task, data: Transactions, people: People | None) -> Job:
    words = dict(task.words)
    random = np.random.default_rng(task.seed)
    words.pop("data", None)
    words.pop("reconstructions", None)
    size, share = words.pop("sample", None), words.pop("public_share", None)
    if size is not None and size < len(data):
        chosen = np.sort(random.choice(len(data), size, replace=False))
        data = data.take(chosen)
        people = None if people is None else people.take(chosen)
    data = without_rare(data, words.pop("min_people", 0), people)
    more = {"threads": task.threads, "keep_unique": True}  # all data was checked when it was read
    job = job_from(data, {**words, **task.tree_words, **more})
    if people is not None:
        job = replace(job, promise=job.promise.for_people(people.most))
    # Noise takes no seed. Nothing is published, so the list of items may be taken as public.
    noisy = job.method.draws_noise
    job = replace(job, public_items=True) if noisy else replace(job, seed=task.seed)
    if share is None:
        return job
    items = data.vocabulary.labels
    public = set(random.permutation(len(items))[: round(share * len(items))].tolist())
    private = (item for at, item in enumerate(items) if at not in public)
    return replace(job, promise=job.promise.with_items("private", private))


def _peak() -> float:
    """The most memory that this process has had, in megabytes."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


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

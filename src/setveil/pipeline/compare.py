"""Compare: several methods and parameters on the same data, in one table."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from setveil.data.tables.frames import needed
from setveil.disk import private_folder
from setveil.engines.base import Progress
from setveil.errors import ParameterError
from setveil.hierarchy.layouts import TreeOptions
from setveil.hierarchy.recipes import is_recipe
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS
from setveil.metrics import METRICS
from setveil.pipeline.comparing.cells import Cell, axes, cells_of, item_words
from setveil.pipeline.comparing.results import (
    check_store,
    code_of,
    digest,
    forget_others,
    key_of,
    open_store,
    read_cell,
    write_results,
)
from setveil.pipeline.comparing.running import OK, Clock, Row, Task, run_cells
from setveil.pipeline.comparing.spec import load_source, read_spec
from setveil.pipeline.names import Words, check_words, reading_from
from setveil.pipeline.stages import Stages
from setveil.showing import Shown, page_of
from setveil.threads import cores
from setveil.words import plural, seconds

_FIRST = ("data", "sample", "records", "items", "method", "hierarchy", "promise")
_LAST = ("form", "status", "reason", "holds", "seconds", "cpu_seconds", "peak_mb")
_TREE_WORDS = tuple(each.name for each in fields(TreeOptions))


@dataclass(frozen=True, kw_only=True)
class CompareJob(TreeOptions):
    """Which cells to compare, and how."""

    cells: tuple[Cell, ...]
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How to read data files."""
    metrics: tuple[str, ...] = ()
    """Names of `METRICS`; by default the usual ones of each form and those that every form has."""
    seed: int = 0
    workers: int | None = None
    """How many cells run at once; 0 runs them in this process, by default one for each core."""
    output: Path | str | None = None
    """The folder of the comparison; nothing is written if it is not given."""
    force: bool = False
    """Make all cells again; what an earlier run has finished is forgotten when they are whole."""
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison(Shown):
    """The table: a row for each cell. Private: it is computed from the original.

    Example:
        >>> row = {"method": "partition", "k": 5, "status": "ok", "reason": "", "ncp": 0.2}
        >>> found = Comparison(rows=(row,))
        >>> found, found.columns
        (Comparison(1 cell, 1 of them measured), ['method', 'k', 'status', 'reason', 'ncp'])
    """

    rows: tuple[Row, ...]
    title: str = ""
    output: Path | None = None
    metrics: tuple[str, ...] = ()
    """The metrics that were asked for; empty if none were named."""
    resumed: int = 0
    """How many rows an earlier run had finished."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        done = sum(row["status"] == OK for row in self.rows)
        return f"Comparison({plural(len(self.rows), 'cell')}, {done} of them measured)"

    @property
    def columns(self) -> list[str]:
        """What was compared first, then the figures."""
        found = dict.fromkeys(name for row in self.rows for name in row)
        words = [name for name in axes() if name in found and name not in _FIRST]
        metrics = [name for name in found if metric_of(name)]
        metrics.sort(key=lambda name: list(METRICS).index(str(metric_of(name))))
        named = {*_FIRST, *_LAST, *words, *metrics}
        others = [name for name in found if name not in named]
        head = [name for name in _FIRST if name in found]
        return [*head, *words, *others, *(n for n in _LAST if n in found), *metrics]

    @property
    def measured(self) -> tuple[Row, ...]:
        """The rows with figures."""
        return tuple(row for row in self.rows if row["status"] == OK)

    @property
    def frame(self) -> Any:
        """The table as a pandas frame."""
        return self.to_pandas()

    def to_pandas(self) -> Any:
        """The table as a pandas frame."""
        pandas = needed("pandas", "a table", "frames")
        return pandas.DataFrame(list(self.rows), columns=self.columns)

    def to_polars(self) -> Any:
        """The table as a polars frame."""
        polars = needed("polars", "a table", "frames")
        cells = {name: [row.get(name) for row in self.rows] for name in self.columns}
        return polars.DataFrame(cells, strict=False)

    def to_dict(self) -> dict[str, object]:
        """The comparison as one JSON object."""
        return {"title": self.title, "columns": self.columns, "rows": [dict(r) for r in self.rows]}


def compare(
    data: object = None,
    methods: Sequence[str] | str | None = None,
    *,
    spec: Path | str | None = None,
    progress: Progress | None = None,
    **words: Any,
) -> Comparison:
    """Run several methods and parameters on the same data; the table has a row for each.

    Args:
        data: A path, or any object that `as_transactions` takes; or a list of paths.
        methods: Names of `METHODS`, as a list or with commas.
        spec: A TOML file with the same words; what is given here replaces what it says.
        progress: Is called with how far the work is.
        words: The options of `setveil compare`. The parameters of promises and methods may have
            several values each: `k=[2, 5, 10]` or `k="2,5,10"`.

    Example:
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"]] * 3
        >>> found = compare(baskets, "partition", k=[2, 3], hierarchy="balanced:2", workers=0)
        >>> [(row["k"], row["holds"], round(row["ncp"], 2)) for row in found]
        [(2, True, 0.0), (3, True, 0.0)]
    """
    given = {"methods": methods, **words, "spec": spec}
    return run(*job_from(data, given), progress=progress)


def job_from(data: object, words: Words) -> tuple[CompareJob, Mapping[str, object]]:
    """The job that these words describe, and its data by name; None means not given."""
    own = {each.name for each in fields(CompareJob)} - {"cells", "reading"}
    known = {*own, *axes(), *item_words(), "methods", "hierarchy", "promise", "spec"}
    check_words("compare", words, known)
    given = {name: value for name, value in words.items() if value is not None and value != ()}
    runs = read_spec(given.pop("spec", None), given, data)
    job = {name: runs.words[name] for name in own if name in runs.words}
    metrics = job.pop("metrics", ())
    metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    for name in metrics:
        if name not in METRICS:
            raise ParameterError("metric", name, f"it must be one of {', '.join(METRICS)}")
    cells = [cell for run_words in runs.runs for cell in cells_of(run_words)]
    unique = {str(sorted(cell.words.items(), key=str)): cell for cell in cells}
    made = CompareJob(
        cells=tuple(unique.values()),
        reading=reading_from(runs.words),
        metrics=metrics,
        **job,
    )
    return made, runs.sources


def run(
    job: CompareJob, sources: Mapping[str, object], progress: Progress | None = None
) -> Comparison:
    """Run the cells that no earlier run has finished, and write the results."""
    output = None if job.output is None else Path(job.output)
    if output is not None:
        check_store(output)
    with ExitStack() as stack:
        work = stack.enter_context(private_folder())
        tasks = _tasks(job, sources, work, output, Stages(progress))
        rows = _rows(job, tasks, work, progress)
    found = Comparison(
        rows=tuple(_complete(job, cell, row) for cell, row in zip(job.cells, rows[0], strict=True)),
        title=job.title,
        metrics=job.metrics,
        output=output,
        resumed=rows[1],
    )
    if output is not None:
        write_results(output, found.columns, found.rows, found.to_dict(), page_of(found))
        if job.force:
            forget_others(output, {task.key for task in tasks})
    return found


def metric_of(column: str) -> str | None:
    """The metric that a column belongs to; `class_sizes` has several columns."""
    if column in METRICS:
        return column
    if column in axes():
        return None
    owners = (name for name in METRICS if column.startswith(f"{name}_"))
    return max(owners, key=len, default=None)


def _tasks(
    job: CompareJob, sources: Mapping[str, object], work: Path, output: Path | None, stages: Stages
) -> list[Task]:
    """A task for each cell; all data is read first, so that a bad file is refused at once and
    leaves no folder."""
    held: dict[str, tuple[Path, str]] = {}
    with stages("reading"):
        for at, (name, source) in enumerate(sources.items()):
            data, people = load_source(source, job.reading)
            place = work / f"data-{at}"
            place.write_bytes(pickle.dumps((data, people)))
            held[name] = place, digest(data, people)
    if output is not None:
        open_store(output)
    width = job.workers if job.workers is not None else cores()
    threads = max(cores() // max(width, 1), 1)
    options: Any = {name: getattr(job, name) for name in _TREE_WORDS if getattr(job, name)}
    kinds = {str(cell.words["method"]) for cell in job.cells}
    used = (*(METHODS[name] for name in kinds), *(each.function for each in METRICS.values()))
    code, folder, tasks = code_of(used), output or work, list[Task]()
    (folder / "cells").mkdir(exist_ok=True)
    for cell in job.cells:
        place, known = held[str(cell.words["data"])]
        words = {name: value for name, value in cell.words.items() if name != "data"}
        named = {name: _content(value) for name, value in words.items()}
        how = {"metrics": job.metrics, "seed": job.seed}
        task = Task(
            key=key_of(code, known, named, how, options),
            words=words,
            data=place,
            store=folder,
            metrics=job.metrics,
            seed=job.seed,
            tree_words=options,
            threads=threads,
        )
        tasks.append(task)
    return tasks


def _content(value: object) -> object:
    """A word of a cell, with what is in the file or object that it names."""
    if isinstance(value, Hierarchy):
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    if isinstance(value, list | tuple):
        return [_content(one) for one in value]
    if isinstance(value, str | Path) and not is_recipe(value) and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    return value


def _rows(
    job: CompareJob, tasks: Sequence[Task], work: Path, progress: Progress | None
) -> tuple[list[Row], int]:
    """The row of each cell, in order, and how many were there already."""
    found: list[Row | None] = [
        None if job.force else read_cell(task.store, task.key) for task in tasks
    ]
    resumed = sum(row is not None for row in found)
    left = [at for at, row in enumerate(found) if row is None]
    width = min(job.workers if job.workers is not None else cores(), max(len(left), 1))
    clock = Clock([job.cells[at] for at in left], width)

    def finished(place: int, row: Row, took: float) -> None:
        found[left[place]] = row
        clock.finish(place, took)
        if progress:
            left_over = "" if clock.left is None else f"about {seconds(clock.left)} left"
            progress(resumed + len(clock.times), len(tasks), f"comparing: {left_over}")

    if progress and left:
        progress(resumed, len(tasks), "comparing")
    run_cells([tasks[at] for at in left], width, work, finished)
    return [row for row in found if row is not None], resumed


def _complete(job: CompareJob, cell: Cell, row: Row) -> Row:
    """A row with the words of its cell; what is the same in all cells is left out."""
    several = {str(one.words["data"]) for one in job.cells}
    short = {Path(name).name for name in several}
    words = {name: _shown(value) for name, value in cell.words.items()}
    if len(several) == 1:
        words.pop("data", None)
    elif len(short) == len(several):
        words["data"] = Path(str(words["data"])).name
    return {**words, **row}


def _shown(value: object) -> object:
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

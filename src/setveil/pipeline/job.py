"""The job of anonymizing, its outcome, and what is refused before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from setveil.audit.verdict import Verdict
from setveil.data.account import Account
from setveil.disk import check_place
from setveil.engines import IN_MEMORY
from setveil.engines.base import Where
from setveil.errors import Note, OutputError, ParameterError
from setveil.hierarchy.layouts import TreeOptions
from setveil.hierarchy.recipes import is_recipe
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.alignment import NO_LINKS
from setveil.io.releases.folder import FORMS, release_formats
from setveil.io.releases.form import Choices
from setveil.methods.dividing import Divisible
from setveil.methods.method import Explaining, Method
from setveil.metrics.usefulness import Usefulness
from setveil.parameters import about
from setveil.pipeline.inputs import check_items
from setveil.pipeline.notes import Example
from setveil.pipeline.registering.book import Booking
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.published.countable import Countable
from setveil.showing import Shown

_FILES = {
    ".csv": "csv",
    ".tsv": "",
    ".txt": "",
    ".dat": "fimi",
    ".fimi": "fimi",
    ".parquet": "parquet",
    ".json": "",
    ".jsonl": "jsonl",
    ".xlsx": "",
    ".zip": "",
}
"""Endings of data files, and the format of a release that they may mean."""


@dataclass(frozen=True, kw_only=True)
class Job(TreeOptions, Booking):
    """Everything that one run needs to know.

    Example:
        >>> from setveil import KAnonymity, Partition, run
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"]]
        >>> promise, tree = KAnonymity(k=2), "balanced:2"
        >>> job = Job(data=baskets, promise=promise, method=Partition(), hierarchy=tree)
        >>> outcome = run(job)
        >>> outcome.verdict.holds, outcome.records
        (True, 4)
    """

    data: object = field(repr=False)
    """A path (`-` is standard input), or any object that `as_transactions` takes."""
    promise: Promise
    method: Method[Release]
    hierarchy: Hierarchy | Path | str | None = None
    """A tree, the path of its file, or a recipe: `balanced:5`, `balanced:5:alphabetical`, `prefix`,
    `prefix:1,3,4`, `wordnet`, `wordnet:FOLDER`, `wordnet+unknown`. If the method does not
    generalize, only the losses use it."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options of `setveil.read` (for a path) or of `as_transactions` (for an object)."""
    output: Path | str | None = None
    """The release folder; nothing is written if it is not given."""
    format: str | None = None
    """The format of the data in the release folder; the choice depends on the published form."""
    alignment: Path | str | None = None
    """Where to write, privately, the published record or cluster of each original record."""
    report: Path | str | None = field(default=None, repr=False)
    """Where to write, privately, a page about the release and what it lost: an HTML file."""
    items: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """More items for the promise, by parameter, such as `{"private": ["dx:*"]}`: files, items,
    patterns, or `under:NODE` of the hierarchy."""
    tune: str | None = field(default=None, repr=False)
    """Search the parameters of the method that lose least for a use: `items`, `counts` or
    `associations`."""
    explain: bool = False
    """Also explain, privately, why so much is lost, if the method can."""
    seed: int | None = field(default=None, metadata=about("", least=0))
    """Fixes what is random: the order of the published records and the queries of the metrics."""
    force: bool = False
    """Replace a release or an alignment file that exists."""
    min_people: int = field(default=0, metadata=about("", least=0))
    """Leave out items that fewer people have (records, if it is not known whose they are), before
    anything else; for names and free text."""
    public_items: bool = False
    """The list of items is public knowledge: publish a tree that was built from it completely."""
    reason: str = ""
    """Why the method was chosen, if the user named none."""
    threads: int | None = field(default=None, metadata=about("", least=1))
    """How many threads the method may use; by default all of this process."""
    engine: str = "local"
    """Where the work is done: `local` (in memory), `blocks` (on disk) or `spark`."""
    master: str | None = field(default=None, repr=False)
    """For the engine `spark`: the cluster, such as `local[2]` or `spark://host:7077`."""

    @classmethod
    def read(cls, path: Path | str) -> Job:
        """The job in a TOML file; relative paths in it start at the folder of the file."""
        from setveil.pipeline.jobfile import read_job

        return read_job(path)

    def write(self, path: Path | str, *, force: bool = False) -> None:
        """Write the job as a TOML file, which `Job.read` and `setveil run` read.

        Raises:
            ParameterError: if a part of it cannot be written, such as data that is not a file.
        """
        from setveil.pipeline.jobfile import saved

        with saved(self, path, force=force):
            pass


@dataclass(frozen=True, kw_only=True)
class Published:
    """What is known of a release after it was written, read back, verified and measured."""

    release: Release
    verdict: Verdict
    losses: Mapping[str, Any] = field(default_factory=dict)
    """What was lost, by metric; empty if the release does not hold."""
    usefulness: Usefulness | None = None
    """How useful the release is; None if it does not hold."""
    countable: Countable | None = None
    """What can be counted from the release, and how exactly; public."""
    pruned: bool = False
    """Whether the tree was built from the data, so only what the records show was written."""
    suppressed: tuple[str, ...] = ()
    """The items that the method removed everywhere."""
    notes: tuple[str, ...] = ()
    """What the user should check."""
    examples: tuple[Example, ...] = field(default=(), repr=False)
    """Some original records, and what was published for each."""


@dataclass(frozen=True, kw_only=True)
class Outcome(Published, Shown):
    """What a run has done. Private, except for the release itself."""

    records: int
    items: int
    occurrences: int
    seconds: Mapping[str, float]
    """How long each stage took."""
    reason: str = ""
    """Why the method was chosen, if the user named none."""
    account: Account | None = None
    """How the file was read; None if the data did not come from a file."""
    output: Path | None = None
    """The release folder; None if nothing was written."""
    alignment: Path | None = None
    report: Path | None = None
    """The page about the release; None if none was asked for."""
    advice: tuple[str, ...] = ()
    """What to try if it is of little use."""
    remarks: tuple[Note, ...] = ()
    """What the user should know about a tree that was built."""
    explanation: Any = None
    """Why so much was lost, if that was asked for."""
    like: str = ""
    """The release whose rule was applied, if the method was not run."""
    dossier: Any = field(default=None, repr=False)
    """What the page about the release shows, if one was asked for: a `Dossier`."""

    def to_dict(self) -> dict[str, object]:
        """The outcome as one JSON object; private, because it says what was lost."""
        return {
            "data": {"records": self.records, "items": self.items, "occurrences": self.occurrences},
            **({} if self.account is None else {"reading": self.account.to_dict()}),
            "release": None if self.output is None else str(self.output),
            "alignment": None if self.alignment is None else str(self.alignment),
            "report": None if self.report is None else str(self.report),
            "method": dict(self.release.method),
            "verdict": self.verdict.to_dict(),
            "not_promised": self.release.limits(),
            "countable": None if self.countable is None else self.countable.to_dict(),
            "losses": dict(self.losses),
            "usefulness": None if self.usefulness is None else self.usefulness.to_dict(),
            "advice": list(self.advice),
            "suppressed": list(self.suppressed),
            "seconds": {stage: round(time, 4) for stage, time in self.seconds.items()},
            "notes": list(self.notes),
            "remarks": list(self.remarks),
            **({} if self.explanation is None else {"explanation": self.explanation.to_dict()}),
        }


class Placed(Protocol):
    """What a job says of the places of a release."""

    @property
    def output(self) -> Path | str | None: ...
    @property
    def alignment(self) -> Path | str | None: ...
    @property
    def force(self) -> bool: ...
    @property
    def data(self) -> object: ...


def check_job(job: Job) -> None:
    """Refuse what the method, the promise and the places of a job do not allow."""
    if not isinstance(job.method, Method):
        allowed = "it must be a method with its parameters, such as Partition()"
        raise ParameterError("method", job.method, allowed)
    _check_engine(job)
    FORMS[job.method.form].check(Choices(format=job.format, public_items=job.public_items))
    if job.alignment is not None and FORMS[job.method.form].links is None:
        raise ParameterError("alignment", str(job.alignment), NO_LINKS)
    if job.unknown == "drop" and not (job.method.uses_hierarchy or job.method.draws_noise):
        allowed = f"{job.method.name} publishes items as they are and only measures with the tree"
        raise ParameterError("unknown", job.unknown, allowed)
    job.method.check_early(job.promise, has_hierarchy=job.hierarchy is not None)
    check_items(job.items, job.promise)
    _check_noise(job)
    if job.explain and not isinstance(job.method, Explaining):
        allowed = f"the method {job.method.name} has nothing to explain"
        raise ParameterError("explain", True, allowed)
    check_places(job, (job.data, job.hierarchy), tuple(FORMS[job.method.form].formats))


def _check_engine(job: Job) -> None:
    """Refuse an engine that is not there, that the method does not run on, or its options."""
    Where(job.engine, job.memory, job.master).check()
    if job.memory is not None and job.engine == "spark" and isinstance(job.method, Divisible):
        allowed = "the executors have their own memory, see spark.executor.memory"
        raise ParameterError("memory", job.memory, allowed)
    job.method.check_engine(job.engine)
    if job.engine != IN_MEMORY:
        _check_in_parts(job)
        if is_frame(job.data) and job.format not in (None, "csv", "jsonl"):
            raise ParameterError("format", job.format, "a DataFrame is made of csv or jsonl")
        method = job.method
        method = method.in_parts() if isinstance(method, Divisible) else method
        method.check_early(job.promise, has_hierarchy=job.hierarchy is not None)


def _check_in_parts(job: Job) -> None:
    """Refuse what an engine that works part by part does not do."""
    name = job.engine
    if job.output is None and not is_frame(job.data):
        raise ParameterError("output", None, f"the engine {name} writes a release: name its folder")
    for option in ("alignment", "report", "tune", "explain"):
        if getattr(job, option):
            allowed = f"the engine {name} does not have it; use {{engine=local}}"
            raise ParameterError(option, getattr(job, option), allowed)
    if job.reading.get("bags"):
        allowed = f"the engine {name} works on sets; use {{engine=local}}"
        raise ParameterError("bags", True, allowed)
    form = FORMS[job.method.form]
    formats = form.in_parts.formats if form.in_parts is not None else tuple(form.formats)
    if job.format is not None and job.format not in formats:
        allowed = f"a {form.name} release in parts is {' or '.join(formats)}"
        raise ParameterError("format", job.format, allowed)


def _check_noise(job: Job) -> None:
    """Refuse what would weaken the noise of a method, or look at the data without noise."""
    if not job.method.draws_noise:
        return
    if job.seed is not None:
        allowed = (
            f"the method {job.method.name} protects people by noise, and anyone who knows the seed "
            "can subtract the noise; leave it out"
        )
        raise ParameterError("seed", job.seed, allowed)
    if job.min_people:
        allowed = (
            f"the method {job.method.name} must not count records without noise; it leaves out "
            "rare items by itself"
        )
        raise ParameterError("min_people", job.min_people, allowed)
    if job.unknown == "root":
        allowed = (
            "items that the hierarchy lacks would become public with the tree: leave them out with "
            "{unknown=drop}, or add them to the file"
        )
        raise ParameterError("unknown", job.unknown, allowed)
    known = job.public_items or (job.hierarchy is not None and not is_recipe(job.hierarchy))
    problem = "" if known else job.method.needs_public_items(job.promise)
    if problem:
        raise ParameterError("public_items", None, problem)


def check_places(
    places: Placed, given: Sequence[object], formats: Sequence[str] | None = None
) -> None:
    """Refuse places that cannot be written or are an input; `given` has the inputs, and `formats`
    those in which the release can be written."""
    inputs = [Path(path).resolve() for path in given if isinstance(path, str | Path)]
    output = None if places.output is None else Path(places.output)
    if output is not None:
        _check_output(output, inputs, release_formats() if formats is None else formats)
    if places.alignment is not None:
        _check_alignment(Path(places.alignment), output, inputs, places.force)


def _check_output(output: Path, inputs: list[Path], formats: Sequence[str]) -> None:
    if str(output) == "-":
        raise OutputError(output, "a release is a folder and cannot go to standard output")
    if any(output.resolve() in path.parents for path in inputs):
        problem = "an input file is in this folder"
        raise OutputError(output, problem, remedy="choose another name")
    format = next((_FILES[end] for end in output.suffixes[::-1] if end in _FILES), None)
    if format is not None and not output.exists():
        name = output.name.split(".")[0] or "release"
        remedy = f"use {{output={output.with_name(name)}}}"
        remedy += f" with {{format={format}}}" if format in formats else ""
        raise OutputError(output, "a release is a folder, and this is a file name", remedy=remedy)


def _check_alignment(place: Path, output: Path | None, inputs: list[Path], force: bool) -> None:
    if str(place) == "-":
        problem = "the alignment is private and cannot go to standard output"
        raise OutputError(place, problem, remedy="give the name of a file")
    if output is not None and place.resolve().is_relative_to(output.resolve()):
        raise OutputError(place, "the alignment is private and must not be in the release folder")
    if place.resolve() in inputs:
        raise OutputError(place, "this file is an input", remedy="choose another name")
    check_place(place, force=force)


def is_frame(data: object) -> bool:
    """Whether this is a DataFrame of Spark."""
    return type(data).__module__.startswith("pyspark.sql")

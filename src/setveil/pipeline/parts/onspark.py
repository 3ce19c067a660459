"""Anonymize on Spark: the same splits, tasks and sums as on blocks, where the records are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from setveil.data.account import Account
from setveil.data.arrays import Int32s
from setveil.data.tally import Tally
from setveil.disk import private_folder
from setveil.engines.distinct import Distinct
from setveil.engines.parts import Answer, Block
from setveil.engines.spark import Shared, SparkParts, on_spark
from setveil.engines.sparkdata import (
    SparkRecords,
    numbered,
    published_rows,
    read_frame,
    some_of_frame,
)
from setveil.engines.sparksession import session
from setveil.errors import EngineError, FileFormatError, SetveilError
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.io.releases.folder import sha256, staged_release
from setveil.io.releases.form import Choices
from setveil.methods.dividing import USUAL_PART, Share, Whole
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts.checks import is_frame
from setveil.pipeline.parts.finishing import finished
from setveil.pipeline.parts.loading import load, spec_of
from setveil.pipeline.parts.reading import Read
from setveil.pipeline.parts.run import Rejected, collected, places_of
from setveil.pipeline.parts.task import Done, Place, Spec, make_share
from setveil.pipeline.stages import Stages
from setveil.published.in_parts import InParts


def run_on_spark(job: Job, make_tree: MakeHierarchy, stages: Stages) -> Outcome:
    """Anonymize, verify and measure on a cluster; the folder appears after all parts hold."""
    job = replace(job, method=job.method.in_parts())
    held: list[Outcome] = []
    with suppress(Rejected), private_folder() as work, _stage(job, work) as stage:
        with open_session(job.master, work, stages) as spark:
            held.append(_run(job, spark, make_tree, stage, stages))
        if not held[0].verdict.holds:
            raise Rejected
    return held[0]


@contextmanager
def open_session(master: str | None, work: Path, stages: Stages) -> Iterator[Any]:
    """A session of Spark; says so, because it takes a while."""
    if stages.progress is not None:
        stages.progress(0, 0, "starting Spark")
    with session(master, work) as spark:
        yield spark


@contextmanager
def _stage(job: Job, work: Path) -> Iterator[Path]:
    """Where the files go: what becomes the release, or a private folder if none is asked for."""
    if job.output is None:
        (work / "release").mkdir(mode=0o700)
        yield work / "release"
        return
    with staged_release(Path(job.output), force=job.force) as stage:
        yield stage


class SparkSource:
    """Records on a cluster."""

    records: SparkRecords
    parts: SparkParts

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def read(self, data: object, reading: Mapping[str, Any]) -> Read:
        name = str(data) if isinstance(data, str | Path) else data
        self.records = read_frame(self.spark, name, reading)
        if not self.records.records:
            shown = name if isinstance(name, str) else "the DataFrame"
            raise FileFormatError(shown, "it has no records")
        tally = Tally.of_supports(self.records.vocabulary, self.records.supports)
        account = Account(format="spark") if isinstance(name, str) else None
        if account is not None:
            account.skip_blanks(self.records.blanks)
        return Read(tally, self.records.records, account)

    def map(self, work: Callable[[int], Answer], tasks: int) -> Iterator[Answer]:
        return on_spark(self.spark, work, tasks)

    def some(self, records: int, occurrences: int) -> Block:
        return some_of_frame(self.records)

    def gathered(self) -> Block:
        return self.parts.gathered()

    def distinct(self, room: int, memory: str) -> Distinct:
        return self.parts.distinct(room, memory)

    def recode(self, numbers: Int32s, size: int) -> None:
        self.parts = SparkParts(self.spark, numbered(self.records, numbers))
        self.records.frame.unpersist()


def _run(job: Job, spark: Any, make_tree: MakeHierarchy, stage: Path, stages: Stages) -> Outcome:
    source = SparkSource(spark)
    loaded = load(job, source, make_tree, stages)
    job, parts = loaded.job, source.parts
    spec = spec_of(loaded, Choices(format=job.format, seed=job.seed, public_items=job.public_items))
    with stages("dividing"):
        items = len(loaded.coding.vocabulary)
        whole = Whole(job.promise, loaded.tree, items, USUAL_PART, stages.progress)
        shares = job.method.divide(parts, whole)
    with stages("anonymizing"):
        sizes = [sum(parts.sizes.get(part, 0) for part in each.parts) for each in shares]
        found, made = _made(parts, spec, shares, sizes, stages)
        if all(done.holds for done in found):
            found = _write(made, found, stage)
    outcome = finished(loaded, spec, found, stage, stages)
    if not is_frame(job.data):
        return outcome
    assert isinstance(outcome.release, InParts)
    frame = published_rows(made.lines(), spec.file)
    return replace(outcome, release=replace(outcome.release, frame=frame))


def _made(
    parts: SparkParts, spec: Spec, shares: Sequence[Share], sizes: Sequence[int], stages: Stages
) -> tuple[list[Done], Shared]:
    """Make all shares on the cluster."""
    places = places_of(shares, sizes)
    made = parts.each([share.parts for share in shares], partial(make_on_worker, spec, places))
    answers = made.summaries()
    for answer in answers:
        if isinstance(answer, SetveilError):
            raise answer
    if len(answers) != len(shares):
        raise EngineError(f"Spark gave {len(answers)} parts instead of {len(shares)}")
    return collected(iter(answers), sizes, stages), made


def _write(made: Shared, found: Sequence[Done], stage: Path) -> list[Done]:
    """Write the files of the release here, and compare them with what was verified there."""
    written: list[Done] = made.write({done.number: done.name for done in found}, stage)
    for done in written:
        if sha256(stage / done.name) != done.digest:
            raise EngineError(f"{done.name} is not what the cluster wrote and verified")
    return sorted(written, key=lambda done: done.number)


def make_on_worker(
    spec: Spec, places: Sequence[Place], number: int, blocks: list[Block], folder: Path
) -> Done | SetveilError:
    """Make a share in a Python worker; what the library refuses is an answer, not a failure."""
    try:
        return make_share(spec, places[number], blocks, folder)
    except SetveilError as error:
        return error

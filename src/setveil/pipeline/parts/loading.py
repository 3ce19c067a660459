"""Read data for an engine that works in parts, with its tree and the numbers of its items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from setveil.data.account import Account
from setveil.data.arrays import Int32s
from setveil.data.identifiers import Some
from setveil.data.summary import Tally
from setveil.engines.distinct import Distinct
from setveil.engines.parts import Answer, Block, Parts
from setveil.errors import ParameterError
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.form import Choices
from setveil.methods.dividing import Coding, Divisible, Share
from setveil.metrics.measure import adding_up
from setveil.pipeline.inputs import Origin, check_named, fit, refuse_identifiers, with_items
from setveil.pipeline.job import Job
from setveil.pipeline.notes import left_out_note
from setveil.pipeline.parts.task import Done, Spec
from setveil.pipeline.stages import Stages


class Read(NamedTuple):
    """What is known of the data after reading it; the records are at their source."""

    tally: Tally
    records: int
    account: Account | None


class Source(Protocol):
    """Where the records are, such as on a cluster, and who works on them there: all that a run asks
    of an engine."""

    work: Path
    """A private folder, which is removed after the run."""
    parts: Parts
    """The records after `recode`; all of them are in part 0."""

    def read(self, data: object, reading: Mapping[str, Any]) -> Read:
        """Read the data; its records are kept."""

    def recode(self, numbers: Int32s, size: int) -> None:
        """Give each item another number, or -1 to leave it out."""

    def map(self, work: Callable[[int], Answer], tasks: int) -> Iterator[Answer]:
        """The answers to the numbers below `tasks`, in order."""

    def some(self, records: int, occurrences: int) -> Block:
        """A random sample of so many records as were read, or all if they are few."""

    def gathered(self) -> Block:
        """All records, in memory."""

    def distinct(self, room: int, memory: str) -> Distinct:
        """The distinct records and their counts, in memory.

        Raises:
            EngineError: if they take more than `room` bytes.
        """

    def most(self, loaded: Loaded) -> int:
        """How many records a share may have, if that makes no difference to the release."""

    def publish(
        self, spec: Spec, shares: Sequence[Share], folder: Path, stages: Stages
    ) -> list[Done]:
        """Do `publish_share` for each share; the files of all are in the folder then. It may stop
        at the first share that does not hold."""

    def frame(self, spec: Spec) -> Any:
        """The published records as a DataFrame of the engine, if it has such; else None."""


class Loaded(NamedTuple):
    """The data as the method will see it; the records are at their source."""

    job: Job
    tally: Tally
    """Of the items that are kept."""
    records: int
    tree: Hierarchy | None
    coding: Coding
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    account: Account | None
    occurrences: int


def load(job: Job, source: Source, make_tree: MakeHierarchy, stages: Stages) -> Loaded:
    """Read the data, and number its items as the method wants."""
    with stages("reading"):
        everything, records, account = source.read(job.data, job.reading)
        meant = check_read(job, source, Read(everything, records, account))
        kept = everything.without_rare(job.min_people)
        rare = left_out_note(everything, kept, job.min_people)
    with stages("building the hierarchy"):
        tree, data, dropped, unknown = fit(make_tree(kept), kept, job)
        job = replace(job, promise=with_items(job.promise, job.items, data.vocabulary, tree))
        job.method.check(records, job.promise, tree)
        assert isinstance(job.method, Divisible)
        coding = job.method.coding(data.vocabulary, tree)
        assert isinstance(data, Tally)
        _recode(source, everything, data, coding)
    named = check_named(job.promise, data.vocabulary) if records else ()
    said = () if account is None else tuple(account.notes)
    notes = (*said, *meant, *rare, *unknown, *named, *job.promise.doubts)
    occurrences = data.occurrences
    return Loaded(job, data, records, tree, coding, dropped, notes, account, occurrences)


def check_read(job: Job, source: Source, read: Read) -> tuple[str, ...]:
    """Refuse items that look like identifiers; see `refuse_identifiers`."""
    tally, records, account = read
    if job.min_people and account is not None and "person" in account.columns:
        allowed = f"the engine {job.engine} counts records, not people; use {{engine=local}}"
        raise ParameterError("min_people", job.min_people, allowed)
    block = source.some(records, tally.occurrences)
    some = Some(*block, tally.vocabulary, tally.supports(), records)
    return refuse_identifiers(some, Origin(job.data, account, job.reading), job.min_people)


def _recode(source: Source, before: Tally, data: Tally, coding: Coding) -> None:
    """Number the items by the coding, and leave out those that are not kept."""
    numbers = np.full(len(before.vocabulary), -1, dtype=np.int32)
    numbers[before.vocabulary.encode(data.vocabulary)] = coding.numbers
    source.recode(numbers, len(coding.vocabulary))


def spec_of(loaded: Loaded, choices: Choices) -> Spec:
    """What all shares have in common."""
    supports = np.zeros(len(loaded.coding.vocabulary), dtype=np.int64)
    supports[loaded.coding.numbers] = loaded.tally.supports()
    return Spec(
        method=loaded.job.method,
        promise=loaded.job.promise,
        tree=loaded.tree,
        vocabulary=loaded.coding.vocabulary,
        supports=supports,
        choices=choices,
        counts=adding_up(loaded.job.method.form),
        min_people=loaded.job.min_people,
    )

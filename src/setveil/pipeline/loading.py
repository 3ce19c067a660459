"""Read the data of a run on its engine, with its tree and the numbers of its items."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from setveil.data.account import Account
from setveil.data.people import PER_PERSON, People, draw_key, without_rare
from setveil.data.summary import Tally
from setveil.data.transactions import Transactions
from setveil.engines.base import PartsSource, Read, Source, Where, open_source
from setveil.engines.local import LocalSource
from setveil.engines.parts import Distinct
from setveil.errors import DataError, EngineError, ParameterError
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.folder import FORMS
from setveil.io.releases.trees import TREE
from setveil.methods.dividing import Coding, Divisible, Share, Whole
from setveil.pipeline.inputs import (
    Origin,
    check_named,
    fit,
    for_people,
    load_with_account,
    notes_on,
    people_of,
    refuse_identifiers,
    with_items,
)
from setveil.pipeline.job import Job
from setveil.pipeline.notes import left_out_note, sets_note, unused_note
from setveil.pipeline.stages import Stages
from setveil.words import plural


class Loaded(NamedTuple):
    """The data as the method will see it, and where its records are."""

    job: Job
    """Its promise has the items that the user named."""
    source: Source
    data: Transactions
    """The records, or their `Tally`; without items that are left out."""
    records: int
    tree: Hierarchy | None
    coding: Coding | None
    """How the items are numbered at the source, if the records are there."""
    dropped: tuple[str, ...]
    """Items that the tree lacks, if they were left out."""
    notes: tuple[str, ...]
    account: Account | None

    @property
    def held(self) -> Transactions | None:
        """All records, if they are in memory."""
        return None if isinstance(self.data, Tally) else self.data

    @property
    def people(self) -> People | None:
        """The person of each record in memory, if that is known."""
        return None if self.held is None else people_of(self.account)


def load(
    job: Job,
    make_tree: MakeHierarchy,
    stack: ExitStack,
    stages: Stages,
    more: Mapping[str, Any] | None = None,
) -> Loaded:
    """Read the data where the run works on it, and build the tree.

    Its records stay at their engine until the stack ends, if the method works on shares there. If
    it searches all records at once, they come into memory. `more` says how else to read it."""
    reading = {**job.reading, **(more or {})}
    if job.engine != "local" and job.method.reads == "sets":
        reading = {**reading, "bags": False}
    if PER_PERSON in reading:
        reading = {**reading, "key": draw_key(job.seed)}
    where = Where(job.engine, job.memory, job.master, job.threads)
    with ExitStack() as opened:
        source = opened.enter_context(open_source(where, stages.progress))
        with stages("reading"):
            if isinstance(source, PartsSource) and job.method.reads == "tables":
                read = source.read_table(job.data, reading, load_with_account)
                check_memory(job, where, read)
                source = LocalSource()
            else:
                read = source.read(job.data, reading, load_with_account)
            everything, records, account = read
            promise, left = for_people(job.promise, job.reading, account)
            job = replace(job, promise=promise)
            meant = _meant(job, source, read)
            if isinstance(source, PartsSource) and not isinstance(job.method, Divisible):
                everything = gathered(job, where, source, read)
                source = LocalSource()
            else:
                stack.push(opened.pop_all())
            if isinstance(source, PartsSource) and isinstance(job.method, Divisible):
                job = replace(job, method=job.method.in_parts())
            people = None if isinstance(everything, Tally) else people_of(account)
            kept = without_rare(everything, job.min_people, people)
            rare = left_out_note(everything, kept, job.min_people, people)
            said = () if account is None else tuple(account.notes)
            if not isinstance(everything, Tally):
                said = (*sets_note(kept, job.method.reads), *notes_on(everything, account))
    with stages("building the hierarchy"):
        noisy = job.method.draws_noise
        tree, data, dropped, unknown = fit(make_tree(kept), kept, job, public=noisy)
        unknown += unused_note(tree, data) if noisy else ()
        job = replace(job, promise=with_items(job.promise, job.items, data.vocabulary, tree))
        job.method.check(records, job.promise, tree)
        _refuse_nul(job, data)
        coding = None
        if isinstance(source, PartsSource):
            assert isinstance(job.method, Divisible)
            coding = job.method.coding(data.vocabulary, tree)
            numbers = np.full(len(everything.vocabulary), -1, dtype=np.int32)
            numbers[everything.vocabulary.encode(data.vocabulary)] = coding.numbers
            source.recode(numbers, len(coding.vocabulary))
    named = check_named(job.promise, data.vocabulary) if records else ()
    notes = (*said, *left, *meant, *rare, *unknown, *named, *job.promise.doubts)
    return Loaded(job, source, data, records, tree, coding, dropped, notes, account)


def _refuse_nul(job: Job, data: Transactions) -> None:
    """Refuse items that the tree of the release, a text file, could not hold."""
    if job.output is None or not FORMS[job.method.form].has_tree:
        return
    if any("\0" in label for label in data.vocabulary):
        problem = f"an item contains a NUL character, which {TREE} of the release cannot hold"
        raise DataError(problem, remedy="remove it from the items of the data")


def divided(loaded: Loaded, stages: Stages) -> list[Share]:
    """The shares that the method's own rule makes of the records; one if they are in memory."""
    job, source, coding = loaded.job, loaded.source, loaded.coding
    if coding is None or not isinstance(source, PartsSource):
        return [Share((0,))]
    with stages("dividing", compiles=True):
        length = max(loaded.data.occurrences / max(loaded.records, 1), 1.0)
        most = source.most(job.method.bytes_per_occurrence, length)
        items = len(coding.vocabulary)
        whole = Whole(job.promise, loaded.tree, items, most, stages.progress)
        assert isinstance(job.method, Divisible)
        return job.method.divide(source.parts, whole)


def gathered(job: Job, where: Where, source: PartsSource, read: Read) -> Transactions:
    """All records, in memory.

    Raises:
        EngineError: if they do not fit; it says how much is needed.
    """
    check_memory(job, where, read)
    words = read.data.vocabulary
    source.recode(np.arange(len(words), dtype=np.int32), len(words))
    return Transactions(*source.gathered(), words)


def check_memory(job: Job, where: Where, read: Read) -> None:
    """Refuse more records than a method that needs all of them at once may hold.

    Raises:
        EngineError: it says how much is needed.
    """
    occurrences = read.data.occurrences
    need = job.method.bytes_per_occurrence * occurrences + 8 * read.records
    if need > where.room:
        problem = (
            f"the method {job.method.name} needs all {plural(occurrences, 'occurrence')} in memory "
            f"at once, about {need / 1e9:,.1f} GB, and may take {where.allowed}"
        )
        remedy = "allow more {memory}, or use {method=disassociation} or {method=partition}"
        raise EngineError(problem, remedy=remedy)


class Tallied(NamedTuple):
    """Distinct records, how often each occurs, and how they were read."""

    data: Transactions
    sizes: Any
    read: Read


def count_distinct(
    data: object, reading: Mapping[str, Any], where: Where, stages: Stages
) -> Tallied:
    """Read data on an engine that does not hold it, and count its distinct records.

    Raises:
        EngineError: if these do not fit in the memory.
    """
    with open_source(where, stages.progress) as source, stages("reading"):
        assert isinstance(source, PartsSource)
        read = source.read(data, reading, load_with_account)
        words = read.data.vocabulary
        source.recode(np.arange(len(words), dtype=np.int32), len(words))
        found: Distinct = source.distinct()
    return Tallied(Transactions(*found.block, words), found.sizes, read)


def _meant(job: Job, source: Source, read: Read) -> tuple[str, ...]:
    """Refuse items that look like identifiers; see `refuse_identifiers`."""
    account = read.account
    columns = {} if account is None or not isinstance(source, PartsSource) else account.columns
    if job.min_people and "person" in columns:
        allowed = f"the engine {job.engine} counts records, not people; use {{engine=local}}"
        raise ParameterError("min_people", job.min_people, allowed)
    origin = Origin(job.data, account, job.reading)
    return refuse_identifiers(source.some(read), origin, job.min_people)

"""Verify on the engines blocks and spark: a release part by part, or data by its distinct
records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.alignment.merging import recounted
from setveil.audit.verdict import Check, Verdict, Witness
from setveil.audit.verify import verify
from setveil.data.arrays import Int64s
from setveil.data.vocabulary import Vocabulary
from setveil.engines.base import Read, Source, Where, open_source
from setveil.errors import ParameterError, SetveilError
from setveil.io.releases.folder import ReleaseParts, read_release, stated_countable
from setveil.pipeline.inputs import load_with_account
from setveil.pipeline.loading import Tallied, count_distinct
from setveil.pipeline.stages import Stages
from setveil.pipeline.whole import merged_checks
from setveil.published import Release
from setveil.published.countable import Contribution, Countable, counted_in
from setveil.words import plural

if TYPE_CHECKING:
    from setveil.pipeline.verify import VerifyJob


class Seen(NamedTuple):
    """What is known of a part after it was verified."""

    checks: tuple[Check, ...]
    records: int
    shown: frozenset[str]
    """The labels that occur."""
    foreign: frozenset[str]
    """Those that are no items of the original."""
    lower: Int64s
    """How many records have each item of the original, at least."""
    upper: Int64s
    """And at most."""
    counted: Contribution | None = None
    """What it contributes to the statement of what can be counted, if the release has one."""


def where_of(job: VerifyJob) -> Where:
    """The engine of a job."""
    return Where(job.engine, job.memory, job.master)


def check_parts_job(job: VerifyJob) -> None:
    """Refuse what only the engine local can verify, before anything is read."""
    where_of(job).check()
    if job.engine == "local":
        return
    if not isinstance(job.release, str | Path):
        allowed = "the engines blocks and spark verify files: give a release folder or a data file"
        raise ParameterError("release", type(job.release).__name__, allowed)
    for option in ("alignment", "hierarchy"):
        if getattr(job, option) is not None:
            allowed = "it compares record by record; use {engine=local}"
            raise ParameterError(option, getattr(job, option), allowed)


def verify_in_parts(job: VerifyJob, stages: Stages) -> tuple[Verdict, Release, Countable | None]:
    """The verdict on all parts of a release together, the first part, and what can be counted from
    all of them, if the release says so."""
    if job.promise is not None:
        allowed = "a release is verified part by part for its own promise; use {engine=local}"
        raise ParameterError("promise", job.promise, allowed)
    parts, stated = ReleaseParts(str(job.release)), stated_countable(str(job.release))
    frequent = None if stated is None else tuple(stated.get("frequent", ()))
    with open_source(where_of(job), stages.progress) as source:
        read, most = None, parts.read(0).promise.records_per_person
        if job.original is not None and most is not None:
            allowed = f"the release has at most {plural(most, 'record')} of each person, and only "
            allowed += "the engine local compares these with an original; use {engine=local}"
            raise ParameterError("engine", job.engine, allowed)
        if job.original is not None:
            with stages("reading"):
                read = source.read(job.original, {**job.reading, "bags": False}, load_with_account)
        words = Vocabulary(()) if read is None else read.data.vocabulary
        with stages("verifying"):
            see = partial(_seen, parts, words, job.limit, frequent)
            found = _all_seen(source, see, len(parts), stages)
    first = parts.read(0)
    parts.check_shown(frozenset().union(*(each.shown for each in found)))
    checks = list(merged_checks([each.checks for each in found]))
    countable = None
    if stated is not None:
        counted = [each.counted for each in found if each.counted is not None]
        # a part knows less than the whole, such as that one cut was used for all records
        is_whole = len(parts) == 1
        countable = (
            Countable.of(read_release(str(job.release)))
            if is_whole
            else Countable.of_parts(counted, first)
        )
        checks.append(countable_check(stated, countable))
    if read is not None:
        checks += _against(read, found, first.min_people)
    return Verdict(first.promise, tuple(checks)), first, countable


def count_file(job: VerifyJob, stages: Stages) -> Tallied:
    """Read a data file, and count its distinct records.

    Raises:
        ParameterError: if it is to be compared with an original, or repeats are to be counted.
    """
    if job.reading.get("bags") is not False:
        allowed = (
            "it does not see whether an item repeats in a record; ignore repeats with "
            "{bags=False}, or use {engine=local}"
        )
        raise ParameterError("engine", job.engine, allowed)
    if job.original is not None:
        allowed = "a data file is compared record by record with it; use {engine=local}"
        raise ParameterError("engine", job.engine, allowed)
    return count_distinct(job.release, job.reading, where_of(job), stages)


def _all_seen(
    source: Source, see: partial[Seen | SetveilError], parts: int, stages: Stages
) -> list[Seen]:
    """Verify all parts: one at a time here, or each in a task on the cluster."""
    found = list[Seen]()
    for seen in source.map(see, parts):
        if isinstance(seen, SetveilError):
            raise seen
        found.append(seen)
        if stages.progress is not None:
            stages.progress(len(found), parts, "verifying parts")
    return found


def countable_check(stated: Mapping[str, object], found: Countable) -> Check:
    """Whether what `release.json` says can be counted is what the release shows."""
    if stated == found.to_dict():
        return Check("countable", True, "what is said to be countable is what the release shows")
    wrong = next(key for key, value in found.to_dict().items() if stated.get(key) != value)
    return Check("countable", False, f"what is said to be countable is not true: {wrong} differs")


def _seen(
    parts: ReleaseParts, words: Vocabulary, limit: int, frequent: Sequence[str] | None, number: int
) -> Seen | SetveilError:
    """Verify one part; what the library refuses is an answer, not a failure."""
    try:
        part = parts.read(number)
    except SetveilError as error:
        return error
    whole = recounted(part)
    supports = [whole.support([item]) for item in words]
    shown = frozenset(part.shown)
    return Seen(
        checks=verify(part, limit=limit).checks,
        records=len(part),
        shown=shown,
        foreign=shown.difference(words) if part.tree is None else frozenset(),
        lower=np.array([each.lower for each in supports], dtype=np.int64),
        upper=np.array([each.upper for each in supports], dtype=np.int64),
        counted=None if frequent is None else counted_in(whole, frequent),
    )


def _against(read: Read, found: list[Seen], min_people: int) -> Iterator[Check]:
    """That the release may come from this original: as many records, its items, its supports, but
    none of items that fewer than `min_people` have."""
    records = sum(each.records for each in found)
    text = f"{records:,} records are published for {read.records:,} originals"
    yield Check("records", records == read.records, text, private=True)
    foreign = sorted(frozenset().union(*(each.foreign for each in found)))[:1]
    text = "no item is published that is not in the original"
    witnesses = tuple(Witness(f"{item} is not", items=(item,), private=True) for item in foreign)
    yield Check("items", not foreign, text, witnesses, private=True)
    counts = read.data.supports()
    supports = np.where(counts < min_people, 0, counts)
    lower, upper = sum(each.lower for each in found), sum(each.upper for each in found)
    within = (lower <= supports) & (supports <= upper)
    text = f"the support of {'every' if within.all() else 'NOT every'} item is within its bounds"
    compared = "record and item counts agree"
    yield Check("supports", bool(within.all()), text, private=True, compared=compared)

"""Verify a release in parts, one part in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.audit.verdict import Check, Verdict, Witness
from setveil.audit.verify import verify
from setveil.data.arrays import Int64s
from setveil.data.vocabulary import Vocabulary
from setveil.disk import private_folder
from setveil.engines.blocks import DEFAULT_MEMORY, Blocks, Shelf
from setveil.errors import ParameterError
from setveil.io.releases.folder import read_parts
from setveil.pipeline.parts.finishing import merged_checks
from setveil.pipeline.parts.reading import Read, read_to
from setveil.pipeline.stages import Stages
from setveil.published import Release

if TYPE_CHECKING:
    from setveil.pipeline.verify import VerifyJob


class Bounds(NamedTuple):
    """How many records of some parts have each item, at least and at most."""

    lower: Int64s
    upper: Int64s


def check_parts_job(job: VerifyJob) -> None:
    """Refuse what cannot be verified part by part, before anything is read."""
    if job.engine not in ("local", "blocks"):
        raise ParameterError("engine", job.engine, "`verify` runs on local or blocks")
    if job.memory is not None and job.engine != "blocks":
        raise ParameterError("memory", job.memory, "only {engine=blocks} has it")
    if job.engine == "local":
        return
    if not isinstance(job.release, str | Path):
        raise ParameterError("release", type(job.release).__name__, "give a release folder")
    for option in ("promise", "alignment", "hierarchy"):
        if getattr(job, option) is not None:
            allowed = "a release is verified part by part for its own promise; use {engine=local}"
            raise ParameterError(option, getattr(job, option), allowed)


def verify_in_parts(job: VerifyJob, stages: Stages) -> tuple[Verdict, Release]:
    """The verdict on all parts together, and the first part."""
    engine = Blocks(None, job.memory or DEFAULT_MEMORY)
    place = Path(str(job.release))
    with private_folder() as work:
        read = None
        if job.original is not None:
            with stages("reading"):
                reading = {**job.reading, "bags": False}
                read = read_to(Shelf(work, engine), job.original, reading)
        with stages("verifying"):
            return _verdict(read_parts(place), read, stages, job.limit)


def _verdict(
    parts: Iterator[Release], read: Read | None, stages: Stages, limit: int
) -> tuple[Verdict, Release]:
    found, records, shown = list[tuple[Check, ...]](), 0, set[str]()
    first: Release | None = None
    words = Vocabulary(()) if read is None else read.tally.vocabulary
    bounds = Bounds(np.zeros(len(words), dtype=np.int64), np.zeros(len(words), dtype=np.int64))
    for part in parts:
        first = first or part
        found.append(verify(part, limit=limit).checks)
        records += len(part)
        shown |= part.shown if part.tree is None else set()
        _add_bounds(bounds, part, words)
        if stages.progress is not None:
            stages.progress(records, 0, "verifying parts")
    assert first is not None
    checks = list(merged_checks(found))
    if read is not None:
        checks += _against(read, records, shown, bounds)
    return Verdict(first.promise, tuple(checks)), first


def _add_bounds(bounds: Bounds, part: Release, words: Vocabulary) -> None:
    for number, item in enumerate(words):
        support = part.support([item])
        bounds.lower[number] += support.lower
        bounds.upper[number] += support.upper


def _against(read: Read, records: int, shown: set[str], bounds: Bounds) -> Iterator[Check]:
    """That the release may come from this original: as many records, its items, its supports."""
    same = records == read.records
    text = f"{records:,} records are published for {read.records:,} originals"
    yield Check("records", same, text, private=True)
    foreign = sorted(shown.difference(read.tally.vocabulary))[:1]
    text = "no item is published that is not in the original"
    witnesses = tuple(Witness(f"{item} is not", items=(item,), private=True) for item in foreign)
    yield Check("items", not foreign, text, witnesses, private=True)
    supports = read.tally.supports()
    within = (bounds.lower <= supports) & (supports <= bounds.upper)
    text = f"the support of {'every' if within.all() else 'NOT every'} item is within its bounds"
    yield Check("supports", bool(within.all()), text, private=True)

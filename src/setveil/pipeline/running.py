"""The run: every stage after the other, and nothing left behind when one fails."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.alignment.recoding import suppressed_items
from setveil.audit import verify
from setveil.audit.verdict import Check, Verdict
from setveil.data.transactions import Transactions
from setveil.engines.base import Progress
from setveil.engines.local import Local
from setveil.errors import OutputError, SetveilError
from setveil.hierarchy.recipes import hierarchy_maker
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.alignment import write_alignment
from setveil.io.releases.folder import fill_release, read_release, staged_release
from setveil.methods.compiling import announce_compiling
from setveil.methods.suppression import Suppression, explain
from setveil.metrics import measure
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts import check_sensitive, load, with_private
from setveil.pipeline.refuse import check_job
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags


def run(job: Job, progress: Progress | None = None) -> Outcome:
    """Anonymize, write, read back what was written, verify and measure it.

    The release appears under its name only after it was verified; a release that does not verify, an error or an interruption leaves
    nothing behind. What can be refused (places that are taken, numbers, faults of the tree) is refused before the work starts.

    Args:
        job: What to do.
        progress: Is told the stage and how far it is; a total of 0 means that nobody knows.

    Example:
        >>> from setveil import Disassociation, KmAnonymity
        >>> job = Job(data=[["wine", "beer"], ["wine"], ["beer"]], promise=KmAnonymity(k=2, m=2), method=Disassociation())
        >>> outcome = run(job)
        >>> outcome.verdict.holds, outcome.release
        (True, Disassociated(3 records in 1 clusters, KmAnonymity(k=2, m=2)))
    """
    clock = _Clock(progress)
    check_job(job)
    with suppress(_Rejected), _stage(job) as stage:
        outcome = _work(job, stage, clock)
        if not outcome.verdict.holds:
            raise _Rejected
    return outcome


def _work(job: Job, stage: Path | None, clock: _Clock) -> Outcome:
    """Every step but the last, in which the temporary folder of the release takes its name."""
    make_hierarchy = hierarchy_maker(job.hierarchy, job.layout)
    with clock.stage("reading"):
        data = load(job.data, job.reading)
    with clock.stage("building the hierarchy"):
        tree = make_hierarchy(data)
        job = replace(job, promise=with_private(job.promise, job.private, data.vocabulary, tree))
        job.method.check(len(data), job.promise, tree)
        if tree is not None:
            tree.leaf_numbers(data.vocabulary)
    notes = check_sensitive(job.promise, data.vocabulary) if len(data) else ()
    with clock.stage("anonymizing"), announce_compiling(clock.progress, "anonymizing"):
        release = job.method.anonymize(
            data, job.promise, tree, engine=Local(job.threads), progress=clock.progress
        )
    written = None if stage is None else _write(job, release, stage, clock)
    with clock.stage("verifying"):
        verdict = _verdict(job.promise, release, written, data, tree)
    losses: Mapping[str, Any] = {}
    if verdict.holds:
        with clock.stage("measuring"), announce_compiling(clock.progress, "measuring"):
            treeless = isinstance(release, Disassociated | TypicalBags)
            losses = measure(
                release, data, seed=job.seed or 0, hierarchy=tree if treeless else None
            )
    explanation = None
    if verdict.holds and job.explain and isinstance(job.method, Suppression):
        with clock.stage("explaining"):
            explanation = explain(data, job.promise, job.method, engine=Local(job.threads))
    if verdict.holds and job.alignment is not None:
        with clock.stage("writing the alignment"):
            write_alignment(release, data, job.alignment, force=job.force, folder=job.output)
    return Outcome(
        records=len(data),
        items=len(data.vocabulary),
        occurrences=data.occurrences,
        release=release,
        verdict=verdict,
        losses=losses,
        seconds=clock.seconds,
        output=Path(job.output) if verdict.holds and job.output else None,
        alignment=Path(job.alignment) if verdict.holds and job.alignment else None,
        pruned=_is_pruned(written),
        notes=(*notes, *_empty_note(release, data)) if verdict.holds else notes,
        explanation=explanation,
        suppressed=_suppressed(release, data) if verdict.holds else (),
    )


def _write(job: Job, release: Release, stage: Path, clock: _Clock) -> Release:
    """The release as it was read back after it was written."""
    with clock.stage("writing"), _naming(job.output):
        fill_release(
            release,
            stage,
            format=job.format,
            seed=job.seed,
            public_items=job.public_items,
            verified=True,
        )
    with clock.stage("reading back"):
        return read_release(stage)


@contextmanager
def _naming(place: Path | str | None) -> Iterator[None]:
    """Say where it was when the system refuses to write (a full disk, a limit)."""
    try:
        yield
    except SetveilError:
        raise
    except OSError as error:
        raise OutputError(str(place), error.strerror or str(error)) from error


def _verdict(
    promise: Promise,
    release: Release,
    written: Release | None,
    data: Transactions,
    tree: Hierarchy | None,
) -> Verdict:
    """The promise on what lies on the disk, containment on the release in memory, and that both are the same."""
    verdict = verify(release, data, promise=promise, hierarchy=tree)
    if written is None:
        return verdict
    same = written.same_as(release)
    text = f"what was written and read back is {'' if same else 'NOT '}what was anonymized"
    on_disk = verify(written, promise=promise)
    done = {check.name for check in on_disk.checks}
    rest = tuple(check for check in verdict.checks if check.name not in done)
    return Verdict(promise, (*on_disk.checks, *rest, Check("written", same, text)))


def _is_pruned(release: Release | None) -> bool:
    tree = release.hierarchy if isinstance(release, Generalized | TypicalBags) else None
    return tree is not None and tree.origin.pruned


def _empty_note(release: Release, data: Transactions) -> tuple[str, ...]:
    """A note when people who have something are published as empty bags."""
    lost = release.empty - int((data.lengths == 0).sum()) if isinstance(release, TypicalBags) else 0
    if lost <= 0:
        return ()
    people = "1 person is" if lost == 1 else f"{lost:,} people are"
    return (
        f"{people} published as an empty bag, at full loss: the group has nothing in common that is near enough.",
    )


def _suppressed(release: Release, data: Transactions) -> tuple[str, ...]:
    """The items that a release shows nowhere, neither themselves nor by a node over them."""
    if isinstance(release, Suppressed):
        return release.suppressed_items(data)
    return (
        suppressed_items(release, data)
        if isinstance(release, Generalized) and release.is_global
        else ()
    )


class _Clock:
    """Tells the progress which stage begins, and notes how long each took."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        if self.progress:
            self.progress(0, 0, name)
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


class _Rejected(Exception):
    """Removes the temporary folder without an error for the caller."""


def _stage(job: Job) -> AbstractContextManager[Path | None]:
    """The temporary folder that becomes the release; None when none is asked for."""
    return nullcontext() if job.output is None else staged_release(job.output, force=job.force)

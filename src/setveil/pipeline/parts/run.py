"""Anonymize on an engine that cannot hold all records: read, divide, and publish part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from setveil.disk import private_folder
from setveil.engines.blocks import Blocks, Shelf
from setveil.errors import EngineError
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.io.releases.folder import staged_release
from setveil.io.releases.form import Choices
from setveil.methods.dividing import USUAL_PART, Share, Whole
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts.finishing import finished
from setveil.pipeline.parts.loading import Loaded, load, spec_of
from setveil.pipeline.parts.reading import ShelfSource
from setveil.pipeline.parts.task import Done, Place, Spec
from setveil.pipeline.parts.workers import Shares, run_apart, run_here
from setveil.pipeline.stages import Stages
from setveil.words import plural

WORKER = 250_000_000
"""The bytes that a worker process takes before it has any records."""
FEW = 100_000
"""So many records are not worth the start of processes."""


def run_in_parts(job: Job, engine: Blocks, make_tree: MakeHierarchy, stages: Stages) -> Outcome:
    """Anonymize, verify and measure part by part; the folder appears after all parts hold."""
    output = Path(str(job.output))
    job = replace(job, method=job.method.in_parts())
    held: list[Outcome] = []
    try:
        with (
            staged_release(output, force=job.force) as stage,
            private_folder() as work,
        ):
            held.append(_Run(job, engine, stages, work, stage).run(make_tree))
            if not held[0].verdict.holds:
                raise Rejected
    except Rejected:
        pass
    return held[0]


class Rejected(Exception):
    """Removes the temporary folder without an error for the caller."""


@dataclass
class _Run:
    """One run, with where it works."""

    job: Job
    engine: Blocks
    stages: Stages
    work: Path
    stage: Path

    def run(self, make_tree: MakeHierarchy) -> Outcome:
        (self.work / "shelf").mkdir(mode=0o700)
        shelf = Shelf(self.work / "shelf", self.engine)
        loaded = load(self.job, ShelfSource(shelf), make_tree, self.stages)
        self.job = loaded.job
        choices = Choices(
            format=self.job.format, seed=self.job.seed, public_items=self.job.public_items
        )
        spec = spec_of(loaded, choices)
        with self.stages("dividing", compiles=True):
            most = self._most(loaded)
            shares = self._divided(shelf, loaded, most)
        with self.stages("anonymizing", compiles=True):
            sizes = [sum(shelf.sizes.get(part, 0) for part in each.parts) for each in shares]
            found = self._made(shelf, spec, shares, sizes)
        return finished(loaded, spec, found, self.stage, self.stages)

    def _most(self, loaded: Loaded) -> int:
        """The records of a task of a method whose release does not depend on it."""
        share = (self.engine.room - 2 * WORKER) / 2 / loaded.job.method.bytes_per_occurrence
        length = max(loaded.occurrences / max(loaded.records, 1), 1.0)
        return int(np.clip(share / length, 10_000, USUAL_PART))

    def _divided(self, shelf: Shelf, loaded: Loaded, most: int) -> list[Share]:
        job, items = loaded.job, len(loaded.coding.vocabulary)
        whole = Whole(job.promise, loaded.tree, items, most, self.stages.progress)
        return job.method.divide(shelf, whole)

    def _made(
        self, shelf: Shelf, spec: Spec, shares: Sequence[Share], sizes: Sequence[int]
    ) -> list[Done]:
        places = places_of(shares, sizes)
        all_shares = Shares(
            spec, places, [share.parts for share in shares], shelf.folder, self.stage
        )
        width = self._width(shelf, spec, shares)
        few = sum(sizes) <= FEW or len(shares) == 1
        answers = run_here(all_shares) if few else run_apart(all_shares, width, self.work)
        return collected(answers, sizes, self.stages)

    def _width(self, shelf: Shelf, spec: Spec, shares: Sequence[Share]) -> int:
        """How many shares fit in memory at once.

        Raises:
            EngineError: if not even one does.
        """
        cost = spec.method.bytes_per_occurrence
        largest = max(sum(shelf.occurrences.get(at, 0) for at in each.parts) for each in shares)
        need = WORKER + cost * largest
        if need + WORKER > self.engine.room:
            gigabytes = f"{(need + WORKER) / 1e9:,.1f} GB"
            problem = (
                f"the largest part has {plural(largest, 'occurrence')} and takes about "
                f"{gigabytes}, more than the memory of {self.engine.memory}"
            )
            raise EngineError(problem, remedy="allow more {memory} or a smaller {max_part}")
        return max(1, min(self.engine.width, int((self.engine.room - WORKER) // need)))


def places_of(shares: Sequence[Share], sizes: Sequence[int]) -> list[Place]:
    """Where each share comes in the release."""
    before = accumulate(sizes, initial=0)
    return [
        Place(number, len(shares), first, share.state)
        for number, (share, first) in enumerate(zip(shares, before, strict=False))
    ]


def collected(answers: Iterator[Done], sizes: Sequence[int], stages: Stages) -> list[Done]:
    """The answers in the order of the shares; stops at the first that does not hold."""
    found, records = list[Done](), 0
    for answer in answers:
        found.append(answer)
        records += sizes[answer.number]
        if stages.progress is not None:
            stages.progress(records, sum(sizes), "anonymizing and verifying parts")
        if not answer.holds:
            break
    return sorted(found, key=lambda done: done.number)

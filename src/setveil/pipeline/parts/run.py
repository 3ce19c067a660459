"""Anonymize on an engine that cannot hold all records: read, divide, and publish share by share."""

from __future__ import annotations

from dataclasses import replace

from setveil.hierarchy.recipes import MakeHierarchy
from setveil.io.releases.form import Choices
from setveil.methods.dividing import Divisible, Share, Whole
from setveil.pipeline.job import Job, Outcome, Places
from setveil.pipeline.parts.checks import is_frame
from setveil.pipeline.parts.compact import run_compact
from setveil.pipeline.parts.finishing import finished
from setveil.pipeline.parts.loading import Loaded, Source, load, spec_of
from setveil.pipeline.parts.sources import Where, open_source
from setveil.pipeline.publishing import staged
from setveil.pipeline.stages import Stages
from setveil.published.in_parts import InParts


def run_in_parts(job: Job, make_tree: MakeHierarchy, stages: Stages) -> Outcome:
    """Anonymize, verify and measure share by share; the folder appears after all hold."""
    where = Where(job.engine, job.memory, job.master, job.threads)
    if job.method.reads == "sets":
        job = replace(job, reading={**job.reading, "bags": False})
    if not isinstance(job.method, Divisible):
        return run_compact(job, where, stages)
    job = replace(job, method=job.method.in_parts())
    with staged(Places.of(job)) as stage, open_source(where, stages) as source:
        folder = stage.folder or source.work
        loaded = load(job, source, make_tree, stages)
        choices = Choices(format=job.format, seed=job.seed, public_items=job.public_items)
        spec = spec_of(loaded, choices)
        shares = _divided(loaded, source, stages)
        with stages("anonymizing", compiles=True):
            found = source.publish(spec, shares, folder, stages)
        outcome = finished(loaded, spec, found, folder, stages)
        stage.holds = outcome.verdict.holds
        if is_frame(job.data):
            assert isinstance(outcome.release, InParts)
            release = replace(outcome.release, frame=source.frame(spec))
            outcome = replace(outcome, release=release)
    return outcome


def _divided(loaded: Loaded, source: Source, stages: Stages) -> list[Share]:
    with stages("dividing", compiles=True):
        items = len(loaded.coding.vocabulary)
        most = source.most(loaded)
        whole = Whole(loaded.job.promise, loaded.tree, items, most, stages.progress)
        assert isinstance(loaded.job.method, Divisible)
        return loaded.job.method.divide(source.parts, whole)

"""The engines by name, and what runs on them."""

from __future__ import annotations

from dataclasses import replace

from setveil.disk.limits import USUAL_MEMORY
from setveil.engines.blocks import Blocks
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts.compact import run_compact
from setveil.pipeline.parts.run import run_in_parts
from setveil.pipeline.parts.sources import Where
from setveil.pipeline.stages import Stages


def run_on(job: Job, make_tree: MakeHierarchy, stages: Stages) -> Outcome:
    """Run a job on the engine that it names."""
    if job.method.reads == "sets":
        job = replace(job, reading={**job.reading, "bags": False})
    if not job.method.divides:
        return run_compact(job, Where(job.engine, job.memory, job.master, job.threads), stages)
    if job.engine == "spark":
        from setveil.pipeline.parts.onspark import run_on_spark

        return run_on_spark(job, make_tree, stages)
    return run_in_parts(job, Blocks(job.threads, job.memory or USUAL_MEMORY), make_tree, stages)

"""The engines by name, and what runs on them."""

from __future__ import annotations

from dataclasses import replace

from setveil.engines.blocks import DEFAULT_MEMORY, Blocks
from setveil.errors import ParameterError
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts.compact import run_compact
from setveil.pipeline.parts.run import check_engine_job, is_frame, run_in_parts
from setveil.pipeline.stages import Stages

ENGINES = ("local", "blocks", "spark")


def check_engine(job: Job) -> None:
    """Refuse an engine that is not there, that the method does not run on, or its options."""
    if job.engine not in ENGINES:
        raise ParameterError("engine", job.engine, f"choose one of {', '.join(ENGINES)}")
    for option, owner in (("memory", "blocks"), ("master", "spark")):
        if getattr(job, option) is not None and job.engine != owner:
            allowed = f"only the engine {owner} has it: add {{engine={owner}}}"
            raise ParameterError(option, getattr(job, option), allowed)
    if job.engine not in job.method.runs_on:
        allowed = f"the method {job.method.name} runs on {' or '.join(job.method.runs_on)}"
        raise ParameterError("engine", job.engine, allowed)
    if job.engine != "local":
        check_engine_job(job, job.engine)
        if is_frame(job.data) and job.format not in (None, "csv", "jsonl"):
            raise ParameterError("format", job.format, "a DataFrame is made of csv or jsonl")
        method = job.method.in_parts()
        method.check_early(job.promise, has_hierarchy=job.hierarchy is not None)


def run_on(job: Job, make_tree: MakeHierarchy, stages: Stages) -> Outcome:
    """Run a job on the engine that it names."""
    check_engine(job)
    if job.method.reads == "sets":
        job = replace(job, reading={**job.reading, "bags": False})
    if job.engine == "spark":
        from setveil.pipeline.parts.onspark import run_on_spark

        return run_on_spark(job, make_tree, stages)
    if not job.method.divides:
        return run_compact(job, Blocks(job.threads, job.memory or DEFAULT_MEMORY), stages)
    return run_in_parts(job, Blocks(job.threads, job.memory or DEFAULT_MEMORY), make_tree, stages)

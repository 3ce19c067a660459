"""What an engine can do, checked before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.engines.table import check_name
from setveil.errors import ParameterError
from setveil.io.releases.folder import FORMS
from setveil.methods.dividing import Divisible

if TYPE_CHECKING:
    from setveil.pipeline.job import Job


def check_engine(job: Job) -> None:
    """Refuse an engine that is not there, that the method does not run on, or its options."""
    check_name(job.engine)
    if job.memory is not None and job.engine == "spark" and isinstance(job.method, Divisible):
        allowed = "the executors have their own memory, see spark.executor.memory"
        raise ParameterError("memory", job.memory, allowed)
    if job.master is not None and job.engine != "spark":
        allowed = "only the engine spark has it: add {engine=spark}"
        raise ParameterError("master", job.master, allowed)
    job.method.check_engine(job.engine)
    if job.engine != "local":
        check_engine_job(job, job.engine)
        if is_frame(job.data) and job.format not in (None, "csv", "jsonl"):
            raise ParameterError("format", job.format, "a DataFrame is made of csv or jsonl")
        method = job.method
        method = method.in_parts() if isinstance(method, Divisible) else method
        method.check_early(job.promise, has_hierarchy=job.hierarchy is not None)


def is_frame(data: object) -> bool:
    """Whether this is a DataFrame of Spark."""
    return type(data).__module__.startswith("pyspark.sql")


def check_engine_job(job: Job, name: str) -> None:
    """Refuse what an engine that works part by part does not do, before anything is read."""
    if job.output is None and not is_frame(job.data):
        raise ParameterError("output", None, f"the engine {name} writes a release: name its folder")
    for option in ("alignment", "report", "tune", "explain"):
        if getattr(job, option):
            allowed = f"the engine {name} does not have it; use {{engine=local}}"
            raise ParameterError(option, getattr(job, option), allowed)
    if job.reading.get("bags"):
        allowed = f"the engine {name} works on sets; use {{engine=local}}"
        raise ParameterError("bags", True, allowed)
    form = FORMS[job.method.form]
    formats = form.in_parts.formats if form.in_parts is not None else tuple(form.formats)
    if job.format is not None and job.format not in formats:
        allowed = f"a {form.name} release in parts is {' or '.join(formats)}"
        raise ParameterError("format", job.format, allowed)

"""The one place where the stages meet: a job, and the run that reads, anonymizes, writes, verifies and measures."""

from setveil.engines.base import Progress
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts import check_release, check_sensitive, load, with_private
from setveil.pipeline.running import run

__all__ = [
    "Job",
    "Outcome",
    "Progress",
    "check_release",
    "check_sensitive",
    "load",
    "run",
    "with_private",
]

"""The verbs, one file each: what the command line, Python and a page ask for.

Each verb has a job, a frozen dataclass with everything it needs, and `run(job, progress)`, which
returns a small result. `job_from` makes a job from words; see `setveil.pipeline.names`."""

from setveil.engines.base import Progress
from setveil.pipeline.anonymize import run
from setveil.pipeline.job import Job, Outcome

__all__ = ["Job", "Outcome", "Progress", "run"]

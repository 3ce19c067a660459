"""Where a release is while it has no name yet: it appears whole, or nothing is left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from setveil.data.transactions import Transactions
from setveil.disk import private_folder, sync
from setveil.io.releases.alignment import write_alignment
from setveil.io.releases.folder import staged_release
from setveil.methods.dividing import Divisible
from setveil.pipeline.job import Job, Outcome, Placed, is_frame
from setveil.pipeline.stages import Stages


class Rejected(Exception):
    """Removes what was written for a release that does not hold, without an error."""


@dataclass
class Stage:
    """Where a release is while it has no name yet."""

    folder: Path | None
    """The temporary folder that becomes the release, if one is asked for."""
    beside: ExitStack
    """Of files that appear just before the release does."""
    holds: bool = False
    """Whether it may have its name."""


@contextmanager
def staged(job: Placed) -> Iterator[Stage]:
    """A stage for a release. After the block the release has its name if it holds; else, and after
    an error, nothing is left."""
    with suppress(Rejected), _folder(job) as folder, ExitStack() as beside:
        stage = Stage(folder, beside)
        yield stage
        if not stage.holds:
            raise Rejected
        if folder is not None:
            sync(folder)


def _folder(job: Placed) -> AbstractContextManager[Path | None]:
    """The temporary folder that becomes the release, if one is asked for; a DataFrame is made of
    the files of shares, which nobody keeps."""
    if job.output is not None:
        return staged_release(job.output, force=job.force)
    if isinstance(job, Job) and is_frame(job.data) and isinstance(job.method, Divisible):
        return private_folder()
    return nullcontext()


def aligned(job: Placed, data: Transactions, outcome: Outcome, stages: Stages) -> Outcome:
    """Write the alignment, if it is asked for."""
    if job.alignment is None:
        return outcome
    with stages("writing the alignment"):
        write_alignment(outcome.release, data, job.alignment, force=job.force, folder=job.output)
    return replace(outcome, alignment=Path(job.alignment))

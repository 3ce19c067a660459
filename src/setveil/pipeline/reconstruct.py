"""Reconstruct: possible originals of a release, written to a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.engines.base import Progress
from setveil.errors import OutputError
from setveil.io.releases.worlds import write_worlds
from setveil.pipeline.inputs import load_release


@dataclass(frozen=True, kw_only=True)
class ReconstructJob:
    """What to reconstruct, and where to write it."""

    release: object
    """A release, or its folder."""
    output: Path
    n: int = 1
    """How many possible originals."""
    format: str = "csv"
    seed: int | None = None
    """The same seed gives the same files."""
    force: bool = False
    """Replace a folder of reconstructions that exists."""


@dataclass(frozen=True, kw_only=True)
class Reconstructions:
    """The files that were written."""

    folder: Path
    records: int
    """How many records each file has."""
    names: tuple[str, ...]


def run(job: ReconstructJob, progress: Progress | None = None) -> Reconstructions:
    """Write possible originals."""
    if str(job.output) == "-":
        problem = "reconstructions are files in a folder and cannot go to standard output"
        raise OutputError(job.output, problem)
    release = load_release(job.release)
    how: dict[str, Any] = {
        "seed": job.seed,
        "format": job.format,
        "force": job.force,
        "progress": progress,
    }
    names = write_worlds(release, job.output, job.n, **how)
    return Reconstructions(folder=job.output, records=len(release), names=tuple(names))

"""Reconstruct: possible originals of a release, in memory or written to a folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.data.transactions import Transactions
from setveil.engines.base import Progress
from setveil.errors import OutputError, ParameterError
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
    records: int  # how many records each file has
    names: tuple[str, ...]
    note: str = ""
    """What a reader must know about them."""


def reconstruct(
    release: object, seed: int | None = None, *, most_per_term: int = 1
) -> Transactions:
    """Records that a release of any form could have been made from, at random.

    Some of them equal records of the original by chance, or because the release shows these whole.

    Args:
        release: A release, or its folder.
        seed: The same seed gives the same records; without one, each call gives others.
        most_per_term: In how many records of its cluster an item of a term chunk is at most; only
            for disassociated releases.

    Example:
        >>> from setveil import Suppressed, Coherence
        >>> release = Suppressed.of([["beer"], ["wine", "beer"]], Coherence(h=1, k=2, p=1))
        >>> sorted(reconstruct(release, seed=1))
        [('beer',), ('beer', 'wine')]
    """
    given, how = load_release(release), dict[str, Any]()
    if most_per_term != 1:
        how["most_per_term"] = most_per_term
        if given.shows_records:
            problem = f"a {given.form} release has no term chunks"
            raise ParameterError("most_per_term", most_per_term, problem)
    return given.reconstruct(seed, **how)


def run(job: ReconstructJob, progress: Progress | None = None) -> Reconstructions:
    """Write possible originals."""
    if str(job.output) == "-":
        problem = "reconstructions are files in a folder and cannot go to standard output"
        raise OutputError(job.output, problem)
    release = load_release(job.release)
    names = write_worlds(
        release,
        job.output,
        job.n,
        seed=job.seed,
        format=job.format,
        force=job.force,
        progress=progress,
    )
    return Reconstructions(
        folder=job.output,
        records=len(release),
        names=tuple(names),
        note=release.reconstruction_note,
    )

"""Reconstruct: possible originals of a release, in memory or written to a folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.data.transactions import Transactions
from setveil.disk import listed_files, new_folder
from setveil.engines.base import Progress
from setveil.errors import OutputError, ParameterError
from setveil.io.files import write
from setveil.io.formats import FORMATS
from setveil.pipeline.inputs import load_release
from setveil.published.disassociated.reconstruct import world_seeds
from setveil.published.release import Release

ABOUT = "worlds.json"
MEANING = (
    "Each file is one possible original of the release, drawn at random. "
    "Some of its records may equal true ones."
)


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
    names = _write(release, job, progress)
    note = release.reconstruction_note
    return Reconstructions(folder=job.output, records=len(release), names=names, note=note)


def _write(release: Release, job: ReconstructJob, progress: Progress | None) -> tuple[str, ...]:
    """The names of the files, which are written one at a time to save memory."""
    if job.format not in FORMATS:
        raise ParameterError("format", job.format, f"choose one of {', '.join(FORMATS)}")
    seeds = world_seeds(job.n, job.seed)
    digits, suffix = max(3, len(str(job.n))), FORMATS[job.format].suffixes[0]
    names = tuple(f"world-{number:0{digits}}{suffix}" for number in range(1, job.n + 1))
    about = {
        "worlds": job.n,
        "records": len(release),
        "seed": job.seed,
        "files": names,
        "meaning": MEANING,
    }
    kind = "folder of reconstructions"
    with new_folder(job.output, force=job.force, parts=listed_files(ABOUT), kind=kind) as stage:
        for done, (name, seed) in enumerate(zip(names, seeds, strict=True)):
            if progress is not None:
                progress(done, job.n, "reconstructing")
            write(release.reconstruct(seed), stage / name, format=job.format)
        text = json.dumps(about, indent=2) + "\n"
        (stage / ABOUT).write_text(text, encoding="utf-8", newline="\n")
    return names

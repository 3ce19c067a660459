"""Reconstructions on disk: a folder of possible originals of a release."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from setveil.disk import listed_files, new_folder
from setveil.errors import ParameterError
from setveil.io.files import write
from setveil.io.formats.table import FORMATS
from setveil.published.disassociated.reconstruct import world_seeds
from setveil.published.release import Release

ABOUT = "worlds.json"
MEANING = (
    "Each file is one possible original of the release, drawn at random. "
    "Some of its records may equal true ones."
)


def write_worlds(
    release: Release,
    folder: str | os.PathLike[str],
    count: int,
    *,
    seed: int | None = None,
    format: str = "csv",
    force: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[str]:
    """Write `count` reconstructions as `world-001.csv` and so on, one at a time to save memory.

    Args:
        release: The release.
        folder: Where to write; the folder appears only when it is complete.
        count: How many.
        seed: The same seed gives the same reconstructions.
        format: One of `FORMATS`.
        force: Whether to replace a folder of reconstructions that exists.
        progress: Called with how many are done.

    Returns:
        The names of the files.
    """
    if format not in FORMATS:
        raise ParameterError("format", format, f"choose one of {', '.join(FORMATS)}")
    seeds = world_seeds(count, seed)
    digits, suffix = max(3, len(str(count))), FORMATS[format].suffixes[0]
    names = [f"world-{number:0{digits}}{suffix}" for number in range(1, count + 1)]
    about = {
        "worlds": count,
        "records": len(release),
        "seed": seed,
        "files": names,
        "meaning": MEANING,
    }
    kind = "folder of reconstructions"
    with new_folder(Path(folder), force=force, parts=listed_files(ABOUT), kind=kind) as stage:
        for done, (name, one) in enumerate(zip(names, seeds, strict=True)):
            if progress is not None:
                progress(done, count, "reconstructing")
            write(release.reconstruct(one), stage / name, format=format)
        text = json.dumps(about, indent=2) + "\n"
        (stage / ABOUT).write_text(text, encoding="utf-8", newline="\n")
    return names

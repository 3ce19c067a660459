"""Reconstructions on disk: a folder of possible originals of a disassociated release."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from setveil.disk import new_folder
from setveil.errors import ParameterError
from setveil.io.files import write
from setveil.io.formats.table import FORMATS
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstruct, world_seeds

ABOUT = "worlds.json"


def write_worlds(
    release: Disassociated,
    folder: str | os.PathLike[str],
    count: int,
    *,
    seed: int | None = None,
    format: str = "csv",
    force: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[str]:
    """Write `count` reconstructions as `world-001.csv` and so on; the folder appears only when it is whole.

    They are those of `setveil.published.disassociated.reconstruct.reconstructions`, made one after the other, so that only one is held in memory.

    Args:
        release: The release.
        folder: Its place; an empty folder is taken, another one of reconstructions is replaced with `force`.
        count: How many.
        seed: The same seed gives the same worlds.
        format: One of `FORMATS`.
        force: Whether reconstructions that are there already may be replaced.
        progress: Is told how many are done.

    Returns:
        The names of the files.
    """
    if format not in FORMATS:
        raise ParameterError("format", format, f"choose one of {', '.join(FORMATS)}")
    seeds = world_seeds(count, seed)
    digits = max(3, len(str(count)))
    names = [
        f"world-{number:0{digits}}{FORMATS[format].suffixes[0]}" for number in range(1, count + 1)
    ]
    with new_folder(
        Path(folder), force=force, is_ours=ABOUT, kind="folder of reconstructions"
    ) as stage:
        for done, (name, one) in enumerate(zip(names, seeds, strict=True)):
            if progress is not None:
                progress(done, count, "reconstructing")
            write(reconstruct(release, one), stage / name, format=format)
        about = {
            "worlds": count,
            "records": len(release),
            "seed": seed,
            "files": names,
            "meaning": MEANING,
        }
        (stage / ABOUT).write_text(
            json.dumps(about, indent=2) + "\n", encoding="utf-8", newline="\n"
        )
    return names


MEANING = "Each file is one possible original of a disassociated release, at random. No record in it is anybody's."

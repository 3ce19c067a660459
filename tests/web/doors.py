"""The same job through the other doors: the command and the Python that a run of the page shows."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from setveil.cli import answer


def released(done: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    """The folders that the command and the Python of a run write; both run in `folder`, where the
    files of the user are."""
    (folder / "cli").mkdir()
    command = done["command"].replace("-o release", "-o cli/release")
    assert answer(shlex.split(command)[1:]) == 0
    exec(done["python"].replace('output="release"', 'output="python"'), {})
    return folder / "cli" / "release", folder / "python"


def runs_the_same(done: dict[str, Any], release: Path, folder: Path) -> None:
    """The command and the Python of a run write the files of its release, byte for byte."""
    page = {path.name: path.read_bytes() for path in release.iterdir()}
    assert len(page) > 1
    for other in released(done, folder):
        assert {path.name: path.read_bytes() for path in other.iterdir()} == page

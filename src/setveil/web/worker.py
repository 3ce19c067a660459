"""The process of one job, which is given its folder.

It reads `task.json` in its folder, does what the task says, prints how far it is as JSON lines, and
writes `result.json`, or `error.json` with one line for the user."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from setveil.children import end_with_parent
from setveil.errors import SetveilError
from setveil.web.tasks import Task, perform
from setveil.web.wording import asked_by, line_of, with_names

CANNOT_WRITE = 74
"""The exit code if not even what was wrong could be written."""
_OFTEN = 0.1  # seconds between two lines of the same stage


def main() -> NoReturn:
    """Do the task of the folder that the first argument names; exit with 0 if there is a result."""
    os.umask(0o077)
    end_with_parent()
    try:
        sys.exit(_done(Path(sys.argv[1])))
    except OSError:
        sys.exit(CANNOT_WRITE)


def _done(folder: Path) -> int:
    words: dict[str, Any] = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    shown: dict[str, str] = {}
    try:
        task = Task(folder=folder, words=words, progress=_Lines(), shown=shown)
        found = perform(task)
    except Exception as error:
        line = line_of(error, shown)
        code = error.exit_code if isinstance(error, SetveilError) else 3
        with suppress(OSError):
            traceback.print_exc()  # into the log of the job
        _write(folder / "error.json", {"line": line, "code": code, **asked_by(error, shown)})
        return code
    from setveil.pipeline.stored import stored  # not before the work, which needs less of it

    _write(folder / "result.json", with_names(stored(found), shown))
    return 0


class _Lines:
    """Prints how far the work is, but not too often."""

    def __init__(self) -> None:
        self.stage, self.printed = "", 0.0

    def __call__(self, done: int, total: int, stage: str) -> None:
        now = time.monotonic()
        if stage == self.stage and now < self.printed + _OFTEN:
            return
        self.stage, self.printed = stage, now
        line = json.dumps({"stage": stage, "done": int(done), "total": int(total)})
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def _write(place: Path, values: dict[str, Any]) -> None:
    temporary = place.with_suffix(".new")
    text = json.dumps(values, ensure_ascii=False, default=str)
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(place)

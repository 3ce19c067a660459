"""Processes of Python that do a part of the work: much of it is Python, which threads cannot share.

A child gets the numbers of its tasks on its standard input and leaves each answer as a file. When
its parent ends, however it ends, its input ends, and so does the child."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from setveil.errors import SetveilError

PAUSE = 0.02  # seconds between two looks at the children
Answer = TypeVar("Answer")


class Death(NamedTuple):
    """How a child ended that left no answer."""

    signal: str
    """That killed it, if one did."""
    said: str
    """Its last line on standard error."""


def start_child(module: str, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    """A new process that calls `main` of a module, with the same packages as this one.

    Ctrl-C reaches this process alone, which then ends the others.

    Args:
        module: The module.
        arguments: What its `main` reads from `sys.argv`.
        streams: Those of `subprocess.Popen`; by default there are none.
    """
    none = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.Popen(
        command_of(module, *arguments),
        env=environment(),
        start_new_session=True,
        **{**none, **streams},
    )


def command_of(module: str, *arguments: str) -> list[str]:
    """The command of a process that calls `main` of a module."""
    return [sys.executable, "-c", f"from {module} import main; main()", *arguments]


def environment() -> dict[str, str]:
    """That of such a process: it finds the same packages as this one."""
    path = os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path}


def run_apart(
    work: Callable[[int], Answer],
    tasks: int,
    width: int,
    folder: Path,
    has_room: Callable[[], bool] | None = None,
) -> Iterator[tuple[int, Answer | SetveilError | OSError | Death, float]]:
    """The answer to each number below `tasks`, as soon as it is ready, from several processes; with
    how many seconds it took.

    An error or an interruption ends all of them.

    Args:
        work: Is pickled; what it raises of these errors is an answer.
        tasks: How many there are.
        width: How many run at once.
        folder: A private one, for the answers.
        has_room: Gives each task a process of its own, and says whether another may start.
    """
    (folder / "work").write_bytes(pickle.dumps(work))
    waiting = list(reversed(range(tasks)))
    idle, busy = list[_Child](), list[_Child]()
    try:
        while waiting or busy:
            while waiting and len(busy) < width and not (busy and has_room and not has_room()):
                busy.append(idle.pop() if idle else _Child(folder))
                busy[-1].give(waiting.pop())
            ready = [child for child in busy if child.is_ready]
            for child in ready:
                task, answer, took = child.task, child.answer(), time.monotonic() - child.since
                busy.remove(child)
                idle.append(child)
                if has_room is not None or isinstance(answer, Death):
                    idle.pop().end()
                yield task, answer, took
            if not ready:
                time.sleep(PAUSE)
    finally:
        for child in (*idle, *busy):
            child.end()


def end_with_parent() -> None:
    """From now on, end this process and all that it has started when its standard input ends, which
    the death of its parent does."""

    def wait() -> None:
        while os.read(0, 1):  # not `sys.stdin`, whose lock would be held when the process ends
            pass
        if hasattr(os, "killpg"):
            os.killpg(os.getpgid(0), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class _Child:
    """A process and the task that it works on."""

    task: int
    since: float

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        pipes = dict.fromkeys(("stdin", "stderr"), subprocess.PIPE)
        self.process = start_child(__name__, str(folder), **pipes)

    def give(self, task: int) -> None:
        assert self.process.stdin is not None
        self.task, self.since = task, time.monotonic()
        with suppress(BrokenPipeError):  # it has died, which `answer` says
            self.process.stdin.write(b"%d\n" % task)
            self.process.stdin.flush()

    @property
    def is_ready(self) -> bool:
        return self._place.exists() or self.process.poll() is not None

    def answer(self) -> Any:
        """The answer, or how the process ended without one."""
        if self._place.exists():
            found = pickle.loads(self._place.read_bytes())
            self._place.unlink()
            return found
        assert self.process.stderr is not None
        said = self.process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        code = self.process.wait()
        return Death(signal.Signals(-code).name if code < 0 else "", said[-1] if said else "")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def _place(self) -> Path:
        return self.folder / f"answer-{self.task}"


def main() -> None:
    """Do the tasks whose numbers come on standard input."""
    folder = Path(sys.argv[1])
    work = pickle.loads((folder / "work").read_bytes())
    for line in sys.stdin:
        try:
            found = work(int(line))
        except (SetveilError, OSError) as error:  # a full disk is named by who knows which it is
            found = error
        place = folder / f"answer-{int(line)}"
        place.with_suffix(".new").write_bytes(pickle.dumps(found))
        place.with_suffix(".new").rename(place)

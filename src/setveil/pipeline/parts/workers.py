"""Processes that work on shares at the same time: much of the work is Python, which threads cannot
share.

A worker gets the numbers of shares on its standard input and leaves each answer as a file. When its
parent ends, however it ends, its input ends, and so does the worker."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from setveil.engines.blocks import read_part
from setveil.errors import EngineError, SetveilError
from setveil.pipeline.children import start_child
from setveil.pipeline.parts.task import Done, Place, Spec, publish_share

PAUSE = 0.02  # seconds between two looks at the workers
_REMEDY = "allow more {memory}, or use fewer {threads} or a smaller {max_part}"


@dataclass(frozen=True)
class Shares:
    """All shares, and where their records are."""

    spec: Spec
    places: Sequence[Place]
    parts: Sequence[tuple[int, ...]]
    """The parts of each share."""
    shelf: Path
    stage: Path
    """Where the files of the release go."""

    def make(self, number: int) -> Done:
        """Do what is to be done for one share."""
        blocks = [read_part(self.shelf, part) for part in self.parts[number]]
        return publish_share(self.spec, self.places[number], blocks, self.stage)


def run_here(shares: Shares) -> Iterator[Done]:
    """The answers of all shares, one after the other in this process."""
    return map(shares.make, range(len(shares.places)))


def run_apart(shares: Shares, width: int, work: Path) -> Iterator[Done]:
    """The answers of all shares, in the order in which they are ready, from several processes.

    An error or an interruption ends all processes."""
    (work / "shares").write_bytes(pickle.dumps(shares))
    size = dict(enumerate(place.before for place in shares.places))
    waiting = sorted(size, reverse=True)  # the first share comes last from the end of the list
    workers = [_Worker(work) for _ in range(min(width, len(waiting)))]
    try:
        while waiting or any(worker.share is not None for worker in workers):
            for worker in workers:
                if worker.share is None and waiting:
                    worker.give(waiting.pop())
            found = [answer for worker in workers if (answer := worker.answer()) is not None]
            yield from found
            if not found:
                time.sleep(PAUSE)
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process and the share that it works on."""

    def __init__(self, work: Path) -> None:
        self.work, self.share = work, None
        pipes = dict.fromkeys(("stdin", "stderr"), subprocess.PIPE)
        self.process = start_child(__name__, str(work), **pipes)

    share: int | None

    def give(self, share: int) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"%d\n" % share)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None
        self.share = share

    def answer(self) -> Done | None:
        """The answer, if it is there."""
        if self.share is None:
            return None
        place = self.work / f"answer-{self.share}"
        if not place.exists():
            if self.process.poll() is not None:
                raise self._death()
            return None
        found: Done | SetveilError | OSError = pickle.loads(place.read_bytes())
        place.unlink()
        self.share = None
        if isinstance(found, SetveilError | OSError):
            raise found
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def _death(self) -> EngineError:
        assert self.process.stderr is not None
        said = self.process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        code = self.process.wait()
        if code < 0:
            name = signal.Signals(-code).name
            problem = f"a worker process was killed ({name}), perhaps for lack of memory"
            return EngineError(problem, remedy=_REMEDY)
        if said and "MemoryError" in said[-1]:
            return EngineError("a worker process ran out of memory", remedy=_REMEDY)
        return EngineError(
            f"a worker process ended early: {said[-1] if said else 'no reason given'}"
        )


def main() -> None:
    """Work on the shares whose numbers come on standard input."""
    work = Path(sys.argv[1])
    shares: Shares = pickle.loads((work / "shares").read_bytes())
    for line in sys.stdin:
        found: Done | SetveilError | OSError
        try:
            found = shares.make(int(line))
        except (SetveilError, OSError) as error:  # a full disk is named by who knows which it is
            found = error
        place = work / f"answer-{int(line)}"
        place.with_suffix(".new").write_bytes(pickle.dumps(found))
        place.with_suffix(".new").rename(place)

"""The queue: each job runs in a process of its own, a few at a time, and can be ended at any time.

A process that is killed, or runs out of memory, ends its job and nothing else. Whatever a job
writes is in its own folder, temporary files too, so that nothing is left of a job that has ended
early."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from setveil.children import command_of, environment
from setveil.web.project import Project
from setveil.web.store import Store, StoredJob
from setveil.web.worker import CANNOT_WRITE

AT_ONCE = 2
"""How many jobs run at the same time; the others wait."""
MOST_WAITING = 50
"""How many jobs may wait."""
_NO_MEMORY = "memory ran out, so the system ended this job; nothing was published"
_KILLED = "the process of this job was ended from outside ({}); nothing was published"
_CRASHED = "the process of this job ended with an error ({}); nothing was published"
_UNWRITABLE = "this job could not write to its folder (a full disk?); nothing was published"
_STOPPED = "the page was closed while this job ran; nothing was published, so start it again"


After = Callable[[Store, StoredJob], Iterable[tuple[Project, str, dict[str, Any]]]]
"""What follows from a job that is done: more jobs."""


class Queue:
    """Runs the jobs of a store."""

    def __init__(self, store: Store, after: After | None = None) -> None:
        self.store, self._after = store, after
        self._waiting: list[str] = []
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._progress: dict[str, dict[str, Any]] = {}
        self._changed = asyncio.Condition()
        self.closing = False

    async def open(self) -> None:
        """Take up the jobs that wait since the page was last open; those that ran have ended."""
        for job in reversed(self.store.jobs()):
            if job.status == "running":
                clean(job.folder)
                self.store.mark(job.id, "interrupted", _STOPPED)
            elif job.status == "queued":
                self._waiting.append(job.id)
        self._start_next()

    async def close(self) -> int:
        """End all processes; jobs that wait are taken up when the page is open again.

        Returns:
            How many jobs were ended."""
        self.closing = True
        self._waiting.clear()
        running = list(self._tasks.values())
        for process in self._running.values():
            _kill(process)
        await asyncio.gather(*running, return_exceptions=True)
        await self._tell()
        return len(running)

    async def add(self, project: Project, verb: str, task: dict[str, Any]) -> StoredJob:
        """A new job, which runs when it is its turn."""
        self._check_room(len(self._waiting))
        job = self.store.new_job(project, verb, task)
        self._waiting.append(job.id)
        self._start_next()
        return job

    async def cancel(self, job: StoredJob) -> None:
        """End a job: nothing of it stays but the fact that it was cancelled."""
        if job.id in self._waiting:
            self._waiting.remove(job.id)
            self.store.mark(job.id, "cancelled")
        elif job.id in self._tasks:
            self.store.mark(job.id, "cancelled")
            if job.id in self._running:
                _kill(self._running[job.id])
            await asyncio.gather(self._tasks[job.id], return_exceptions=True)
        await self._tell()

    async def forget(self, project: Project, *verbs: str) -> None:
        """Remove the jobs of a project with these verbs (all without), those that run too."""
        for job in self.store.jobs(project, *verbs):
            await self.cancel(job)
            self.store.forget(job)

    async def make_room(self, project: Project, *verbs: str) -> None:
        """Remove the jobs of a project with these verbs, for a new one; if too many others wait for
        that, nothing is removed."""
        replaced = {job.id for job in self.store.jobs(project, *verbs)}
        self._check_room(len(set(self._waiting) - replaced))
        await self.forget(project, *verbs)

    def _check_room(self, waiting: int) -> None:
        if waiting >= MOST_WAITING:
            words = f"{MOST_WAITING} jobs are waiting already. Cancel some, or wait for them."
            raise HTTPException(429, words)

    def progress(self, job: StoredJob) -> dict[str, Any]:
        """How far a job is, in a few plain values."""
        found = self._progress.get(job.id, {"stage": "", "done": 0, "total": 0})
        ahead = self._waiting.index(job.id) if job.id in self._waiting else 0
        return {"status": job.status, "error": job.error, **found, "ahead": ahead}

    async def follow(self, id: str) -> AsyncIterator[dict[str, Any]]:
        """How far a job is, again and again, until it has ended or the page closes."""
        while (job := self.store.job(id)) is not None:
            now = self.progress(job)
            yield now
            if not job.is_live or self.closing:
                return
            async with self._changed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), timeout=15)

    def _start_next(self) -> None:
        while self._waiting and len(self._tasks) < AT_ONCE and not self.closing:
            id = self._waiting.pop(0)
            self._tasks[id] = asyncio.create_task(self._run(id))

    async def _run(self, id: str) -> None:
        try:
            job = self.store.job(id)
            if job is not None and job.status != "cancelled":
                await self._work(job)
        except OSError:
            self.store.mark(id, "failed", _UNWRITABLE)
        finally:
            self._tasks.pop(id, None)
            self._running.pop(id, None)
            self._progress.pop(id, None)
            self._start_next()
            await self._tell()

    async def _work(self, job: StoredJob) -> None:
        temporary = job.folder / "temporary"
        temporary.mkdir(mode=0o700, exist_ok=True)
        task = {"verb": job.verb, **job.task}
        (job.folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        self.store.mark(job.id, "running")
        kills = _memory_kills()
        process = await _started(job.folder, temporary)
        self._running[job.id] = process
        now = self.store.job(job.id)
        if self.closing or now is None or now.status == "cancelled":  # while it was started
            _kill(process)
        await self._tell()
        assert process.stdout is not None
        async for line in process.stdout:
            with suppress(ValueError):
                self._progress[job.id] = json.loads(line)
            await self._tell()
        code = await process.wait()
        _kill(process)  # what it has started
        shutil.rmtree(temporary, ignore_errors=True)
        self._settle(job, code, _reason(code, _memory_kills() > kills))

    def _settle(self, job: StoredJob, code: int, reason: str) -> None:
        """Say how a job has ended. A job that was cancelled has its mark already."""
        now = self.store.job(job.id)
        if now is None:
            return
        if now.status == "cancelled" or code != 0:
            clean(job.folder)
        if now.status == "cancelled":
            return
        if self.closing and code != 0:
            self.store.mark(job.id, "interrupted", _STOPPED)
        elif code == 0 and (job.folder / "result.json").is_file():
            self.store.mark(job.id, "done")
            done = self.store.job(job.id)
            for task in self._after(self.store, done) if self._after and done else ():
                self._waiting.append(self.store.new_job(*task).id)
        else:
            self.store.mark(job.id, "failed", str(job.failure.get("line") or reason))

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


async def _started(folder: Path, temporary: Path) -> asyncio.subprocess.Process:
    """The process of a job. It ends when its standard input closes, which the death of this
    process does."""
    with (folder / "log.txt").open("wb") as log:
        return await asyncio.create_subprocess_exec(
            *command_of("setveil.web.worker", str(folder)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            cwd=folder,
            env={**environment(), "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )


def _reason(code: int, no_memory: bool) -> str:
    """Why a process has ended that has left no word."""
    if code == -signal.SIGKILL and no_memory:
        return _NO_MEMORY
    if code == CANNOT_WRITE:
        return _UNWRITABLE
    if code < 0:
        return _KILLED.format(signal.Signals(-code).name)
    return _CRASHED.format(f"exit code {code}")


def _memory_kills() -> int:
    """How often the system has ended a process because memory ran out; 0 where it does not say."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a process and all that it has started, at once."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def clean(folder: Path) -> None:
    """Remove what a job that has ended early has written, but for its error."""
    for entry in list(os.scandir(folder)) if folder.is_dir() else []:
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        elif entry.name not in ("task.json", "error.json", "log.txt"):
            with suppress(OSError):
                os.unlink(entry.path)

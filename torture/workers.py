"""Forked workers: each tries a share of the cases, and one that crashes is replaced.

A case that ends its process is bad, as exit code 70 is: the next worker goes on after it."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from torture.campaign import Campaign, Tally, one_case

_QUICK = Path("/dev/shm")
"""A disk in memory, for many small files."""


def attempt_apart(campaign: Campaign, shares: Sequence[range], seed: int) -> Tally:
    """Try each share in a process of its own."""
    tally, began = Tally(), time.monotonic()
    with selectors.DefaultSelector() as waiting:
        for share in filter(len, shares):
            _Worker(campaign, share, seed).start(waiting)
        while waiting.get_map():
            for key, _ in waiting.select():
                key.data.take(waiting, tally)
    tally.bad.sort()
    tally.seconds = time.monotonic() - began
    return tally


class _Worker:
    """A process that tries the cases of a share, one after the other."""

    def __init__(self, campaign: Campaign, share: range, seed: int) -> None:
        self.campaign, self.share, self.seed = campaign, share, seed
        self.done, self.pending = 0, b""

    def start(self, waiting: selectors.BaseSelector) -> None:
        self.pipe, there = os.pipe()
        self.folder = Path(tempfile.mkdtemp(prefix="setveil-torture-", dir=_quick_folder()))
        self.process = os.fork()
        if self.process == 0:
            os.close(self.pipe)
            os._exit(self._work(there))
        os.close(there)
        waiting.register(self.pipe, selectors.EVENT_READ, self)

    def take(self, waiting: selectors.BaseSelector, tally: Tally) -> None:
        """Count what the process reports; if it ended too early, count that and start another."""
        block = os.read(self.pipe, 1 << 16)
        *lines, self.pending = (self.pending + block).split(b"\n")
        for line in lines:
            tally.add(*json.loads(line))
            self.done += 1
        if block:
            return
        waiting.unregister(self.pipe)
        os.close(self.pipe)
        _, status = os.waitpid(self.process, 0)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.done < len(self.share):
            tally.add(self.share[self.done], f"exit 70: the process ended ({_how(status)})", [])
            self.share, self.done, self.pending = self.share[self.done + 1 :], 0, b""
            if len(self.share):
                self.start(waiting)

    def _work(self, there: int) -> int:
        tempfile.tempdir = str(self.folder / "temporary")
        Path(tempfile.tempdir).mkdir()
        (self.folder / "cases").mkdir()
        with suppress(KeyboardInterrupt), os.fdopen(there, "wb", buffering=0) as pipe:
            for number in self.share:
                found = one_case(self.campaign, number, self.seed, self.folder / "cases")
                pipe.write(json.dumps([number, *found]).encode() + b"\n")
            return 0
        return 1


def _quick_folder() -> str | None:
    return str(_QUICK) if _QUICK.is_dir() and os.access(_QUICK, os.W_OK) else None


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"code {os.waitstatus_to_exitcode(status)}"

"""The command line with a method that meets with an accident: `python -m tests.engines.faults KIND
ARGUMENT ...`; the file that SETVEIL_MARK names appears when the first task has begun."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from setveil.methods import METHODS
from setveil.methods.disassociation import Disassociation


@dataclass(frozen=True, kw_only=True)
class Waits(Disassociation):
    """Begins, and goes on when the mark is gone."""

    def anonymize_share(self, blocks, state, request):
        mark = Path(os.environ["SETVEIL_MARK"])
        mark.touch()
        while mark.exists():
            time.sleep(0.05)
        return super().anonymize_share(blocks, state, request)


@dataclass(frozen=True, kw_only=True)
class Fails(Disassociation):
    """Fails for good."""

    def anonymize_share(self, blocks, state, request):
        raise RuntimeError("the disk of this machine is broken")


@dataclass(frozen=True, kw_only=True)
class KillsItsExecutor(Disassociation):
    """The first task ends its executor, as a lost machine would."""

    def anonymize_share(self, blocks, state, request):
        try:
            Path(os.environ["SETVEIL_MARK"]).touch(exist_ok=False)
        except FileExistsError:
            return super().anonymize_share(blocks, state, request)
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()  # it has started this worker
        os.kill(int(daemon.rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        return super().anonymize_share(blocks, state, request)


FAULTS = {"waits": Waits, "fails": Fails, "kills": KillsItsExecutor}


if __name__ == "__main__":
    from setveil.cli import main
    from tests.engines.faults import FAULTS as faults  # so that workers find the classes

    METHODS["disassociation"] = faults[sys.argv.pop(1)]
    main()

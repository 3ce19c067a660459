"""Accidents on the engines blocks and spark: one line, the right exit code, and nothing left."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

import setveil as sv
from setveil.data.transactions import Transactions
from tests.conftest import QUICK_JAVA
from tests.engines.test_parts import words

ROOT = Path(__file__).resolve().parents[2]
has_spark = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="there is no Java"
)
ENGINES = [
    pytest.param(["--engine", "blocks"], id="blocks"),
    pytest.param(
        ["--engine", "spark", "--master", "local[2]"],
        id="spark",
        marks=[pytest.mark.long, has_spark],
    ),
]
PATIENCE = 900  # seconds until a test gives up on a process; nothing depends on it otherwise


@dataclass
class Run:
    """A command in a process of its own, with its own folder for temporary files."""

    folder: Path
    process: subprocess.Popen[str]

    @property
    def mark(self) -> Path:
        return self.folder / "mark"

    def wait_for_task(self) -> None:
        """Wait until a task has begun."""
        end = time.monotonic() + PATIENCE
        while not self.mark.exists():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end
            time.sleep(0.05)

    def finish(self) -> tuple[int, str]:
        """The exit code, and what was said on standard error about setveil."""
        _, said = self.process.communicate(timeout=PATIENCE)
        lines = [line for line in said.splitlines() if line.startswith("setveil: ")]
        return self.process.returncode, "\n".join(lines)

    @property
    def left(self) -> list[str]:
        """What is left in the folder for temporary files and next to the release."""
        inside = [path.name for path in (self.folder / "tmp").iterdir()]
        beside = {path.name for path in self.folder.iterdir()} - {"tmp", "mark", "data.dat"}
        return sorted([*(name for name in inside if "hsperf" not in name), *beside])


@pytest.fixture
def start(tmp_path):
    """Starts a command that meets with an accident."""
    started: list[subprocess.Popen[str]] = []
    (tmp_path / "tmp").mkdir(exist_ok=True)
    lines = "\n".join(" ".join(each) or " " for each in words(2, 150)) + "\n"
    (tmp_path / "data.dat").write_text(lines)

    def run(kind: str, *more: str, **how) -> Run:
        where = {"TMPDIR": str(tmp_path / "tmp"), "SETVEIL_MARK": str(tmp_path / "mark")}
        where |= {"JAVA_TOOL_OPTIONS": QUICK_JAVA}
        if how:  # where files may not grow, bytecode would be cut off, for all
            where |= {"PYTHONDONTWRITEBYTECODE": "1"}
        path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        what = [str(tmp_path / "data.dat"), "-o", str(tmp_path / "release"), "-k", "5", "-m", "2"]
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.engines.faults",
                kind,
                "anonymize",
                *what,
                "--max-part",
                "60",
                *more,
            ],
            env={**os.environ, **where, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **how,
        )
        started.append(process)
        return Run(tmp_path, process)

    yield run
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interruption_leaves_nothing(start, engine):
    run = start("waits", *engine)
    run.wait_for_task()
    run.process.send_signal(signal.SIGINT)
    assert run.finish() == (130, "setveil: interrupted, nothing half-written is left")
    assert run.left == []


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_killed_driver_leaves_is_private_and_removed_by_the_next_run(start, engine):
    run = start("waits", *engine)
    run.wait_for_task()
    children = _below(run.process.pid)
    run.process.kill()
    run.process.wait()
    end = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{pid}").exists() for pid in children):
        assert time.monotonic() < end, "a process outlives the driver"
        time.sleep(0.05)
    assert not (run.folder / "release").exists()
    left = [path for path in (run.folder / "tmp").iterdir() if path.name.startswith("setveil-")]
    assert [path.stat().st_mode & 0o077 for path in left] == [0]
    run.mark.unlink()
    again = start("fails", "--engine", "blocks")
    _, said = again.finish()
    assert f"removed {left[0]}, which an interrupted run had left behind" in said
    assert run.left == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_task_that_fails_for_good_ends_the_run_with_one_line(start, engine):
    run = start("fails", *engine)
    code, said = run.finish()
    assert "RuntimeError: the disk of this machine is broken" in said
    assert len(said.splitlines()) == 1
    assert code == (70 if "blocks" in engine else 3)  # here it is a bug, there a failed cluster
    assert run.left == []


def test_a_full_disk_ends_the_run_with_one_line(start):
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    run = start("waits", "--engine", "blocks", preexec_fn=small_files)
    code, said = run.finish()
    assert code == 2
    assert "File too large" in said
    assert len(said.splitlines()) == 1
    assert run.left == []


@pytest.mark.long
@has_spark
@pytest.mark.parametrize("number", range(5))
def test_the_job_survives_the_loss_of_an_executor(start, number):
    run = start("kills", "--engine", "spark", "--master", "local-cluster[2,1,1024]")
    code, said = run.finish()
    assert (code, said) == (0, "")
    assert run.mark.exists()
    data, promise = Transactions.of(words(2, 150)), sv.KmAnonymity(k=5, m=2)
    wanted = sv.Disassociation(max_part=60).anonymize(data, promise)
    assert sv.read_release(run.folder / "release") == wanted
    assert run.left == ["release"]


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                stat = (path / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(path.name))
    found = list(parents.get(pid, ()))
    for each in found:
        found += parents.get(each, ())
    return found

"""Runs that book their releases in a register, killed at random moments.

Whatever is killed: the register can be read, what it counts as spent is never less than what was
released, and the next release is booked."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from fractions import Fraction
from functools import cache
from pathlib import Path

from setveil.errors import LeftoverWarning
from setveil.pipeline import register as verb
from setveil.pipeline.registering.book import Budget, Entry
from setveil.pipeline.registering.booking import book
from setveil.pipeline.registering.files import Files, new_id, now

STUCK = 600
SETVEIL = [sys.executable, "-m", "setveil", "anonymize"]


def killed_while_booking(rng: random.Random, folder: Path) -> str | None:
    """One or two runs that add noise are killed with -9 at random moments."""
    place, usual = Path(tempfile.mkdtemp(dir=folder)), _seconds(folder)
    files = Files(place / "releases.toml")
    verb.new(files.path)
    runs = {
        str(place / f"r{number}"): rng.choice([1, 2, 4]) for number in range(rng.choice([1, 2]))
    }
    started = [_start(folder, files.path, output, epsilon) for output, epsilon in runs.items()]
    moments = sorted((rng.random() * usual * 1.3, number) for number in range(len(started)))
    began = time.monotonic()
    for moment, number in moments:
        time.sleep(max(began + moment - time.monotonic(), 0))
        started[number].send_signal(signal.SIGKILL)
    for process in started:
        process.communicate(timeout=STUCK)
    rng.marks += [f"{sum(Path(output).exists() for output in runs)} released"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftoverWarning)
        wrong = _wrong(files, [Path(output) for output in runs])
    shutil.rmtree(place, ignore_errors=True)
    return wrong


def _wrong(files: Files, outputs: list[Path]) -> str | None:
    """What is wrong with a register after runs were killed."""
    released = sum((_epsilon(output) for output in outputs if output.exists()), Fraction())
    spent = verb.show(files.path).spent.epsilon
    if spent < released:
        return f"{float(released):g} was released, and {float(spent):g} is counted as spent"
    words = {"promise": "differential-privacy", "meaning": "", "method": "", "population": "shop"}
    entry = Entry(id=new_id(), date=now(), spent=Budget.of(1), **words)
    after = book(files, entry, None, refuse=True).spent.epsilon
    if after != spent + 1:
        return f"after {float(spent):g} the next release makes it {float(after):g}"
    left = [each.name for each in files.folder.iterdir() if each.name != "lock"]
    return f"left in {files.folder.name}: {left}" if left else None


def _epsilon(output: Path) -> Fraction:
    about = json.loads((output / "release.json").read_bytes())
    return Fraction(str(about["promise"]["epsilon"]))


def _start(folder: Path, register: Path, output: str, epsilon: int) -> subprocess.Popen[bytes]:
    words = ["--epsilon", str(epsilon), "--public-items", "--population", "shop"]
    words += ["--register", str(register), "-o", output]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    env = os.environ | {"TMPDIR": str(register.parent)}
    return subprocess.Popen([*SETVEIL, str(_data(folder)), *words], env=env, **silent)


@cache
def _data(folder: Path) -> Path:
    made = folder / "baskets.dat"
    made.write_text("".join(f"{n % 7} {n % 5 + 10}\n" for n in range(300)))
    return made


@cache
def _seconds(folder: Path) -> float:
    """How long a run takes, to choose moments; nothing else depends on it."""
    place = Path(tempfile.mkdtemp(dir=folder))
    verb.new(place / "releases.toml")
    began = time.monotonic()
    _start(folder, place / "releases.toml", str(place / "r"), 1).communicate(timeout=STUCK)
    return time.monotonic() - began

"""Commands in processes of their own that are killed, starved and crowded.

Whatever happens to a command: its output is absent, the old one or the new one, and whole; it ends
with a known exit code and one line; and a run that is not killed leaves nothing else behind. What a
killed one leaves is removed by the next run.
"""

from __future__ import annotations

import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path

from setveil.cli import answer
from setveil.errors import SetveilError
from setveil.io import read
from setveil.pipeline.verify import verify

SETVEIL = [sys.executable, "-m", "setveil"]
STUCK = 600
"""Seconds until a command counts as stuck."""
KINDS: dict[str, list[str]] = {
    "partition": ["anonymize", "DATA", "-k", "3", "--hierarchy", "TREE"],
    "parquet": ["anonymize", "DATA", "-k", "3", "--hierarchy", "TREE", "--format", "parquet"],
    "apriori": [
        "anonymize",
        "DATA",
        "-k",
        "3",
        "-m",
        "2",
        "--method",
        "apriori",
        "--hierarchy",
        "TREE",
    ],
    "disassociation": ["anonymize", "DATA", "-k", "3", "-m", "2", "--method", "disassociation"],
    "reconstruct": ["reconstruct", "CLUSTERS", "-n", "3"],
    "hierarchy": ["hierarchy", "build", "DATA", "balanced:4"],
    "generate": ["generate", "quest", "--records", "3000", "--seed", "1"],
    "generate zst": ["generate", "quest", "--records", "3000", "--seed", "1"],
    "generate parquet": ["generate", "quest", "--records", "3000", "--seed", "1"],
    "inspect": ["inspect", "DATA", "-k", "3"],
    "verify": ["verify", "CLUSTERS"],
}
"""Commands; those that write get `-o`."""
NAMES = {
    "hierarchy": "tree.csv",
    "generate": "made.csv",
    "generate zst": "made.csv.zst",
    "generate parquet": "made.parquet",
}
SILENT = {"inspect", "verify"}
"""Commands that write no file."""
UNREADY = (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP, 1)
"""How Python itself ends when a signal arrives before it has loaded setveil."""


class Bench:
    """One command with its output folder and its temporary folder."""

    def __init__(self, rng: random.Random, folder: Path, kinds: list[str] | None = None) -> None:
        self.kind = rng.choice(kinds or list(KINDS))
        self.place = Path(tempfile.mkdtemp(dir=folder))
        self.temporary, self.output = self.place / "tmp", self.place / "out"
        self.temporary.mkdir()
        self.output.mkdir()
        self.target = self.output / NAMES.get(self.kind, "made")
        self.old = rng.random() < 0.6 and self.kind not in SILENT
        if self.old:
            self._put_old(folder)

    def _put_old(self, folder: Path) -> None:
        made = _output(folder, self.kind)
        shutil.copytree(made, self.target) if made.is_dir() else shutil.copy(made, self.target)

    def command(self, folder: Path) -> list[str]:
        command = [*SETVEIL, *_filled(self.kind, folder)]
        if self.kind not in SILENT:
            command += ["-o", str(self.target)]
        return [*command, "--force"] if self.old else command

    def start(self, command: list[str], **limits: Callable[[], None]) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        env = os.environ | {"TMPDIR": str(self.temporary)}
        if limits:  # where files may not grow, bytecode would be cut off, for all
            env |= {"PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(command, env=env, **pipes, **limits)

    def left(self) -> list[str]:
        """What is in the folders except the output itself."""
        found = [*self.temporary.iterdir(), *self.output.iterdir()]
        return sorted(path.name for path in found if path != self.target)

    def broken(self, must_exist: bool = False) -> str | None:
        """What is wrong with the output: it must be whole if it exists, and keep its promise."""
        if not self.target.exists():
            return "the output is gone" if self.old or must_exist else None
        try:
            if (self.target / "release.json").is_file():
                holds = verify(self.target).holds
                return None if holds else "the release does not keep its promise"
            if self.target.is_file() and self.kind != "hierarchy":
                return None if len(read(self.target)) else "the file is empty"
        except SetveilError as error:
            return f"the output is damaged: {error}"
        return None

    def close(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)


def killed(rng: random.Random, folder: Path) -> str | None:
    """A command is killed at a random moment, by any signal."""
    bench = Bench(rng, folder)
    command, usual = bench.command(folder), _seconds(folder)
    number = rng.choice(
        [signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    )
    process = bench.start(command)
    with suppress(subprocess.TimeoutExpired):
        process.wait(rng.random() * usual * 1.2)
    process.send_signal(number)
    _, said = process.communicate(timeout=STUCK)
    wrong = bench.broken() or _ended(process.returncode, said, number) or _left(bench, number)
    wrong = wrong or _again(bench, command)
    bench.close()
    return wrong and f"{bench.kind}, {signal.Signals(number).name}, --force {bench.old}: {wrong}"


def killed_while_renaming(rng: random.Random, folder: Path) -> str | None:
    """A command that writes is killed at one of its system calls that change folders."""
    bench = Bench(rng, folder, [kind for kind in KINDS if kind not in SILENT])
    calls = "rename,renameat,renameat2,mkdir,fsync,chmod,unlink,unlinkat,rmdir,openat"
    if rng.random() < 0.7:
        calls = "rename,renameat,renameat2,fsync,chmod,rmdir"
    strace = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={calls}"]
    if rng.random() < 0.4:  # a disk that cannot exchange names
        strace += ["-e", "inject=renameat2:error=EINVAL"]
        calls = calls.replace("renameat2,", "")
    strace += ["-e", f"inject={calls}:signal=KILL:when={rng.randint(1, 30)}"]
    command = bench.command(folder)
    process = bench.start([*strace, *command])
    process.communicate(timeout=STUCK)
    wrong = _again(bench, command) or bench.broken(must_exist=True)
    bench.close()
    return wrong and f"{bench.kind}, --force {bench.old}, {' '.join(strace[6:])}: {wrong}"


def no_room(rng: random.Random, folder: Path) -> str | None:
    """Files may not grow past a random size, as on a full disk."""
    bench = Bench(rng, folder, [kind for kind in KINDS if kind not in SILENT])
    most = int(2 ** rng.uniform(8, 20))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    wrong = _limited(bench, folder, limit)
    return wrong and f"{bench.kind}, at most {most} bytes per file: {wrong}"


def full_disk(rng: random.Random, folder: Path) -> str | None:
    """The output or the temporary folder is a disk of a random small size."""
    bench = Bench(rng, folder, [kind for kind in KINDS if kind not in SILENT])
    disk = rng.choice([bench.output, bench.temporary])
    size = int(2 ** rng.uniform(13, 20))
    with _disk(disk, size):
        if disk == bench.output and bench.old:
            try:
                bench._put_old(folder)
            except OSError:
                return None
        wrong = _limited(bench, folder, None, close=False)
    bench.close()
    return wrong and f"{bench.kind}, {disk.name} on a disk of {size} bytes: {wrong}"


def little_memory(rng: random.Random, folder: Path) -> str | None:
    """The address space is limited."""
    bench = Bench(rng, folder)
    most = int(2 ** rng.uniform(30.6, 32))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    wrong = _limited(bench, folder, limit)
    return wrong and f"{bench.kind}, {most >> 20} MB of address space: {wrong}"


def two_writers(rng: random.Random, folder: Path) -> str | None:
    """Two commands write to the same place at the same time."""
    bench = Bench(rng, folder, [kind for kind in KINDS if kind not in SILENT])
    command = bench.command(folder)
    first = bench.start(command)
    time.sleep(rng.random() * 0.2)
    second = bench.start(command)
    said = [process.communicate(timeout=STUCK)[1] for process in (first, second)]
    codes = [first.returncode, second.returncode]
    wrong = bench.broken(must_exist=True) or ("files are left" if bench.left() else None)
    for code, text in zip(codes, said, strict=True):
        wrong = wrong or (None if code in (0, 2) else f"exit {code}: {text[-300:]}")
    wrong = wrong or (None if 0 in codes else f"neither succeeds: {said}")
    bench.close()
    return wrong and f"{bench.kind}, --force {bench.old}: {wrong}"


def damaged_cache(rng: random.Random, folder: Path) -> str | None:
    """Files of the kernel cache are damaged; the next run compiles them anew."""
    bench = Bench(rng, folder, ["partition"])
    cached = _kernel_cache(folder)
    files = sorted(path for path in cached.rglob("*.nb?"))
    for path in rng.sample(files, min(3, len(files))):
        text = bytearray(path.read_bytes())
        for _ in range(rng.randint(1, 5)):
            if text:
                text[rng.randrange(len(text))] ^= 1 << rng.randrange(8)
        path.write_bytes(rng.choice([bytes(text), bytes(text[: rng.randint(0, len(text))]), b""]))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cached)}
    done = subprocess.run(
        bench.command(folder), env=environment, capture_output=True, text=True, timeout=STUCK
    )
    wrong = bench.broken(must_exist=True)
    wrong = wrong or (
        None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-300:]}"
    )
    bench.close()
    return wrong


def without_strace() -> str | None:
    """Why system calls cannot be injected here."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    probe = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True)
    return None if probe.returncode == 0 else "strace may not trace here"


def without_mount() -> str | None:
    """Why no small disk can be made here."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _disk(Path(folder), 1 << 16):
                return None
        except OSError:
            return "no disk can be mounted here (needs root)"


class _disk:
    """A small disk in memory, mounted on a folder."""

    def __init__(self, place: Path, size: int) -> None:
        self.place, self.size = place, size

    def __enter__(self) -> None:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", str(self.place)]
        try:
            subprocess.run(mount, check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            raise OSError(error.stderr) from None

    def __exit__(self, *error: object) -> None:
        subprocess.run(["umount", "-l", str(self.place)], check=False, capture_output=True)


def _limited(
    bench: Bench, folder: Path, limit: Callable[[], None] | None, *, close: bool = True
) -> str | None:
    """Run with a limit: success or one line that is not about a bug, and nothing left or lost."""
    process = bench.start(bench.command(folder), **({"preexec_fn": limit} if limit else {}))
    _, said = process.communicate(timeout=STUCK)
    wrong = bench.broken()
    if process.returncode not in (0, 2, 3) or (process.returncode and said.count("\n") != 1):
        wrong = f"exit {process.returncode}: {said[-300:]}"
    wrong = wrong or (f"left: {bench.left()}" if bench.left() else None)
    if close:
        bench.close()
    return wrong


def _ended(code: int, said: str, number: signal.Signals) -> str | None:
    if code in (0, -signal.SIGKILL) or (code == 130 and said.count("\n") == 1):
        return None
    if number != signal.SIGKILL and code in UNREADY and ("setveil:" not in said):
        return None
    return f"exit {code}: {said[-300:]}"


def _left(bench: Bench, number: signal.Signals) -> str | None:
    return f"left: {bench.left()}" if number != signal.SIGKILL and bench.left() else None


def _again(bench: Bench, command: list[str]) -> str | None:
    """The next run succeeds, and cleans up what the last one left."""
    if bench.target.exists() and "--force" not in command:
        command = [*command, "--force"]
    process = bench.start(command)
    _, said = process.communicate(timeout=STUCK)
    if process.returncode:
        return f"the next run: exit {process.returncode}: {said[-300:]}"
    silent = bench.kind in SILENT
    return f"left after the next run: {bench.left()}" if bench.left() and not silent else None


def _filled(kind: str, folder: Path) -> list[str]:
    names = {"DATA": "shop.csv", "TREE": "shop.tree.csv", "CLUSTERS": "clusters"}
    _prepare(folder)
    return [str(folder / names[word]) if word in names else word for word in KINDS[kind]]


@cache
def _prepare(folder: Path) -> None:
    """Make the data that commands read."""
    shop = ["-o", str(folder / "shop.csv"), "--hierarchy", str(folder / "shop.tree.csv")]
    clusters = ["-k", "3", "-m", "2", "--method", "disassociation", "-o", str(folder / "clusters")]
    _run("generate", "shop", "--records", "300", "--seed", "1", *shop)
    _run("anonymize", str(folder / "shop.csv"), *clusters)


@cache
def _output(folder: Path, kind: str) -> Path:
    """What a command writes."""
    made = folder / f"{kind}-{NAMES.get(kind, 'made')}".replace(" ", "-")
    _run(*_filled(kind, folder), "-o", str(made))
    return made


@cache
def _seconds(folder: Path) -> float:
    """How long a command takes, to choose moments; nothing else depends on it."""
    began = time.monotonic()
    command = [*SETVEIL, *_filled("partition", folder), "-o", str(folder / "timed")]
    subprocess.run(command, capture_output=True, check=True)
    return time.monotonic() - began


@cache
def _kernel_cache(folder: Path) -> Path:
    cached = folder / "kernels"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cached)}
    command = [*SETVEIL, *_filled("partition", folder), "-o", str(folder / "cached")]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    return cached


def _run(*command: str) -> None:
    """Run a command in this process, which is quicker."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        code = answer(command)
    if code:
        raise RuntimeError(f"{command}: exit {code}: {said.getvalue()}")

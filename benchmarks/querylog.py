"""Query logs: generating and reading them; a log of 1 GB only if `SETVEIL_BENCH_LONG` is set."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import Case
from benchmarks.measured import Measured, best_of, peak_mb
from setveil.io.querylog.read import read_querylog


def make_log(name: str, *, users: int) -> Measured:
    """All of `setveil generate querylog`, about 16 rows per user; baseline: copying the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        took = best_of(1, lambda: _generate(path, users))
        baseline = best_of(1, lambda: (Path(folder) / "copy").write_bytes(path.read_bytes()))
        rows = path.read_bytes().count(b"\n") - 1
    return Measured(name, took, baseline, rows, 0, 0.0, users / 5_000 + 5)


def read_log(
    name: str, *, users: int, mb: float, seconds: float, family: str = "", **options: Any
) -> Measured:
    """Reading a generated log in a fresh process; baseline: Python counts its lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        _generate(path, users)
        found: list[Any] = []
        took = best_of(1, lambda: found.append(read_querylog(path, **options)))
        peak = peak_mb()
        baseline = best_of(1, lambda: path.read_bytes().count(b"\n"))
    data, report = found[0]
    return Measured(name, took, baseline, report.rows, data.occurrences, peak, seconds, mb, family)


def _generate(path: Path, users: int) -> None:
    command = [
        sys.executable,
        "-m",
        "setveil",
        "generate",
        "querylog",
        "-o",
        str(path),
        "--users",
        str(users),
        "--seed",
        "1",
    ]
    subprocess.run(command, check=True, capture_output=True)


_FAMILY = "query log, words, a vocabulary per user"
CASES: dict[str, Case] = {
    "generate querylog, 1 M rows": functools.partial(make_log, users=64_000),
    "querylog 20 MB": functools.partial(
        read_log, users=20_000, mb=1000, seconds=15, family=_FAMILY
    ),
    "querylog 100 MB": functools.partial(
        read_log, users=96_000, mb=1500, seconds=30, family=_FAMILY
    ),
    "querylog 100 MB, sessions": functools.partial(
        read_log, users=96_000, mb=1500, seconds=40, gap="30m"
    ),
    "querylog 100 MB, queries": functools.partial(
        read_log, users=96_000, mb=1500, seconds=40, terms="queries", min_users=3
    ),
}
if os.environ.get("SETVEIL_BENCH_LONG"):
    CASES["querylog 1 GB"] = functools.partial(
        read_log, users=960_000, mb=2000, seconds=180, family=_FAMILY
    )
    CASES["querylog 1 GB, sessions"] = functools.partial(
        read_log, users=960_000, mb=2000, seconds=240, gap="30m"
    )
    CASES["querylog 1 GB, queries"] = functools.partial(
        read_log, users=960_000, mb=2000, seconds=240, terms="queries"
    )

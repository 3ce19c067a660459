"""Starting up, and reading a file that is larger than it should be."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.data import Case
from benchmarks.measured import Measured, best_of, peak_mb
from setveil.data.transactions import Transactions
from setveil.io import read


def start_up(name: str) -> Measured:
    """`setveil --help`, compared with an interpreter that does nothing."""
    took = best_of(
        5,
        lambda: subprocess.run(
            [sys.executable, "-m", "setveil", "--help"], check=True, capture_output=True
        ),
    )
    baseline = best_of(5, lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    return Measured(name, took, baseline, 0, 0, 0.0, baseline + 0.4)


def read_long_csv(name: str, *, rows: int, limit: str, asked_mb: float) -> Measured:
    """A long-form CSV of many rows under a memory limit, in a process that did nothing else;
    baseline: Python counts its lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.csv"
        subprocess.run([sys.executable, "-c", _MAKE_CSV, str(path), str(rows)], check=True)
        data: list[Transactions] = []
        took = best_of(1, lambda: data.append(read(path, memory_limit=limit)))
        peak = peak_mb()
        baseline = best_of(1, lambda: path.read_bytes().count(b"\n"))
    return Measured(name, took, baseline, len(data[0]), data[0].occurrences, peak, 30.0, asked_mb)


_MAKE_CSV = """
import sys
import numpy as np
rng = np.random.default_rng(1)
left, at = int(sys.argv[2]), 0
with open(sys.argv[1], "w") as out:
    out.write("record,item\\n")
    while left:
        size = min(left, 1_000_000)
        owners = 1_000_000 + (at + np.arange(size)) // 10
        items = 10_000 + (10_000 * rng.random(size) ** 2).astype(int)
        out.write("".join(f"{o},p{i}\\n" for o, i in zip(owners.tolist(), items.tolist())))
        left -= size
        at += size
"""

CASES: dict[str, Case] = {
    "start-up": start_up,
    "read csv 20M rows, limit 500MB": functools.partial(
        read_long_csv, rows=20_000_000, limit="500MB", asked_mb=1500
    ),
}

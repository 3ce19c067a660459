"""Starting up, and reading a file that is larger than it should be."""

from __future__ import annotations

import functools
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.data import REAL_DATA, Case, where_real
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


def first_run(name: str, *, arguments: tuple[str, ...], asked: float) -> Measured:
    """The processor time of a command that finds no compiled kernels; baseline: it finds them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "setveil", *arguments]
        if arguments[0] == "anonymize":
            command += ["-o", f"{folder}/release", "--force"]
        fresh = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/kernels"}
        took, baseline = _processor_time(command, fresh), _processor_time(command, fresh)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    return Measured(name, took, baseline, 0, 0, peak, asked)


def _processor_time(command: list[str], environment: dict[str, str]) -> float:
    """Seconds that a process and its threads took of all cores, whatever else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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

_TREE = ("--hierarchy", str(REAL_DATA / "groceries.hierarchy.csv"))
_OPTIONS = {
    "partition": ("-k", "5", *_TREE),
    "apriori": ("-k", "5", "-m", "2", *_TREE),
    "hghs": ("-k", "5", "-m", "2", *_TREE),
    "mhghs": ("-k", "5", "-m", "2", *_TREE),
    "disassociation": ("-k", "5", "-m", "2"),
    "suppression": ("-k", "5", "-p", "2", "--h", "0.8", "--private", "sausage"),
    "ssc": ("-k", "5", "--bags", *_TREE),
}


def _first_run_of(method: str) -> Case:
    data = str(REAL_DATA / "groceries.csv.gz")
    arguments = ("anonymize", data, "--method", method, *_OPTIONS[method])
    return functools.partial(first_run, arguments=arguments, asked=15.0)


CASES: dict[str, Case] = {
    **where_real({f"first run of {method}": _first_run_of(method) for method in _OPTIONS}),
    "first run of warmup": functools.partial(first_run, arguments=("warmup",), asked=60.0),
    "start-up": start_up,
    "read csv 20M rows, limit 500MB": functools.partial(
        read_long_csv, rows=20_000_000, limit="500MB", asked_mb=1500
    ),
}

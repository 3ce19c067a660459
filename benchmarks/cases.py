"""The cases: a name, what is run, and what is asked of it."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.measured import BASE_MB, Measured, best_of, peak_mb
from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.hierarchy.hierarchy import Hierarchy
from setveil.io import read
from setveil.methods.partition import Partition, warmup
from setveil.promises import KAnonymity

REAL_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def run_case(name: str) -> None:
    """Run one case in this process and print its figures as JSON."""
    print(json.dumps(asdict(CASES[name](name))))


def sort_baseline(data: Transactions) -> float:
    """Seconds that NumPy takes to sort all occurrences by item and record: what merely touching the data costs."""
    rows = data.rows
    return best_of(2, lambda: np.lexsort((rows, data.items)))


def partition(
    name: str, *, data: Callable[[], tuple[Transactions, Hierarchy]], seconds: float | None = None, mb: float | None = None
) -> Measured:
    """Partition at k = 10 on one thread; the algorithm only."""
    records, tree = data()
    warmup()
    took = best_of(3, lambda: Partition().anonymize(records, KAnonymity(k=10), tree, engine=Local(1)))
    peak = peak_mb()
    return Measured(name, took, sort_baseline(records), len(records), records.occurrences, peak, seconds, mb)


def partition_quest(name: str, *, size: int) -> Measured:
    """The same on generated data, where only the number of records changes."""
    measured = partition(name, data=lambda: balanced(quest(size, 1000, 10, seed=1)))
    asked = measured.occurrences * 100 / 1e6 + BASE_MB
    return Measured(**{**asdict(measured), "asked_mb": asked, "family": "partition on quest"})


def read_long_csv(name: str, *, rows: int, limit: str, asked: float) -> Measured:
    """A long-form CSV of many rows under a memory limit, in a process that did nothing else; baseline: Python reads the bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.csv"
        subprocess.run([sys.executable, "-c", _MAKE_CSV, str(path), str(rows)], check=True)
        data: list[Transactions] = []
        took = best_of(1, lambda: data.append(read(path, memory_limit=limit)))
        peak = peak_mb()
        baseline = best_of(1, lambda: path.read_bytes().count(b"\n"))
    return Measured(name, took, baseline, len(data[0]), data[0].occurrences, peak, 30.0, asked)


_MAKE_CSV = """
import sys
import numpy as np
rng = np.random.default_rng(1)
left = int(sys.argv[2])
with open(sys.argv[1], "w") as out:
    out.write("record,item\\n")
    at = 0
    while left:
        size = min(left, 1_000_000)
        owners = 1_000_000 + (at + np.arange(size)) // 10
        items = 10_000 + (10_000 * rng.random(size) ** 2).astype(int)
        out.write("".join(f"{o},p{i}\\n" for o, i in zip(owners.tolist(), items.tolist())))
        left -= size
        at += size
"""


def start_up(name: str) -> Measured:
    """`setveil --help`, beside an interpreter that does nothing."""
    took = best_of(5, lambda: subprocess.run([sys.executable, "-m", "setveil", "--help"], check=True, capture_output=True))
    baseline = best_of(5, lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    return Measured(name, took, baseline, 0, 0, 0.0, baseline + 0.4)


def balanced(data: Transactions) -> tuple[Transactions, Hierarchy]:
    """The data with the papers' tree: fan-out 5 over the sorted items."""
    return data, Hierarchy.balanced(data.vocabulary, 5)


def real(file: str) -> tuple[Transactions, Hierarchy]:
    """A real data set with the papers' tree."""
    return balanced(read(REAL_DATA / file))


def foodmart() -> tuple[Transactions, Hierarchy]:
    """Baskets with their own tree, fan-out up to 120."""
    return read(REAL_DATA / "foodmart1997-baskets.csv.gz"), Hierarchy.read(REAL_DATA / "foodmart1997.hierarchy.csv")


Case = Callable[[str], Measured]

_GENERATED: dict[str, Case] = {
    "start-up": start_up,
    "partition quest 100k": functools.partial(partition_quest, size=100_000),
    "partition quest 300k": functools.partial(partition_quest, size=300_000),
    "partition quest 1M": functools.partial(partition_quest, size=1_000_000),
    "partition quest 3M": functools.partial(partition_quest, size=3_000_000),
    "read csv 20M rows, limit 1GB": functools.partial(read_long_csv, rows=20_000_000, limit="1GB", asked=2000),
}

_REAL: dict[str, Case] = {
    "partition bms-webview-2": functools.partial(partition, data=lambda: real("bms-webview-2.dat.gz"), seconds=0.35),
    "partition retail": functools.partial(partition, data=lambda: real("retail.dat.gz"), seconds=1.2),
    "partition foodmart own tree": functools.partial(partition, data=foodmart, mb=500),
}

CASES: dict[str, Case] = {**(_REAL if REAL_DATA.is_dir() else {}), **_GENERATED}

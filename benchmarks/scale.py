"""Whole commands, from a file to a verified and measured folder, stage by stage.

    python -m benchmarks.scale                              # 1 and 10 million records; 10 GB
    python -m benchmarks.scale --records 1000000 --methods partition
    python -m benchmarks.scale --engine blocks --memory 3GB
    python -m benchmarks.scale --engine spark --master local[2]

Each row is a fresh process with compiled kernels. The data is that of `setveil generate quest
--items 10000`. Processor seconds are those of all threads and processes; on a busy machine only
they can be compared. With several sizes, a second table has the processor seconds per million
records of the smallest and of the largest, and by how much they grow."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measured import TreePeak, tree_cpu
from setveil.cli import reuse_memory
from setveil.pipeline.anonymize import anonymize
from setveil.pipeline.generate import Target, quest
from setveil.pipeline.warmup import run as warmup

METHODS: dict[str, dict[str, Any]] = {
    "disassociation": {"method": "disassociation", "k": 5, "m": 2},
    "partition": {"method": "partition", "k": 10, "hierarchy": "balanced:5"},
}
STAGES = (
    *("reading", "dividing", "anonymizing", "writing", "reading back", "verifying", "measuring"),
)
SIZES = (1_000_000, 10_000_000)
Found = dict[str, Any]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=SIZES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--engine", choices=("local", "blocks", "spark"), default="local")
    parser.add_argument("--memory", help="of the engine blocks")
    parser.add_argument("--master", help="of the engine spark")
    options = parser.parse_args()
    words = {name: getattr(options, name) for name in ("engine", "memory", "master")}
    sizes, found = sorted(options.records), dict[tuple[str, int], Found]()
    print(_line("method", "records", *STAGES, "all, CPU s", "seconds", "peak MB"))
    with tempfile.TemporaryDirectory() as folder:
        for records in sizes:
            place = Path(folder) / f"{records}.dat"
            _fresh(f"make({records}, {str(place)!r})")
            for method in options.methods:
                row = _fresh(f"measure({method!r}, {str(place)!r}, {words!r})")
                found[method, records] = row
                print(_row(method, records, row), flush=True)
            place.unlink()
    if len(sizes) > 1:
        _print_slopes(options.methods, sizes[0], sizes[-1], found)


def make(records: int, place: str) -> None:
    """Write the data."""
    quest(Target(output=Path(place)), records=records, items=10_000, seed=1)
    print("{}")


def measure(method: str, place: str, words: dict[str, Any]) -> None:
    """Run one command in this process and print its figures as JSON."""
    warmup()
    reuse_memory()  # as the command line does
    clock, start, before = _Clock(), time.perf_counter(), tree_cpu()
    output = Path(place).with_name("release")
    with TreePeak() as peak:
        how = {name: value for name, value in words.items() if value is not None}
        done = anonymize(place, progress=clock, output=output, force=True, **METHODS[method], **how)
        clock(0, 0, "")
    cpu = max(tree_cpu() - before, sum(clock.cpu.values()))
    found = {"cpu": cpu, "seconds": time.perf_counter() - start}
    print(
        json.dumps(
            found | {"stages": clock.cpu, "holds": done.verdict.holds, "peak": peak.megabytes}
        )
    )


class _Clock:
    """Adds up the processor time between the beginnings of stages.

    Processes that end without their parent waiting, as those of Spark do, take theirs with them."""

    def __init__(self) -> None:
        self.cpu = dict.fromkeys(STAGES, 0.0)
        self.stage, self.since = "", tree_cpu()

    def __call__(self, done: int, total: int, stage: str) -> None:
        if (stage in STAGES or not stage) and stage != self.stage:
            now = tree_cpu()
            if self.stage:
                self.cpu[self.stage] += max(now - self.since, 0.0)
            self.stage, self.since = stage, now


def _fresh(call: str) -> Found:
    """What a function of this file prints in a process of its own."""
    code = f"from benchmarks.scale import *; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{call}: {done.stderr.strip().splitlines()[-1]}")
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def _row(method: str, records: int, found: Found) -> str:
    stages = [f"{found['stages'][name]:.1f}" for name in STAGES]
    ends = (f"{found['cpu']:.1f}", f"{found['seconds']:.1f}", f"{found['peak']:,.0f}")
    broken = "" if found["holds"] else "  DOES NOT HOLD"
    return _line(method, f"{records:,}", *stages, *ends) + broken


def _print_slopes(
    methods: list[str], few: int, many: int, found: dict[tuple[str, int], Found]
) -> None:
    """CPU seconds per million records of both sizes, and their ratio."""
    print("\nCPU seconds per million records, and how much they grow")
    print(_line("method", "records", *STAGES, "all"))
    for method in methods:
        lines = [_per_million(found[method, size], size) for size in (few, many)]
        for size, line in zip((few, many), lines, strict=True):
            print(_line(method, f"{size:,}", *(f"{each:.2f}" for each in line)))
        ratios = (
            f"{many / few:.2f}" if few >= 0.05 else "-" for few, many in zip(*lines, strict=True)
        )
        print(_line(method, "ratio", *ratios))


def _per_million(found: Found, records: int) -> list[float]:
    seconds = [*(found["stages"][name] for name in STAGES), found["cpu"]]
    return [1e6 * each / records for each in seconds]


def _line(name: str, *cells: str) -> str:
    return "  ".join([f"{name:14}", *(f"{cell:>12}" for cell in cells)])


if __name__ == "__main__":
    main()

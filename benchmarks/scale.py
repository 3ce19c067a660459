"""Whole commands on one machine, from a file to a verified and measured folder, stage by stage.

    python -m benchmarks.scale                              # 1 and 10 million records; 10 GB
    python -m benchmarks.scale --records 1000000 --methods partition

Each row is a fresh process with compiled kernels. The data is that of `setveil generate quest
--items 10000`. Processor seconds are those of all threads; on a busy machine only they can be
compared."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measured import peak_mb
from setveil.pipeline.anonymize import anonymize
from setveil.pipeline.generate import Target, quest
from setveil.pipeline.warmup import run as warmup

METHODS: dict[str, dict[str, Any]] = {
    "disassociation": {"method": "disassociation", "k": 5, "m": 2},
    "partition": {"method": "partition", "k": 10, "hierarchy": "balanced:5"},
}
STAGES = ("reading", "anonymizing", "writing", "reading back", "verifying", "measuring")
SIZES = (1_000_000, 10_000_000)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=SIZES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    options = parser.parse_args()
    print(_line("method", "records", *STAGES, "all, CPU s", "seconds", "us/record", "peak MB"))
    with tempfile.TemporaryDirectory() as folder:
        for records in options.records:
            place = Path(folder) / f"{records}.dat"
            _fresh(f"make({records}, {str(place)!r})")
            for method in options.methods:
                found = _fresh(f"measure({method!r}, {str(place)!r})")
                print(_row(method, records, found), flush=True)
            place.unlink()


def make(records: int, place: str) -> None:
    """Write the data."""
    quest(Target(output=Path(place)), records=records, items=10_000, seed=1)
    print("{}")


def measure(method: str, place: str) -> None:
    """Run one command in this process and print its figures as JSON."""
    warmup()
    clock = _Clock()
    start, before = time.perf_counter(), time.process_time()
    output = Path(place).with_name("release")
    done = anonymize(place, progress=clock, output=output, force=True, **METHODS[method])
    clock(0, 0, "")
    found = {"cpu": time.process_time() - before, "seconds": time.perf_counter() - start}
    stages = {"stages": clock.cpu, "peak": peak_mb(), "holds": done.verdict.holds}
    print(json.dumps(found | stages))


class _Clock:
    """Adds up the processor time between the beginnings of stages."""

    def __init__(self) -> None:
        self.cpu = dict.fromkeys(STAGES, 0.0)
        self.stage, self.since = "", time.process_time()

    def __call__(self, done: int, total: int, stage: str) -> None:
        if (stage in STAGES or not stage) and stage != self.stage:
            now = time.process_time()
            if self.stage:
                self.cpu[self.stage] += now - self.since
            self.stage, self.since = stage, now


def _fresh(call: str) -> dict[str, Any]:
    """What a function of this file prints in a process of its own."""
    code = f"from benchmarks.scale import *; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{call}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _row(method: str, records: int, found: dict[str, Any]) -> str:
    stages = [f"{found['stages'][name]:.1f}" for name in STAGES]
    ends = (f"{found['cpu']:.1f}", f"{found['seconds']:.1f}", f"{1e6 * found['cpu'] / records:.1f}")
    broken = "" if found["holds"] else "  DOES NOT HOLD"
    return _line(method, f"{records:,}", *stages, *ends, f"{found['peak']:,.0f}") + broken


def _line(name: str, *cells: str) -> str:
    return "  ".join([f"{name:14}", *(f"{cell:>12}" for cell in cells)])


if __name__ == "__main__":
    main()

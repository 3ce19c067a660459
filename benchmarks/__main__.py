"""Run the cases, each in a fresh process, and print one table."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.measured import Measured

HEADER = (
    "case",
    "seconds",
    "baseline s",
    "ratio",
    "us/record",
    "peak MB",
    "B/occurrence",
    "asked",
    "",
)


def main() -> int:
    """Print the table; returns 1 if a case misses its target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "cases",
        nargs="*",
        help=f"parts of the names of cases; default: all of {', '.join(CASES)}",
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    chosen = [
        name for name in CASES if not options.cases or any(part in name for part in options.cases)
    ]
    print(
        "  ".join(
            f"{title:>12}" if number else f"{title:32}" for number, title in enumerate(HEADER)
        )
    )
    results = [_run(name) for name in chosen]
    print(_slopes(results))
    if options.json:
        options.json.write_text(
            json.dumps([result.__dict__ for result in results], indent=1) + "\n"
        )
    return int(any(result.is_over for result in results))


def _run(name: str) -> Measured:
    command = [sys.executable, "-c", f"from benchmarks.cases import run_case; run_case({name!r})"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        sys.exit(f"{name}: {answer.stderr.strip().splitlines()[-1]}")
    result = Measured(**json.loads(answer.stdout.splitlines()[-1]))
    print(result.row(), flush=True)
    return result


def _slopes(results: list[Measured]) -> str:
    """How the time for one record grows from the smallest to the largest case of a family."""
    lines = []
    families: dict[str, list[Measured]] = {}
    for result in results:
        if result.family:
            families.setdefault(result.family, []).append(result)
    for family, members in families.items():
        members.sort(key=lambda member: member.records)
        first, last = members[0], members[-1]
        growth = last.per_record / first.per_record
        lines.append(
            f"{family}: time per record x{growth:.2f} from {first.records:,} to "
            f"{last.records:,} records"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

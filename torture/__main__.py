"""Run campaigns and print what was tried and what was bad."""

from __future__ import annotations

import argparse
import os
import sys

from torture.campaign import Tally, attempt
from torture.table import CAMPAIGNS
from torture.workers import attempt_apart

SHOWN = 5


def main() -> int:
    """Print one line per campaign; returns 1 if a case was bad."""
    options = _options()
    print(f"seed {options.seed}, {options.workers} processes")
    print(f"{'campaign':28}{'tried':>10}{'bad':>6}{'seconds':>9}  what is tried")
    bad = 0
    for name in _chosen(options.campaigns):
        reason = CAMPAIGNS[name].skip()
        if reason:
            print(f"{name:28}{'-':>10}{'-':>6}{'-':>9}  skipped: {reason}", flush=True)
            continue
        tally = _run(name, _numbers(name, options), options)
        bad += len(tally.bad)
        about = CAMPAIGNS[name].about
        marks = ", ".join(f"{count:,} {mark}" for mark, count in tally.marks.most_common())
        print(
            f"{name:28}{tally.tried:10,}{len(tally.bad):6,}{tally.seconds:9.0f}  {about}"
            f"{marks and f' ({marks})'}",
            flush=True,
        )
        for number, wrong in tally.bad[:SHOWN]:
            print(f"    --case {number}: {wrong[:400]}", flush=True)
    print(
        "0 bad" if not bad else f"{bad:,} bad; see one again: NAME --seed {options.seed} --case N"
    )
    return int(bad > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument(
        "campaigns", nargs="*", help="parts of the names of campaigns; default: all"
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed tries other cases")
    parser.add_argument("--times", type=float, default=1, help="this many times the usual cases")
    parser.add_argument("--case", type=int, help="only the case with this number")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _chosen(parts: list[str]) -> list[str]:
    return [name for name in CAMPAIGNS if not parts or any(part in name for part in parts)]


def _numbers(name: str, options: argparse.Namespace) -> range:
    if options.case is not None:
        return range(options.case, options.case + 1)
    return range(max(1, round(CAMPAIGNS[name].cases * options.times)))


def _run(name: str, cases: range, options: argparse.Namespace) -> Tally:
    """Share the cases among processes; the answer does not depend on how many there are."""
    if len(cases) == 1:
        return attempt(CAMPAIGNS[name], cases, options.seed)
    shares = [cases[at :: options.workers] for at in range(options.workers)]
    return attempt_apart(CAMPAIGNS[name], shares, options.seed)


if __name__ == "__main__":
    sys.exit(main())

"""What small clusters lose compared with the paper's way of joining them, as a table: `python -m
benchmarks.utility [DATA...]`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from benchmarks.data import REAL_DATA, real
from setveil.data.transactions import Transactions
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.promises import KmAnonymity

FILES = {
    "groceries": "groceries.csv.gz",
    "msweb": "msweb.csv.gz",
    "bms-webview-1": "bms-webview-1.dat.gz",
    "bms-webview-2": "bms-webview-2.dat.gz",
    "retail": "retail.dat.gz",
    "T10I4D100K": "T10I4D100K.dat.gz",
    "foodmart, baskets": "foodmart1997-baskets.csv.gz",
    "foodmart, customers": "foodmart1997-customers.csv.gz",
}
METRICS = ["tkd", "tkd_2", "tkd_a", "re", "re_top", "tlost", "chunked"]
SEEDS, WORLDS = 4, 5
MARKS = {"better": " +", "equal": "", "worse": " !"}
EQUAL = 0.01
"""Differences up to this, or up to two standard errors over the seeds, count as none."""


def losses(data: Transactions, k: int, **options: Any) -> dict[str, list[float]]:
    """Each metric, for each seed the average over some reconstructions."""
    release = Disassociation(**options).anonymize(data, KmAnonymity(k=k, m=2))
    found = [
        measure(release, data, METRICS, seed=seed, reconstructions=WORLDS) for seed in range(SEEDS)
    ]
    return {metric: [float(values[metric]) for values in found] for metric in METRICS}


def compare(metric: str, paper: Sequence[float], own: Sequence[float]) -> str:
    """Whether the default is better, equal or worse."""
    gain = (fmean(own) - fmean(paper)) * (1 if metric == "chunked" else -1)
    error = ((stdev(paper) ** 2 + stdev(own) ** 2) / SEEDS) ** 0.5
    if abs(gain) <= max(EQUAL, 2 * error):
        return "equal"
    return "better" if gain > 0 else "worse"


def main(names: Sequence[str]) -> int:
    """Print one row for each data set and k, the paper's way / the default; then how often it is
    better, equal or worse."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print(f"| data | k | {' | '.join(METRICS)} |")
    print("|---|---|" + "---|" * len(METRICS))
    counts: Counter[tuple[str, str]] = Counter()
    for name in names or FILES:
        data = real(FILES[name])
        for k in (2, 5, 10, 25):
            paper, own = (losses(data, k, arrangement=each) for each in ("paper", "small"))
            verdicts = {metric: compare(metric, paper[metric], own[metric]) for metric in METRICS}
            counts.update(verdicts.items())
            cells = (
                f"{fmean(paper[metric]):.3f} / {fmean(own[metric]):.3f}{MARKS[verdicts[metric]]}"
                for metric in METRICS
            )
            print(f"| {name} | {k} | {' | '.join(cells)} |", flush=True)
    for metric in METRICS:
        print(metric, *(f"{verdict} {counts[metric, verdict]}" for verdict in MARKS))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

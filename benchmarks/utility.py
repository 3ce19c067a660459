"""What Disassociation loses beside the paper's way of joining clusters, as a table: `python -m benchmarks.utility [DATA...]`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import product
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
WAYS: dict[str, dict[str, Any]] = {"paper": {"order": "paper"}, "default": {}, "share_lost": {"share_lost": True}}
EQUAL = 0.01
"""Differences up to this, or up to two standard errors over the seeds, count as none."""


def losses(data: Transactions, k: int, way: str) -> dict[str, list[float]]:
    """Each metric, for each seed the average over some reconstructions."""
    release = Disassociation(**WAYS[way]).anonymize(data, KmAnonymity(k=k, m=2))
    found = [measure(release, data, METRICS, seed=seed, reconstructions=WORLDS) for seed in range(SEEDS)]
    return {metric: [float(values[metric]) for values in found] for metric in METRICS}


def compare(metric: str, paper: Sequence[float], own: Sequence[float]) -> str:
    """Whether the default is better, equal or worse."""
    gain = (fmean(own) - fmean(paper)) * (1 if metric == "chunked" else -1)
    error = ((stdev(paper) ** 2 + stdev(own) ** 2) / SEEDS) ** 0.5
    if abs(gain) <= max(EQUAL, 2 * error):
        return "equal"
    return "better" if gain > 0 else "worse"


def main(names: Sequence[str]) -> int:
    """Print one row for each data set and k: the paper's way / the default / lost terms shared too; worse ones are marked."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print(f"| data | k | {' | '.join(METRICS)} |")
    print("|---|---|" + "---|" * len(METRICS))
    counts: Counter[tuple[str, str, str]] = Counter()
    for name in names or FILES:
        data = real(FILES[name])
        for k in (2, 5, 10, 25):
            found = {way: losses(data, k, way) for way in WAYS}
            cells = []
            for metric in METRICS:
                shown = f"{fmean(found['paper'][metric]):.3f}"
                for way in ("default", "share_lost"):
                    verdict = compare(metric, found["paper"][metric], found[way][metric])
                    counts[way, metric, verdict] += 1
                    shown += f" / {fmean(found[way][metric]):.3f}{' !' * (verdict == 'worse')}"
                cells.append(shown)
            print(f"| {name} | {k} | {' | '.join(cells)} |", flush=True)
    for way, metric in product(("default", "share_lost"), METRICS):
        print(way, metric, *(f"{verdict} {counts[way, metric, verdict]}" for verdict in ("better", "equal", "worse")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

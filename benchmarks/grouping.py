"""What Disassociation's choice of clusters gains over small clusters, as a table: `python -m
benchmarks.grouping [m [DATA...]]`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from benchmarks.data import REAL_DATA, real
from benchmarks.utility import FILES
from setveil.data.transactions import Transactions
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.promises import KmAnonymity

METRICS = ["pair_error", "pair_error_top", "tkd", "tkd_a", "re", "re_top", "tlost"]
WORLDS = 3


def losses(data: Transactions, promise: KmAnonymity, **options: Any) -> dict[str, float]:
    """Each metric, over some reconstructions; and the seconds that the method took."""
    start = time.process_time()
    release = Disassociation(**options).anonymize(data, promise)
    seconds = time.process_time() - start
    found = measure(release, data, METRICS, reconstructions=WORLDS)
    return {**{metric: float(found[metric]) for metric in METRICS}, "seconds": seconds}


def main(words: Sequence[str]) -> int:
    """Print one row for each data set and k, small clusters / the default; then the averages."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    m, columns = int(words[0]) if words else 2, [*METRICS, "seconds"]
    Disassociation().anonymize([["a", "b"]] * 60, KmAnonymity(k=2, m=m))  # compiles
    print(f"| data | k | {' | '.join(columns)} |")
    print("|---|---|" + "---|" * len(columns))
    rows = []
    for name in words[1:] or FILES:
        data = real(FILES[name])
        for k in (2, 5, 10, 25):
            promise = KmAnonymity(k=k, m=m)
            pair = losses(data, promise, max_cluster=6 * k - 1), losses(data, promise)
            cells = (f"{pair[0][column]:.3f} / {pair[1][column]:.3f}" for column in columns)
            print(f"| {name} | {k} | {' | '.join(cells)} |", flush=True)
            rows.append(pair)
    for column in columns:
        small, own = (fmean(pair[side][column] for pair in rows) for side in (0, 1))
        print(f"{column}: {small:.3f} / {own:.3f} on average")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

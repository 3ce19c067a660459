"""What Disassociation loses beside the paper's way of joining clusters: `python -m benchmarks.utility` prints the table of the docs."""

from __future__ import annotations

import sys

from benchmarks.data import REAL_DATA, real
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
WORLDS = 5


def main() -> int:
    """Print one row for each data set and k: the paper's way / the default."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print(f"| data | k | {' | '.join(METRICS)} |")
    print("|---|---|" + "---|" * len(METRICS))
    for name, file in FILES.items():
        data = real(file)
        for k in (2, 5, 10, 25):
            paper, own = (
                measure(method.anonymize(data, KmAnonymity(k=k, m=2)), data, METRICS, seed=1, reconstructions=WORLDS)
                for method in (Disassociation(order="paper"), Disassociation())
            )
            print(f"| {name} | {k} | " + " | ".join(f"{paper[metric]:.3f} / {own[metric]:.3f}" for metric in METRICS) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What each arrangement loses with m = 3, beside m = 2, as a table: `python -m benchmarks.deep [--k
5,10] [DATA...]`.

The last columns say why: of the pairs and triples of the items in the 100 most frequent pairs, the
share that occur in fewer than k records. No chunk may have these together."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from benchmarks.regret import load
from setveil.data.transactions import Transactions
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.metrics.itemsets import top_itemsets
from setveil.promises import KmAnonymity

KINDS = ("search", "paper", "small", 100, 300, 1000, "all", "safe")
NAMES = ("groceries", "msweb", "invoices", "listeners", "readers", "two populations")


def error_of(data: Transactions, promise: KmAnonymity, kind: Any) -> str:
    """The error of the 1,000 most frequent pairs."""
    release = Disassociation(arrangement=kind).anonymize(data, promise)
    found = measure(release, data, ["pair_error"], seed=0, reconstructions=3)["pair_error"]
    return "-" if isinstance(found, dict) else f"{found:.3f}"


def rare(data: Transactions, k: int, size: int) -> str:
    """The share of the sets of so many items of the head that fewer than k records have."""
    pairs = list(top_itemsets(data, 100, least_size=2, most_size=2))[:100]
    head = {item for pair, _ in pairs for item in pair}
    counts = Counter(
        items for record in data for items in combinations(sorted(head.intersection(record)), size)
    )
    return f"{sum(count < k for count in counts.values()) / max(len(counts), 1):.2f}"


def main(words: Sequence[str]) -> int:
    """Print a row for each data set, k and m."""
    ks = [5, 10]
    if words and words[0] == "--k":
        ks, words = [int(each) for each in words[1].split(",")], words[2:]
    names = " | ".join(("default", *map(str, KINDS[1:])))
    print(f"| data | k | m | {names} | rare pairs | rare triples |")
    print("|---|---|---|" + "---|" * (len(KINDS) + 2))
    for name in words or NAMES:
        data = load(name)
        for k in ks:
            why = f"{rare(data, k, 2)} | {rare(data, k, 3)}"
            for m in (2, 3):
                promise = KmAnonymity(k=k, m=m)
                cells = [error_of(data, promise, kind) for kind in KINDS]
                print(f"| {name} | {k} | {m} | {' | '.join(cells)} | {why} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What leaving out the words of few users does to the error of frequent pairs, as a table:
`python -m benchmarks.rare_words`, on the words of each query of a real log."""

from __future__ import annotations

import gzip
import sys
from collections import defaultdict

import numpy as np

from benchmarks.data import REAL_DATA
from setveil.data.transactions import Transactions
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.metrics.itemsets import top_itemsets
from setveil.promises import KmAnonymity

LOG, K, TOP = "excite-small.log.gz", 5, 100


def main() -> int:
    """Print a row for each least number of users."""
    users, queries = [], []
    with gzip.open(REAL_DATA / LOG, "rt", errors="replace") as lines:
        for line in lines:
            user, _, query = line.rstrip("\n").split("\t")[:3]
            users.append(user)
            queries.append(set(query.lower().split()))
    holders = defaultdict(set)
    for user, words in zip(users, queries, strict=True):
        for word in words:
            holders[word].add(user)
    print(
        "| users | records | pair_error_top | with a word of one user | in fewer than k records |"
    )
    print("|---|---|---|---|---|")
    for least in (0, 2, 3, 5):
        kept = [[word for word in words if len(holders[word]) >= least] for words in queries]
        data = Transactions.of([sorted(words) for words in kept if words])
        release = Disassociation().anonymize(data, KmAnonymity(k=K, m=2))
        error = measure(release, data, ["pair_error_top"], seed=0, reconstructions=3)
        top = list(top_itemsets(data, TOP, least_size=2, most_size=2))[:TOP]
        single = sum(min(len(holders[word]) for word in pair) == 1 for pair, _ in top)
        wrong = np.array([abs(release.guess(pair) / count - 1) for pair, count in top])
        few = np.array([count < K for _, count in top])
        parts = (
            f"{part.sum()} of {len(top)}, error {wrong[part].mean():.3f}" if part.any() else "0"
            for part in (few, ~few)
        )
        rare, other = parts
        cells = f"{error['pair_error_top']:.3f} | {single} | {rare} (others: {other})"
        print(f"| {least} | {len(data):,} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

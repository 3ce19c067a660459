"""How many supports of frequent pairs a disassociated release determines, and how right it is, as a
table: `python -m benchmarks.determined [--k 5,10] [DATA...]`.

A support is determined if its upper bound is at most 1.2 times its lower one, or the standard error
of the estimate at most 5 %. The error is that of the estimates of these, against the original."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.data import REAL_DATA
from benchmarks.regret import SHAPES, load
from benchmarks.utility import FILES
from setveil.data.transactions import Transactions
from setveil.methods.disassociation import Disassociation
from setveil.metrics.itemsets import top_itemsets
from setveil.promises import KmAnonymity

PAIRS = 1000


def row(data: Transactions, k: int) -> str:
    """The cells of a data set: of the most frequent pairs, how many are determined and flagged."""
    release = Disassociation().anonymize(data, KmAnonymity(k=k, m=2)).without_alignment()
    pairs = list(top_itemsets(data, PAIRS, least_size=2, most_size=2))[:PAIRS]
    found = [(release.support(items), count) for items, count in pairs]
    fixed = [(each, count) for each, count in found if each.is_determined]
    errors = np.array([each.guess / count - 1 for each, count in fixed])
    rules = [(each, count) for each, count in fixed if each.accuracy.startswith("standard")]
    inside = [abs(each.guess - count) <= 2 * each.error for each, count in rules]
    covered = f"{np.mean(inside):.3f}" if inside else "-"
    bias = f"{errors.mean():+.4f} | {np.abs(errors).max():.3f}" if len(errors) else "- | -"
    return f"{len(fixed)} | {len(rules)} | {bias} | {covered} | {len(found) - len(fixed)}"


def main(words: Sequence[str]) -> int:
    """Print a row for each data set and k."""
    ks = [5]
    if words and words[0] == "--k":
        ks, words = [int(each) for each in words[1].split(",")], words[2:]
    print("| data | k | determined | by rule | bias | worst | within 2 s.e. | flagged |")
    print("|---|---|---|---|---|---|---|---|")
    for name in words or [*SHAPES, *(FILES if REAL_DATA.is_dir() else ())]:
        data = load(name)
        for k in ks:
            print(f"| {name} | {k} | {row(data, k)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

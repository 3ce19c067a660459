"""Partition at k = 10 on one thread, kernels compiled; the algorithm only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from benchmarks.data import Case, balanced, real, sort_baseline, where_real, with_own_tree
from benchmarks.measured import BASE_MB, Measured, best_of, peak_mb
from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.partition import Partition
from setveil.promises import KAnonymity

BYTES = 100
"""Bytes that the process may use per occurrence, beyond what it uses in any case."""


def partition(
    name: str,
    *,
    data: Callable[[], tuple[Transactions, Hierarchy]],
    seconds: float | None = None,
    mb: float | None = None,
) -> Measured:
    """One run."""
    records, tree = data()
    Partition.warmup()
    took = best_of(
        3, lambda: Partition().anonymize(records, KAnonymity(k=10), tree, engine=Local(1))
    )
    peak = peak_mb()
    asked = records.occurrences * BYTES / 1e6 + BASE_MB if mb is None else mb
    return Measured(
        name, took, sort_baseline(records), len(records), records.occurrences, peak, seconds, asked
    )


def on_quest(name: str, *, size: int) -> Measured:
    """Generated data, where only the number of records changes."""
    return replace(
        partition(name, data=lambda: balanced(quest(size, 1000, 10, seed=1))),
        family="partition on quest",
    )


CASES: dict[str, Case] = {
    **where_real(
        {
            "partition bms-webview-1": functools.partial(
                partition, data=lambda: balanced(real("bms-webview-1.dat.gz"))
            ),
            "partition bms-webview-2": functools.partial(
                partition, data=lambda: balanced(real("bms-webview-2.dat.gz")), seconds=0.35
            ),
            "partition retail": functools.partial(
                partition, data=lambda: balanced(real("retail.dat.gz")), seconds=1.2
            ),
            "partition foodmart, own tree": functools.partial(
                partition,
                data=lambda: with_own_tree(
                    "foodmart1997-baskets.csv.gz", "foodmart1997.hierarchy.csv"
                ),
                mb=500,
            ),
        }
    ),
    "partition quest 100k": functools.partial(on_quest, size=100_000),
    "partition quest 300k": functools.partial(on_quest, size=300_000),
    "partition quest 1M": functools.partial(on_quest, size=1_000_000),
    "partition quest 3M": functools.partial(on_quest, size=3_000_000),
}

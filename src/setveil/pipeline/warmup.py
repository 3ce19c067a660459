"""Warm up: compile the kernels once, so that the first real run is quick."""

import time

from setveil.data.transactions import Transactions
from setveil.methods import warmup
from setveil.metrics.itemsets import top_itemsets


def run() -> float:
    """Compile the kernels; returns how many seconds it took."""
    start = time.perf_counter()
    warmup()
    top_itemsets(Transactions.of([["a", "b", "c"]] * 3), 4)
    top_itemsets(Transactions.of([[f"item {number}"] for number in range(300)]), 400)
    return time.perf_counter() - start

"""Warm up: compile the kernels once, so that the first real run is quick."""

import time

from setveil.data.transactions import Transactions
from setveil.methods import warmup
from setveil.metrics.itemsets import top_itemsets
from setveil.promises import KmAnonymity
from setveil.published.disassociated.clusters import SimpleCluster
from setveil.published.disassociated.compiled import read_text, write_text
from setveil.published.disassociated.form import Disassociated


def run() -> float:
    """Compile the kernels; returns how many seconds it took."""
    start = time.perf_counter()
    warmup()
    top_itemsets(Transactions.of([["a", "b", "c"]] * 3), 4)
    top_itemsets(Transactions.of([[f"item {number}"] for number in range(300)]), 400)
    cluster = SimpleCluster(3, [{("a", "b"): 2, ("a",): 1}], ["c"])
    written = write_text(Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2)), few=0)
    assert written is not None
    read_text(bytes(written[0]), short=0)
    return time.perf_counter() - start

"""SSC on generated query logs: time, memory and growth; `SETVEIL_BENCH_LONG` adds 100,000 users.

`python -m benchmarks.ssc [USERS[:SEED] ...]` prints what it loses, next to LG(bag), on logs with a
long tail: the nouns of sessions, and of users.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.data import Case, sort_baseline
from benchmarks.measured import Measured, peak_mb
from setveil.audit import verify
from setveil.data.transactions import Bags
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.wordnet.network import WordNet
from setveil.io.querylog.read import read_querylog
from setveil.methods.method import Method
from setveil.methods.partition import Partition
from setveil.methods.ssc import SSC
from setveil.metrics import measure
from setveil.promises import VocabularyKAnonymity

PROMISE = VocabularyKAnonymity(k=5)
CROWDS = (2, 5, 10)
LOSSES = ("blm", "distortion", "recall", "sdist")
WAYS: Mapping[str, Method[Any]] = {
    "LG(bag), partition": Partition(),
    "SSC": SSC(),
    "SSC, two rounds of exchanges": SSC(exchanges=2),
    "SSC, the paper's": SSC(variant="paper"),
}


def noun_bags(
    users: int, shape: str = "topics", gap: str = "inf", seed: int = 1
) -> tuple[Bags, Hierarchy]:
    """The nouns of each user or session of a generated log, and the WordNet tree over them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        command = [
            sys.executable,
            "-m",
            "setveil",
            "generate",
            "querylog",
            "-o",
            str(path),
            "--users",
            str(users),
            "--seed",
            str(seed),
            "--shape",
            shape,
        ]
        subprocess.run(command, check=True, capture_output=True)
        data, _ = read_querylog(path, terms="nouns", gap=gap, seed=1)
    assert isinstance(data, Bags)
    return data, WordNet.read().tree(data.vocabulary)


def cluster(name: str, *, users: int, seconds: float, mb: float) -> Measured:
    """One run at k = 5 on all cores, neighbours included; the time is that of the clock."""
    SSC.warmup()
    data, tree = noun_bags(users)
    start = time.perf_counter()
    SSC().anonymize(data, PROMISE, tree)
    took = time.perf_counter() - start
    return Measured(
        name,
        took,
        sort_baseline(data),
        len(data),
        data.occurrences,
        peak_mb(),
        seconds,
        mb,
        "ssc, nouns, k = 5",
    )


def compare(users: int, gap: str, say: Callable[[str], None], seed: int = 1) -> None:
    """What each way loses on the same bags."""
    SSC.warmup()
    data, tree = noun_bags(users, "long-tail", gap, seed)
    size = f"{len(data):,} bags, {data.occurrences:,} occurrences, {len(data.vocabulary):,} nouns"
    say(f"{users:,} users, seed {seed}, gap {gap}: {size}")
    say(f"{'':38}" + "".join(f"{title:>12}" for title in (*LOSSES, "seconds")))
    for k in CROWDS:
        for name, method in WAYS.items():
            if k == PROMISE.k or name in ("LG(bag), partition", "SSC"):
                say(f"{f'k = {k}, {name}':38}" + _line(method, data, tree, k))


def _line(method: Method[Any], data: Bags, tree: Hierarchy, k: int) -> str:
    """The losses of one run, and its processor time."""
    start = time.process_time()
    release = method.anonymize(data, VocabularyKAnonymity(k=k), tree)
    took = time.process_time() - start
    assert verify(release, data, hierarchy=tree).holds
    losses = measure(release, data, LOSSES, hierarchy=tree)
    return "".join(f"{losses[loss]:12.3f}" for loss in LOSSES) + f"{took:12.1f}"


CASES: dict[str, Case] = {}
if WordNet.find():
    CASES["ssc, 10,000 users"] = functools.partial(cluster, users=10_000, seconds=90, mb=3000)
    CASES["ssc, 20,000 users"] = functools.partial(cluster, users=20_000, seconds=180, mb=3000)
    if os.environ.get("SETVEIL_BENCH_LONG"):
        CASES["ssc, 100,000 users"] = functools.partial(
            cluster, users=100_000, seconds=1200, mb=3000
        )

if __name__ == "__main__":
    for text in sys.argv[1:] or ["971"]:
        number, _, drawn = text.partition(":")
        for pause in ("inf", "30m"):
            compare(int(number), pause, lambda line: print(line, flush=True), int(drawn or 1))

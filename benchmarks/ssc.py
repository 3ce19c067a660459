"""SSC on generated query logs: time, memory and growth; `SETVEIL_BENCH_LONG` adds 100,000 users.

`python -m benchmarks.ssc [USERS[:SEED] ...]` prints what it loses, next to LG(bag), on logs with a
long tail: the nouns of users, and of sessions. Seeds other than 1 are shown without the variants.
`python -m benchmarks.ssc excite` does so for the small real log, if it is there, `python -m
benchmarks.ssc weights` for other weights of common terms, and `python -m benchmarks.ssc time`
prints seconds and memory of 30,000 and 100,000 sessions.
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

from benchmarks.data import REAL_DATA, Case, sort_baseline
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
LOSSES = ("blm", "distortion", "recall", "sdist", "pair_error")
WAYS: Mapping[str, Method[Any]] = {
    "LG(bag), partition": Partition(),
    "SSC": SSC(),
    "SSC, mixed": SSC(typical="mixed"),
    "SSC, two rounds of exchanges": SSC(exchanges=2),
    "SSC, the paper's": SSC(variant="paper"),
    "SSC, the paper's, mixed": SSC(variant="paper", typical="mixed"),
}
ALWAYS = ("LG(bag), partition", "SSC")
EXCITE = "excite-small.log.gz"
GAPS = ("inf", "30m")
"""One bag for each user, and one for each session."""
WEIGHTS = ((0, 0), (1, 0), (1, 1), (1, 2), (2, 2), (4, 2), (4, 3))
"""How many occurrences more a term counts, if so many times k bags have it."""
SIZES = (971, 3300)
"""Users whose logs have about 30,000 and 100,000 sessions."""


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
    data, tree = noun_bags(users, "long-tail", gap, seed)
    table(f"{users:,} users, seed {seed}, gap {gap}", data, tree, say, full=seed == 1)


def excite(say: Callable[[str], None]) -> None:
    """What each way loses on the small real log, by users and by sessions."""
    if not (REAL_DATA / EXCITE).is_file():
        sys.exit("the real data (../shared/data) is absent")
    for gap in GAPS:
        data, _ = read_querylog(REAL_DATA / EXCITE, terms="nouns", gap=gap, seed=1)
        assert isinstance(data, Bags)
        tree = WordNet.read().tree(data.vocabulary)
        table(f"{EXCITE}, gap {gap}", data, tree, say, full=True)


def table(
    title: str, data: Bags, tree: Hierarchy, say: Callable[[str], None], *, full: bool
) -> None:
    """A line for each way and k; the variants only at k = 5, and only if asked for."""
    SSC.warmup()
    size = f"{len(data):,} bags, {data.occurrences:,} occurrences, {len(data.vocabulary):,} nouns"
    say(f"{title}: {size}")
    say(f"{'':38}" + "".join(f"{name:>12}" for name in (*LOSSES, "seconds")))
    for k in CROWDS:
        for name, method in WAYS.items():
            if name in ALWAYS or (full and k == PROMISE.k):
                say(f"{f'k = {k}, {name}':38}" + _line(method, data, tree, k))


def weights(say: Callable[[str], None]) -> None:
    """What other weights of common terms lose at k = 10, on the sessions of seed 1."""
    from setveil.methods.ssc import best

    data, tree = noun_bags(SIZES[0], "long-tail", "30m")
    say(f"{'a common term counts more, if k times':38}" + "".join(f"{n:>12}" for n in LOSSES))
    usual = best.EXACT, best.CROWDS
    for best.EXACT, best.CROWDS in WEIGHTS:
        say(f"{f'{best.EXACT}, {best.CROWDS}':38}" + _line(SSC(), data, tree, 10))
    best.EXACT, best.CROWDS = usual


def clock(users: int, say: Callable[[str], None]) -> None:
    """Processor time, time on the clock and memory of the sessions of a log with a long tail."""
    SSC.warmup()
    data, tree = noun_bags(users, "long-tail", "30m")
    start, used = time.perf_counter(), time.process_time()
    SSC().anonymize(data, PROMISE, tree)
    took, spent = time.perf_counter() - start, time.process_time() - used
    mb = peak_mb()
    say(
        f"{len(data):,} sessions, k = 5: {spent:.1f} s of processor time, {took:.1f} s, {mb:.0f} MB"
    )


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
        if text == "excite":
            excite(lambda line: print(line, flush=True))
            continue
        if text == "weights":
            weights(lambda line: print(line, flush=True))
            continue
        if text == "time":
            for count in SIZES:
                clock(count, lambda line: print(line, flush=True))
            continue
        number, _, drawn = text.partition(":")
        for pause in GAPS:
            compare(int(number), pause, lambda line: print(line, flush=True), int(drawn or 1))

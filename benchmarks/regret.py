"""How much worse Disassociation's default is than the best arrangement, as a table: `python -m
benchmarks.regret [--keep FILE] [--k 5,10] [DATA...]`.

`--keep` names a file of errors by release: what is in it is not measured again, so an interrupted
run goes on, and after a change of the method only releases that differ are measured. Delete it if
reconstructions or metrics change. Times are those of one thread.

`LOOKED_AT` are the sets that the search may be tuned on; the others are only reported. The shapes
that are generated, with their parameters and seeds, were fixed before the search was written."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import REAL_DATA, real
from benchmarks.utility import FILES
from setveil.data.generate.quest import quest
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.local import Local
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.promises import KmAnonymity
from setveil.published.disassociated.form import Disassociated
from setveil.threads import thread_limit

LOOKED_AT = ("groceries", "msweb", "invoices", "listeners")
KS, WORLDS = (2, 5, 10, 25), 3
NEAR, SAME = 1.1, 0.005
"""The default is fine if its error is at most so many times the least one, or so much above it."""


def tastes(people: int, items: int, average: float, groups: int, seed: int) -> Transactions:
    """People with lists of items: most of a group of taste, by rank, the others of all items."""
    random = np.random.default_rng(seed)
    lengths = np.maximum(random.lognormal(np.log(average) - 0.125, 0.5, people).astype(np.int64), 1)
    owners = np.repeat(np.arange(people), lengths)
    group = random.integers(0, groups, people)[owners]
    rank = np.floor((items / groups) ** random.random(len(owners))).astype(np.int64) - 1
    own = random.random(len(owners)) < 0.8
    chosen = np.where(own, group * (items // groups) + rank, random.integers(0, items, len(owners)))
    return Transactions.from_pairs(owners, chosen, _numbers(items), size=people)


def dense(records: int, items: int, average: float, seed: int) -> Transactions:
    """Records in which some items are nearly always there, as in tables of attributes."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, items + 1) ** 0.9
    share = np.clip(share * average / share.sum(), 0, 0.98)
    shift = random.normal(0, 1.0, (records, 6)) @ random.normal(0, 0.6, (6, items))
    chance = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + shift)))
    owners, chosen = np.nonzero(random.random((records, items)) < chance)
    return Transactions.from_pairs(owners, chosen, _numbers(items), size=records)


def two_populations(seed: int) -> Transactions:
    """Two kinds of customers who buy different things, one of them with long records."""
    few = quest(12_000, items=800, average_length=5, patterns=300, seed=seed)
    many = quest(3_000, items=800, average_length=28, patterns=200, seed=seed + 1)
    rows = np.concatenate((few.rows, len(few) + many.rows))
    first = few.vocabulary.encode(few.vocabulary)[few.items]
    second = len(few.vocabulary) + many.items
    names = _numbers(len(few.vocabulary) + len(many.vocabulary))
    items = np.concatenate((first, second))
    return Transactions.from_pairs(rows, items, names, size=len(few) + len(many))


def _numbers(items: int) -> Vocabulary:
    return Vocabulary(str(number) for number in range(items))


SHAPES: dict[str, Callable[[], Transactions]] = {
    "invoices": lambda: quest(20_000, items=3_000, average_length=25, patterns=800, seed=11),
    "long invoices": lambda: quest(6_000, items=3_000, average_length=50, patterns=800, seed=12),
    "listeners": lambda: tastes(1_900, 8_000, 58, 25, seed=13),
    "readers": lambda: tastes(5_000, 4_000, 28, 10, seed=14),
    "attributes": lambda: dense(12_000, 400, 33, seed=15),
    "two populations": lambda: two_populations(seed=16),
}
KINDS: tuple[Any, ...] = ("paper", "small", "head", "hubs", 100, 300, 1000, "all", "safe")
"""All arrangements but the search, which is the default."""
TIMED = ("search", "small")


LOGS = {"excite, queries": False, "excite, users": True}
"""Words of a query log: whether those of all queries of a user are one record."""
QUICK = 2.0  # seconds; what takes less is timed three times


def known() -> list[str]:
    """All sets that there are here, small ones first."""
    real_ones = [*LOGS, *FILES] if REAL_DATA.is_dir() else []
    return sorted([*SHAPES, *real_ones], key=lambda name: load(name).occurrences)


def load(name: str) -> Transactions:
    """A real or generated set."""
    if name in SHAPES:
        return SHAPES[name]()
    return words_of_log(by_user=LOGS[name]) if name in LOGS else real(FILES[name])


def words_of_log(*, by_user: bool) -> Transactions:
    """The words of each query of a real log, or of each user."""
    records: dict[object, set[str]] = defaultdict(set)
    with gzip.open(REAL_DATA / "excite-small.log.gz", "rt", errors="replace") as lines:
        for number, line in enumerate(lines):
            user, _, query = line.rstrip("\n").split("\t")[:3]
            records[user if by_user else number].update(query.lower().split())
    return Transactions.of([sorted(words) for words in records.values() if words])


class Kept:
    """Errors of releases that were measured before, in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._errors = path, dict[str, float]()
        if path is not None and path.exists():
            lines = path.read_text("utf-8").splitlines()
            self._errors = dict(json.loads(line) for line in lines)

    def error(self, data: Transactions, release: Disassociated) -> float:
        """The error of the frequent pairs, the average over several reconstructions."""
        key = release.order.digest.hex()
        if key not in self._errors:
            found = measure(release, data, ["pair_error"], seed=0, reconstructions=WORLDS)
            self._errors[key] = float(found["pair_error"])
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as lines:
                    print(json.dumps([key, self._errors[key]]), file=lines)
        return self._errors[key]


class Tried(NamedTuple):
    """What one arrangement of one data set gave."""

    error: float  # of the frequent pairs
    seconds: float  # of one thread
    is_safe: bool


def tried(data: Transactions, k: int, kind: Any, kept: Kept) -> Tried:
    """What an arrangement gives; the time is the least of three runs if it is short."""
    method, promise, seconds = (
        Disassociation(arrangement=kind),
        KmAnonymity(k=k, m=2),
        list[float](),
    )
    while len(seconds) < 1 or (len(seconds) < 3 and seconds[0] < QUICK and kind in TIMED):
        start = time.process_time()
        release = method.anonymize(data, promise, engine=Local(1))
        seconds.append(time.process_time() - start)
    return Tried(kept.error(data, release), min(seconds), release.is_safe)


def main(words: Sequence[str]) -> int:
    """Print a row for each data set and k: the error of the default and of each arrangement."""
    ks, path = KS, None
    if words and words[0] == "--keep":
        path, words = Path(words[1]), words[2:]
    if words and words[0] == "--k":
        ks, words = tuple(map(int, words[1].split(","))), words[2:]
    print(f"| data | k | default | {' | '.join(map(str, KINDS))} | best | regret | times small |")
    print("|---|---|---|" + "---|" * (len(KINDS) + 3), flush=True)
    Disassociation.warmup()
    kept = Kept(path)
    with thread_limit(1):
        rows = [
            row(data, name, k, kept)
            for name in words or known()
            for data in [load(name)]
            for k in ks
        ]
    print(f"rows beyond {NEAR} times the best (or {SAME} above): {rows.count(False)}")
    return 0


def row(data: Transactions, name: str, k: int, kept: Kept) -> bool:
    """Print a row; whether the default is about as good as the best."""
    own = tried(data, k, "search", kept)
    found = {kind: tried(data, k, kind, kept) for kind in KINDS}
    best = min(found, key=lambda kind: found[kind].error)
    least = min(found[best].error, own.error)
    fine = own.error <= max(NEAR * least, least + SAME)
    cells = [f"{own.error:.4f}{' (safe)' if own.is_safe else ''}"]
    cells += [f"{each.error:.4f}" for each in found.values()]
    regret = (f"{own.error / least:.2f}" if least else "-") + ("" if fine else " !")
    cells += [str(best), regret, f"{own.seconds / max(found['small'].seconds, 1e-9):.1f}"]
    print(f"| {name} | {k} | {' | '.join(cells)} |", flush=True)
    return fine


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

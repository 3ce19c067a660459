"""How much worse Disassociation's default is than the best arrangement, as a table: `python -m
benchmarks.regret [--k 5,10] [DATA...]`.

`LOOKED_AT` are the sets that the search may be tuned on; the others are only reported. The shapes
that are generated, with their parameters and seeds, were fixed before the search was written."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import REAL_DATA, real
from benchmarks.utility import FILES
from setveil.audit.records import check_written
from setveil.data.generate.quest import quest
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.promises import KmAnonymity
from setveil.published.disassociated.form import Disassociated

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


def load(name: str) -> Transactions:
    """A real or generated set."""
    return SHAPES[name]() if name in SHAPES else real(FILES[name])


class Tried(NamedTuple):
    """What one arrangement of one data set gave."""

    release: Disassociated
    error: float  # of the frequent pairs
    seconds: float  # of all threads


def tried(data: Transactions, k: int, kind: Any, before: Sequence[Tried] = ()) -> Tried:
    """The average over several reconstructions; the same as before of an equal release."""
    start = time.process_time()
    release = Disassociation(arrangement=kind).anonymize(data, KmAnonymity(k=k, m=2))
    seconds = time.process_time() - start
    for each in before:
        if check_written(release, each.release).holds:
            return each._replace(seconds=seconds)
    error = measure(release, data, ["pair_error"], seed=0, reconstructions=WORLDS)["pair_error"]
    return Tried(release, float(error), seconds)


def main(words: Sequence[str]) -> int:
    """Print a row for each data set and k: the error of the default and of each arrangement."""
    ks = KS
    if words and words[0] == "--k":
        ks, words = tuple(map(int, words[1].split(","))), words[2:]
    known = [*SHAPES, *(FILES if REAL_DATA.is_dir() else ())]
    print(f"| data | k | default | {' | '.join(map(str, KINDS))} | best | regret | times small |")
    print("|---|---|---|" + "---|" * (len(KINDS) + 3))
    Disassociation.warmup()
    rows = [row(data, name, k) for name in words or known for data in [load(name)] for k in ks]
    print(f"rows beyond {NEAR} times the best (or {SAME} above): {rows.count(False)}")
    return 0


def row(data: Transactions, name: str, k: int) -> bool:
    """Print a row; whether the default is about as good as the best."""
    own, found = tried(data, k, "search"), dict[Any, Tried]()
    for kind in KINDS:
        found[kind] = tried(data, k, kind, [own, *found.values()])
    best = min(found, key=lambda kind: found[kind].error)
    least = min(found[best].error, own.error)
    fine = own.error <= max(NEAR * least, least + SAME)
    cells = [f"{own.error:.4f}{' (safe)' if own.release.is_safe else ''}"]
    cells += [f"{each.error:.4f}" for each in found.values()]
    regret = (f"{own.error / least:.2f}" if least else "-") + ("" if fine else " !")
    cells += [str(best), regret, f"{own.seconds / max(found['small'].seconds, 1e-9):.1f}"]
    print(f"| {name} | {k} | {' | '.join(cells)} |", flush=True)
    return fine


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

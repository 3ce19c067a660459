"""How much worse Disassociation's default is than the best arrangement, as a table: `python -m
benchmarks.regret [--k 5,10] [DATA...]`.

`LOOKED_AT` are the sets that the search may be tuned on; the others are only reported. The shapes
that are generated, with their parameters and seeds, were fixed before the search was written."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.data import REAL_DATA, real
from benchmarks.utility import FILES
from setveil.data.generate.quest import quest
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.promises import KmAnonymity

LOOKED_AT = ("groceries", "msweb", "invoices", "listeners")
KS, SEEDS, WORLDS = (2, 5, 10, 25), 2, 3
EQUAL = 0.005
"""Errors that differ by no more count as the same."""


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
ARRANGEMENTS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {"order": "paper"},
    "small": {"max_cluster": 0},
    "100": {"max_cluster": 100},
    "300": {"max_cluster": 300},
    "1000": {"max_cluster": 1000},
    "all": {"max_cluster": 10**9},
    "safe": {"safe": True},
}


def load(name: str) -> Transactions:
    """A real or generated set."""
    return SHAPES[name]() if name in SHAPES else real(FILES[name])


def error_of(data: Transactions, k: int, options: dict[str, Any]) -> tuple[float, float]:
    """The error of the frequent pairs, and the seconds of the method."""
    if options.get("max_cluster") == 0:
        options = {"max_cluster": 6 * k - 1}
    start = time.process_time()
    release = Disassociation(**options).anonymize(data, KmAnonymity(k=k, m=2))
    seconds = time.process_time() - start
    found = [
        measure(release, data, ["pair_error"], seed=seed, reconstructions=WORLDS)["pair_error"]
        for seed in range(SEEDS)
    ]
    return fmean(float(each) for each in found if not isinstance(each, dict)), seconds


def main(words: Sequence[str]) -> int:
    """Print a row for each data set and k: the error of each arrangement and of the default."""
    ks = KS
    if words and words[0] == "--k":
        ks, words = tuple(map(int, words[1].split(","))), words[2:]
    known = [*SHAPES, *(FILES if REAL_DATA.is_dir() else ())]
    print(f"| data | k | {' | '.join(ARRANGEMENTS)} | regret | times small |")
    print("|---|---|" + "---|" * (len(ARRANGEMENTS) + 2))
    bad = 0
    for name in words or known:
        data = load(name)
        for k in ks:
            found = {each: error_of(data, k, options) for each, options in ARRANGEMENTS.items()}
            best = min(error for error, _ in found.values())
            own, seconds = found["default"]
            fine = own <= max(1.1 * best, best + EQUAL)
            bad += not fine
            cells = " | ".join(f"{error:.4f}" for error, _ in found.values())
            regret = f"{own / best:.2f}" if best else "-"
            mark = "" if fine else " !"
            times = seconds / max(found["small"][1], 1e-9)
            print(f"| {name} | {k} | {cells} | {regret}{mark} | {times:.1f} |", flush=True)
    print(f"rows beyond 1.1 times the best (or {EQUAL} above): {bad}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

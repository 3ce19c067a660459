"""Suppression of public items for coherence on one thread, kernels compiled; the algorithm only."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from benchmarks.data import Case, real, sort_baseline, where_real
from benchmarks.measured import Measured, best_of, peak_mb
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.local import Local
from setveil.methods.suppression import Suppression
from setveil.methods.suppression.method import without
from setveil.promises import Coherence


def coherence(
    name: str,
    *,
    data: Callable[[], Transactions],
    public: float,
    numbers: tuple[float, int, int],
    seconds: float,
    mb: float = 2000,
) -> Measured:
    """One run: a random part of the items is public, all others private; `numbers` are h, k, p."""
    records, (h, k, p) = data(), numbers
    promise = Coherence(h=h, k=k, p=p, private=private_items(records, public, seed=1))
    Suppression.warmup()
    took = best_of(1, lambda: Suppression().anonymize(records, promise, engine=Local(1)))
    peak = peak_mb()
    return Measured(
        name, took, sort_baseline(records), len(records), records.occurrences, peak, seconds, mb
    )


def private_items(data: Transactions, public: float, seed: int) -> frozenset[str]:
    """All items but a random part."""
    count = len(data.vocabulary)
    chosen = np.random.default_rng(seed).permutation(count)[round(public * count) :]
    return frozenset(data.vocabulary[number] for number in chosen.tolist())


def frequent(data: Transactions, share: float) -> Transactions:
    """The data without items in less than a share of the records, as in the paper."""
    kept = without(data, data.supports() < share * len(data))
    return Transactions.of(kept)


def dense(records: int = 67_557, attributes: int = 43, seed: int = 1) -> Transactions:
    """Data like connect: one of three skewed values per attribute, depending on a hidden kind."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 4, records)
    items = np.empty((records, attributes), dtype=np.int64)
    for attribute in range(attributes):
        most = random.uniform(0.4, 0.85)
        middle = (1 - most) * random.uniform(0.5, 0.95)
        for number in range(4):
            chances = np.array([most, middle, 1 - most - middle]) * np.exp(
                random.normal(0, 0.35, 3)
            )
            members = np.flatnonzero(kind == number)
            items[members, attribute] = 3 * attribute + random.choice(
                3, size=len(members), p=chances / chances.sum()
            )
    vocabulary = Vocabulary([str(number) for number in range(3 * attributes)])
    return Transactions.from_pairs(
        np.repeat(np.arange(records), attributes), items.ravel(), vocabulary, size=records
    )


CASES: dict[str, Case] = {
    **where_real(
        {
            "coherence retail, p = 4": functools.partial(
                coherence,
                data=lambda: frequent(real("retail.dat.gz"), 0.001),
                public=0.2,
                numbers=(0.6, 20, 4),
                seconds=20,
            ),
            "coherence T10I4D100K, p = 4": functools.partial(
                coherence,
                data=lambda: real("T10I4D100K.dat.gz"),
                public=0.15,
                numbers=(0.6, 30, 4),
                seconds=20,
            ),
            "coherence msweb, p = 5": functools.partial(
                coherence,
                data=lambda: real("msweb.csv.gz"),
                public=0.4,
                numbers=(0.6, 5, 5),
                seconds=20,
            ),
        }
    ),
    "coherence dense, p = 5": functools.partial(
        coherence, data=dense, public=0.4, numbers=(0.9, 100, 5), seconds=60
    ),
}

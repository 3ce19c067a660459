"""Disassociation at k = 5, m = 2 on one thread, kernels compiled: phase by phase, and as a
whole."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.data import Case, real, sort_baseline, where_real
from benchmarks.measured import BASE_MB, Measured, best_of, peak_mb
from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.kernels.disassociation.given import Chunks, Rule
from setveil.methods.disassociation import Disassociation
from setveil.methods.disassociation.partitioning import Clusters, horpart, verpart
from setveil.methods.disassociation.refine import level_plan, refine
from setveil.promises import KmAnonymity

K, M, LIMIT = 5, 2, 30
BYTES = 150
"""Bytes that the process may use per occurrence, beyond what it uses in any case."""
ENGINE = Local(1)


def phases(name: str, *, data: Callable[[], Transactions], seconds: float) -> Measured:
    """The horizontal and the vertical phase."""
    records = data()
    Disassociation.warmup()
    took = best_of(5, lambda: _clusters_and_chunks(records))
    return Measured(
        name, took, sort_baseline(records), len(records), records.occurrences, peak_mb(), seconds
    )


def refining(name: str, *, data: Callable[[], Transactions]) -> Measured:
    """REFINE alone, which may take as long as the whole run without it."""
    records = data()
    Disassociation.warmup()
    rest = best_of(
        3,
        lambda: Disassociation(refine=False).anonymize(
            records, KmAnonymity(k=K, m=M), engine=ENGINE
        ),
    )
    clusters, chunks = _clusters_and_chunks(records)
    took = best_of(
        3,
        lambda: refine(
            clusters, chunks, _rule(records), level_plan(K, LIMIT, with_lost=False), engine=ENGINE
        ),
    )
    return Measured(name, took, rest, len(records), records.occurrences, peak_mb(), rest)


def whole(name: str, *, data: Callable[[], Transactions]) -> Measured:
    """From the records to the release."""
    records = data()
    Disassociation.warmup()
    took = best_of(
        2, lambda: Disassociation().anonymize(records, KmAnonymity(k=K, m=M), engine=ENGINE)
    )
    peak = peak_mb()
    asked = records.occurrences * BYTES / 1e6 + BASE_MB
    return Measured(
        name, took, sort_baseline(records), len(records), records.occurrences, peak, asked_mb=asked
    )


def on_quest(name: str, *, size: int) -> Measured:
    """Generated data, where only the number of records changes."""
    return replace(whole(name, data=lambda: pos_like(size)), family="disassociation on quest")


def pos_like(size: int) -> Transactions:
    """Records of the shape of the paper's data set POS: 1,657 items, 6.5 on average."""
    return quest(size, 1657, 6.5, seed=1)


def _clusters_and_chunks(records: Transactions) -> tuple[Clusters, Chunks]:
    rule = _rule(records)
    clusters = horpart(records, rule.sensitive, K, LIMIT)
    return clusters, verpart(clusters, rule, ENGINE)


def _rule(records: Transactions) -> Rule:
    return Rule(K, M, np.zeros(len(records.vocabulary), dtype=bool))


CASES: dict[str, Case] = {
    **where_real(
        {
            "horpart + verpart bms-webview-2": functools.partial(
                phases, data=lambda: real("bms-webview-2.dat.gz"), seconds=0.75
            ),
            "refine bms-webview-2": functools.partial(
                refining, data=lambda: real("bms-webview-2.dat.gz")
            ),
            "refine retail": functools.partial(refining, data=lambda: real("retail.dat.gz")),
            "disassociation bms-webview-2": functools.partial(
                whole, data=lambda: real("bms-webview-2.dat.gz")
            ),
            "disassociation retail": functools.partial(whole, data=lambda: real("retail.dat.gz")),
        }
    ),
    "horpart + verpart quest 200k": functools.partial(
        phases, data=lambda: pos_like(200_000), seconds=1.1
    ),
    "disassociation quest 100k": functools.partial(on_quest, size=100_000),
    "disassociation quest 1M": functools.partial(on_quest, size=1_000_000),
    "disassociation quest 3M": functools.partial(on_quest, size=3_000_000),
}

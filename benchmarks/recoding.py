"""Global recoding with trees of fanout 5: the algorithm alone, with compiled kernels."""

from __future__ import annotations

import functools

from benchmarks.data import Case, balanced, real, sort_baseline, where_real
from benchmarks.measured import Measured, best_of, peak_mb
from setveil.methods.recoding.frame import GlobalRecoding
from setveil.methods.recoding.onecut import Apriori, MHgHs
from setveil.promises import KmAnonymity


def recoding(
    name: str, *, method: GlobalRecoding, file: str, k: int, m: int, seconds: float, mb: float
) -> Measured:
    """One run."""
    records, tree = balanced(real(file))
    MHgHs.warmup()
    took = best_of(2, lambda: method.anonymize(records, KmAnonymity(k=k, m=m), tree))
    return Measured(
        name,
        took,
        sort_baseline(records),
        len(records),
        records.occurrences,
        peak_mb(),
        seconds,
        mb,
    )


def _case(method: GlobalRecoding, file: str, k: int, m: int, seconds: float, mb: float) -> Case:
    return functools.partial(
        recoding, method=method, file=f"{file}.dat.gz", k=k, m=m, seconds=seconds, mb=mb
    )


CASES: dict[str, Case] = where_real(
    {
        "apriori bms-webview-2, m = 2": _case(Apriori(), "bms-webview-2", 10, 2, 1.5, 600),
        "apriori bms-webview-2, m = 3": _case(Apriori(), "bms-webview-2", 10, 3, 4, 600),
        "apriori retail, m = 2": _case(Apriori(), "retail", 10, 2, 10, 1500),
        "mhghs bms-webview-2, m = 3": _case(MHgHs(), "bms-webview-2", 5, 3, 20, 600),
    }
)

"""How far an adversary gets with every method on every real data set, as a table: `python -m
benchmarks.attack [DATA...] [--method NAME]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from benchmarks.data import REAL_DATA, real
from benchmarks.utility import FILES
from setveil.audit.attack.attack import attack
from setveil.audit.attack.outcome import Attack, Row
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.io.querylog.read import read_querylog
from setveil.methods import SSC, Apriori, Disassociation, HgHs, MHgHs, Partition, Suppression
from setveil.methods.method import Method
from setveil.promises import Coherence, KAnonymity, KmAnonymity, Promise, VocabularyKAnonymity

TRIALS, M, LOG = 2_000, 2, "excite-small"
COLUMNS = (
    "data",
    "method",
    "k",
    "fewest",
    "success",
    "m + 1",
    "m + 2",
    "1 lacking",
)


def methods(k: int) -> Iterator[tuple[str, Method, Promise]]:  # type: ignore[type-arg]
    """Every method with a promise that it keeps."""
    km = KmAnonymity(k=k, m=M)
    yield "partition", Partition(), KAnonymity(k=k)
    yield "apriori", Apriori(), km
    yield "hghs", HgHs(), km
    yield "mhghs", MHgHs(), km
    yield "suppression", Suppression(), Coherence(h=1, k=k, p=M)
    yield "disassociation", Disassociation(), km
    yield "disassociation, safe", Disassociation(arrangement="safe"), km


def main(words: Sequence[str]) -> int:
    """Print one row for each data set, method and k; returns 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument("data", nargs="*", help="names of data sets; default: all")
    parser.add_argument("--method", default="", help="only methods whose name begins like this")
    options = parser.parse_args(words)
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print(f"| {' | '.join(COLUMNS)} |")
    print("|" + "---|" * len(COLUMNS))
    broken = 0
    for name in options.data or [*FILES, LOG]:
        for k in (5, 10):
            for method, found in _attacks(name, k, options.method):
                print(f"| {name} | {method} | {k} | {' | '.join(_cells(found))} |", flush=True)
                broken += not found.holds
    return int(broken > 0)


def _attacks(name: str, k: int, wanted: str) -> Iterator[tuple[str, Attack]]:
    if name == LOG:
        if not "ssc".startswith(wanted):
            return
        bags, _ = read_querylog(REAL_DATA / f"{name}.log.gz", seed=1)
        tree = Hierarchy.balanced(bags.vocabulary, 5)
        release = SSC().anonymize(bags, VocabularyKAnonymity(k=k), tree)
        yield "ssc", attack(release, bags, trials=TRIALS, seed=1)
        return
    data: Transactions = real(FILES[name])
    tree = Hierarchy.balanced(data.vocabulary, 5)
    for label, method, promise in methods(k):
        if not label.startswith(wanted):
            continue
        made = method.anonymize(data, promise, tree if method.needs_hierarchy else None)
        yield label, attack(made, data, trials=TRIALS, seed=1)


def _cells(found: Attack) -> list[str]:
    covered = [row for row in found.rows if row.within and row.kind == "items"]
    more = [row for row in found.rows if not row.within and row.kind == "items" and row.items]
    worst = max(covered, key=lambda row: row.success.value)
    others = {row.kind: row for row in found.rows if row.kind != "items"}
    beyond = [_beyond(row) for row in more[-2:]] if more else ["covered", "covered"]
    fewest = min(row.fewest for row in covered)
    lacking = _beyond(others["lacking"]) if "lacking" in others else "-"
    return [f"{fewest:,.0f}", _figure(worst), *beyond, lacking]


def _figure(row: Row) -> str:
    return f"{100 * row.success.value:.2f} ± {100 * row.success.margin:.2f} %"


def _beyond(row: Row) -> str:
    return f"{100 * row.alone.value:.1f} ± {100 * row.alone.margin:.1f} %; {_figure(row)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

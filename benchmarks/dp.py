"""What differential privacy keeps, beside disassociation and Apriori: the table of the docs.

    python -m benchmarks.dp [NAME ...] [--epsilon 0.1,0.5,1,2] [--targets]

Each release is made in a process of its own, which reports its CPU time and peak memory."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import setveil as sv
from benchmarks.data import REAL_DATA

NAMES = ("groceries", "bms-webview-2", "bms-webview-1", "retail", "msweb")
FIGURES = ("tkd", "re_top", "are", "pair_error_top")


def main() -> None:
    """Print a line for each data set and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--epsilon", default="0.1,0.5,1,2")
    parser.add_argument("--targets", action="store_true", help="only how many are found")
    parser.add_argument("--data", default=REAL_DATA, type=Path, help="the folder of the data")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        json.dump(measured(given.data, given.names[0], given.case), sys.stdout)
        return
    cases = [f"frequent:{epsilon}" for epsilon in given.epsilon.split(",")]
    if not given.targets:
        cases += ["diffpart:1", "disassociation", "apriori"]
    for name in given.names:
        for case in cases:
            run = [sys.executable, "-m", "benchmarks.dp", name, "--case", case]
            run += ["--data", str(given.data)]
            found = subprocess.run(run, capture_output=True, text=True, check=True)
            show(name, case, json.loads(found.stdout))


def show(name: str, case: str, found: dict[str, Any]) -> None:
    """One row of the table."""
    cells = [name, case.replace(":", ", epsilon = ")]
    cells += [f"{found[figure]:.3f}" for figure in FIGURES]
    cells += [f"{found['records']:,}"]
    cells += [found.get("items", ""), found.get("pairs", "")]
    cells += [f"{found['seconds']:.1f} s", f"{found['megabytes']:.0f} MB"]
    sys.stdout.write("| " + " | ".join(cells) + " |\n")
    sys.stdout.flush()


def measured(folder: Path, name: str, case: str) -> dict[str, Any]:
    """The figures of one release."""
    (path,) = folder.glob(f"{name}.*.gz")
    data = sv.read(path)
    before = resource.getrusage(resource.RUSAGE_SELF)
    release = released(data, case)
    after = resource.getrusage(resource.RUSAGE_SELF)
    found: dict[str, Any] = dict(sv.measure(release, data, list(FIGURES)))
    found["records"] = len(release)
    found["seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found["megabytes"] = after.ru_maxrss / 1024
    if isinstance(release, sv.Synthetic) and release.supports:
        found["items"], found["pairs"] = targets(release, data)
    return found


def released(data: sv.Transactions, case: str) -> Any:
    """A release by the method that a case names."""
    method, _, epsilon = case.partition(":")
    if method == "disassociation":
        return sv.Disassociation().anonymize(data, sv.KmAnonymity(k=5, m=2))
    tree = sv.Hierarchy.balanced(data.vocabulary, 5, public_items=True)
    if method == "apriori":
        return sv.Apriori().anonymize(data, sv.KmAnonymity(k=5, m=2), tree)
    promise = sv.DifferentialPrivacy(epsilon=float(epsilon))
    if method == "diffpart":
        tree = sv.Hierarchy.balanced(data.vocabulary, 10, public_items=True)
        return sv.DiffPart().anonymize(data, promise, tree)
    return sv.Frequent().anonymize(data, promise, domain=data.vocabulary)


def targets(release: sv.Synthetic, data: sv.Transactions) -> tuple[str, str]:
    """Of the 100 most frequent items and pairs, how many are published (pairs: among the first
    150), and their median error."""
    items = {one.items: one.support for one in release.supports if len(one.items) == 1}
    pairs = [one for one in release.supports if len(one.items) == 2]
    first = {one.items: one.support for one in sorted(pairs, key=lambda one: -one.support)[:150]}
    return _found(items, top_items(data)), _found(first, top_pairs(data))


def _found(published: dict[tuple[str, ...], int], top: Iterator[tuple[Any, int]]) -> str:
    errors = [abs(published[items] - count) / count for items, count in top if items in published]
    return f"{len(errors)} ({np.median(errors):.1%})" if errors else "0"


def top_items(data: sv.Transactions) -> Iterator[tuple[tuple[str, ...], int]]:
    """The 100 most frequent items."""
    supports = data.supports()
    for item in np.argsort(-supports, kind="stable")[:100].tolist():
        yield (data.vocabulary[item],), int(supports[item])


def top_pairs(data: sv.Transactions) -> Iterator[tuple[tuple[str, ...], int]]:
    """The 100 most frequent pairs, by a table of all pairs of the 600 most frequent items."""
    best = np.argsort(-data.supports(), kind="stable")[:600]
    place = np.full(len(data.vocabulary), -1)
    place[best] = np.arange(len(best))
    table = np.zeros((len(best), len(best)), dtype=np.int64)
    for number in range(len(data)):
        held = place[data.items[data.entries(number)]]
        held = held[held >= 0]
        if len(held) > 1:
            table[np.ix_(held, held)] += 1
    counts = np.triu(table, 1).ravel()
    for at in np.argsort(-counts, kind="stable")[:100].tolist():
        one, other = (data.vocabulary[int(best[place])] for place in divmod(at, len(best)))
        yield tuple(sorted((one, other))), int(counts[at])


if __name__ == "__main__":
    main()

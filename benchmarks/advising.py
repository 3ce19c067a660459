"""Is the advice right? What `advise` names beside the best of a full comparison.

    python -m benchmarks.advising [NAME ...]

For each data set and use, `advise` names a setting from trials. That setting and every method with
its defaults are then run on the whole data; and so is every setting that may be tuned of methods
whose defaults lose at most twice as much as the best. The table has the loss of what was advised,
the least loss of all, and their ratio: 1.00 means that nothing in the comparison was better. The
last column is the CPU time of `advise`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import setveil as sv
from benchmarks.data import REAL_DATA
from setveil.pipeline.advise import Advice
from setveil.pipeline.commands import method_options
from setveil.pipeline.trials import STILL_GOOD, USES, Way, judge_of, variants, ways_for

SETS: dict[str, dict[str, Any]] = {
    "groceries": {"file": "groceries.csv.gz", "tree": "groceries.hierarchy.csv"},
    "msweb": {"file": "msweb.csv.gz", "tree": "balanced:5"},
    "foodmart": {"file": "foodmart1997-baskets.csv.gz", "tree": "foodmart1997.hierarchy.csv"},
    "bms-webview-2": {"file": "bms-webview-2.dat.gz", "tree": "balanced:5"},
    "retail": {"file": "retail.dat.gz", "tree": "balanced:5"},
    "query log": {"log": True, "tree": "wordnet+unknown"},
}
K = 5
COLUMNS = ("data", "`--keep`", "advised", "its loss", "best of all", "its loss", "ratio", "CPU s")


def main(names: list[str]) -> None:
    """Print a line for each data set and use."""
    print(f"| {' | '.join(COLUMNS)} |")
    print("|" + "---|" * len(COLUMNS))
    for name in names or SETS:
        check(name, *_loaded(SETS[name]))


def check(name: str, data: Any, tree: Any, k: int = K) -> None:
    """Print a line for each use of some data."""
    fitted, losses = _tree(tree, data), dict[str, dict[str, float]]()
    for keep in USES:
        start = time.process_time()
        found = sv.advise(data, keep=keep, k=k, hierarchy=tree)
        took = time.process_time() - start
        for way in _compared(found, keep, losses, fitted is not None):
            if _words(way) not in losses:
                losses[_words(way)] = _losses(way, data, fitted)
        line = _line(name, keep, _words(found.best.way), losses)
        print(f"{line} {took:.0f} |", flush=True)


def _compared(found: Advice, keep: str, losses: dict[str, dict[str, float]], has_tree: bool) -> Any:
    """What the advice is compared with; asks for losses once the ways before were measured."""
    usual = ways_for(found.promise, has_tree=has_tree)
    yield from (found.best.way, *usual)
    best = min(losses[_words(way)][keep] for way in usual)
    for way in usual:
        if losses[_words(way)][keep] <= STILL_GOOD * best:
            yield from variants(way)


def _line(name: str, keep: str, own: str, losses: dict[str, dict[str, float]]) -> str:
    known = {words: found[keep] for words, found in losses.items()}
    best = min((own, *known), key=lambda words: known[words])
    ratio = known[own] / known[best] if known[best] else float(known[own] > 0) + 1
    cells = [name, keep, own, f"{known[own]:.2%}", best, f"{known[best]:.2%}", f"{ratio:.2f}"]
    return f"| {' | '.join(cells)} |"


def _losses(way: Way, data: Any, tree: Any) -> dict[str, float]:
    """What a setting loses on the whole data, by each use."""
    release = way.method.anonymize(data, way.promise, tree)
    return {keep: judge_of(use)(release, data) for keep, use in USES.items()}


def _words(way: Way) -> str:
    return " ".join(method_options(way.method.to_dict())[1:])


def _loaded(row: dict[str, Any]) -> tuple[Any, Any]:
    tree = row["tree"]
    if "log" in row:
        return _log(), tree
    return sv.read(REAL_DATA / row["file"]), str(REAL_DATA / tree) if tree.endswith(
        ".csv"
    ) else tree


def _log() -> Any:
    """The bags of a generated query log, one per session."""
    import tempfile

    from setveil.pipeline.generate import Target, querylog

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "log.tsv"
        querylog(Target(output=place), users=300, seed=1, shape="long-tail", queries=None)
        return sv.read_querylog(place, gap="30m", terms="nouns", seed=1)[0]


def _tree(tree: Any, data: Any) -> Any:
    from setveil.hierarchy.recipes import hierarchy_maker

    return hierarchy_maker(tree)(data)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Is the advice right? What `advise` names beside the best of a full comparison.

    python -m benchmarks.advising [NAME ...]

For each data set and use, `advise` names a setting from trials on samples. That setting, and every
method with its defaults, is then run on the whole data. The table has the loss of both, and their
ratio: 1.00 means that nothing in the comparison was better.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import setveil as sv
from setveil.pipeline.commands import method_options
from setveil.pipeline.trials import USES, Way, judge_of, ways_for

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS: dict[str, dict[str, Any]] = {
    "groceries": {"file": "groceries.csv.gz", "tree": "groceries.hierarchy.csv"},
    "msweb": {"file": "msweb.csv.gz", "tree": "balanced:5"},
    "foodmart": {"file": "foodmart1997-baskets.csv.gz", "tree": "foodmart1997.hierarchy.csv"},
    "bms-webview-2": {"file": "bms-webview-2.dat.gz", "tree": "balanced:5"},
    "retail": {"file": "retail.dat.gz", "tree": "balanced:5"},
    "query log": {"log": True, "tree": "wordnet+unknown"},
}
K = 5


def main(names: list[str]) -> None:
    """Print a line for each data set and use."""
    print("| data | `--keep` | advised | its loss | best of all | its loss | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name in names or SETS:
        data, tree = _loaded(SETS[name])
        fitted, losses = _tree(tree, data), dict[str, dict[str, float]]()
        for keep in USES:
            found = sv.advise(data, keep=keep, k=K, hierarchy=tree)
            for way in (found.best.way, *ways_for(found.promise, has_tree=True)):
                if _words(way) not in losses:
                    losses[_words(way)] = _losses(way, data, fitted)
            print(_line(name, keep, _words(found.best.way), losses), flush=True)


def _line(name: str, keep: str, own: str, losses: dict[str, dict[str, float]]) -> str:
    known = {words: found[keep] for words, found in losses.items()}
    best = min(known, key=lambda words: known[words])
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
    return sv.read(DATA / row["file"]), str(DATA / tree) if tree.endswith(".csv") else tree


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

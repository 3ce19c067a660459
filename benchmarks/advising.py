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
from setveil.pipeline.trials import USES, judge_of, ways_for

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
        for keep, use in USES.items():
            found = sv.advise(data, keep=keep, k=K, hierarchy=tree)
            judge = judge_of(use)
            fitted = _tree(tree, data)
            losses = {}
            ways = [found.best.way, *ways_for(found.promise, has_tree=True)]
            for way in ways:
                words = " ".join(_words(way))
                if words not in losses:
                    release = way.method.anonymize(data, way.promise, fitted)
                    losses[words] = judge(release, data)
            own = " ".join(_words(found.best.way))
            best = min(losses, key=lambda words: losses[words])
            ratio = losses[own] / losses[best] if losses[best] else 1.0
            cells = [name, keep, own, f"{losses[own]:.2%}", best, f"{losses[best]:.2%}"]
            print("|", " | ".join([*cells, f"{ratio:.2f}"]), "|", flush=True)


def _words(way: Any) -> list[str]:
    from setveil.pipeline.commands import method_options

    return method_options(way.method.to_dict())[1:]


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

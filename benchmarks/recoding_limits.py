"""How far Apriori and mHgHs are from the best cut at m = 2: `python -m benchmarks.recoding_limits`.

For m = 2 the best cut is the answer of an integer program: a node is published or not, at most one
node above each item (for Apriori exactly one), and no two nodes that 1 to k - 1 records share. The
solver returns the best answer it found and a bound that no answer beats; if both agree, it is the
optimum.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from benchmarks.data import REAL_DATA, balanced, real, with_own_tree
from benchmarks.partition_limits import OWN_TREES
from benchmarks.utility import FILES
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.recoding.onecut import Apriori, MHgHs
from setveil.metrics import measure
from setveil.promises import KmAnonymity

SMALL = ("groceries", "msweb")
"""Sets of few items: the program has up to one row for each pair of a node and an item, and with
500 items the solver no longer settles mHgHs in the time it has."""
SECONDS = 300.0


def limits(data: Transactions, tree: Hierarchy, k: int, *, suppress: bool) -> tuple[float, float]:
    """The loss of the best cut that the solver found, and a bound on that of any cut."""
    leaves = tree.leaf_numbers(data.vocabulary)[data.items]
    occurrences = np.bincount(leaves, minlength=tree.leaf_count)
    inside = np.arange(tree.leaf_count)[:, None]
    above = (tree.first <= inside) & (inside < tree.stop)
    shared = _shared(data, leaves, above)
    penalty = np.where(tree.widths == 1, 0, tree.widths) / tree.leaf_count
    worth = (above * occurrences[:, None]).sum(axis=0) * (1 - penalty)
    support = np.diag(shared)
    may_show = (support >= k) | (support == 0)
    paths = [np.flatnonzero(above[leaf]) for leaf in np.flatnonzero(occurrences)]
    rows = list(_conflicts((shared > 0) & (shared < k), may_show, above, paths))
    least = 0 if suppress else 1
    constraints = [LinearConstraint(_matrix(paths, len(tree)), least, 1)]
    if rows:
        constraints.append(LinearConstraint(_matrix(rows, len(tree)), -np.inf, 1))
    found = milp(
        -worth,
        integrality=np.ones(len(tree)),
        bounds=Bounds(0, may_show.astype(float)),
        constraints=constraints,
        options={"time_limit": SECONDS},
    )
    whole = occurrences.sum()
    best = np.nan if found.x is None else 1 - worth @ np.round(found.x) / whole
    bound = np.nan if found.mip_dual_bound is None else 1 + found.mip_dual_bound / whole
    return float(best), float(bound)


def _shared(data: Transactions, leaves: Any, above: Any) -> Any:
    """How many records each two nodes share."""
    size = (len(data), above.shape[0])
    records = csr_matrix((np.ones(len(leaves)), (data.rows, leaves)), shape=size)
    shown = records @ csr_matrix(above.astype(float))
    shown.data[:] = 1
    return (shown.T @ shown).toarray().astype(np.int64)


def _conflicts(
    rare: Any, may_show: Any, above: Any, paths: Sequence[Any]
) -> Iterator[tuple[int, ...]]:
    """Sets of nodes of which at most one may be published: a node, and those above one item that
    too few records share with it. That is stronger than one row for each pair."""
    related = (above.T.astype(np.int64) @ above) > 0
    rare = rare & ~related & may_show & may_show[:, None]
    seen = set()
    for node in np.flatnonzero(may_show).tolist():
        for path in paths:
            row = (node, *path[rare[node, path]].tolist())
            if len(row) > 1 and row not in seen:
                seen.add(row)
                yield row


def _matrix(rows: Sequence[Sequence[int]], width: int) -> Any:
    edges = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate([np.asarray(row) for row in rows])
    return csr_matrix((np.ones(len(columns)), columns, edges), shape=(len(rows), width))


def main(names: Sequence[str]) -> int:
    """Print a row for each data set, k and method."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print("| data | k | method | ncp | best cut found by the solver | no cut below |")
    print("|---|---|---|---|---|---|")
    for name in names or SMALL:
        file, tree_file = FILES[name], OWN_TREES.get(name)
        data, tree = with_own_tree(file, tree_file) if tree_file else balanced(real(file))
        for k in (5, 10, 25):
            for method in (Apriori(), MHgHs()):
                release = method.anonymize(data, KmAnonymity(k=k, m=2), tree)
                own = measure(release, data, ["ncp"])["ncp"]
                figures = (own, *limits(data, tree, k, suppress=method.name == "mhghs"))
                cells = " | ".join(f"{100 * figure:.2f} %" for figure in figures)
                print(f"| {name} | {k} | {method.name} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How far Suppression is from the fewest occurrences: `python -m benchmarks.suppression_limits`.

Suppressing the items of least loss that hit every minimal mole is an integer program. The solver
returns the best answer it found and a bound that no answer beats; if both agree, it is the optimum.
A random fifth of the items is public, as in `benchmarks.distortion`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from benchmarks.coherence import private_items
from benchmarks.data import REAL_DATA, real
from benchmarks.distortion import DATA
from setveil.data.transactions import Transactions
from setveil.methods.suppression import Suppression
from setveil.methods.suppression.method import losses_of
from setveil.methods.suppression.moles import Setting, find_moles
from setveil.promises import Coherence

SECONDS = 120.0


def limits(data: Transactions, promise: Coherence, min_support: float) -> tuple[float, ...]:
    """The share of occurrences that the default and `search` suppress, the best answer of the
    solver, and a bound on any."""
    setting, losses = Setting.of(data, promise), losses_of(data, "occurrences")
    rare = Suppression(min_support=min_support).rare(data)
    moles = find_moles(setting.without(rare))
    shape = (len(moles), len(losses))
    hits = csr_matrix((np.ones(len(moles.items)), moles.items, moles.indptr), shape=shape)
    found = milp(
        losses,
        integrality=np.ones(len(losses)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(hits, 1, np.inf),
        options={"time_limit": SECONDS},
    )
    first = losses[rare].sum()
    ways = (Suppression(min_support=min_support), Suppression(min_support=min_support, search=True))
    own = [losses[way.suppressed(setting)].sum() for way in ways]
    figures = [*own, found.fun + first, found.mip_dual_bound + first]
    return tuple(float(figure / data.occurrences) for figure in figures)


def main(names: Sequence[str]) -> int:
    """Print a row for each data set, k and p."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    print("| data | k | p | default | `--search` | best found by the solver | none below |")
    print("|---|---|---|---|---|---|---|")
    for name in names or DATA:
        file, min_support = DATA[name]
        data = real(file)
        for k, p in ((5, 2), (20, 2), (5, 3), (20, 3)):
            promise = Coherence(h=0.6, k=k, p=p, private=private_items(data, 0.2, seed=0))
            cells = " | ".join(f"{100 * x:.2f} %" for x in limits(data, promise, min_support))
            print(f"| {name} | {k} | {p} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

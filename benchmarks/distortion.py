"""What each score of Suppression loses on real data: `python -m benchmarks.distortion`.

A random part of the items is public and all others are private; the numbers are averages over five
such parts. Every release is verified.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from benchmarks.coherence import private_items
from benchmarks.data import real
from setveil.audit import verify
from setveil.data.transactions import Transactions
from setveil.methods.suppression import Suppression
from setveil.metrics import measure
from setveil.promises import Coherence

DATA: Mapping[str, tuple[str, float]] = {
    "msweb": ("msweb.csv.gz", 0.0),
    "retail": ("retail.dat.gz", 0.001),
    "T10I4D100K": ("T10I4D100K.dat.gz", 0.0),
}
"""The file, and the share of the records below which items are removed first (`min_support`)."""
WAYS: Mapping[str, Mapping[str, object]] = {
    "rmall": {"score": "rmall"},
    "mm": {"score": "mm", "restore": False},
    "1/il": {"score": "1/il", "restore": False},
    "mm/il": {"restore": False},
    "mm/il, restored": {},
    "search": {"search": True},
}
CHOICES = range(5)


def settings() -> Iterator[tuple[str, float, int, int]]:
    """Each data set, share of public items, k and p."""
    yield from product(DATA, (0.15, 0.2, 0.4), (5, 20, 100), (2, 3, 4, 5))


def distortions(data: Transactions, promise: Coherence, min_support: float) -> list[float]:
    """The share of the occurrences that each way suppresses."""
    found = []
    for options in WAYS.values():
        release = Suppression(min_support=min_support, **options).anonymize(data, promise)  # type: ignore[arg-type]
        verdict = verify(release, data)
        assert verdict.holds, verdict
        found.append(float(measure(release, data, ["distortion"])["distortion"]))
    return found


def averages(data: Transactions, public: float, k: int, p: int, min_support: float) -> list[float]:
    """The same, averaged over the choices of public items."""
    rows = [
        distortions(
            data,
            Coherence(h=0.6, k=k, p=p, private=private_items(data, public, seed=seed)),
            min_support,
        )
        for seed in CHOICES
    ]
    return [sum(column) / len(column) for column in zip(*rows, strict=True)]


def main(names: Sequence[str]) -> None:
    """Print one line for each setting, of the data sets that are named or of all."""
    print(f"| data | public | k | p | {' | '.join(WAYS)} |")
    print("|" + "---|" * (len(WAYS) + 4))
    data = {name: real(file) for name, (file, _) in DATA.items() if not names or name in names}
    for name, public, k, p in settings():
        if name in data:
            row = averages(data[name], public, k, p, DATA[name][1])
            shares = " | ".join(f"{100 * share:.3f}" for share in row)
            print(f"| {name} | {public:.0%} | {k} | {p} | {shares} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

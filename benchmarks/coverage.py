"""How often the intervals of private supports contain the true number: the table of the docs.

    python -m benchmarks.coverage [--runs 20] [--epsilon 1] [--data FOLDER]

Five shapes of made data, with short and with long records; or the data sets of a folder."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import mean, median

import numpy as np

import setveil as sv
from setveil.methods.noise import Noise, SystemNoise

SHAPES: dict[str, tuple[int, int, int, int]] = {
    "36,000 of 1 to 4 of 200": (36_000, 200, 4, 0),
    "20,000 of 1 to 3 of 100": (20_000, 100, 3, 0),
    "36,000 of about 8 of 300": (36_000, 300, 0, 8),
    "6,000 of about 30 of 500": (6_000, 500, 0, 30),
    "943 of about 100 of 1,600": (943, 1_600, 0, 100),
}
"""Records of so many items of a list: the number of records, the length of the list, and the
greatest length of a record, or else the mean."""
SHORT = tuple(SHAPES)[:2]


@dataclass
class Coverage:
    """How often the intervals of several releases contain the truth."""

    cut: list[bool] = field(default_factory=list)
    """The counts of the records that were cut."""
    original: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    """How many times as wide as that of the noise alone the interval of the original is."""

    def cells(self) -> list[str]:
        """The cells of a row of the table."""
        if not self.original:
            return ["0", "", "", ""]
        shares = [f"{mean(part):.1%}" for part in (self.cut, self.original)]
        return [f"{len(self.original):,}", *shares, f"{median(self.widths):.1f}"]


class Watched:
    """Remembers what was counted, and with what result."""

    def __init__(self, noise: Noise) -> None:
        self.noise = noise
        self.seen: list[tuple[list[int], list[int]]] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.noise, name)

    def laplace(self, counts: np.ndarray, scale: float) -> np.ndarray:
        """As the noise does it."""
        noisy = self.noise.laplace(counts, scale)
        self.seen.append((counts.tolist(), noisy.tolist()))
        return noisy

    def cut_supports(self, labels: tuple[str, ...], paired: int) -> dict[tuple[str, ...], int]:
        """The exact counts of items and pairs in the records that were cut."""
        (items, noisy), *rest = self.seen[3:]
        known = {(label,): count for label, count in zip(labels, items, strict=False)}
        best = sorted(range(len(labels)), key=lambda item: -noisy[item])[:paired]
        for counts, _ in rest:
            pairs = combinations([labels[item] for item in best], 2)
            known |= {tuple(sorted(two)): count for two, count in zip(pairs, counts, strict=False)}
        return known


def shape(name: str, seed: int, share: float = 1.0) -> sv.Transactions:
    """Data of a shape: few items are frequent, and those of a group are often together."""
    size, items, longest, usual = SHAPES[name]
    random, size = np.random.default_rng(seed), int(size * share)
    if longest:
        lengths = random.integers(1, longest + 1, size)
    else:
        lengths = 1 + random.negative_binomial(3, 3 / (2 + usual), size)
    weights, group = 1 / np.arange(5, items + 5), np.arange(items) % 7
    rows = []
    for length in np.minimum(lengths, items // 2).tolist():
        liked = np.where(group == random.integers(7), 6.0, 1.0) * weights
        rows.append(random.choice(items, length, replace=False, p=liked / liked.sum()).tolist())
    return sv.Transactions.of(rows)


def coverage(
    data: sv.Transactions, epsilon: float, runs: int, noise: Noise | None = None
) -> dict[int, Coverage]:
    """For items (1) and pairs (2): how often intervals contain the true support."""
    found, known = {1: Coverage(), 2: Coverage()}, dict[tuple[str, ...], int]()
    method, promise = sv.Frequent(), sv.DifferentialPrivacy(epsilon=epsilon)
    for _ in range(runs):
        watched = Watched(noise or SystemNoise())
        release = method.anonymize(data, promise, domain=data.vocabulary, noise=watched)
        cut = watched.cut_supports(data.vocabulary.labels, method.paired)
        for one in release.supports:
            if one.items not in known:
                known[one.items] = data.support(one.items)
            into, held = found[len(one.items)], release.support(one.items)
            least, most = release.counted_support(one.items)
            into.cut.append(least <= cut[one.items] <= most)
            into.original.append(held.lower <= known[one.items] <= held.upper)
            into.widths.append((held.upper - held.lower) / (2 * one.scale * np.log(20)))
    return found


def main() -> None:
    """Print a line for each shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--data", type=Path, help="a folder of data sets, instead of made data")
    parser.add_argument("names", nargs="*", help="only these data sets of the folder")
    given = parser.parse_args()
    for name in SHAPES if given.data is None else given.names:
        if given.data is None:
            data = shape(name, 1)
        else:
            (path,) = given.data.glob(f"{name}.*.gz")
            data = sv.read(path)
        found = coverage(data, given.epsilon, given.runs)
        cells = [name, *found[1].cells(), *found[2].cells()]
        sys.stdout.write("| " + " | ".join(cells) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

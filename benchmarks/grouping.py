"""What Disassociation's default gains over small clusters, as a table: `python -m
benchmarks.grouping [--quick] [m [DATA...]]`; `--quick` takes k = 5 and one seed only."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from benchmarks.data import REAL_DATA, real
from benchmarks.utility import EQUAL, FILES, MARKS
from setveil.data.transactions import Transactions
from setveil.methods.disassociation import Disassociation
from setveil.metrics import measure
from setveil.promises import KmAnonymity

METRICS = ["pair_error", "pair_error_top", "tkd", "tkd_a", "re", "re_top", "tlost"]
KS, SEEDS, WORLDS = (2, 5, 10, 25), 4, 3
Losses = dict[str, list[float]]


def losses(data: Transactions, promise: KmAnonymity, seeds: int, **options: Any) -> Losses:
    """Each metric, for each seed the average over some reconstructions; and the CPU seconds of the
    method, the least of two runs."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        release = Disassociation(**options).anonymize(data, promise)
        seconds.append(time.process_time() - start)
    found = [
        measure(release, data, METRICS, seed=seed, reconstructions=WORLDS) for seed in range(seeds)
    ]
    return {m: [float(each[m]) for each in found] for m in METRICS} | {"seconds": [min(seconds)]}


def error_of(values: Sequence[float]) -> float:
    """The standard error of an average over seeds."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def compare(small: Sequence[float], own: Sequence[float]) -> str:
    """Whether the default is better, equal or worse than small clusters."""
    gain = fmean(small) - fmean(own)
    if abs(gain) <= max(EQUAL, 2 * (error_of(small) ** 2 + error_of(own) ** 2) ** 0.5):
        return "equal"
    return "better" if gain > 0 else "worse"


def row_of(name: str, k: int, pair: tuple[Losses, Losses], counts: Counter[tuple[str, str]]) -> str:
    cells = []
    for metric in METRICS:
        small, own = (side[metric] for side in pair)
        verdict = compare(small, own)
        counts[metric, verdict] += 1
        spread = max(error_of(small), error_of(own))
        text = f"{fmean(small):.3f} / {fmean(own):.3f}"
        cells.append(text + (f" ±{spread:.3f}" if spread >= 0.0005 else "") + MARKS[verdict])
    small_time, own_time = (side["seconds"][0] for side in pair)
    cells.append(f"{small_time:.3f} / {own_time:.3f}")
    return f"| {name} | {k} | {' | '.join(cells)} |"


def print_summary(pairs: Sequence[tuple[Losses, Losses]], counts: Counter[tuple[str, str]]) -> None:
    """The averages over all rows, with their standard errors; how much these differ, and how much
    the two figures of a row differ on average; and the rows better and worse."""
    for metric in METRICS:
        means, errors = [], []
        sides = [(fmean(small[metric]), fmean(own[metric])) for small, own in pairs]
        typical = fmean(own / small - 1 if small else 0.0 for small, own in sides)
        for side in (0, 1):
            rows = [pair[side][metric] for pair in pairs]
            means.append(fmean(fmean(row) for row in rows))
            errors.append(sum(error_of(row) ** 2 for row in rows) ** 0.5 / len(rows))
        change = means[1] / means[0] - 1 if means[0] else 0.0
        text = f"{metric}: {means[0]:.3f} ±{errors[0]:.4f} / {means[1]:.3f} ±{errors[1]:.4f}"
        verdicts = ", ".join(f"{verdict} {counts[metric, verdict]}" for verdict in MARKS)
        print(f"{text} ({change:+.0%}; {typical:+.0%} in a row); rows {verdicts}")
    times = [pair[1]["seconds"][0] / pair[0]["seconds"][0] for pair in pairs]
    print(
        f"time: {fmean(times):.1f} times that of small clusters on average; most {max(times):.1f}"
    )


def main(words: Sequence[str]) -> int:
    """Print one row for each data set and k, small clusters / the default; then the averages.

    The figure after ± is the larger standard error of both; a `+` marks where the default is
    better and a `!` where it is worse, by more than 0.01 and two standard errors."""
    if not REAL_DATA.is_dir():
        sys.exit("the real data (../shared/data) is absent")
    quick, words = "--quick" in words, [word for word in words if word != "--quick"]
    m, seeds = int(words[0]) if words else 2, 1 if quick else SEEDS
    print(f"| data | k | {' | '.join([*METRICS, 'seconds'])} |")
    print("|---|---|" + "---|" * (len(METRICS) + 1))
    pairs, counts = [], Counter[tuple[str, str]]()
    for name in words[1:] or FILES:
        data = real(FILES[name])
        for k in (5,) if quick else KS:
            promise = KmAnonymity(k=k, m=m)
            pair = (
                losses(data, promise, seeds, arrangement="small"),
                losses(data, promise, seeds),
            )
            print(row_of(name, k, pair, counts), flush=True)
            pairs.append(pair)
    print_summary(pairs, counts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

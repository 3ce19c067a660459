"""Measure: several losses of one release at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.metrics.generalization import published_occurrences
from setveil.metrics.table import BY_NODE, METRICS, SEEDED
from setveil.published.alignment import align, over_whole_tree
from setveil.published.generalized import Generalized


def measure(
    release: Generalized, original: Transactions, names: Iterable[str] | None = None, *, seed: int = 0
) -> dict[str, float | dict[str, float]]:
    """What the release lost against its original, by the names of `METRICS`.

    A release right after `anonymize` knows which record stands for whom, and the losses are exact. One that was read from disk does not;
    it is matched with the original first (`setveil.published.alignment.align`), and where several assignments are possible the losses
    of sets are those of one of them (class sizes, `are` and all losses of bags do not depend on it).

    Args:
        release: The release.
        original: The data it was made from.
        names: Which losses; all when not given.
        seed: For the queries of `are`.

    Raises:
        MisfitError: when the release cannot stem from this original.
    """
    chosen = list(METRICS) if names is None else list(names)
    for name in chosen:
        if name not in METRICS:
            raise ParameterError("metric", name, f"it must be one of {', '.join(METRICS)}")
    release = over_whole_tree(release, original)
    release = replace(release, alignment=align(release, original))
    published = published_occurrences(release, original) if BY_NODE.intersection(chosen) else None
    losses: dict[str, float | dict[str, float]] = {}
    for name in chosen:
        options = {"seed": seed} if name in SEEDED else {"published": published} if name in BY_NODE else {}
        losses[name] = METRICS[name](release, original, **options)
    return losses

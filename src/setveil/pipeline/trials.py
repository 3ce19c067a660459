"""Trials: quick runs on a sample, to see which way to anonymize suits the data and its use.

`advise`, `anonymize --tune` and the advice after a poor release all use these trials; the first two
by a `Search`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.errors import Note, ParameterError, SetveilError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS, Method
from setveil.metrics import measure
from setveil.metrics.usefulness import Usefulness, usefulness
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.words import share


class Use(NamedTuple):
    """What a release is needed for, and the measure of how well it serves."""

    name: str
    measure: str
    about: str


USES = {
    use.name: use
    for use in (
        Use("items", "item_error", "how many records have each item"),
        Use("counts", "are", "how many records have 1 to 3 given items"),
        Use("associations", "pair_error", "which items occur together"),
    )
}
"""What `--keep` and `--tune` may ask for."""

DRAWS = 5
"""Over how many draws of noise a loss is averaged, so that no lucky draw is preferred."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """A method with its parameters, under a promise."""

    method: Method[Release]
    promise: Promise
    options: str = ""
    """What a user must say to get it, with parameters in braces."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What a way gave on a sample."""

    way: Way
    records: int
    loss: float | None = None
    """By the measure of the use; None if there is no release."""
    useful: Usefulness | None = None
    reason: str = ""
    """Why there is no release."""
    seconds: float = 0.0


Judge = Callable[[Release, Transactions], float]


def use_named(name: str) -> Use:
    """The use with this name."""
    if name not in USES:
        raise ParameterError("keep", name, f"choose one of {', '.join(USES)}")
    return USES[name]


def judge_of(use: Use, seed: int = 0) -> Judge:
    """Measures how much a release has lost for a use."""

    def judge(release: Release, data: Transactions) -> float:
        return float(measure(release, data, use.measure, seed=seed)[use.measure])  # type: ignore[arg-type]

    return judge


def ways_for(promise: Promise, *, has_tree: bool) -> list[Way]:
    """Every method that keeps a promise, with its defaults."""
    additions = {type(part) for part in promise.parts} - {type(promise)}
    return [
        Way(method=kind(), promise=promise, options=f"{{method={name}}}")
        for name, kind in METHODS.items()
        if type(promise) in kind.promises
        and additions <= {*kind.additions}
        and (has_tree or not kind.needs_hierarchy)
    ]


def sample_of(data: Transactions, size: int, seed: int = 0) -> Transactions:
    """So many records, drawn at random; all if there are no more."""
    if size >= len(data):
        return data
    chosen = np.random.default_rng(seed).choice(len(data), size, replace=False)
    return data.take(np.sort(chosen))


def try_way(
    way: Way,
    sample: Transactions,
    tree: Hierarchy | None,
    judge: Judge | None = None,
    threads: int | None = None,
) -> Trial:
    """What a way gives on a sample; with no judge, how useful the release is."""
    start, draws = time.perf_counter(), DRAWS if way.method.draws_noise and judge else 1
    how: Any = {"engine": Local(threads), **_public(way, sample, tree)}
    try:
        made = [way.method.anonymize(sample, way.promise, tree, **how) for _ in range(draws)]
    except SetveilError as error:
        return Trial(way=way, records=len(sample), reason=str(error))
    found: Any = {"useful": usefulness(made[0], sample)}
    if judge is not None:
        found = {"loss": fmean(judge(release, sample) for release in made)}
    took = (time.perf_counter() - start) / draws
    return Trial(way=way, records=len(sample), seconds=took, **found)


def _public(way: Way, sample: Transactions, tree: Hierarchy | None) -> dict[str, Any]:
    """Nothing of a trial is published, so the list of items may be taken as public."""
    if not way.method.draws_noise or not way.method.needs_public_items(way.promise):
        return {}
    leaves = sample.vocabulary.labels if tree is None else tree.labels[: tree.leaf_count]
    return {"domain": leaves}


def tuning_notes(trials: Sequence[Trial], method: Method[Release], use: Use) -> tuple[str, ...]:
    """What tuning has changed, or why it has changed nothing."""
    best, first = trials[0], next(t for t in trials if t.way.method == method)
    if not method.tunes:
        return (f"The method {method.name} has no parameters to tune.",)
    if best.loss is None or first.loss is None:
        return ()
    tried = f"in {len(trials)} trials with {best.records:,} records"
    if best is first:
        return (f"Tuned for {use.name}: the parameters stay as they are, {tried}.",)
    changed = (
        f"{{{name}={getattr(best.way.method, name)}}}"
        for name in method.tunes
        if getattr(best.way.method, name) != getattr(method, name)
    )
    better = f"{use.measure} {share(best.loss)} instead of {share(first.loss)}"
    return (Note(f"Tuned for {use.name}: {' '.join(changed)}, {better} {tried}."),)

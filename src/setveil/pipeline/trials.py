"""Trials: quick runs on a sample, to see which way to anonymize suits the data and its use.

`advise`, `anonymize --tune` and the advice after a poor release all use these trials."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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

ROUNDS = (4_000, 20_000)
"""How many records the trials of each round use."""
ROUNDS_OF_BAGS = (1_000, 4_000)
"""The same if bags are compared with each other, which takes longer."""
STILL_GOOD = 2.0
"""A way stays for the next round if it loses at most this many times as much as the best."""


class Use(NamedTuple):
    """What a release is needed for, and the measure of how well it serves."""

    name: str
    measure: str
    about: str


USES = {
    use.name: use
    for use in (
        Use("items", "item_error", "how many people have each item"),
        Use("counts", "are", "how many people have 1 to 3 given items"),
        Use("associations", "pair_error", "which items occur together"),
    )
}
"""What `--keep` and `--tune` may ask for."""


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
    start = time.perf_counter()
    try:
        release = way.method.anonymize(sample, way.promise, tree, engine=Local(threads))
    except SetveilError as error:
        return Trial(way=way, records=len(sample), reason=str(error))
    found: Any = {"useful": usefulness(release, sample)}
    if judge is not None:
        found = {"loss": judge(release, sample)}
    took = time.perf_counter() - start
    return Trial(way=way, records=len(sample), seconds=took, **found)


def rounds(
    ways: Sequence[Way],
    data: Transactions,
    tree: Hierarchy | None,
    judge: Judge,
    *,
    seed: int = 0,
    threads: int | None = None,
    said: Callable[[Way], None] = lambda way: None,
) -> list[Trial]:
    """The last trial of each way, the least loss first, then those without a release.

    All ways are tried on a small sample, and those that are still good on a larger one: what is
    best for few records need not be best for many.
    """
    latest: dict[int, Trial] = {}
    alive = list(range(len(ways)))
    for size in _sizes(ways, len(data)):
        sample = sample_of(data, size, seed)
        for at in alive:
            said(ways[at])
            latest[at] = try_way(ways[at], sample, tree, judge, threads)
        losses = [at for at in alive if latest[at].loss is not None]
        best = min((latest[at] for at in losses), key=_rank, default=None)
        alive = [at for at in losses if best is not None and is_near(latest[at], best)]
        if len(alive) < 2:
            break
    return sorted(latest.values(), key=_rank)


def is_near(trial: Trial, best: Trial) -> bool:
    """Whether a way is still good beside the best."""
    if trial.loss is None or best.loss is None or trial.records != best.records:
        return False
    return trial.loss <= STILL_GOOD * best.loss


def tuned(
    way: Way, data: Transactions, tree: Hierarchy | None, judge: Judge, **how: Any
) -> list[Trial]:
    """Trials of a method with other parameters, the best first; the first is never worse than the
    way itself.

    One parameter after the other is changed, and each keeps its best value.
    """
    settled, seed = dict(how.pop("settled", {})), how.pop("seed", 0)
    sample = sample_of(data, _sizes([way], len(data))[-1], seed)
    best = try_way(way, sample, tree, judge, **how)
    found = [best]
    for name, values in way.method.tunes.items():
        if name in settled:
            continue
        now = best.way
        for value in values:
            if value == getattr(now.method, name):
                continue
            try:
                changed = replace(now, method=replace(now.method, **{name: value}))
            except ParameterError:  # this value needs another parameter
                continue
            trial = try_way(changed, sample, tree, judge, **how)
            found.append(trial)
            best = min(best, trial, key=_rank)
    return [best, *(trial for trial in sorted(found, key=_rank) if trial is not best)]


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


def _rank(trial: Trial) -> tuple[int, float, float]:
    """Larger samples first, then less loss."""
    return (-trial.records, 2.0, 0.0) if trial.loss is None else (-trial.records, 1.0, trial.loss)


def _sizes(ways: Sequence[Way], records: int) -> list[int]:
    """The sizes of the samples; the last is all data if that is not much more."""
    counts = any(way.promise.covers_counts for way in ways)
    sizes = [min(size, records) for size in (ROUNDS_OF_BAGS if counts else ROUNDS)]
    return sorted(set(sizes))

"""Trials: quick runs on a sample, to see which way to anonymize suits the data and its use; and the
search among them for the way that loses least.

What is best for few records need not be best for many: k records with the same items are easier to
find among many, and some methods profit from that more than others. So every round compares fewer
ways on more records, and the last one uses all records if that is affordable. What is affordable is
a number of occurrences, never a time, so the same data gives the same answer on any machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
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
from setveil.pipeline.names import keeps
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
    return [
        Way(method=kind(), promise=promise, options=f"{{method={name}}}")
        for name, kind in METHODS.items()
        if keeps(kind, promise) and (has_tree or not kind.needs_hierarchy)
    ]


def sample_of(data: Transactions, size: int, seed: int = 0) -> Transactions:
    """Records drawn at random; all if there are no more than `size`."""
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


ROUNDS = (4_000, 20_000)
"""How many records the trials of each round use."""
ROUNDS_OF_BAGS = (1_000, 4_000)
"""The same if bags are compared with each other, which takes longer."""
NOT_MUCH_MORE = 1.25
"""A round uses all records if there are at most this many times as many."""
STILL_GOOD = 2.0
"""A way stays for the next round if it loses at most this many times as much as the best."""
CLOSE = 1.5
"""The same for the final, which takes longest."""
FINALISTS = 4
"""How many ways are in the final, besides the usual ones of their methods."""
AFFORDABLE = 2_000_000
"""How many occurrences the records of the final may have."""
AFFORDABLE_OF_BAGS = 200_000
"""The same if bags are compared with each other."""
CLEARLY = 0.02
"""Other parameters than the usual ones must lose less by this share. Smaller differences are
chance, because most losses are measured on one reconstruction."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """What to try ways on, and how to judge them."""

    data: Transactions
    tree: Hierarchy | None
    judge: Judge
    seed: int = 0
    threads: int | None = None
    said: Callable[[Way], None] = lambda way: None
    """Is called with each way before it is tried."""
    _known: dict[tuple[Way, int], Trial] = field(default_factory=dict, repr=False)

    def rounds(self, ways: Sequence[Way]) -> list[Trial]:
        """The last trial of each way, the best first, then those without a release.

        All ways are tried on a small sample, and those that are still good on a larger one."""
        latest: dict[Way, Trial] = {}
        alive = list(ways)
        for size in self._sizes(ways):
            latest |= {way: self.trial(way, size) for way in alive}
            best = min((latest[way] for way in alive), key=rank, default=None)
            alive = [way for way in alive if best and is_near(latest[way], best, STILL_GOOD)]
            if len(alive) < 2:
                break
        return sorted(latest.values(), key=rank)

    def tune(self, way: Way, settled: Collection[str] = ()) -> list[Trial]:
        """Trials of a method with all values of its parameters that may be tuned, the best first;
        those in `settled` stay as they are."""
        size = self._sizes([way])[-1]
        return sorted((self.trial(each, size) for each in variants(way, settled)), key=rank)

    def final(self, found: Sequence[Trial], usual: Sequence[Way]) -> list[Trial]:
        """The trials, with those of the finalists on as many records as is affordable; the way to
        choose is first.

        The usual parameters of a method are a finalist if others are: the defaults were chosen on
        much data, and often catch up on more records."""
        best, size = min(found, key=rank), self._most(found)
        close = [trial for trial in found if is_near(trial, best, CLOSE)][:FINALISTS]
        names = {trial.way.method.name for trial in close}
        known = [t for t in found if t.way in usual and t.way.method.name in names]
        chosen = [*close, *(trial for trial in known if trial not in close)]
        if len(chosen) < 2 or size <= best.records:
            return _settled(sorted(found, key=rank), usual)
        again = [self.trial(trial.way, size) for trial in chosen]
        others = [trial for trial in found if trial not in chosen]
        return _settled(sorted([*again, *others], key=rank), usual)

    def trial(self, way: Way, size: int) -> Trial:
        """What a way gives on a sample of this size; each is tried once."""
        if (way, size) not in self._known:
            self.said(way)
            sample = sample_of(self.data, size, self.seed)
            found = try_way(way, sample, self.tree, self.judge, self.threads)
            self._known[way, size] = found
        return self._known[way, size]

    def _sizes(self, ways: Sequence[Way]) -> list[int]:
        """The sizes of the samples; the last is all data if that is not much more."""
        records, sizes = len(self.data), ROUNDS_OF_BAGS if _are_slow(ways) else ROUNDS
        found = [size for size in sizes if NOT_MUCH_MORE * size < records]
        return found if len(found) == len(sizes) else [*found, records]

    def _most(self, trials: Sequence[Trial]) -> int:
        """How many records of the data are affordable in the final."""
        slow = _are_slow([trial.way for trial in trials])
        most = AFFORDABLE_OF_BAGS if slow else AFFORDABLE
        records, occurrences = len(self.data), self.data.occurrences
        return records if occurrences <= most else records * most // occurrences


def variants(way: Way, settled: Collection[str] = ()) -> Iterator[Way]:
    """The way itself, and with every combination of the values to try."""
    yield way
    tunes = {name: values for name, values in way.method.tunes.items() if name not in settled}
    for values in product(*tunes.values()):
        changed: dict[str, Any] = dict(zip(tunes, values, strict=True))
        try:
            other = replace(way, method=replace(way.method, **changed))
        except ParameterError:  # these values cannot be combined
            continue
        if other != way:
            yield other


def rank(trial: Trial) -> tuple[bool, int, float]:
    """For sorting: trials with a release first, then those on more records, then less loss."""
    return (True, 0, 0.0) if trial.loss is None else (False, -trial.records, trial.loss)


def is_near(trial: Trial, best: Trial, factor: float) -> bool:
    """Whether a way loses at most `factor` times as much as the best, on as many records."""
    if trial.loss is None or best.loss is None or trial.records != best.records:
        return False
    return trial.loss <= factor * best.loss


def _settled(trials: list[Trial], usual: Sequence[Way]) -> list[Trial]:
    """Sorted trials with the one to choose first: that of the usual parameters, unless others of
    the same method are clearly better."""
    best = trials[0]
    for trial in trials:
        same = trial.way.method.name == best.way.method.name and trial.way in usual
        if same and is_near(trial, best, 1 / (1 - CLEARLY)):
            return [trial, *(each for each in trials if each is not trial)]
    return trials


def _are_slow(ways: Sequence[Way]) -> bool:
    return any(way.promise.covers_counts for way in ways)

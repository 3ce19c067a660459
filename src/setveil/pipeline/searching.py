"""Search: which of several ways to anonymize loses least, by trials on more and more records.

What is best for few records need not be best for many: k records with the same items are easier to
find among many, and some methods profit from that more than others. So every round compares fewer
ways on more records, and the last one uses all records if that is affordable. What is affordable is
a number of occurrences, never a time, so the same data gives the same answer on any machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.pipeline.trials import Judge, Trial, Way, sample_of, try_way

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

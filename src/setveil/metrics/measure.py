"""Measure: several figures of one release at once."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from inspect import signature
from threading import Lock
from typing import Any

from setveil.alignment.align import align, aligned, check_size, over_whole_tree, semantic_tree
from setveil.alignment.merging import covered
from setveil.data.arrays import Int64s, random_from
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.itemsets import Remembering
from setveil.metrics.queries import drawn_queries
from setveil.metrics.state import Count, State, Worlds, draw_worlds
from setveil.metrics.table import METRICS, NEEDS, Figure, within
from setveil.published.release import Release
from setveil.threads import on_threads

Losses = dict[str, Figure]


def measure(
    release: Release,
    original: object,
    names: Iterable[str] | str | None = None,
    *,
    seed: int = 0,
    reconstructions: int = 1,
    hierarchy: Hierarchy | None = None,
    verified: bool = False,
) -> Losses:
    """What the release lost against its original, by the names of `METRICS`.

    A release right after `anonymize` knows which published record belongs to whom, and the figures
    are exact. One that was read from disk does not. It is then paired with the original first, and
    if there are several ways to do that, figures that depend on it (`ncp`, `lm` and `distortion` of
    sets, `blm` of typical bags) are those of one of them.

    Without `names` these are the usual metrics of the form. `hierarchy` is for metrics that
    need one, if the release has none and does not say how to build it; without it, these are left
    out unless they are named. Items that were left out because few people have them (`min_people`)
    are not counted. `verified` says that `verify` has just found that each published record belongs
    to its original, so that it need not be found again. `pipeline.measure` takes paths too."""
    _check(release, hierarchy)
    data = covered(release, as_transactions(original))
    chosen = _chosen(release, names, hierarchy)
    random_from(seed)
    release = _prepared(release, data, verified)
    return Providers(release, data, seed, reconstructions, hierarchy).figures(chosen)


def adding_up(form: str) -> dict[str, Count]:
    """What counts the usual metrics of sets that need nothing of the whole release."""
    usual = (name for name, row in METRICS.items() if form in row.forms and not row.of_bags)
    return {name: METRICS[name].counts(form) for name in usual if not METRICS[name].needs}


def measure_part(
    release: Release, original: Transactions, supports: Int64s, counts: Mapping[str, Count]
) -> dict[str, State]:
    """The states of a part, given how many records of all parts have each item."""
    release = _prepared(release, original, verified=True)
    given = Providers(release, original, supports=supports)
    return {name: given.state(each) for name, each in counts.items()}


@dataclass(frozen=True)
class Providers:
    """What metrics need besides the release and its original; each is made when first needed."""

    release: Any
    original: Transactions
    seed: int = 0
    reconstructions: int = 1
    given: Hierarchy | None = None
    supports: Int64s | None = None
    _locks: dict[object, Lock] = field(default_factory=lambda: defaultdict(Lock))
    _states: dict[object, State] = field(default_factory=dict)

    def figures(self, names: list[str]) -> Losses:
        """Several metrics, on threads: while one draws worlds, others measure what needs none."""
        late = [name for name in names if "worlds" in METRICS[name].needs]
        early = [name for name in names if name not in late]
        first = [partial(self.provide, "worlds")] * bool(late)
        if any("find" in METRICS[name].needs for name in names):
            first.append(partial(self.provide("find").prepare, self.original))
        works = [*first, *(partial(self.figure, name) for name in (*early, *late))]
        run = on_threads(lambda work: work(), works, ahead=len(works), alone=False)
        found = [*run][len(first) :]
        measured = dict(zip((*early, *late), found, strict=True))
        return {name: measured[name] for name in names}

    def provide(self, need: str) -> Any:
        """What metrics need, made by the first that asks."""
        with self._locks[need]:
            return getattr(self, need)

    def figure(self, name: str) -> Figure:
        """One metric of the release."""
        row = METRICS[name]
        release = self.release.flat if row.is_of_sets(self.release.form) else self.release
        figure = row.function.figure
        state = self.state(row.counts(release.form), release)
        found: Figure = figure(state, **self.taken_by(figure))
        return found

    def state(self, counts: Count, release: Any = None) -> State:
        """What is counted of the release, or of its sets; metrics with the same state count it
        once."""
        with self._locks[counts]:
            if counts not in self._states:
                taken = self.taken_by(counts)
                subject = self.release if release is None else release
                self._states[counts] = counts(subject, self.original, **taken)
            return self._states[counts]

    def taken_by(self, function: Callable[..., object]) -> dict[str, Any]:
        """What a state or a figure takes of what is here, by the names of its parameters."""
        names = signature(function).parameters.keys() & {*NEEDS, "supports"}
        return {name: self.provide(name) for name in names}

    @cached_property
    def worlds(self) -> Worlds:
        """Possible originals of the release."""
        release = over_whole_tree(self.release, self.original)
        return draw_worlds(release, seed=self.seed, reconstructions=self.reconstructions)

    @cached_property
    def asked(self) -> Int64s:
        """Random queries."""
        return drawn_queries(self.original, self.seed)

    @cached_property
    def find(self) -> Remembering:
        """Finds top itemsets, each list once for all metrics."""
        return Remembering()

    @cached_property
    def hierarchy(self) -> Hierarchy | None:
        """The tree that items are compared with; None if the release's own tree is used."""
        return semantic_tree(self.release, self.original, self.given)


def needing_the_records(release: Any) -> frozenset[str]:
    """What cannot be measured if each group has a cut of its own and nobody knows which record
    became which."""
    if within(release) != "generalized" or not release.flat.is_global:
        return frozenset()
    return frozenset({"ncp", "lm", "blm", "distortion"} if release.flat.alignment is None else ())


def _prepared(release: Any, original: Transactions, verified: bool) -> Any:
    """What comes before all metrics of a form, and less of it if the release is verified."""
    if release.form == "generalized":
        if verified:
            return aligned(release, original)
        release = over_whole_tree(release, original)
        return replace(release, alignment=align(release, original))
    if release.form in ("disassociated", "grouped"):
        check_size(release, original)
    return over_whole_tree(release, original) if release.form == "grouped" else release


def _check(release: object, hierarchy: object) -> None:
    if not isinstance(release, Release):
        kind = type(release).__name__
        allowed = "give a release (setveil.read_release reads one) and the data it was made from"
        raise ParameterError("release", kind, allowed)
    if not isinstance(hierarchy, Hierarchy | None):
        raise ParameterError("hierarchy", hierarchy, "it must be a Hierarchy")


def _chosen(
    release: Release, names: Iterable[str] | str | None, hierarchy: Hierarchy | None
) -> list[str]:
    """The metrics to measure, each checked."""
    treeless = hierarchy is None and release.tree is None and release.semantics is None
    unknown = needing_the_records(release)
    without = {name for name, row in METRICS.items() if treeless and "hierarchy" in row.needs}
    if names is None:
        usual = [name for name, row in METRICS.items() if row.is_usual(release)]
        return [name for name in usual if name not in {*without, *unknown}]
    if not isinstance(names, Iterable):
        raise ParameterError("names", names, "it must be a list of metrics")
    fitting = [name for name, row in METRICS.items() if row.fits(release.form, within(release))]
    fitting = [name for name in fitting if name not in unknown]
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if not isinstance(name, str) or name not in METRICS:
            raise ParameterError("metric", name, f"it must be one of {', '.join(METRICS)}")
        if name not in fitting:
            allowed = f"a {release.form} release has {', '.join(fitting)}"
            raise ParameterError("metric", name, allowed)
        if name in without:
            raise ParameterError("metric", name, "it needs a hierarchy: name one with {hierarchy}")
    return chosen

"""Support and rules: how many records contain some items, and which occur together, computed from
a release alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from setveil.data.tables.frames import make_table
from setveil.engines.base import Progress
from setveil.errors import ParameterError, did_you_mean
from setveil.metrics.itemsets import top_itemsets_with_bounds
from setveil.metrics.rules import Rule, Wanted, association_rules
from setveil.pipeline.inputs import load_release
from setveil.pipeline.stages import Stages
from setveil.published import Support

SIDES, FIGURES = ("antecedent", "consequent"), ("support", "confidence")


@dataclass(frozen=True, kw_only=True)
class SupportJob:
    """Which itemsets to ask for: one, or those that occur most often."""

    release: object
    """A release, or its folder."""
    items: Sequence[str] = ()
    top: int | None = None
    """How many itemsets, those that most records certainly contain first."""
    least_size: int | None = None
    """How many items each of these has at least; by default 1."""


@dataclass(frozen=True, kw_only=True)
class Supports:
    """Itemsets with their supports."""

    records: int
    found: tuple[tuple[tuple[str, ...], Support], ...]
    counted: tuple[tuple[int, int] | None, ...]
    """At least and at most how many records contain each as they were counted, if these are not the
    original ones."""
    unknown: tuple[str, ...] = ()  # items that were asked for and cannot occur in the original
    near: str = ""
    """The question whether a known item was meant instead of the first of these."""
    note: str = ""
    """What a reader must know about the expected number."""
    expected_is: str = "an estimate"
    open_because: str = ""
    """Why there may be no estimate."""
    bounds_are: str = "certain"
    is_top: bool = False
    """Whether these are the itemsets that occur most often, not one that was asked for."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Association rules, those that are certainly most confident first."""

    records: int
    found: tuple[Rule, ...]
    bounds_are: str = "certain"

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def to_pandas(self) -> Any:
        """The rules as a pandas table: a row for each rule, with the bounds of its figures."""
        columns = {name: [getattr(rule, name) for rule in self] for name in SIDES}
        for figure in FIGURES:
            for name in ("lower", "expected", "upper", "accuracy"):
                cells = [getattr(getattr(rule, figure), name) for rule in self]
                columns[f"{figure}_{name}"] = cells
        return make_table("pandas", columns)


def run(job: SupportJob, progress: Progress | None = None) -> Supports:
    """Ask a release for supports."""
    if bool(job.items) == (job.top is not None):
        raise ParameterError("top", job.top, "give either the items to ask for, or {top=N}")
    if job.least_size is not None and job.top is None:
        raise ParameterError("least_size", job.least_size, "it is only used with {top}")
    stages = Stages(progress)
    with stages("reading"):
        release = load_release(job.release)
    if job.top is None:
        itemset = tuple(dict.fromkeys(job.items))
        unknown = tuple(item for item in itemset if release.support([item]).upper == 0)
        found = ((itemset, release.support(itemset)),)
        return Supports(
            records=len(release),
            found=found,
            counted=(release.counted_support(itemset),),
            unknown=unknown,
            near=did_you_mean(unknown[0], release.items) if unknown else "",
            note=release.support_note(itemset),
            expected_is=release.expected_is,
            open_because=release.open_because,
            bounds_are=release.bounds_are,
        )
    with stages("finding itemsets", compiles=True):
        top = top_itemsets_with_bounds(release, job.top, least_size=job.least_size or 1)
    return Supports(
        records=len(release),
        found=tuple(top),
        counted=tuple(release.counted_support(items) for items, _ in top),
        is_top=True,
        expected_is=release.expected_is,
        bounds_are=release.bounds_are,
    )


def rules(release: object, *, progress: Progress | None = None, **words: Any) -> Rules:
    """Association rules with bounds on support and confidence, from a release alone.

    Args:
        release: A release, or its folder.
        progress: Is called with how far the work is.
        words: `top` (how many rules; 20), `min_support` and `min_confidence` (shares that are
            certain, at least; 0), `most_size` (items in a rule; 3).

    Example:
        >>> from setveil import Disassociation, KmAnonymity, as_transactions
        >>> baskets = as_transactions([["wine", "beer"]] * 3 + [["wine"]])
        >>> release = Disassociation().anonymize(baskets, KmAnonymity(k=2, m=2))
        >>> for rule in rules(release).found:
        ...     print(rule.antecedent, rule.consequent, rule.confidence.lower)
        ('beer',) ('wine',) 1.0
        ('wine',) ('beer',) 0.75
    """
    wanted, stages = Wanted(**words), Stages(progress)
    with stages("reading"):
        loaded = load_release(release)
    with stages("finding rules", compiles=True):
        found = association_rules(loaded, wanted)
    return Rules(records=len(loaded), found=tuple(found), bounds_are=loaded.bounds_are)

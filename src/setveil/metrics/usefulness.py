"""How useful a release is, on one scale for every form, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s
from setveil.data.transactions import Transactions
from setveil.metrics.measure import measure
from setveil.metrics.table import METRICS
from setveil.metrics.terms import pair_supports
from setveil.published.release import RecordRelease, Release
from setveil.words import plural, rough_share

MOST = 20
"""How many of the most frequent items and pairs are tried."""
NEAR = 0.1
"""A support counts as known if its estimate is off by no more than this share."""
SILENT = "only the root of the hierarchy is left, or no item at all"


@dataclass(frozen=True, kw_only=True)
class Usefulness:
    """What an analyst can still see. Private: it compares with the original."""

    silent: float
    """The share of the records that say nothing: they are empty or only the root."""
    group: float
    """How many items the group that replaces an item has, on average; 1 if items are published."""
    names: int
    """How many items are published under their own names, with counts."""
    items: int
    top_items: tuple[int, int]
    """For how many of the most frequent items the estimate is within 10 % of the truth, and how
    many were tried. The receiver cannot know that: see `Countable` for what the release shows. An
    item counts only if it is published under its own name."""
    top_pairs: tuple[int, int]
    """The same for the most frequent pairs of these items."""
    unpublished: float = 0.0
    """The share of the item occurrences that are not published, neither as items nor as groups."""
    steps: int = 0
    """How many steps apart in the hierarchy items may be that one published item represents."""
    replaced: float = 0.0
    """The share of the published occurrences whose people have another item instead."""

    @property
    def is_poor(self) -> bool:
        """Whether an analyst would hardly be glad to have it."""
        tried = self.top_items[1] + self.top_pairs[1]
        counted = self.top_items[0] + self.top_pairs[0]
        return self.is_silent or (tried > 0 and counted < 0.25 * tried)

    @property
    def is_silent(self) -> bool:
        """Whether many records say nothing, or most of what they said is not published."""
        return self.silent > 0.2 or self.unpublished > 0.5

    @property
    def score(self) -> float:
        """One number to compare releases of the same data by; more is better."""
        counted = self.top_items[0] + self.top_pairs[0]
        return counted - 2 * MOST * (self.silent + self.unpublished)

    @property
    def sentences(self) -> list[str]:
        """What is left, one sentence each."""
        names = f"{self.names:,} of {plural(self.items, 'item')}"
        group = f"; an item is replaced by a group of {self.group:,.1f} on average"
        said = [f"{names} are published under their own names{group * (self.group > 1.005)}."]
        if self.steps and self.names:
            apart = f"{plural(self.steps, 'step')} away in the hierarchy"
            said.append(f"A published item also represents items up to {apart}.")
        if self.replaced >= 0.0005:
            share = rough_share(self.replaced)
            said.append(f"{share} of the published occurrences replace another item.")
        if self.unpublished >= 0.0005:
            lost = rough_share(self.unpublished)
            said.append(f"{lost} of the item occurrences are not published.")
        if self.silent:
            why = SILENT if self.group > 1 else "no item is left"
            said.append(
                f"{rough_share(self.silent).capitalize()} of the records say nothing: {why}."
            )
        if self.top_items[1]:
            (items, tried), (pairs, tried_pairs) = self.top_items, self.top_pairs
            near = f"Estimates are within {NEAR * 100:.0f} % of the truth for"
            more = f", and for {pairs} of their {tried_pairs} most frequent pairs"
            frequent = f"{items} of the {tried} most frequent items{more * (tried_pairs > 0)}"
            said.append(f"{near} {frequent}.")
            if 2 * items >= tried and 2 * pairs < tried_pairs:
                said.append("Single items can be estimated from this release, most pairs cannot.")
        return said

    def to_dict(self) -> dict[str, object]:
        return {**asdict(self), "is_poor": self.is_poor}


def usefulness(
    release: Release, original: Transactions, *, unpublished: float | None = None
) -> Usefulness:
    """How useful a release is.

    Supports are estimated from the release alone, as an analyst would, and compared with the truth.

    Args:
        release: The release.
        original: What it was made from.
        unpublished: The loss `distortion`, if it was measured before.

    Example:
        >>> from setveil import Hierarchy, KAnonymity, Partition, Transactions
        >>> data = Transactions.of([["beer"], ["beer"], ["milk"], ["tea"]])
        >>> paths = [("beer", "spirits", "all"), ("milk", "soft", "all"), ("tea", "soft", "all")]
        >>> tree = Hierarchy.from_paths(paths)
        >>> found = usefulness(Partition().anonymize(data, KAnonymity(k=2), tree), data)
        >>> found.silent, found.names, found.items, found.top_items
        (0.0, 1, 3, (1, 3))
    """
    published, sizes = release.certain_rows()
    labels = {published.vocabulary[number] for number in np.unique(published.items).tolist()}
    supports = original.supports()
    top = np.argsort(-supports, kind="stable")[:MOST]
    top = top[supports[top] > 0]
    names = [original.vocabulary[number] for number in top.tolist()]
    pairs, together = _frequent_pairs(original, top)
    named = np.array([name in labels for name in names], dtype=bool)
    return Usefulness(
        silent=release.silent / len(release) if len(release) else 0.0,
        group=_group(release, published, sizes),
        names=sum(label in original.vocabulary for label in labels),
        items=int((supports > 0).sum()),
        top_items=_counted(release, names, np.arange(len(top))[:, None], supports[top], named),
        top_pairs=_counted(release, names, pairs, together, named),
        unpublished=_unpublished(release, original) if unpublished is None else unpublished,
        steps=int(str(release.facts.get("epsilon", 0))),
        replaced=release.replaced(original),
    )


def _unpublished(release: Release, original: Transactions) -> float:
    if release.form not in METRICS["distortion"].forms:
        return 0.0
    found = measure(release, original, "distortion")["distortion"]
    return found if isinstance(found, float) else 0.0


def _counted(
    release: Release, names: list[str], queries: Int64s, truth: Int64s, named: Flags
) -> tuple[int, int]:
    """How many supports are known, and how many were asked for.

    If only a group of items is published, the estimate is the average of the group. It is right for
    items that are all equally rare, but only by chance, so it does not count."""
    if not len(queries):
        return 0, 0
    near = np.abs(release.estimates(names, queries) - truth) <= NEAR * truth
    return int((near & named[queries].all(axis=1)).sum()), len(truth)


def _frequent_pairs(original: Transactions, top: Int64s) -> tuple[Int64s, Int64s]:
    """The most frequent pairs of these items (by place), and how many records contain each."""
    counts = pair_supports(original, top).astype(np.int64)
    pairs = np.array(list(combinations(range(len(top)), 2)), dtype=np.int64).reshape(-1, 2)
    together = counts[pairs[:, 0], pairs[:, 1]]
    best = np.argsort(-together, kind="stable")[:MOST]
    best = best[together[best] > 0]
    return pairs[best], together[best]


def _group(release: Release, published: Transactions, sizes: Int64s) -> float:
    """How many items a published label represents on average, over all that is published."""
    tree = release.tree
    if tree is None or not isinstance(release, RecordRelease) or not len(published.items):
        return 1.0
    leaves: Floats = (tree.stop - tree.first).astype(np.float64)
    numbers = tree.nodes.encode(published.vocabulary.labels)
    weights = sizes[published.rows].astype(np.float64)
    return float(np.average(leaves[numbers[published.items]], weights=weights))

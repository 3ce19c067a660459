"""How useful a release is, on one scale for every form, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s, sums
from setveil.data.transactions import Transactions
from setveil.metrics.measure import measure, needing_the_records
from setveil.metrics.state import State
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


def usefulness(release: Release, original: Transactions, *, unpublished: Any = None) -> Usefulness:
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
    if unpublished is None:
        known = release.form in METRICS["distortion"].forms
        known = known and "distortion" not in needing_the_records(release)
        unpublished = measure(release, original, "distortion")["distortion"] if known else 0.0
    return Seen.of(release, original).figure(unpublished)


@dataclass(frozen=True, eq=False)
class Seen(State):
    """What is counted of a part for its usefulness."""

    shared = ("pairs", "steps")
    records: int
    silent: int
    supports: Int64s
    named: Flags
    """Which items are published under their own names, with counts."""
    groups: Floats
    """How many leaves the published labels have, and how often labels are published."""
    estimates: Floats
    """The expected supports of the most frequent items."""
    pairs: Int64s
    """Pairs of these, by place, with their expected and true supports."""
    together: Floats
    steps: int
    replaced: Int64s

    @classmethod
    def of(cls, release: Release, original: Transactions, supports: Int64s | None = None) -> Seen:
        """Given the supports of all parts, all pairs are tried: another part may decide which are
        frequent. If this is all, only the frequent ones are."""
        whole = supports is None
        supports, own = original.supports() if supports is None else supports, original.supports()
        top = _top(supports)
        names = [original.vocabulary[number] for number in top.tolist()]
        pairs = np.array(list(combinations(range(len(top)), 2)), dtype=np.int64).reshape(-1, 2)
        together = pair_supports(original, top)[pairs[:, 0], pairs[:, 1]]
        if whole:
            best = _top(together)
            pairs, together = pairs[best], together[best]
        published, sizes = release.certain_rows()
        labels = {published.vocabulary[number] for number in np.unique(published.items).tolist()}
        return cls(
            records=len(release),
            silent=_silent(release, published, sizes) if hasattr(release, "classes") else 0,
            supports=own,
            named=original.vocabulary.marks(labels),
            groups=_groups(release, published, sizes),
            estimates=_estimates(release, names, np.arange(len(top))[:, None]),
            pairs=pairs,
            together=np.array([_estimates(release, names, pairs), together]),
            steps=int(str(release.facts.get("epsilon", 0))),
            replaced=np.array(release.replaced(original)),
        )

    def figure(self, unpublished: Any) -> Usefulness:
        """How useful all parts together are, given the loss `distortion`."""
        top, (leaves, times), (other, shown) = _top(self.supports), self.groups, self.replaced
        best, named = _top(self.together[1]), self.named[top]
        expected, truth = self.together[:, best]
        return Usefulness(
            silent=self.silent / max(self.records, 1),
            group=float(leaves / times) if times else 1.0,
            names=int(self.named.sum()),
            items=int((self.supports > 0).sum()),
            top_items=_near(self.estimates, self.supports[top], named),
            top_pairs=_near(expected, truth, np.all(named[self.pairs[best]], axis=1)),
            unpublished=float(unpublished),
            steps=self.steps,
            replaced=float(other / shown) if shown else 0.0,
        )


def _top(supports: Int64s | Floats) -> Int64s:
    """The most frequent of some items or pairs, by place."""
    top = np.argsort(-supports, kind="stable")[:MOST]
    return top[supports[top] > 0]


def _estimates(release: Release, names: list[str], queries: Int64s) -> Floats:
    return release.estimates(names, queries) if len(queries) else np.zeros(0)


def _near(expected: Floats, truth: Floats | Int64s, named: Flags) -> tuple[int, int]:
    """How many supports are known, and how many were asked for.

    If only a group of items is published, the estimate is the average of the group. It is right for
    items that are all equally rare, but only by chance, so it does not count."""
    near = np.abs(expected - truth) <= NEAR * truth
    return int((near & named).sum()), len(truth)


def _silent(release: Release, rows: Transactions, sizes: Int64s) -> int:
    """How many people have a published record that is empty, or only the root of the tree."""
    tree = release.tree
    root = -1 if tree is None else rows.vocabulary.numbers.get(tree.labels[tree.root], -1)
    others = np.bincount(rows.rows[rows.items != root], minlength=len(rows))
    return int(sizes[others == 0].sum())


def _groups(release: Release, published: Transactions, sizes: Int64s) -> Floats:
    """How many items the published labels represent, and how many labels there are."""
    tree = release.tree
    if tree is None or not isinstance(release, RecordRelease):
        return np.zeros(2)
    times = sums(published.items, sizes[published.rows], len(published.vocabulary))
    widths = tree.widths[tree.nodes.encode(published.vocabulary.labels)]
    return np.array([widths @ times, times.sum()], dtype=np.float64)

"""Measures of a release in parts: what each part counts, and what follows from the sums.

Only figures that follow exactly from sums over parts are given: the mean error of a reconstruction
or the most frequent itemsets of all records need the whole release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from setveil.data.arrays import Flags, Floats, Int64s, sums
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.generalization import lm_of_nodes, ncp_of_nodes, published_occurrences
from setveil.metrics.terms import FIRST, pair_supports, ranked_by, relative_error
from setveil.metrics.usefulness import MOST, NEAR, Usefulness
from setveil.published.countable import most_frequent
from setveil.published.release import Release

Losses = dict[str, Any]


@dataclass(frozen=True)
class Sums:
    """What one part counts; all of it adds up."""

    records: int
    occurrences: int
    supports: Int64s
    """How many original records have each item."""
    silent: int
    empty: int
    named: Flags
    """Which items are published under their own names, with counts."""
    shown: frozenset[str]
    """The labels that occur."""
    often: Counter[str]
    """How often each label is published."""
    groups: Floats
    """How many leaves the published labels have, and how often labels are published."""
    estimates: Floats
    """The expected supports of the most frequent items and of all pairs of them."""
    together: Floats
    """The true supports of these pairs, as a table."""
    own: Mapping[str, Any]
    """What only this form has, see `_OWN`."""


def sums_of(release: Release, data: Transactions, supports: Int64s) -> Sums:
    """What a part counts, given how many records of all parts have each item."""
    top = top_items(supports)
    names = [data.vocabulary[number] for number in top.tolist()]
    published, sizes = release.certain_rows()
    labels = np.zeros(len(published.vocabulary), dtype=bool)
    labels[published.items] = True
    shown = frozenset(published.vocabulary[at] for at in np.flatnonzero(labels).tolist())
    return Sums(
        records=len(release),
        occurrences=data.occurrences,
        supports=data.supports(),
        silent=release.silent,
        empty=release.empty,
        named=np.array([label in shown for label in data.vocabulary], dtype=bool),
        shown=release.shown if release.tree is None else shown,
        often=_often(published, sizes),
        groups=_groups(release.tree, published, sizes),
        estimates=release.estimates(names, _queries(len(top))),
        together=pair_supports(data, top),
        own=_OWN[release.form].count(release, data, supports),
    )


def top_items(supports: Int64s) -> Int64s:
    """The most frequent items."""
    top = np.argsort(-supports, kind="stable")[:MOST]
    return top[supports[top] > 0]


@dataclass(frozen=True)
class Total:
    """The sums of all parts."""

    parts: list[Sums]
    form: str
    k: int
    tree: Hierarchy | None

    @property
    def supports(self) -> Int64s:
        found: Int64s = self._sum("supports")
        return found

    @property
    def losses(self) -> Losses:
        """The figures that follow from the sums."""
        return _OWN[self.form].figures(self, [each.own for each in self.parts])

    def number(self, name: str) -> int:
        """The sum of a number."""
        return int(sum(getattr(each, name) for each in self.parts))

    def total(self, name: str) -> Any:
        """The sum of something that only this form has."""
        return sum(each.own[name] for each in self.parts)

    @property
    def shown(self) -> frozenset[str]:
        return frozenset().union(*(each.shown for each in self.parts))

    @property
    def frequent(self) -> tuple[str, ...]:
        """The labels that are published most often."""
        return most_frequent(sum((each.often for each in self.parts), Counter()))

    def usefulness(self, losses: Losses) -> Usefulness:
        """As `setveil.metrics.usefulness`, from the sums."""
        supports, named = self.supports, np.any([each.named for each in self.parts], axis=0)
        top = top_items(supports)
        size, pairs = len(top), _queries(len(top))[len(top) :]
        together = self._sum("together")[pairs[:, 0], pairs[:, 1]]
        best = np.argsort(-together, kind="stable")[:MOST]
        best = best[together[best] > 0]
        expected = self._sum("estimates")
        leaves, times = self._sum("groups")
        return Usefulness(
            silent=self.number("silent") / max(self.number("records"), 1),
            group=float(leaves / times) if times else 1.0,
            names=int(named.sum()),
            items=int((supports > 0).sum()),
            top_items=_near(expected[:size], supports[top], named[top]),
            top_pairs=_near(
                expected[size:][best], together[best], named[top][pairs[best]].all(axis=1)
            ),
            unpublished=float(losses.get("distortion", 0.0)),
        )

    def _sum(self, name: str) -> Any:
        return np.sum([getattr(each, name) for each in self.parts], axis=0)


def _queries(size: int) -> Int64s:
    """The items by place, then all pairs of them."""
    singles = [(at, -1) for at in range(size)]
    pairs = [*singles, *combinations(range(size), 2)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _near(expected: Floats, truth: Any, named: Flags) -> tuple[int, int]:
    return int(((np.abs(expected - truth) <= NEAR * truth) & named).sum()), len(truth)


def _often(published: Transactions, sizes: Int64s) -> Counter[str]:
    found = sums(published.items, sizes[published.rows], len(published.vocabulary))
    return Counter(dict(zip(published.vocabulary, found.tolist(), strict=True)))


def _groups(tree: Hierarchy | None, published: Transactions, sizes: Int64s) -> Floats:
    if tree is None or not len(published.items):
        return np.zeros(2)
    leaves = (tree.stop - tree.first).astype(np.float64)
    numbers = tree.nodes.encode(published.vocabulary.labels)
    weights = sizes[published.rows].astype(np.float64)
    return np.array([(leaves[numbers[published.items]] * weights).sum(), weights.sum()])


@dataclass(frozen=True)
class _Own:
    """What a form counts in a part, and the figures that follow."""

    count: Callable[[Any, Transactions, Int64s], dict[str, Any]]
    figures: Callable[[Total, Iterable[Mapping[str, Any]]], Losses]


def _count_chunks(release: Any, data: Transactions, supports: Int64s) -> dict[str, Any]:
    rows, counts = release.certain_rows()
    numbers = data.vocabulary.find(rows.vocabulary)
    chunked = {release.items[at] for at in np.unique(release.subrecords.items).tolist()}
    found: dict[str, Any] = {
        "chunked": data.vocabulary.marks(chunked),
        "inside": int((release.subrecords.lengths * release.subrecord_counts).sum()),
    }
    for name, first in (("re_a", FIRST), ("re_a_top", 0)):
        ranked = ranked_by(supports, first)
        place = np.full(len(data.vocabulary), -1, dtype=np.int64)
        place[numbers[numbers >= 0]] = np.flatnonzero(numbers >= 0)
        known = np.flatnonzero(place[ranked] >= 0)
        table = np.zeros((len(ranked), len(ranked)))
        table[np.ix_(known, known)] = pair_supports(rows, place[ranked[known]], counts)
        found[name] = np.array([pair_supports(data, ranked), table])
    return found


def _chunk_figures(total: Total, own: Iterable[Mapping[str, Any]]) -> Losses:
    supports, occurrences = total.supports, total.number("occurrences")
    chunked = np.any([each["chunked"] for each in own], axis=0)
    frequent = supports >= total.k
    lost = float((frequent & ~chunked).sum() / frequent.sum()) if frequent.any() else 0.0
    return {
        **{name: relative_error(*total.total(name)) for name in ("re_a", "re_a_top")},
        "tlost": lost,
        "chunked": total.total("inside") / occurrences if occurrences else 1.0,
    }


def _count_classes(release: Any, data: Transactions, supports: Int64s) -> dict[str, Any]:
    return {
        "published": published_occurrences(release, data),
        "nodes": release.published_nodes(),
        "sizes": Counter(release.sizes.tolist()),
    }


def _class_figures(total: Total, own: Iterable[Mapping[str, Any]]) -> Losses:
    assert total.tree is not None
    occurrences, published = total.number("occurrences"), total.total("published")
    lost = occurrences - int(published.sum())
    costs = {
        "ncp": ncp_of_nodes(total.tree),
        "lm": lm_of_nodes(total.tree),
        "distortion": np.zeros(len(total.tree)),
    }
    sizes: Counter[int] = Counter()
    for each in own:
        sizes.update(each["sizes"])
    return {
        **{
            name: float((lost + (published * cost).sum()) / occurrences) if occurrences else 0.0
            for name, cost in costs.items()
        },
        "class_sizes": _spread(sizes),
    }


def _spread(sizes: Counter[int]) -> dict[str, float]:
    """Minimum, median, mean and maximum of counted numbers."""
    if not sizes:
        return dict.fromkeys(("min", "median", "mean", "max"), 0.0)
    values = np.array(sorted(sizes), dtype=np.float64)
    counts = np.array([sizes[int(value)] for value in values])
    ends, number = np.cumsum(counts), int(counts.sum())
    middle = [
        values[np.searchsorted(ends, at, side="right")] for at in ((number - 1) // 2, number // 2)
    ]
    return {
        "min": float(values[0]),
        "median": float(np.mean(middle)),
        "mean": float((values * counts).sum() / number),
        "max": float(values[-1]),
    }


_OWN = {
    "disassociated": _Own(_count_chunks, _chunk_figures),
    "generalized": _Own(_count_classes, _class_figures),
}
"""By form; only methods that divide have parts."""

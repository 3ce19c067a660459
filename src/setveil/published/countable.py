"""What a release says about the original: the support of an itemset with its bounds, and what can
be counted at all, and how exactly. It is computed from the release alone.

The bounds of parts add up, so the statement is the same however a release is divided."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.arrays import Int64s, sums
from setveil.hierarchy.tree import Hierarchy
from setveil.words import plural, rough_share

if TYPE_CHECKING:
    from setveil.published.release import Release


FREQUENT = 10
"""How many of the labels that are published most often are asked for in pairs."""

Pair = tuple[str, str]
KINDS = ("items", "pairs")
EXACT, OPEN = "exact", "not determined"
NARROW, NEAR = 1.2, 0.05
"""A number is determined if its upper bound is at most so many times the lower one, or the standard
error of its estimate at most such a share of it."""


@dataclass(frozen=True, eq=False)
class Counting:
    """How many original records have each label, as a release or a part of it shows."""

    labels: tuple[str, ...]
    shown: Int64s
    """How often each is published as such; 0 for groups that are not."""
    lower: Int64s
    upper: Int64s
    """Without `everywhere`, and without records that show a group above the label."""
    everywhere: int = 0
    """Records that may have any label."""
    tree: Hierarchy | None = None
    """If a record that shows a group may have anything below it."""

    def __add__(self, other: Counting) -> Counting:
        """The counts of two parts together."""
        labels = tuple(dict.fromkeys((*self.labels, *other.labels)))
        place = {label: number for number, label in enumerate(labels)}
        at = np.array([place[label] for each in (self, other) for label in each.labels], np.int64)
        shown, lower, upper = (
            sums(at, np.concatenate((getattr(self, name), getattr(other, name))), len(labels))
            for name in ("shown", "lower", "upper")
        )
        everywhere = self.everywhere + other.everywhere
        return Counting(labels, shown, lower, upper, everywhere, self.tree)

    @property
    def frequent(self) -> tuple[str, ...]:
        """The labels that are published most often."""
        return most_frequent(dict(zip(self.labels, self.shown.tolist(), strict=True)))

    def bounds(self) -> tuple[Int64s, Int64s]:
        """At least and at most how many records have each label that is published."""
        upper = self.upper + self.everywhere + self._above()
        kept = self.shown > 0
        return self.lower[kept], upper[kept]

    def _above(self) -> Int64s | int:
        """How many records show a group above each label, and not the label itself."""
        if self.tree is None:
            return 0
        nodes, parent = self.tree.nodes.encode(self.labels), self.tree.parent
        shown = np.append(sums(nodes, self.shown, len(parent)), 0)  # the last for no node
        found, above = np.zeros(len(nodes), dtype=np.int64), parent[nodes]
        while (above >= 0).any():
            found += shown[above]
            above = np.where(above >= 0, parent[above], -1)
        return found


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How exactly some supports are known."""

    counted: int
    """How many supports these are."""
    exact: int
    near: int
    """For how many the bounds differ by no more than a tenth of the upper one."""
    width: float
    """By what share of the upper bound the bounds differ on average."""

    @classmethod
    def of(cls, lower: Int64s, upper: Int64s) -> Spread:
        open_by = upper - lower
        shares = (open_by / np.maximum(upper, 1)).tolist()
        return cls(
            counted=len(upper),
            exact=int((open_by == 0).sum()),
            near=int((10 * open_by <= upper).sum()),
            width=round(math.fsum(shares) / max(len(shares), 1), 4),
        )

    def to_dict(self) -> dict[str, object]:
        near, width = {"within_10_percent": self.near}, {"average_width": self.width}
        return {"counted": self.counted, "exact": self.exact, **near, **width}

    @property
    def words(self) -> str:
        """For example `83 exactly, 95 within 10 % or better`."""
        if self.exact == self.counted:
            return "all exactly" if self.counted > 1 else "exactly"
        if not self.near:
            return "none of them within 10 %" if self.counted > 1 else "not within 10 %"
        return f"{self.exact:,} exactly, {self.near:,} within 10 % or better"


@dataclass(frozen=True, kw_only=True)
class Countable:
    """What can be counted from a release."""

    labels: Spread
    """Everything that is published under its own name: items, or groups of items."""
    frequent: tuple[str, ...]
    """The labels that are published most often."""
    pairs: Spread
    """All pairs of these, except a group with one of its own members."""
    noise: Mapping[str, float] = field(default_factory=dict)
    """How far off noisy counts are, if they are; see `Release.noise`."""
    groups: bool = False
    """Whether labels may be groups of items."""

    @classmethod
    def of(cls, release: Release) -> Countable:
        """The statement about a whole release.

        Example:
            >>> from setveil import Suppressed, KAnonymity
            >>> release = Suppressed.of([["a", "b"], ["a", "b"], ["a"]], KAnonymity(k=2))
            >>> Countable.of(release).to_dict()["pairs"]
            {'counted': 1, 'exact': 1, 'within_10_percent': 1, 'average_width': 0.0}
        """
        return cls.of_parts([counted_in(release)], release)

    @classmethod
    def of_parts(cls, parts: Sequence[Contribution], release: Release) -> Countable:
        """The statement about all parts together; `release` is one of them."""
        counting = reduce(Counting.__add__, (each.counting for each in parts))
        lower, upper = _ends(np.sum([each.pairs for each in parts], axis=0))
        return cls(
            labels=Spread.of(*counting.bounds()),
            frequent=counting.frequent,
            pairs=Spread.of(lower, upper),
            noise=release.noise,
            groups=release.tree is not None,
        )

    def to_dict(self) -> dict[str, object]:
        """The statement as it is written in `release.json`."""
        return {
            "labels": self.labels.to_dict(),
            "frequent": list(self.frequent),
            "pairs": self.pairs.to_dict(),
            **({"noise": dict(self.noise)} if self.noise else {}),
        }

    @property
    def sentences(self) -> list[str]:
        """The statement for people."""
        labels, pairs = self.labels, self.pairs
        if not labels.counted:
            return ["Nothing can be counted: no item is published."]
        kind = " or group" * self.groups
        named = f"1 item{kind}" if labels.counted == 1 else f"{labels.counted:,} items{kind}"
        named += "s" * (self.groups and labels.counted > 1)
        said = [f"{named} can be counted, {labels.words}."]
        noisy = [f"{self.noise[kind]:,} for {kind}" for kind in KINDS if kind in self.noise]
        if noisy:
            said.append(
                f"Noise makes counts wrong by up to {' and '.join(noisy)}, 95 times of 100."
            )
        if labels.width:
            width = rough_share(labels.width)
            said.append(f"On average the lower bound of a count is {width} below the upper one.")
        if pairs.counted:
            most = f"the {len(self.frequent)} that are published most often"
            said.append(f"Of the {plural(pairs.counted, 'pair')} of {most}: {pairs.words}.")
        return said


def most_frequent(often: Mapping[str, int]) -> tuple[str, ...]:
    """The labels that are published most often; of equals the first by their letters."""
    first = sorted(often, key=lambda label: (-often[label], label))[:FREQUENT]
    return tuple(label for label in first if often[label])


def pairs_of(frequent: Sequence[str], tree: Hierarchy | None) -> list[Pair]:
    """All pairs of labels of which none contains the other."""
    pairs = list(combinations(frequent, 2))
    if tree is None:
        return pairs
    nodes = tree.nodes.encode(frequent)
    first, stop = (
        dict(zip(frequent, ends[nodes].tolist(), strict=True)) for ends in (tree.first, tree.stop)
    )
    return [(a, b) for a, b in pairs if first[b] >= stop[a] or first[a] >= stop[b]]


class Contribution(NamedTuple):
    """What a part of a release contributes to the statement."""

    counting: Counting
    pairs: Int64s
    """The bounds of each pair of the frequent labels of the whole release."""


def counted_in(release: Release, frequent: Sequence[str] | None = None) -> Contribution:
    """What a release contributes, or a part of one whose frequent labels are given."""
    counting = release.counting()
    pairs = pairs_of(counting.frequent if frequent is None else frequent, release.tree)
    return Contribution(counting, _bounds(release.supports_of(pairs)))


def counted_one_by_one(release: Release) -> Counting:
    """The bounds of each published label, one after the other."""
    rows, weights = release.certain_rows()
    published = sums(rows.items, weights[rows.rows], len(rows.vocabulary))
    often = dict(zip(rows.vocabulary, published.tolist(), strict=True))
    labels = tuple(sorted(release.shown))
    shown = np.array([max(often.get(label, 0), 1) for label in labels], dtype=np.int64)
    bounds = _bounds(release.supports_of([(label,) for label in labels]))
    return Counting(labels, shown, *_ends(bounds))


def _bounds(found: Sequence[Support]) -> Int64s:
    return np.array([(each.lower, each.upper) for each in found], dtype=np.int64).reshape(-1, 2)


def _ends(bounds: Int64s) -> tuple[Int64s, Int64s]:
    return bounds[:, 0], bounds[:, 1]


def is_statement(value: Any) -> bool:
    """Whether a JSON value has the shape of a statement."""
    if not isinstance(value, dict) or not {"labels", "frequent", "pairs"} <= value.keys():
        return False
    names = value["frequent"]
    spreads = all(_is_spread(value[key]) for key in ("labels", "pairs"))
    is_list = isinstance(names, list) and all(isinstance(each, str) for each in names)
    return spreads and is_list and len(names) <= FREQUENT


def _is_spread(value: Any) -> bool:
    return isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())


@dataclass(frozen=True, repr=False)
class Estimate:
    """A number of the original that is between `lower` and `upper`, as the release shows.

    Example:
        >>> found = Support(80, 110, 100.0)
        >>> found.expected, found.accuracy
        (100.0, 'within 20 %')
        >>> Support(0, 110, 30.0)
        Support(lower=0, upper=110, expected=None, accuracy='not determined')
    """

    lower: float
    upper: float
    guess: float
    """What a model of the form makes of the release, between the bounds; for comparing releases.
    Its error is a bias: neither more records nor an average over reconstructions removes it."""
    error: float = field(default=math.inf, compare=False)
    """The standard error of `guess`, if the form has a rule for it; else the bounds say all."""

    @property
    def within(self) -> float | None:
        """How far off `guess` can be, as a share of it, given the bounds; None if by all of it or
        more."""
        if self.lower == self.upper:
            return 0.0
        error = max(self.guess - self.lower, self.upper - self.guess)
        return error / self.guess if error < self.guess else None

    @property
    def standard_error(self) -> float | None:
        """The standard error as a share of `guess`; None if it is not known, or above `NEAR`."""
        if self.lower == self.upper:
            return 0.0
        return self.error / self.guess if self.error <= NEAR * self.guess else None

    @property
    def is_determined(self) -> bool:
        """Whether the bounds are narrow, or the standard error small."""
        return self.upper <= NARROW * self.lower or self.standard_error is not None

    @property
    def expected(self) -> float | None:
        """The estimate; None if the release does not determine the number."""
        return None if self.accuracy == OPEN else self.guess

    @property
    def accuracy(self) -> str:
        """`exact`; `within x %` (of the estimate, as sure as the bounds); `standard error x %`, if
        these are not narrow but the form has a rule; or `not determined`."""
        sure, error = self.within, self.standard_error
        if sure == 0:
            return EXACT
        if error is not None and self.upper > NARROW * self.lower:
            return f"standard error {_rounded_up(error, 3) * 100:.3g} %"
        return OPEN if sure is None else f"within {_rounded_up(sure, 3) * 100:.3g} %"

    def to_dict(self) -> dict[str, object]:
        """The values that reports have."""
        expected, sure, error = self.expected, self.within, self.standard_error
        return {
            "lower": self.lower,
            "upper": self.upper,
            "expected": None if expected is None else round(expected, 6),
            "accuracy": self.accuracy,
            "within": None if sure is None else _rounded_up(sure, 6),
            "standard_error": None if error is None else _rounded_up(error, 6),
            "determined": self.is_determined,
        }

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in ("lower", "upper", "expected", "accuracy")}
        shown = ", ".join(f"{name}={value!r}" for name, value in parts.items())
        return f"{type(self).__name__}({shown})"


@dataclass(frozen=True, repr=False)
class Support(Estimate):
    """How many original records contain an itemset."""

    lower: int
    upper: int


@dataclass(frozen=True, repr=False)
class Confidence(Estimate):
    """The share of the records with some items that have others too."""


def _rounded_up(share: float, digits: int) -> float:
    """A share that is not less, with so many digits; errors of floating point do not count."""
    scale = float(10**digits)
    return math.ceil(round(share * scale, 6)) / scale

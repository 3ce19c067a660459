"""What an adversary sees of a release, and what an attack found: a row for each kind of knowledge,
and attacks with a name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from setveil.audit.attack.draws import CONFIDENCE, Estimate, Items, Sample
from setveil.audit.attack.risk import Risk
from setveil.data.arrays import Floats, Int64s
from setveil.promises.promise import Promise
from setveil.words import plural

Kind = Literal["items", "rarest", "lacking", "both", "columns", "source"]

BINS = (1, 2, 5, 10, 20, 50, 100, 1_000, 10_000)
"""Where the bars of the chart of candidates begin."""


@dataclass(frozen=True)
class Inference:
    """How far the belief in further items moves from what it is without knowing anything."""

    base: Estimate
    """The belief in a further item of the person, if nothing is known, on average."""
    belief: Estimate
    """The same with the known items."""
    certain: Estimate
    """How often all candidates share some further item (homogeneity)."""
    draws: int
    items: int
    """Among how many items it was looked for."""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Row:
    """What one kind of knowledge leads to."""

    kind: Kind
    items: int | None
    """How many items of the person are known; None for all."""
    sort: str
    """Which items may be known: `item` for any, `public item` or `private item`; or the name of the
    source that says what is known."""
    within: bool
    """Whether the promise covers it."""
    people: int
    """How many people have so many items."""
    draws: int
    exact: bool
    fewest: float
    """The fewest candidates that any draw left; of all sets of items if `exact`."""
    median: Estimate
    alone: Estimate
    """How often one candidate is left."""
    fewer: Estimate
    """How often fewer candidates than promised are left."""
    success: Estimate
    """How likely the adversary picks the person's record out of the candidates."""
    chart: tuple[tuple[int, float], ...]
    """Shares of the draws by number of candidates: where each bar begins, and the share."""
    possible: int | None = None
    """The fewest records that contain the known items in the possible original with the most of
    these, in any draw within the promise; None if the release shows its records."""
    further: Inference | None = None
    private: Inference | None = None
    risk: Risk | None = None

    @property
    def largest(self) -> float:
        """The largest success of any draw."""
        return 1 / max(self.fewest, 1.0)

    @property
    def knowledge(self) -> str:
        """What the adversary knows, in words.

        Example:
            >>> one = Estimate.certain(1.0)
            >>> row = Row("lacking", 2, "public item", True, 9, 9, True, 5, one, one, one, one, ())
            >>> row.knowledge
            '2 public items and 1 lacking'
        """
        if self.kind == "source":
            return self.sort
        items = f"all {self.sort}s" if self.items is None else plural(self.items, self.sort)
        if self.kind == "rarest":
            number = "" if self.items == 1 else f"{self.items} "
            return f"the {number}rarest {items.partition(' ')[2]}"
        if self.kind == "columns":
            return f"all columns and {items}" if self.items != 0 else "all columns"
        return (
            items
            + {"items": "", "lacking": " and 1 lacking", "both": " and a 2nd release"}[self.kind]
        )

    def to_dict(self) -> dict[str, object]:
        chart = [{"from": start, "share": share} for start, share in self.chart]
        known = {"knowledge": self.knowledge, "largest": self.largest}
        risk = self.risk and self.risk.to_dict(self.success, self.largest, self.alone)
        return {**asdict(self), **known, "risk": risk, "chart": chart}


@dataclass(frozen=True)
class Attack:
    """All that was found. Private: it is computed from the original."""

    promise: Promise
    form: str
    records: int
    candidate: str
    """What a candidate is."""
    target: str
    """What is linked to a person: a record or a piece."""
    success: str
    """What success means."""
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    private_items: int = 0
    gaps: tuple[str, ...] = ()
    """What makes it worth little that it holds; see `Verdict.gaps`."""

    @property
    def bound(self) -> float | None:
        """The success that is allowed within the promise; None if it allows any."""
        return 1 / self.promise.crowd if self.promise.crowd else None

    @property
    def holds(self) -> bool:
        """Whether no draw within the promise left fewer candidates than promised; if no records are
        shown, fewer records that could contain the known items."""
        rows = (row for row in self.rows if row.within)
        counts = (row.fewest if row.possible is None else row.possible for row in rows)
        return all(count >= self.promise.crowd for count in counts)

    def to_dict(self) -> dict[str, object]:
        """The attack as one JSON object."""
        return {
            "holds": self.holds,
            "form": self.form,
            "promise": self.promise.to_dict(),
            "bound": self.bound,
            "records": self.records,
            "confidence": CONFIDENCE,
            "candidate": self.candidate,
            "target": self.target,
            "gaps": list(self.gaps),
            "private_items": self.private_items,
            "rows": [row.to_dict() for row in self.rows],
            "attacks": {
                found.name: {
                    "text": found.text,
                    "figures": {name: one.to_dict() for name, one in found.figures.items()},
                }
                for found in self.findings
            },
        }


def summed_up(values: Floats, sample: Sample, crowd: int) -> dict[str, object]:
    """The figures of a row, from the number of candidates of each draw."""
    starts = np.array(BINS)
    bins = np.searchsorted(starts, values, side="right") - 1
    shares = np.bincount(np.maximum(bins, 0), sample.weights, minlength=len(BINS))
    return {
        "draws": len(values),
        "exact": sample.exact,
        "fewest": float(values.min(initial=np.inf)) if len(values) else float(crowd),
        "median": sample.median(values),
        "alone": sample.share((values <= 1).astype(np.float64)),
        "fewer": sample.share((values < crowd).astype(np.float64)),
        "success": sample.mean(1 / np.maximum(values, 1)),
        "chart": tuple(zip(BINS, shares.tolist(), strict=True)),
    }


@dataclass(frozen=True)
class Finding:
    """How far one attack that has a name leads."""

    name: str
    text: str
    """What was found, in a sentence or two."""
    figures: dict[str, Estimate]


class View(ABC):
    """A release as an adversary sees it who knows some items of a person in the data.

    Items are numbers of the vocabulary of the original."""

    candidate: str
    """What a candidate is, in words."""
    target: str = "record"
    """What is linked to a person, in one word."""
    success: str = (
        "The adversary picks one candidate at random; success is how likely it is the right one."
    )
    """What success means, in words."""

    @abstractmethod
    def candidates(self, known: Items, lacking: Items = ()) -> float:
        """How many published records could be that of a person who has the known items, and does
        not have the lacking ones (at most one is ever given); at least 1. If some are likelier than
        others, 1 divided by the chance of the likeliest."""

    @abstractmethod
    def beliefs(self, known: Items) -> Floats:
        """How likely the person has each item of the original; 1 for the known ones."""

    @abstractmethod
    def places(self, known: Items) -> Int64s:
        """The classes or clusters that a person with these items may belong to."""

    @property
    def own_fits(self) -> bool:
        """Whether the candidates always contain a person's own record if what is known is true."""
        return True

    def fits(self, person: int, known: Items) -> bool:
        """Whether the candidates contain the person's own record; yes if nobody can say."""
        home = self.home()
        return home is None or int(home[person]) in self.places(known)

    def alike(self, person: int) -> Int64s | None:
        """The people of the original with the same columns as a person; None if there are none."""
        return None

    def knowing_columns(self, person: int) -> View | None:
        """What is left for an adversary who knows all published columns of a person, by the number
        of their row; None if there are no columns."""
        return None

    def home(self) -> Int64s | None:
        """The class or cluster of each person of the original; None if nobody can say."""
        return None

    def possible(self, known: Items, *, knowing_method: bool = False) -> int | None:
        """How many records contain the known items in the possible original with the most of these;
        `knowing_method`: of those that the method can have made the release from. None if the
        release shows its records."""
        return None

    def expected(self, known: Items) -> float | None:
        """How many records contain the known items on average, if all placements are equally
        likely; None if the release shows its records."""
        return None

    def findings(self) -> list[Finding]:
        """Attacks with a name that concern this form, measured without draws."""
        return []

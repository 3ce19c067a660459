"""The method DiffPart: noisy counts of ever smaller groups of records. [Chen2011]"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from setveil.data.arrays import Int64s, offsets, ranges
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.private import Private, PrivateMethod
from setveil.parameters import with_default
from setveil.published.ledger import Expense, scale_for
from setveil.published.synthetic import Synthetic

MOST_FANOUT = 16


@dataclass(frozen=True, kw_only=True)
class DiffPart(PrivateMethod):
    """Divides the records by a public tree as long as noisy counts say that there are enough.

    All records begin in one part, in which every item is the root. A part is divided by one node of
    its cut: by which of the node's children a record has items under. Each division that is not
    empty gets a noisy count, and is divided further if it passes a threshold. The empty ones, of
    which there may be very many, must pass it by their noise as well: how many do is drawn, and
    then which. A part whose cut has only leaves is published as equal records, as many as its noisy
    count says. [Chen2011]

    One hundredth of epsilon counts the records, and half of the rest is for dividing. A part
    spends an equal share of what its path has left for each node that may still be divided below
    its cut. The other half is for the counts of leaves.

    Departures from the paper:
        - Nodes with more than `max_fanout` children get groups of neighbours in between, so the
          work does not grow with 2 to the power of the fan-out.
        - Noise is discrete and exact. The threshold is also so high that of the empty parts of one
          division hardly any passes.
        - The widest node of a cut is divided first, not a random one.
        - Empty records are a part of their own.

    Cost: One noise for each part that is not empty, and the drawn ones.

    Example:
        >>> from setveil import DifferentialPrivacy, Hierarchy
        >>> tree = Hierarchy.from_paths([(drink, "Drinks") for drink in ("beer", "tea", "wine")])
        >>> data = [["beer", "wine"], ["beer"]] * 2_000
        >>> release = DiffPart().anonymize(data, DifferentialPrivacy(epsilon=1), tree)
        >>> {("beer",), ("beer", "wine")} <= set(release.classes)
        True
    """

    name: ClassVar[str] = "diffpart"
    needs_hierarchy: ClassVar[bool] = True

    max_fanout: int = with_default(
        10,
        f"Nodes of the hierarchy with more children are divided in steps; at most {MOST_FANOUT}.",
        metavar="N",
        least=2,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_fanout > MOST_FANOUT:
            allowed = f"it must be a whole number from 2 to {MOST_FANOUT}"
            raise ParameterError("max_fanout", self.max_fanout, allowed)

    def _publish(self, private: Private) -> Synthetic:
        walk = Walk(private, self.max_fanout)
        rows, weights = walk.run()
        return Synthetic.of_rows(
            rows,
            private.promise,
            self.to_dict(),
            weights=weights,
            people=walk.people,
            ledger=private.budget.ledger,
        )


STEADY = 2 * math.sqrt(2)
"""A count passes if it is this many times the scale of its noise, for each level left: two
standard deviations. [Chen2011] section 5.3"""

RECORDS = Fraction(1, 100)
"""The share of the budget for the number of records; the rest is halved."""

Cut = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """Records that look alike if their items are replaced by the nodes of a cut."""

    cut: Cut
    """Nodes that each record has an item under; it has no items elsewhere."""
    rows: Int64s
    """The records; none if only noise says that there are some."""
    left: Fraction
    """What its path may still spend on divisions."""


@dataclass(frozen=True)
class Division:
    """What the parts of one part have in common."""

    rest: Cut
    """The nodes of the cut that stay."""
    children: Cut
    """The node that is divided is replaced by some of these, one part for each choice."""
    share: Fraction
    left: Fraction
    threshold: int
    scale: float

    @property
    def cells(self) -> int:
        """In how many ways a record may have items under the children; it has some."""
        return (1 << len(self.children)) - 1

    def cut(self, mask: int) -> Cut:
        """The cut of the part whose records have items under the children with these bits."""
        chosen = (child for at, child in enumerate(self.children) if mask >> at & 1)
        return (*self.rest, *chosen)


class Walk:
    """Divides parts, beginning with all records, until only leaves are left."""

    def __init__(self, private: Private, max_fanout: int) -> None:
        assert private.tree is not None
        self.private, self.budget, self.noise = private, private.budget, private.budget.noise
        self.tree, self.taxonomy = private.tree, Taxonomy.of(private.tree, max_fanout)
        self.leaves = Vocabulary(self.tree.labels[: self.tree.leaf_count])
        self.half = self.budget.epsilon * (1 - RECORDS) / 2
        self.least_scale, self.people = math.inf, 0
        data = private.data
        numbers = self.tree.leaf_numbers(data.vocabulary).astype(np.int64)
        self.data = Transactions.from_pairs(
            data.rows, numbers[data.items], self.leaves, size=len(data)
        )

    def run(self) -> tuple[Transactions, Int64s]:
        """The records of the leaves, and how often each is published."""
        total = np.array([len(self.data)])
        self.people = max(int(self.budget.count("records", total, RECORDS)[0][0]), 0)
        parts, found, done = self._first(), dict[Cut, int](), 0
        while parts:
            part = parts.pop()
            if any(self.taxonomy.children[node] for node in part.cut):
                parts += self._divided(part)
            else:
                found[part.cut] = self._counted(part)
            done += 1
            if done % 64 == 0:
                self.private.request.report(done, 0, "dividing")
        self.budget.spend(
            Expense(
                counts="partitions",
                epsilon=self.half,
                sensitivity=self.budget.most,
                scale=self.least_scale,
            )
        )
        self.budget.spend(Expense.of("leaves", self.half, sensitivity=self.budget.most))
        return self._records({cut: count for cut, count in found.items() if count > 0})

    def _first(self) -> list[Part]:
        """The records with items and those without, if there seem to be some of each."""
        lengths, root = self.data.lengths, self.taxonomy.root
        share = self.half / (int(self.taxonomy.inner[root]) + 1)
        cuts: tuple[Cut, Cut] = ((), (root,))
        rows = np.flatnonzero(lengths == 0), np.flatnonzero(lengths > 0)
        scale = self._scale(share)
        noisy = self.noise.laplace(np.array([len(each) for each in rows]), scale)
        least = math.ceil(STEADY * scale)
        return [
            Part(cut, each, self.half - share)
            for cut, each, count in zip(cuts, rows, noisy.tolist(), strict=True)
            if count >= least
        ]

    def _divided(self, part: Part) -> list[Part]:
        """The parts of a part that seem large: those with records, and empty ones as drawn."""
        division = self._division(part)
        masks = self._masks(part.rows, division.children)
        order = np.argsort(masks, kind="stable")
        kinds, starts = np.unique(masks[order], return_index=True)
        groups = np.split(part.rows[order], starts[1:]) if len(kinds) else []
        counts = np.array([len(group) for group in groups], dtype=np.int64)
        noisy = self.noise.laplace(counts, division.scale)
        found = [
            Part(division.cut(mask), rows, division.left)
            for mask, rows, count in zip(kinds.tolist(), groups, noisy.tolist(), strict=True)
            if count >= division.threshold
        ]
        empty = np.zeros(0, dtype=np.int64)
        drawn = self._drawn(division, set(kinds.tolist()))
        return found + [Part(division.cut(mask), empty, division.left) for mask in drawn]

    def _division(self, part: Part) -> Division:
        """How a part is divided; this depends on its cut alone, not on its records."""
        taxonomy = self.taxonomy
        node = max(part.cut, key=lambda each: (taxonomy.inner[each], -taxonomy.first[each]))
        # As many divisions may follow, at most, as there are inner nodes below the cut.
        share = part.left / sum(int(taxonomy.inner[each]) for each in part.cut)
        scale, children = self._scale(share), taxonomy.children[node]
        levels = max(int(taxonomy.height[each]) for each in part.cut)
        above = max(STEADY * levels, len(children) * math.log(2))
        return Division(
            rest=tuple(each for each in part.cut if each != node),
            children=children,
            share=share,
            left=part.left - share,
            threshold=math.ceil(scale * above),
            scale=scale,
        )

    def _drawn(self, division: Division, taken: set[int]) -> set[int]:
        """The empty parts whose noise passes the threshold: as many as would, chosen at random."""
        number = len(
            self.noise.passing(division.cells - len(taken), division.threshold, division.scale)
        )
        drawn: set[int] = set()
        while len(drawn) < number:
            mask = 1 + self.noise.below(division.cells)
            drawn |= {mask} - taken
        return drawn

    def _counted(self, part: Part) -> int:
        """How often the record of a leaf is published; 0 if noise alone could explain it."""
        scale = scale_for(self.half, self.budget.most)
        (noisy,) = self.noise.laplace(np.array([len(part.rows)]), scale).tolist()
        return int(noisy) if noisy >= math.ceil(STEADY * scale) else 0

    def _scale(self, share: Fraction) -> float:
        scale = scale_for(share, self.budget.most)
        self.least_scale = min(self.least_scale, scale)
        return scale

    def _masks(self, rows: Int64s, children: Cut) -> Int64s:
        """For each record, a bit for each of these nodes that it has an item under; it has one."""
        if not len(rows):
            return rows
        first, stop = self.taxonomy.first[children[0]], self.taxonomy.stop[children[-1]]
        lengths = self.data.lengths[rows]
        items = self.data.items[ranges(self.data.indptr[rows], lengths)]
        inside = (items >= first) & (items < stop)
        bounds = self.taxonomy.first[list(children)]
        child = np.searchsorted(bounds, items, side="right") - 1
        bits = np.where(inside, np.int64(1) << np.maximum(child, 0), 0)
        return np.asarray(np.bitwise_or.reduceat(bits, offsets(lengths)[:-1]))

    def _records(self, found: dict[Cut, int]) -> tuple[Transactions, Int64s]:
        first = self.taxonomy.first
        cuts = [first[list(cut)] if cut else first[:0] for cut in found]
        rows = np.repeat(np.arange(len(cuts)), [len(cut) for cut in cuts])
        items = np.concatenate([np.zeros(0, dtype=np.int64), *cuts])
        made = Transactions.from_pairs(rows, items, self.leaves, size=len(cuts))
        return made, np.array(list(found.values()), dtype=np.int64)


@dataclass(frozen=True)
class Taxonomy:
    """A tree of nodes with a limited number of children; each covers an interval of leaves.

    Nodes with more children get groups of neighbours in between. That depends on the tree alone, so
    it is as public as the tree is. Chains of single children are one node."""

    first: Int64s
    """The first leaf below each node."""
    stop: Int64s
    children: tuple[tuple[int, ...], ...]
    """The children of each node; none if it is a leaf."""
    inner: Int64s
    """How many nodes with children each node has, at or below itself."""
    height: Int64s
    """How many steps lead from each node down to its deepest leaf."""
    root: int

    @classmethod
    def of(cls, tree: Hierarchy, most: int) -> Taxonomy:
        """The tree with at most `most` children for each node."""
        made = _Builder(most)
        root = made.node(tree, tree.root)
        numbers = (made.first, made.stop, made.inner, made.height)
        first, stop, inner, height = (np.array(values, dtype=np.int64) for values in numbers)
        return cls(first, stop, tuple(made.children), inner, height, root)


class _Builder:
    def __init__(self, most: int) -> None:
        self.most = most
        self.first: list[int] = []
        self.stop: list[int] = []
        self.children: list[tuple[int, ...]] = []
        self.inner: list[int] = []
        self.height: list[int] = []

    def node(self, tree: Hierarchy, root: int) -> int:
        """Add a node of the tree with all below it, children before parents."""
        below: dict[int, int] = {}
        order = [root]
        for node in order:
            order += tree.children(node).tolist() if node >= tree.leaf_count else []
        for node in reversed(order):
            if node < tree.leaf_count:
                below[node] = self.add(int(tree.first[node]), int(tree.stop[node]), [])
            else:
                below[node] = self.parent([below[child] for child in tree.children(node).tolist()])
        return below[root]

    def parent(self, children: list[int]) -> int:
        """A node over these, with groups of neighbours in between if there are too many."""
        while len(children) > self.most:
            # As few groups as possible, of almost equal size.
            groups = -(-len(children) // self.most)
            bounds = [at * len(children) // groups for at in range(groups + 1)]
            parts = zip(bounds, bounds[1:], strict=False)
            children = [self.parent(children[start:stop]) for start, stop in parts]
        if len(children) == 1:
            return children[0]
        return self.add(self.first[children[0]], self.stop[children[-1]], children)

    def add(self, first: int, stop: int, children: list[int]) -> int:
        self.first.append(first)
        self.stop.append(stop)
        self.children.append(tuple(children))
        self.inner.append(sum(self.inner[child] for child in children) + bool(children))
        self.height.append(max((self.height[child] + 1 for child in children), default=0))
        return len(self.first) - 1

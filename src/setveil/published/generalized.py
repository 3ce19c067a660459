"""The generalized form: records whose items are nodes of a hierarchy, and what they let one
expect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from setveil.data.arrays import Flags, Floats, Int32s, Int64s, random_from, ranges, sums
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.published.countable import Counting
from setveil.published.release import RecordRelease
from setveil.published.rows import coverage, most_below, relabeled, with_leaves
from setveil.threads import on_threads

_MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Generalized(RecordRelease):
    """Records of hierarchy nodes, held as distinct records and how many people each represents.

    The alignment, the class of each original record, is private: it exists right after `anonymize`
    and is never written into a release.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> tree = Hierarchy.from_paths(paths)
        >>> rows = [["Alcohol"], ["Alcohol"], ["milk"], ["milk"]]
        >>> release = Generalized.of(rows, tree, KAnonymity(k=2))
        >>> release
        Generalized(4 records in 2 classes, KAnonymity(k=2))
        >>> release.support(["wine"])
        Support(lower=0, upper=2, expected=None, accuracy='not determined')
        >>> release.support(["milk"])
        Support(lower=2, upper=2, expected=2.0, accuracy='exact')
    """

    form: ClassVar[str] = "generalized"
    expected_is: ClassVar[str] = "an estimate: every item of a group is taken as equally likely"
    open_because: ClassVar[str] = "too many records show groups that these items may be in"
    no_rule: ClassVar[str] = "the same item was generalized differently in different records"

    classes: Transactions
    """The distinct published records over the nodes of `hierarchy`; `Bags` if nodes are counted."""
    sizes: Int64s
    hierarchy: Hierarchy
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    alignment: Int64s | None = None
    is_global: bool = False
    """Whether one cut of the tree generalizes all records. An item it does not cover is suppressed
    everywhere, and a node is in a record exactly if an item below it was."""
    min_people: int = 0

    @classmethod
    def of(  # type: ignore[override]
        cls,
        records: Iterable[Iterable[str]],
        hierarchy: Hierarchy,
        promise: Promise,
        *,
        counted: bool = False,
        method: Mapping[str, object] | None = None,
        is_global: bool = False,
    ) -> Self:
        """From published records as labels of nodes, in the order of the original records; if
        `counted`, with repeats or as mappings `{label: count}`."""
        data = (Bags if counted else Transactions).of(records)
        rows = relabeled(data, hierarchy.nodes.encode(data.vocabulary.labels), hierarchy.nodes)
        told = {"alignment": np.arange(len(rows)), "is_global": is_global}
        return cls.of_rows(rows, hierarchy, promise, method, **told)

    @classmethod
    def of_rows(  # type: ignore[override]
        cls,
        rows: Transactions,
        hierarchy: Hierarchy,
        promise: Promise,
        method: Mapping[str, object] | None = None,
        **told: Any,
    ) -> Self:
        """As of other forms, from records over `hierarchy.nodes`."""
        return super().of_rows(rows, promise, method, hierarchy=hierarchy, **told)

    @classmethod
    def prepared(cls, rows: Transactions) -> Transactions:
        """The rows as they are, over all nodes of the tree."""
        return rows

    @property
    def items(self) -> Vocabulary:
        return self.hierarchy.nodes

    @property
    def tree(self) -> Hierarchy:
        return self.hierarchy

    @property
    def facts(self) -> dict[str, object]:
        return {"recoding": "global"} if self.is_global else {}

    def published_nodes(self) -> Int32s:
        """The nodes that occur in a published record."""
        return np.unique(self.classes.items)

    def reconstruct(self, seed: int | None = None) -> Transactions:
        """Records in which each published node is replaced by one of its leaves at random.

        A node that occurs several times in a bag is replaced by as many leaves. Where only the part
        of the tree that the records show was published, its lowest nodes count as leaves."""
        return with_leaves(self.records(seed), self.hierarchy, random_from(seed))

    def estimates(self, items: Sequence[str], queries: Int64s) -> Floats:
        numbers, tree = self.hierarchy.nodes.numbers, self.hierarchy
        if tree.origin.pruned or any(numbers.get(item, 0) >= tree.leaf_count for item in items):
            return super().estimates(items, queries)
        return estimate_supports(self, list(items), queries)

    def suppressed_items(self, original: Transactions) -> tuple[str, ...]:
        if not self.is_global:
            return ()
        gone = (self.images(original.vocabulary) < 0) & (original.supports() > 0)
        return tuple(original.vocabulary[number] for number in np.flatnonzero(gone).tolist())

    def images(self, vocabulary: Vocabulary) -> Int32s:
        """The published node above each item, if one cut generalizes all records.

        An item below none was suppressed, or did not occur: the release does not say which."""
        if not self.is_global:
            return super().images(vocabulary)
        tree, leaves = self.hierarchy, self.hierarchy.leaf_count
        cover = np.full(leaves + 1, -1, dtype=np.int32)  # the last for what is no leaf
        for node in self.published_nodes().tolist():
            cover[tree.first[node] : tree.stop[node]] = node
        numbers = (min(tree.nodes.numbers.get(item, leaves), leaves) for item in vocabulary)
        return cover[np.fromiter(numbers, dtype=np.int64, count=len(vocabulary))]

    def like(self, rows: Transactions) -> Self:
        told = {"alignment": np.arange(len(rows)), "is_global": True}
        made = self.of_rows(rows, self.hierarchy, self.promise, self.method, **told)
        return made.leaving_out(self.min_people)

    def counting(self) -> Counting:
        tree, rows, nodes = self.hierarchy, self.classes.rows, self.classes.items
        people = self.sizes[rows]
        lower = most_below(tree, rows, nodes, people)
        used = np.flatnonzero(lower)
        labels = tuple(tree.labels[node] for node in used.tolist())
        shown = sums(nodes, people, len(tree))
        hidden = 0 if self.is_global else self.empty
        return Counting(labels, shown[used], lower[used], lower[used], hidden, tree)

    def support_note(self, itemset: Sequence[str]) -> str:
        """Which items may be more frequent than expected, because they may have been left out."""
        numbers, lines = self.hierarchy.nodes.numbers, []
        for item in itemset:
            node = numbers.get(item)
            if node is None and self._may_hide().any():
                lines.append(f"{item} is not in the published hierarchy.")
            elif node is not None and self.is_global and not self._is_covered(node):
                leaf = node < self.hierarchy.leaf_count
                lines.append(f"{'' if leaf else 'Part of '}{item} is not published.")
        return "\n".join([*lines, *["The original may have more than expected."] * bool(lines)])

    def _holders(self, label: str) -> tuple[Int64s, Int64s, Floats]:
        """A published node at or below the label is certain, one above it is possible.

        In an empty record of a local recoding, and under one cut for a label that it does not cover
        as a whole, anything may have been suppressed."""
        tree, classes, sizes = self.hierarchy, self.classes, self.sizes
        node = tree.nodes.numbers.get(label)
        hidden = classes.lengths == 0 if not self.is_global else np.zeros(len(classes), dtype=bool)
        if node is None:
            unknown = self._may_hide() | hidden
            return np.zeros_like(sizes), np.where(unknown, sizes, 0), np.zeros(len(classes))
        within, above, chance = coverage(tree, classes.items, node)
        if isinstance(classes, Bags):
            chance = 1.0 - (1.0 - chance) ** classes.counts
        if self.is_global and not self._is_covered(node):
            hidden = ~hidden
        missing = np.ones(len(classes))
        np.multiply.at(missing, classes.rows, 1.0 - chance)
        certain, possible = _any(within, classes), _any(within | above, classes) | hidden
        return np.where(certain, sizes, 0), np.where(possible, sizes, 0), 1.0 - missing

    def _may_hide(self) -> Flags:
        """Which records may have an item that the tree lacks: because only a part of the tree was
        published, or because such items were left out or put below the root."""
        tree, classes = self.hierarchy, self.classes
        if tree.origin.parameters.get("unknown") == "root":
            return _any(classes.items == tree.root, classes)
        everywhere = tree.origin.pruned or tree.origin.parameters.get("unknown") == "drop"
        return np.full(len(classes), everywhere)

    def _is_covered(self, node: int) -> bool:
        """Whether one cut covers every leaf below a node, so that none of them is suppressed.

        Of a tree of which only a part was published, only a node that is itself covered is sure to
        be."""
        tree, published = self.hierarchy, self.published_nodes()
        first, stop = tree.first[published], tree.stop[published]
        above = (first <= tree.first[node]) & (stop >= tree.stop[node])
        if tree.origin.pruned or (tree.origin.parameters.get("unknown") and node == tree.root):
            return bool((above & (tree.depth[published] <= tree.depth[node])).any())
        below = (first >= tree.first[node]) & (stop <= tree.stop[node])
        return bool(above.any() or (stop - first)[below].sum() == tree.widths[node])


def _any(flags: Flags, classes: Transactions) -> Flags:
    """Whether any entry of each record is flagged."""
    return np.bincount(classes.rows[flags], minlength=len(classes)) > 0


def estimate_supports(release: Generalized, items: list[str], queries: Int64s) -> Floats:
    """The expected number of records that contain all items of each query.

    The model: a node over w leaves was equally likely any of them, independently of whatever else
    is published. So a record contains an item below the node with probability 1 / w (in bags, if
    the node occurs c times, 1 - (1 - 1 / w)^c), an item that no node covers with probability 0, and
    several items with the product, also below one node. What is published as a leaf is certain.

    Args:
        release: The release, over a tree with the items as leaves; unknown items are in no record.
        items: The items that occur in the queries.
        queries: One row per query, with positions in `items`; -1 fills shorter ones.

    Example:
        >>> from setveil import Generalized, Hierarchy, KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> rows = [["Alcohol", "milk"], ["Alcohol", "milk"], ["wine"]]
        >>> release = Generalized.of(rows, Hierarchy.from_paths(paths), KAnonymity(k=2))
        >>> queries = np.array([[0, -1], [1, -1], [0, 1]])
        >>> estimate_supports(release, ["wine", "milk"], queries).tolist()
        [2.0, 2.0, 1.0]
    """
    estimates, count = np.zeros(len(queries)), len(release.classes)
    if not len(queries):
        return estimates
    if queries.shape[1] == 1:
        return _of_items(release, items)[queries[:, 0]]
    leaves = release.hierarchy.nodes.find(items)
    block = max(_MOST_CELLS // max(len(items), 1), 1)

    def estimate(start: int) -> Floats:
        stop = min(start + block, count)
        chances = _chances(release, leaves, start, stop)
        sizes, found = release.sizes[start:stop].astype(np.float64), np.zeros(len(queries))
        for at in range(0, len(queries), 256):
            rows = queries[at : at + 256]
            joint = chances[rows[:, 0]]
            for column in range(1, rows.shape[1]):
                joint *= chances[rows[:, column]]
            found[at : at + 256] = joint @ sizes
        return found

    for part in on_threads(estimate, range(0, count, block)):
        estimates += part
    return estimates


def _of_items(release: Generalized, items: list[str]) -> Floats:
    """The same for each item alone: the chances of all records are summed at once.

    A record has at most one node above a leaf, so each entry adds its chance to all its leaves."""
    tree, classes = release.hierarchy, release.classes
    chance = 1.0 / tree.widths[classes.items]
    if isinstance(classes, Bags):
        chance = 1.0 - (1.0 - chance) ** classes.counts
    people = release.sizes[classes.rows] * chance
    # For each leaf, the sum over the nodes that cover it, one level of the tree at a time: a
    # running sum over all leaves would add up the rounding errors of the others.
    of_nodes = np.bincount(classes.items, weights=people, minlength=len(tree))
    leaves = tree.nodes.find(items)
    found, node = (
        np.zeros(len(items)),
        np.where(leaves < tree.leaf_count, leaves, -1),
    )  # -1 if unknown
    while (node >= 0).any():
        found += np.where(node >= 0, of_nodes[node], 0.0)
        node = np.where(node >= 0, tree.parent[node], -1)
    return found


def _chances(release: Generalized, leaves: Int64s, start: int, stop: int) -> Floats:
    """The chance that a record has an item: a row per item and one of ones, a column per class."""
    classes, order = release.classes, np.argsort(leaves, kind="stable")
    columns = np.repeat(np.arange(stop - start), np.diff(classes.indptr[start : stop + 1]))
    first, last, chance = _covered(release, leaves, start, stop)
    lengths = last - first
    places = ranges(first, lengths)
    table = np.zeros((len(leaves) + 1, stop - start))
    table[-1] = 1.0
    table[order[places], np.repeat(columns, lengths)] = np.repeat(chance, lengths)
    return table


def _covered(
    release: Generalized, leaves: Int64s, start: int, stop: int
) -> tuple[Int64s, Int64s, Floats]:
    """For each entry of some classes, where the leaves it covers begin and end; their chance."""
    tree, classes = release.hierarchy, release.classes
    entries = slice(classes.indptr[start], classes.indptr[stop])
    nodes, ordered = classes.items[entries], np.sort(leaves)
    first, last = (np.searchsorted(ordered, bound)[nodes] for bound in (tree.first, tree.stop))
    chance = 1.0 / tree.widths[nodes]
    if isinstance(classes, Bags):
        chance = 1.0 - (1.0 - chance) ** classes.counts[entries]
    return first, last, chance

"""Items that a hierarchy lacks: below its root, left out, or refused.

A tree that a user gives may lack items of the data, such as next month's new product. With `root`
they become leaves directly below the root. The tree was public, but these leaves come from the
data, so a release contains only those that its records show. With `drop` they are left out of all
records, which is a suppression. Both are written into the recipe of the tree, so that anyone with
the original data can do the same again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TypeVar

import numpy as np

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import ParameterError, UnknownItemError, brief
from setveil.hierarchy.layouts import Unknown
from setveil.hierarchy.tree import Hierarchy, numbered

Data = TypeVar("Data", bound=Transactions)
_MOST_GUESSES = 1_000  # up to how many items of a tree are compared with a misspelled one
REMEDY = "put such items below the root with {unknown=root}, or leave them out with {unknown=drop}"


@dataclass(frozen=True, eq=False, repr=False)
class RootedTree(Hierarchy):
    """A tree with more leaves below its root, for items of the data that the given tree lacks."""

    given: Hierarchy = field(kw_only=True)

    def published(self, nodes: Iterable[int]) -> Hierarchy:
        shown = {self.labels[node] for node in nodes}
        return _rooted(self.given, [item for item in self.added if item in shown])

    @property
    def added(self) -> list[str]:
        return [label for label in self.labels[: self.leaf_count] if label not in self.given]


def fitted(tree: Hierarchy, data: Data, unknown: Unknown) -> tuple[Hierarchy, Data]:
    """The tree and the records, after items that the tree lacks were dealt with.

    Raises:
        UnknownItemError: if there are any and they are refused, or are groups of the tree.
    """
    if unknown not in ("refuse", "root", "drop"):
        raise ParameterError("unknown", unknown, "it must be one of refuse, root, drop")
    missing = lacking(tree, data.vocabulary)
    if unknown == "refuse":
        if missing:
            raise _unknown(tree, missing)
        return tree, data
    parameters = {**tree.origin.parameters, "unknown": unknown}
    marked = replace(tree, origin=replace(tree.origin, parameters=parameters))
    if unknown == "root":
        return rooted(marked, missing), data
    return marked, known_part(marked, data)


def lacking(tree: Hierarchy, vocabulary: Vocabulary) -> list[str]:
    """The items that are no leaves of a tree, in a fixed order."""
    numbers, count = tree.nodes.numbers, tree.leaf_count
    return sort_labels([item for item in vocabulary if numbers.get(item, count) >= count])


def known_part(tree: Hierarchy, data: Data) -> Data:
    """The records without the items that a tree lacks, if it says that these are left out."""
    if tree.origin.parameters.get("unknown") != "drop":
        return data
    missing = set(lacking(tree, data.vocabulary))
    return data.keeping(np.array([item not in missing for item in data.vocabulary], dtype=bool))


def rooted(tree: Hierarchy, items: Sequence[str]) -> Hierarchy:
    """A tree with more items directly below its root."""
    groups = [item for item in items if item in tree]
    if groups:
        where = "the hierarchy has a group with the label of an item:"
        raise UnknownItemError(groups, where, "leave such items out with {unknown=drop}")
    return _rooted(tree, items)


def _rooted(tree: Hierarchy, items: Sequence[str]) -> Hierarchy:
    if not items or len(tree) == 1:  # an item alone has no root to be below
        return tree
    order = np.lexsort((tree.depth, tree.first))
    place = np.full(len(tree) + 1, -1)
    place[order] = np.arange(len(order))
    labels = [*(tree.labels[node] for node in order.tolist()), *items]
    parents = [*place[tree.parent[order]].tolist(), *[int(place[tree.root])] * len(items)]
    made = numbered(labels, parents, tree.origin)
    parts = (made.nodes, made.parent, made.depth, made.first, made.stop, made.origin)
    return RootedTree(*parts, given=tree)


def _unknown(tree: Hierarchy, missing: Sequence[str]) -> UnknownItemError:
    """The error for items without a leaf; for a single one with the leaf that may be meant."""
    leaves, guess = tree.labels[: tree.leaf_count], ""
    if len(missing) == 1:
        lower = {leaf.strip().casefold(): leaf for leaf in leaves}
        near = lower.get(missing[0].strip().casefold())
        if near is None and len(leaves) <= _MOST_GUESSES:
            near = next(iter(get_close_matches(missing[0], leaves, 1, 0.8)), None)
        guess = f"did you mean {brief(near)}? Otherwise " if near else ""
    return UnknownItemError(missing, remedy=guess + REMEDY)

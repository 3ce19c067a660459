"""The columns of an original beside those of its grouped release."""

from __future__ import annotations

from setveil.data.columns import Column, Table
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, ParameterError
from setveil.hierarchy.build import rebuild
from setveil.hierarchy.tree import Hierarchy
from setveil.published.grouped.cells import PublishedColumn
from setveil.published.grouped.form import Grouped


def table_of(release: Grouped, original: Transactions) -> Table:
    """The original with the columns that are published, in their order.

    Raises:
        ParameterError: if it lacks one.
    """
    held = {each.name: each for each in original.columns} if isinstance(original, Table) else {}
    names = [column.name for column in release.columns]
    missing = [name for name in names if name not in held]
    if missing:
        allowed = f"it must have the columns {', '.join(names)}: name each with {{column}}"
        raise ParameterError("original", "given", allowed)
    sets = Transactions(original.indptr, original.items, original.vocabulary)
    return Table.beside(sets, [held[name] for name in names])


def tree_for(published: PublishedColumn, original: Column) -> Hierarchy | None:
    """The whole tree of a column of words: that of the original, or built again from the words."""
    tree = published.tree
    if tree is None or not tree.origin.pruned:
        return tree
    if isinstance(original.tree, Hierarchy):
        return original.tree
    try:
        whole = rebuild(tree.origin, Vocabulary(original.values), original.counts)
    except (DataError, ValueError, TypeError):
        return tree
    return whole if whole.labels[whole.root] == tree.labels[tree.root] else tree

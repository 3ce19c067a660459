"""Hypothesis strategies for small data sets and uneven trees.

    from tests.strategies import bags, data_with_tree, transactions, trees

Items are drawn from few labels, so that records are often equal; some labels are awkward on purpose
(spaces, delimiters, quotes, non-ASCII, texts that look like the labels of built trees).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from setveil.data.transactions import Bags, Transactions
from setveil.hierarchy.tree import Hierarchy

PLAIN = tuple("abcdefghijklmnop")
NUMBERS = tuple(str(number) for number in (7, 10, 2, 33, 0, 100, 5, 64, 1, 12, 90, 8))
AWKWARD = (
    "red wine",
    "x;y",
    "1,2",
    'the "best"',
    "*",
    "*1",
    "tab\there",
    "crème brûlée",
    "日本",
    "7",
    "07",
    "-",
    "A00.1",
    "it's",
)
LABEL_SETS = (PLAIN, NUMBERS, AWKWARD)

SEEDS = st.integers(0, 2**32 - 1)
"""Numbers for `Random`: each is a case of its own, and none is simpler than another."""
CHANCES = st.randoms(use_true_random=False)
"""Random numbers that Hypothesis chooses: a case that fails is made simpler."""


def transactions(**sizes: Any) -> st.SearchStrategy[Transactions]:
    """Records of distinct items, empty ones among them; the options are those of `_records`."""

    def record(items: Sequence[str], longest: int) -> st.SearchStrategy[Any]:
        return st.lists(st.sampled_from(items), max_size=longest, unique=True)

    return _records(record, **sizes).map(Transactions.of)


def bags(*, max_count: int = 4, **sizes: Any) -> st.SearchStrategy[Bags]:
    """Records of items with counts, some empty; `_records` explains the other options."""

    def record(items: Sequence[str], longest: int) -> st.SearchStrategy[Any]:
        return st.dictionaries(st.sampled_from(items), st.integers(1, max_count), max_size=longest)

    return _records(record, **sizes).map(Bags.of)


@st.composite
def trees(
    draw: st.DrawFn,
    *,
    leaves: Sequence[str] | None = None,
    min_leaves: int = 1,
    max_leaves: int = 12,
    max_inner: int = 8,
    chains: bool = True,
) -> Hierarchy:
    """An uneven tree: leaves at any depth, fan-outs from 1 (only with `chains`) to all leaves.

    The leaves are `leaves` in random order, or `min_leaves` to `max_leaves` labels of one kind.
    """
    if leaves is None:
        known = draw(st.sampled_from(LABEL_SETS))
        leaves = draw(
            st.lists(
                st.sampled_from(known),
                min_size=min_leaves,
                max_size=min(max_leaves, len(known)),
                unique=True,
            )
        )
    labels, parents, forest = (
        list(draw(st.permutations(leaves))),
        [-1] * len(leaves),
        list(range(len(leaves))),
    )
    for _ in range(draw(st.integers(0, max_inner))):
        least = 1 if chains else 2
        if len(forest) < least:
            break
        size = draw(st.integers(least, min(len(forest), 5)))
        start = draw(st.integers(0, len(forest) - size))
        _join(labels, parents, forest, start, start + size)
    if len(forest) > 1:
        _join(labels, parents, forest, 0, len(forest))
    return Hierarchy.from_parents(labels, parents)


@st.composite
def data_with_tree(
    draw: st.DrawFn,
    *,
    multiset: bool = False,
    min_records: int = 0,
    max_records: int = 12,
    max_leaves: int = 8,
    max_length: int | None = None,
    chains: bool = True,
) -> tuple[Transactions, Hierarchy]:
    """Records (`Bags` if `multiset`) and a tree with a leaf for each item, and often more."""
    tree = draw(trees(max_leaves=max_leaves, chains=chains))
    make = bags if multiset else transactions
    items = tree.labels[: tree.leaf_count]
    data = draw(
        make(
            labels=items,
            min_records=min_records,
            max_records=max_records,
            max_items=max_leaves,
            max_length=max_length,
        )
    )
    return data, tree


@st.composite
def _records(
    draw: st.DrawFn,
    record: Callable[[Sequence[str], int], st.SearchStrategy[Any]],
    *,
    labels: Sequence[str] | None = None,
    min_records: int = 0,
    max_records: int = 12,
    max_items: int = 8,
    max_length: int | None = None,
) -> list[Any]:
    """Records of up to `max_length` items, over some of `labels` (any kind when not given)."""
    known = draw(st.sampled_from(LABEL_SETS)) if labels is None else labels
    if not known:
        return draw(st.lists(st.just(()), min_size=min_records, max_size=max_records))
    items = draw(
        st.lists(
            st.sampled_from(known), min_size=1, max_size=min(max_items, len(known)), unique=True
        )
    )
    longest = len(items) if max_length is None else min(max_length, len(items))
    return draw(st.lists(record(items, longest), min_size=min_records, max_size=max_records))


def _join(labels: list[str], parents: list[int], forest: list[int], start: int, stop: int) -> None:
    """Put a new inner node over the subtrees `forest[start:stop]`."""
    node = len(labels)
    labels.append(f"<{node}>")
    parents.append(-1)
    for child in forest[start:stop]:
        parents[child] = node
    forest[start:stop] = [node]

"""Hierarchies built from the items alone: balanced trees and trees of code prefixes."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count, takewhile
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s
from setveil.data.vocabulary import Order, Vocabulary, natural_order, sort_labels, vocabulary_of
from setveil.errors import ParameterError, brief
from setveil.hierarchy.outline import free_label
from setveil.hierarchy.tree import Hierarchy, Origin, numbered
from setveil.words import plural

BalancedOrder = Order | Literal["frequency"]
ORDERS: tuple[BalancedOrder, ...] = ("numeric", "alphabetical", "frequency")

_POSITION = re.compile(r"(\*+)(?:\d+(?:\.\d+)*)?\Z", re.ASCII)


def balanced(
    vocabulary: Vocabulary | Iterable[object],
    fanout: int = 5,
    order: BalancedOrder | None = None,
    supports: npt.NDArray[np.integer] | None = None,
) -> Hierarchy:
    """A tree over the sorted items whose nodes have `fanout` children each.

    The items are sorted and cut into runs of `fanout`; each run gets a parent. The parents are cut
    into runs in the same way, and so on up to the root. All leaves are equally deep; the last node
    of a level may have fewer children, even only one.

    Labels of inner nodes are positions and reveal nothing about the items below: `*` is the root,
    `*2` its second child, `*2.3` the third child of that. If an item has such a label, all
    positions start with more stars.

    Args:
        vocabulary: The items, or data that has them. Without items the tree is the single node `*`;
            a single item gets a root.
        fanout: The number of children of a node, 2 or more.
        order: `numeric`, `alphabetical` (by code point) or `frequency` (most frequent first, ties
            in the natural order). By default numeric if every item is a whole number, else
            alphabetical.
        supports: The number of records of each item; needed for `frequency`.

    Example:
        >>> tree = balanced(Vocabulary.of(range(1, 8)), fanout=3)
        >>> tree.path("5")
        ('5', '*2', '*')
        >>> [len(tree.children(node)) for node in tree.children(tree.root)]
        [3, 3, 1]
    """
    if not isinstance(fanout, int | np.integer) or isinstance(fanout, bool) or fanout < 2:
        raise ParameterError("fanout", fanout, "it must be a whole number of 2 or more")
    items = vocabulary_of(vocabulary)
    chosen = order or natural_order(items)
    leaves = _sorted(items, chosen, supports)
    width = min(int(fanout), max(len(leaves), 2))
    sizes = _level_sizes(len(leaves), width)
    labels = leaves + _positions(sizes, width, _free_stars(leaves))
    origin = Origin("balanced", {"fanout": int(fanout), "order": chosen})
    return numbered(labels, _parents(sizes, width), origin)


def prefix(
    vocabulary: Vocabulary | Iterable[object],
    lengths: Sequence[int] | None = None,
    separators: str = ".-/ ",
) -> Hierarchy:
    """A tree over codes, grouped by their common prefixes: `A00.1 -> A00 -> A -> *`.

    By default a code is cut before each run of separators, and after the letters it starts with: so
    `J45.9-2` is below `J45.9`, `J45` and `J`. Codes without separators are cut at fixed lengths:
    with `lengths=(1, 3, 4, 5)` the ATC code `A10BA02` is below `A10BA`, `A10B`, `A10` and `A`.
    Lengths count all characters; separators at the end of a prefix are dropped.

    A code that is also a prefix of others remains a leaf: with the items `A00` and `A00.1` the
    group of both is called `A00.*`. Groups of a single code are kept. The root is `*`, with more
    stars if an item or a group has that label.

    Args:
        vocabulary: The codes, or data that has them.
        lengths: Where to cut, ascending; by default the rule above.
        separators: The characters between the parts of a code; with `lengths` they are only dropped
            from the ends of prefixes.

    Example:
        >>> tree = prefix(Vocabulary.of(["A00.1", "A00", "B2"]))
        >>> [" -> ".join(path) for path in tree.paths()]
        ['A00 -> A00.* -> A -> *', 'A00.1 -> A00.* -> A -> *', 'B2 -> B -> *']
    """
    chosen = None if lengths is None else _checked_lengths(lengths)
    cut = _cut_at_parts(separators) if chosen is None else _cut_at_lengths(chosen, separators)
    labels, parents = _prefix_arrays(
        {item: cut(item) for item in sort_labels(vocabulary_of(vocabulary))}
    )
    parameters = {"lengths": chosen, "separators": separators}
    return numbered(labels, parents, Origin("prefix", parameters))


def rebuild(
    origin: Origin, vocabulary: Vocabulary, supports: npt.NDArray[np.integer] | None = None
) -> Hierarchy:
    """Build a tree again from its recipe and its items (and supports, if it sorts by them)."""
    recipe = origin.parameters
    if origin.kind == "balanced":
        fanout, order = cast(int, recipe.get("fanout")), recipe.get("order")
        return balanced(vocabulary, fanout, cast("BalancedOrder | None", order), supports)
    if origin.kind == "prefix":
        lengths = cast("Sequence[int] | None", recipe.get("lengths"))
        return prefix(vocabulary, lengths, str(recipe.get("separators", "")))
    if origin.kind == "wordnet":
        from setveil.hierarchy.wordnet.network import WordNet
        from setveil.hierarchy.wordnet.tree import rebuilt_from

        return rebuilt_from(WordNet.read(), recipe, vocabulary)
    allowed = "only balanced, prefix and wordnet trees can be built again"
    raise ParameterError("origin", origin.kind, allowed)


def _sorted(
    vocabulary: Vocabulary, order: str, supports: npt.NDArray[np.integer] | None
) -> list[str]:
    if order == "frequency":
        return _by_frequency(vocabulary, supports)
    if order not in ORDERS:
        raise ParameterError("order", order, f"it must be one of {', '.join(ORDERS)}")
    if order == "numeric" and natural_order(vocabulary) != "numeric":
        odd = next(item for item in vocabulary if natural_order([item]) != "numeric")
        allowed = f"the item {brief(odd)} is not a whole number; alphabetical works for any item"
        raise ParameterError("order", order, allowed)
    return sort_labels(vocabulary, cast(Order, order))


def _by_frequency(vocabulary: Vocabulary, supports: npt.NDArray[np.integer] | None) -> list[str]:
    if supports is None or len(supports) != len(vocabulary):
        given = None if supports is None else f"{len(supports)} numbers"
        items = plural(len(vocabulary), "item")
        allowed = f"the order by frequency needs the support of each of {items}"
        raise ParameterError("supports", given, allowed)
    support = dict(zip(vocabulary, np.asarray(supports).tolist(), strict=True))
    return sorted(sort_labels(vocabulary), key=lambda item: -support[item])


def _level_sizes(leaves: int, fanout: int) -> list[int]:
    """The number of nodes of each level from the leaves up; a single leaf still gets a root."""
    sizes = [leaves, -(-leaves // fanout)] if leaves else [1]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // fanout))
    return sizes if leaves else [0, 1]


def _parents(sizes: Sequence[int], fanout: int) -> Int64s:
    starts = np.cumsum([0, *sizes])
    levels = [
        start + np.arange(size) // fanout
        for start, size in zip(starts[1:], sizes[:-1], strict=False)
    ]
    return np.concatenate((*levels, [-1]))


def _positions(sizes: Sequence[int], fanout: int, stars: str) -> list[str]:
    """The labels of the inner nodes, level by level from the leaves up."""
    levels = [[stars]]
    for size in reversed(sizes[1:-1]):
        above, dot = levels[-1], "" if len(levels) == 1 else "."
        places = (divmod(place, fanout) for place in range(size))
        levels.append([f"{above[parent]}{dot}{child + 1}" for parent, child in places])
    return [label for level in reversed(levels) for label in level]


def _free_stars(items: Iterable[str]) -> str:
    """The fewest stars such that no item can be the label of a position."""
    starred = (item for item in items if item[:1] == "*")
    taken = {len(match[1]) for item in starred if (match := _POSITION.match(item))}
    return "*" * next(number for number in count(1) if number not in taken)


def _checked_lengths(lengths: Sequence[int]) -> Sequence[int]:
    given = list(lengths) if isinstance(lengths, Iterable) else []
    rising = all(
        isinstance(length, int | np.integer) and length > 0 for length in given
    ) and given == sorted(set(given))
    if not given or not rising:
        raise ParameterError("lengths", lengths, "they must be ascending whole numbers from 1 on")
    return [int(length) for length in given]


def _cut_at_lengths(lengths: Sequence[int], separators: str) -> Callable[[str], list[str]]:
    def cut(code: str) -> list[str]:
        fitting = takewhile(lambda length: length < len(code), lengths)
        found = dict.fromkeys(code[:length].rstrip(separators) for length in fitting)
        return [start for start in found if start]

    return cut


def _cut_at_parts(separators: str) -> Callable[[str], list[str]]:
    between = re.compile(
        f"(?<=[^{re.escape(separators)}])(?=[{re.escape(separators)}])" if separators else r"(?!)"
    )
    letters = re.compile(r"[^\W\d_]+(?=[\W\d_])")

    def cut(code: str) -> list[str]:
        places = {match.start() for match in between.finditer(code)}
        if start := letters.match(code):
            places.add(start.end())
        return [code[:place] for place in sorted(places)]

    return cut


def _prefix_arrays(chains: Mapping[str, Sequence[str]]) -> tuple[list[str], list[int]]:
    """Labels and parents of the tree over items with these prefixes, shortest first; root first."""
    starts = dict.fromkeys(start for chain in chains.values() for start in chain)
    names, root = _group_names(starts, chains.keys())
    labels, parents = [root], [-1]
    number = {"": 0}
    for item, chain in chains.items():
        above = ""
        for start in (*chain, item) if item in starts else chain:
            if start not in number:
                number[start] = len(labels)
                labels.append(names[start])
                parents.append(number[above])
            above = start
        labels.append(item)
        parents.append(number[above])
    return labels, parents


def _group_names(starts: Iterable[str], items: Collection[str]) -> tuple[dict[str, str], str]:
    """The label of each group (the prefix, with `.*` if it is an item too) and of the root."""
    taken, names = {*starts, *items}, {}
    for start in starts:
        names[start] = free_label(f"{start}.*", taken) if start in items else start
        taken.add(names[start])
    return names, free_label("*", taken)

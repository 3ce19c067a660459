"""Balanced trees, built from the items alone, and trees that are built again from their recipe."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Int64s
from setveil.data.vocabulary import Order, Vocabulary, natural_order, sort_labels, vocabulary_of
from setveil.errors import ParameterError, brief
from setveil.hierarchy.prefix import CodeShape, prefix
from setveil.hierarchy.tree import Hierarchy, Origin, numbered
from setveil.words import plural

BalancedOrder = Order | Literal["frequency"]
ORDERS: tuple[BalancedOrder, ...] = ("numeric", "alphabetical", "frequency")

_LONGEST = 30  # how many characters of an item a label shows
_POSITION = re.compile(r"(\*+)(?:\d+(?:\.\d+)*)?\Z", re.ASCII)


def balanced(
    vocabulary: Vocabulary | Iterable[object],
    fanout: int = 5,
    order: BalancedOrder | None = None,
    supports: npt.NDArray[np.integer] | None = None,
    public_items: bool = False,
) -> Hierarchy:
    """A tree over the sorted items whose nodes have `fanout` children each.

    The items are sorted and cut into runs of `fanout`; each run gets a parent. The parents are cut
    into runs in the same way, and so on up to the root. All leaves are equally deep; the last node
    of a level may have fewer children, even only one.

    Labels of inner nodes are positions and reveal nothing about the items below: `*` is the root,
    `*2` its second child, `*2.3` the third child of that. If an item has such a label, all
    positions start with more stars.

    With `public_items` a label shows the first and the last item of its group, `apples..beer`, or
    in the order by frequency two of its items. That reveals items, so the whole tree is published.

    Args:
        vocabulary: The items, or data that has them. Without items the tree is the single node `*`;
            a single item gets a root.
        fanout: The number of children of a node, 2 or more.
        order: `numeric`, `alphabetical` (by code point) or `frequency` (most frequent first, ties
            in the natural order). By default numeric if every item is a whole number, else
            alphabetical.
        supports: The number of records of each item; needed for `frequency`.
        public_items: The list of items is public knowledge, so labels may name them.

    Example:
        >>> tree = balanced(Vocabulary.of(range(1, 8)), fanout=3)
        >>> tree.path("5")
        ('5', '*2', '*')
        >>> [len(tree.children(node)) for node in tree.children(tree.root)]
        [3, 3, 1]
        >>> balanced(["apples", "beer", "tea"], fanout=2, public_items=True).path("beer")
        ('beer', 'apples..beer', '*')
    """
    if not isinstance(fanout, int | np.integer) or isinstance(fanout, bool) or fanout < 2:
        raise ParameterError("fanout", fanout, "it must be a whole number of 2 or more")
    items = vocabulary_of(vocabulary)
    chosen = order or natural_order(items)
    leaves = _sorted(items, chosen, supports)
    width = min(int(fanout), max(len(leaves), 2))
    sizes = _level_sizes(len(leaves), width)
    stars, recipe = _free_stars(leaves), {"fanout": int(fanout), "order": chosen}
    if public_items:
        inner = _ranges(leaves, sizes, width, chosen)
        labels, recipe = [*leaves, *inner, stars], {**recipe, "public_items": True}
    else:
        labels = leaves + _positions(sizes, width, stars)
    return numbered(labels, _parents(sizes, width), Origin("balanced", recipe))


def rebuild(
    origin: Origin, vocabulary: Vocabulary, supports: npt.NDArray[np.integer] | None = None
) -> Hierarchy:
    """Build a tree again from its recipe and its items (and supports, if it sorts by them)."""
    recipe = origin.parameters
    if origin.kind == "balanced":
        fanout, order = cast(int, recipe.get("fanout")), cast(BalancedOrder, recipe.get("order"))
        return balanced(vocabulary, fanout, order, supports, bool(recipe.get("public_items")))
    if origin.kind == "prefix":
        lengths = cast("Sequence[int] | None", recipe.get("lengths"))
        shape = cast(CodeShape, recipe.get("shape", "parts"))
        return prefix(vocabulary, lengths, str(recipe.get("separators", "")), shape)
    if origin.kind == "wordnet":
        from setveil.hierarchy.wordnet.network import WordNet
        from setveil.hierarchy.wordnet.nountree import rebuilt_from

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


def _ranges(leaves: Sequence[str], sizes: Sequence[int], fanout: int, order: str) -> list[str]:
    """Labels of the inner nodes that name items, level by level from the leaves up to the root."""
    used, labels, span = Counter(leaves), list[str](), 1
    for size in sizes[1:-1]:
        span *= fanout
        for start in range(0, size * span, span):
            wanted = label = range_of(leaves[start : start + span], order)
            while label in used:
                used[wanted] += 1
                label = f"{wanted}{' ' * (' ' in wanted)}({used[wanted]})"
            used[label] += 1
            labels.append(label)
    return labels


def range_of(items: Sequence[str], order: object) -> str:
    """The first and the last of some sorted items, or two of them if their order has no meaning.

    Example:
        >>> range_of(["apples", "bread", "tea"], "alphabetical"), range_of(["7", "12"], "numeric")
        ('apples..tea', '7..12')
        >>> range_of(["milk", "bread", "salt"], "frequency")
        'bread, milk and 1 more'
    """
    if order in ("numeric", "alphabetical"):
        first, last = _short(items[0]), _short(items[-1])
        # Without blanks if the items have none, because files such as FIMI separate items by them.
        return f"{first} .. {last}" if " " in first + last else f"{first}..{last}"
    named, more = ", ".join(map(_short, sorted(items)[:2])), len(items) - 2
    return f"{named} and {more:,} more" if more > 0 else named if more == 0 else f"only {named}"


def _short(item: str) -> str:
    return item if len(item) <= _LONGEST else f"{item[: _LONGEST - 3]}..."


def _free_stars(items: Iterable[str]) -> str:
    """The fewest stars such that no item can be the label of a position."""
    starred = (item for item in items if item[:1] == "*")
    taken = {len(match[1]) for item in starred if (match := _POSITION.match(item))}
    return "*" * next(number for number in count(1) if number not in taken)

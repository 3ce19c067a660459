"""The tree of a release folder, `hierarchy.csv`, and the recipe by which it was built."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from setveil.data.arrays import Int32s
from setveil.hierarchy.files import read_hierarchy, write_hierarchy
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.io.releases.form import Choices, Fact, ReleaseFolder
from setveil.io.releases.strict import check_lines

TREE = "hierarchy.csv"


def write_tree(tree: Hierarchy, nodes: Int32s, stage: Path, choices: Choices) -> dict[str, object]:
    """Write a tree; gives its recipe.

    Of a tree that was built from the items of the data, and of items that were added to a given
    one, only what these nodes show is written.
    """
    if not choices.public_items:
        tree = tree.published(nodes)
    write_hierarchy(tree, stage / TREE)
    return write_origin(tree.origin)


def read_tree(folder: ReleaseFolder, published: Sequence[str]) -> Hierarchy:
    """The tree that `write_tree` wrote; `published` are the nodes that occur in records."""
    tree = whole_tree(folder)
    check_pruned(folder, tree, published)
    return tree


def whole_tree(folder: ReleaseFolder) -> Hierarchy:
    """The tree of a folder, whatever its records show."""
    origin = read_origin(folder.about.get("hierarchy") or {})
    tree = read_hierarchy(folder.place / TREE, layout="paths", delimiter=";", origin=origin)
    text = StringIO()
    write_hierarchy(tree, text)
    check_lines(folder, TREE, [text.getvalue().removesuffix("\n")])
    return tree


def check_pruned(folder: ReleaseFolder, tree: Hierarchy, published: Sequence[str]) -> None:
    """Refuse a tree that is said to be pruned but has more than these nodes show."""
    shown = tree.nodes.encode(published)
    if tree.origin.pruned and len(tree.pruned(shown)) < len(tree):
        raise folder.fault(f"{TREE} has more than the records show, but is said to be pruned")


def write_origin(origin: Origin) -> dict[str, object]:
    """Where a tree comes from, as in `release.json`."""
    return {"kind": origin.kind, **origin.parameters} | ({"pruned": True} if origin.pruned else {})


def read_origin(recipe: Mapping[str, Any]) -> Origin:
    """What `write_origin` gave."""
    parameters = {key: value for key, value in recipe.items() if key not in ("kind", "pruned")}
    return Origin(recipe.get("kind", "given"), parameters, pruned=bool(recipe.get("pruned")))


Is = Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_text(pattern: str) -> Is:
    return lambda value: type(value) is str and re.fullmatch(pattern, value) is not None


def _are_lengths(value: Any) -> bool:
    return value is None or (
        type(value) is list and len(value) < 100 and all(map(_is_count, value))
    )


_KINDS: dict[str, dict[str, Is]] = {
    "given": {"unknown": _is_text("root|drop")},
    "balanced": {
        "fanout": _is_count,
        "order": _is_text("numeric|alphabetical|frequency"),
        "public_items": lambda value: value is True,
    },
    "prefix": {
        "lengths": _are_lengths,
        "separators": _is_text(r"[\W_]{0,40}"),
        "shape": _is_text("atc|icd9|icd10|parts"),
    },
    "wordnet": {
        "version": lambda value: value is None or _is_text(r"[\w. +-]{0,20}")(value),
        "synsets": _is_count,
        "unknown": _is_text("keep|refuse"),
        "squeeze": lambda value: type(value) is bool,
    },
}
"""What the recipe of each kind of tree says."""


def _is_recipe(value: Any) -> bool:
    if type(value) is not dict:
        return False
    kind = _KINDS.get(str(value.get("kind", "given")))
    parameters = {key: each for key, each in value.items() if key not in ("kind", "pruned")}
    return (
        kind is not None
        and value.get("pruned", True) is True
        and all(name in kind and kind[name](each) for name, each in parameters.items())
    )


RECIPE = Fact(_is_recipe, "an object, the recipe of a tree")

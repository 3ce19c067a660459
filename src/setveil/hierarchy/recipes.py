"""Trees as a user names them: a file, or a recipe by which one is built over the items of the data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, ParameterError
from setveil.hierarchy.build import balanced, prefix
from setveil.hierarchy.files import Layout, read_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.wordnet.network import Unknown, WordNet

RECIPES = "it is a file, or balanced[:FANOUT[:numeric|alphabetical|frequency]], or prefix[:LENGTH,LENGTH,...], or wordnet[+unknown][:FOLDER]"
_DIGITS = 18
"""A number of more digits fits no 64 bits, and no tree."""
MakeHierarchy = Callable[[Transactions], Hierarchy | None]


def hierarchy_maker(
    given: Hierarchy | Path | str | None, layout: Layout | None = None
) -> MakeHierarchy:
    """How to get the tree once the data is read; what can be refused before that is refused at once.

    Args:
        given: A tree, a path, or a recipe: `balanced:5`, `balanced:5:alphabetical`, `prefix`, `prefix:1,3,4`, `wordnet`,
            `wordnet:FOLDER`, `wordnet+unknown`.
        layout: The layout of the file, when it is one.
    """
    if layout is not None and (is_recipe(given) or given is None or isinstance(given, Hierarchy)):
        raise ParameterError(
            "layout", layout, "it says how a hierarchy file is laid out, but none is given"
        )
    if isinstance(given, str) and is_recipe(given):
        kind, *parts = given.split(":")
        if kind == "balanced" and len(parts) <= 2:
            return _balanced_maker(given, *parts)
        if kind == "prefix" and len(parts) <= 1:
            return _prefix_maker(given, *parts)
        if kind.startswith("wordnet") and parts != [""]:
            return _wordnet_maker(
                "keep" if kind == "wordnet+unknown" else "refuse", ":".join(parts)
            )
        raise ParameterError("hierarchy", given, RECIPES)
    tree = given if isinstance(given, Hierarchy) or given is None else _read(given, layout)
    return lambda data: tree


def is_recipe(given: object) -> bool:
    """Whether this says how to build a tree over the items of a data set, and is not a tree or its file."""
    return isinstance(given, str) and given.split(":")[0] in (
        "balanced",
        "prefix",
        "wordnet",
        "wordnet+unknown",
    )


def _read(path: Path | str, layout: Layout | None) -> Hierarchy:
    if not Path(path).exists() and not Path(path).suffix:
        raise FileFormatError(path, f"there is no such file, and no such recipe: {RECIPES}")
    return read_hierarchy(path, layout=layout)


def _balanced_maker(recipe: str, fanout: str = "5", order: str = "") -> MakeHierarchy:
    if not _is_count(fanout) or order not in ("", "numeric", "alphabetical", "frequency"):
        raise ParameterError("hierarchy", recipe, RECIPES)
    if int(fanout) < 2:
        raise ParameterError("hierarchy", recipe, "the fan-out must be 2 or more")
    chosen: Any = order or None
    return lambda data: balanced(
        data.vocabulary, int(fanout), order=chosen, supports=data.supports()
    )


def _prefix_maker(recipe: str, lengths: str = "") -> MakeHierarchy:
    parts = lengths.split(",") if lengths else []
    if not all(map(_is_count, parts)):
        raise ParameterError("hierarchy", recipe, RECIPES)
    chosen = [int(part) for part in parts] or None
    if chosen is not None and not all(
        here < there for here, there in zip([0, *chosen], chosen, strict=False)
    ):
        raise ParameterError(
            "hierarchy", recipe, "the lengths of the prefixes must be 1 or more, and ascend"
        )
    return lambda data: prefix(data.vocabulary, lengths=chosen)


def _is_count(text: str) -> bool:
    return text.isdecimal() and len(text) <= _DIGITS


def _wordnet_maker(unknown: Unknown, folder: str) -> MakeHierarchy:
    wordnet = WordNet.read(folder or None)
    return lambda data: wordnet.tree(data.vocabulary, unknown)

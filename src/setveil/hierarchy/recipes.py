"""Hierarchies as users name them: a file, or a recipe to build one over the items of the data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, ParameterError
from setveil.hierarchy.build import balanced, prefix
from setveil.hierarchy.files import Layout, read_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.wordnet.network import Unknown, WordNet

RECIPES = (
    "it must be a file, or balanced[:FANOUT[:numeric|alphabetical|frequency]], "
    "or prefix[:LENGTH,LENGTH,...], or wordnet[+unknown][:FOLDER]"
)
_KINDS = ("balanced", "prefix", "wordnet", "wordnet+unknown")
_DIGITS = 18  # numbers with more digits do not fit into 64 bits
MakeHierarchy = Callable[[Transactions], Hierarchy | None]


def hierarchy_maker(
    given: Hierarchy | Path | str | None, layout: Layout | None = None
) -> MakeHierarchy:
    """A function that makes the tree once the data is read; mistakes are reported at once.

    Args:
        given: A tree, a path, or a recipe: `balanced:5`, `balanced:5:alphabetical`, `prefix`,
            `prefix:1,3,4`, `wordnet`, `wordnet:FOLDER`, `wordnet+unknown`.
        layout: The layout of the file, if it is one."""
    if layout is not None and (is_recipe(given) or given is None or isinstance(given, Hierarchy)):
        raise ParameterError("layout", layout, "only a hierarchy file has a layout")
    if isinstance(given, str) and is_recipe(given):
        kind, *parts = given.split(":")
        if kind == "balanced" and len(parts) <= 2:
            return _balanced_maker(given, *parts)
        if kind == "prefix" and len(parts) <= 1:
            return _prefix_maker(given, *parts)
        if kind.startswith("wordnet") and parts != [""]:
            unknown: Unknown = "keep" if kind == "wordnet+unknown" else "refuse"
            wordnet = WordNet.read(":".join(parts) or None)
            return lambda data: wordnet.tree(data.vocabulary, unknown)
        raise ParameterError("hierarchy", given, RECIPES)
    tree = given if isinstance(given, Hierarchy) or given is None else _read(given, layout)
    return lambda data: tree


def is_recipe(given: object) -> bool:
    """Whether this is a recipe for a tree over the items of the data, not a tree or its file."""
    return isinstance(given, str) and given.split(":")[0] in _KINDS


def _read(path: Path | str, layout: Layout | None) -> Hierarchy:
    if not Path(path).exists() and not Path(path).suffix:
        raise FileFormatError(path, f"there is no such file or recipe: {RECIPES}")
    return read_hierarchy(path, layout=layout)


def _balanced_maker(recipe: str, fanout: str = "5", order: str = "") -> MakeHierarchy:
    if not _is_count(fanout) or order not in ("", "numeric", "alphabetical", "frequency"):
        raise ParameterError("hierarchy", recipe, RECIPES)
    if int(fanout) < 2:
        raise ParameterError("hierarchy", recipe, "the fan-out must be 2 or more")
    chosen: Any = order or None
    return lambda data: balanced(data.vocabulary, int(fanout), chosen, data.supports())


def _prefix_maker(recipe: str, lengths: str = "") -> MakeHierarchy:
    parts = lengths.split(",") if lengths else []
    if not all(map(_is_count, parts)):
        raise ParameterError("hierarchy", recipe, RECIPES)
    chosen = [int(part) for part in parts]
    if chosen != sorted(set(chosen)) or 0 in chosen:
        allowed = "the lengths of the prefixes must be 1 or more, and ascending"
        raise ParameterError("hierarchy", recipe, allowed)
    return lambda data: prefix(data.vocabulary, chosen or None)


def _is_count(text: str) -> bool:
    return text.isdecimal() and len(text) <= _DIGITS

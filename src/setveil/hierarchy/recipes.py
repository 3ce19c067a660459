"""Hierarchies as users name them, a file or a recipe, and what to know about a tree so built."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, Note, ParameterError
from setveil.hierarchy.build import balanced
from setveil.hierarchy.files import read_hierarchy
from setveil.hierarchy.layouts import ReadingWords, TreeOptions
from setveil.hierarchy.prefix import KNOWN_SHAPES, CodeShape, prefix
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.wordnet.network import WordNet
from setveil.words import plural

RECIPES = (
    "it must be a file, or balanced[:FANOUT[:numeric|alphabetical|frequency]], "
    "or prefix[:LENGTH,LENGTH,...|atc|icd9|icd10], or wordnet[+unknown][:FOLDER]"
)
_KINDS = ("balanced", "prefix", "wordnet", "wordnet+unknown")
_DIGITS = 18  # numbers with more digits do not fit into 64 bits
MakeHierarchy = Callable[[Transactions], Hierarchy | None]


def hierarchy_maker(
    given: Hierarchy | Path | str | None,
    options: TreeOptions | None = None,
    *,
    public_items: bool = False,
) -> MakeHierarchy:
    """A function that makes the tree once the data is read; mistakes are reported at once.

    Args:
        given: A tree, a path, or a recipe: `balanced:5`, `balanced:5:alphabetical`, `prefix`,
            `prefix:1,3,4`, `prefix:icd10`, `wordnet`, `wordnet:FOLDER`, `wordnet+unknown`.
        options: How to read a file. What they say of unknown items is left to `fitted`.
        public_items: The list of items is public, so the labels of a balanced tree name items."""
    how = options or TreeOptions()
    _check_options(given, how)
    if isinstance(given, str) and is_recipe(given):
        kind, *parts = given.split(":")
        if kind == "balanced" and len(parts) <= 2:
            return _balanced_maker(given, public_items, *parts)
        if kind == "prefix" and len(parts) <= 1:
            return _prefix_maker(given, *parts)
        if kind.startswith("wordnet") and parts != [""]:
            keeps = kind == "wordnet+unknown" or how.unknown == "root"
            wordnet = WordNet.read(":".join(parts) or None)
            return lambda data: wordnet.tree(data.vocabulary, "keep" if keeps else "refuse")
        raise ParameterError("hierarchy", given, RECIPES)
    tree = given if isinstance(given, Hierarchy) or given is None else _read(given, how)
    return lambda data: tree


def _check_options(given: object, how: TreeOptions) -> None:
    """Refuse options of files where there is none, and of items that nothing can lack."""
    if is_recipe(given) or given is None or isinstance(given, Hierarchy):
        named = {"layout": "a layout", "levels": "level columns", "qualify": "labels to qualify"}
        for name, what in named.items():
            if getattr(how, name):
                raise ParameterError(name, getattr(how, name), f"only a hierarchy file has {what}")
    own = isinstance(given, Path | str) and not is_recipe(given)
    own |= isinstance(given, Hierarchy) and given.origin.kind == "given"
    is_wordnet = isinstance(given, str) and given.startswith("wordnet")
    if how.unknown == "refuse" or own or (is_wordnet and how.unknown == "root"):
        return
    allowed = "only a hierarchy of your own can lack items: give one with {hierarchy}"
    if is_wordnet:
        allowed = "WordNet's tree keeps unknown items below a node *unknown: choose {unknown=root}"
    raise ParameterError("unknown", how.unknown, allowed)


def is_recipe(given: object) -> bool:
    """Whether this is a recipe for a tree over the items of the data, not a tree or its file."""
    return isinstance(given, str) and given.split(":")[0] in _KINDS


def _read(path: Path | str, how: TreeOptions) -> Hierarchy:
    if not Path(path).exists() and not Path(path).suffix:
        raise FileFormatError(path, f"there is no such file or recipe: {RECIPES}")
    words: ReadingWords = {"layout": how.layout, "levels": how.levels, "qualify": how.qualify}
    return read_hierarchy(path, **words | {"memory": how.memory})


def _balanced_maker(
    recipe: str, public_items: bool, fanout: str = "5", order: str = ""
) -> MakeHierarchy:
    if not _is_count(fanout) or order not in ("", "numeric", "alphabetical", "frequency"):
        raise ParameterError("hierarchy", recipe, RECIPES)
    if int(fanout) < 2:
        raise ParameterError("hierarchy", recipe, "the fan-out must be 2 or more")
    chosen: Any = order or None
    return lambda data: balanced(
        data.vocabulary, int(fanout), chosen, data.supports(), public_items
    )


def _prefix_maker(recipe: str, lengths: str = "") -> MakeHierarchy:
    if lengths in KNOWN_SHAPES:
        shape = cast(CodeShape, lengths)
        return lambda data: prefix(data.vocabulary, shape=shape)
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


_ORDERS = {
    "numeric": "neighbouring numbers",
    "alphabetical": "neighbours in the alphabet",
    "frequency": "about equally frequent",
}


def remarks(tree: Hierarchy) -> tuple[Note, ...]:
    """How a built tree came about and what it is worth.

    Example:
        >>> print(*remarks(Hierarchy.prefix(["E119", "I10", "E785"])))
        The codes look like ICD-10 codes and are cut at their levels.
        >>> print(*remarks(Hierarchy.prefix(["milk", "tea"])))
        The tree is flat: 2 of 2 codes share no prefix with another. Name the lengths of the\
 prefixes (prefix:1,3) or the kind of the codes (prefix:icd9), or give a hierarchy file.
    """
    about = {"balanced": _about_runs, "prefix": _about_codes}.get(tree.origin.kind)
    return () if about is None else tuple(map(Note, about(tree)))


def _about_runs(tree: Hierarchy) -> tuple[str, ...]:
    alike = _ORDERS[str(tree.origin.parameters["order"])]
    little = (
        f"The groups of this tree mean little: their items are {alike} and need not have anything "
        "else in common. A hierarchy file with groups that people know is better."
    )
    if tree.origin.is_public:
        return (little,)
    labels = (
        "Their labels, such as *1.2, are positions that reveal no item. If the list of items is "
        "public, {public_items=True} labels each group by its first and its last item."
    )
    return (little, labels)


def _about_codes(tree: Hierarchy) -> tuple[str, ...]:
    shape = KNOWN_SHAPES.get(cast(CodeShape, tree.origin.parameters.get("shape")))
    if shape is not None:
        return (f"The codes look like {shape.title} codes and are cut at their levels.",)
    if tree.height == 0:
        return ()
    alone = int((tree.widths[tree.ancestors[:, 1]] == 1).sum())
    if 2 * alone <= tree.leaf_count:
        return ()
    have = f"{alone:,} of {plural(tree.leaf_count, 'code')} share no prefix with another"
    advice = "Name the lengths of the prefixes (prefix:1,3) or the kind of the codes"
    return (f"The tree is flat: {have}. {advice} (prefix:icd9), or give a hierarchy file.",)

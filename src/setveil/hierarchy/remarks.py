"""What a user should know about a tree that was built for them."""

from typing import cast

from setveil.errors import Note
from setveil.hierarchy.prefix import KNOWN_SHAPES, CodeShape
from setveil.hierarchy.tree import Hierarchy
from setveil.words import plural

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

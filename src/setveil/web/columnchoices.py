"""The columns beside the items, as the page asks about them: one choice for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.hierarchy.columns import KEEP
from setveil.pipeline.beside import PREFIX, ColumnFound
from setveil.web.forms import Field, Form, form_field

WORDS = ("columns", "column_hierarchies")
"""The words for reading that these choices give."""
_DROP, _KNOWN, _PREFIX, _KEPT, _FILE = "", "known", "prefix", "keep", "file:"
_BECOMES = {
    "number": "an interval",
    "date": "an interval",
    "word": "as it is, or “any”",
}
_FEW = 20
"""Fewer different words are rather names than codes."""
_CUT = "first characters"
_UP = "up {}"


def column_fields(
    found: Sequence[ColumnFound], reading: Mapping[str, Any], trees: Sequence[str]
) -> list[Field]:
    """A field for each column of a file: whether it is dropped, or what becomes of it.

    Args:
        trees: The names of the files with hierarchies of columns."""
    return [
        form_field(
            f"beside.{at}",
            _chosen(column.name, reading),
            _about(column),
            label=column.name,
            kind="choice",
            options=_options(column, trees, str(_chosen(column.name, reading))),
        )
        for at, column in enumerate(found)
    ]


def column_words(
    form: Form, found: Sequence[ColumnFound], before: Mapping[str, Any]
) -> dict[str, Any]:
    """The words for reading with the choices of the form."""
    chosen = {column.name: form.get(f"beside.{at}", "") for at, column in enumerate(found)}
    columns = [name for name, choice in chosen.items() if choice != _DROP]
    trees = {name: _tree(chosen[name], name, before) for name in columns}
    given = {name: tree for name, tree in trees.items() if tree}
    words = {name: word for name, word in before.items() if name not in WORDS}
    words |= {"columns": columns} if columns else {}
    return words | ({"column_hierarchies": given} if given else {})


def _options(column: ColumnFound, trees: Sequence[str], chosen: str) -> dict[str, str]:
    options = {_DROP: "not published", _KNOWN: _BECOMES[column.kind]}
    is_code = column.kind == "number" or column.tree or column.values > _FEW
    options |= {_PREFIX: _CUT} if is_code and column.kind != "date" else {}
    known = [*trees, *([chosen.removeprefix(_FILE)] if chosen.startswith(_FILE) else [])]
    options |= {_KEPT: "kept, as an item"}
    return options | {f"{_FILE}{name}": _UP.format(name) for name in dict.fromkeys(known)}


def _chosen(name: str, reading: Mapping[str, Any]) -> str:
    if name not in reading.get("columns", ()):
        return _DROP
    tree = reading.get("column_hierarchies", {}).get(name, "")
    if not tree:
        return _KNOWN
    if tree == KEEP:
        return _KEPT
    return _PREFIX if tree.startswith("prefix") else f"{_FILE}{tree}"


def _tree(choice: str, name: str, before: Mapping[str, Any]) -> str:
    """The hierarchy that a choice means; the lengths of prefixes stay as they were."""
    if choice == _PREFIX:
        given = str(before.get("column_hierarchies", {}).get(name, ""))
        return given if given.startswith("prefix") else PREFIX
    if choice == _KEPT:
        return KEEP
    return choice.removeprefix(_FILE) if choice.startswith(_FILE) else ""


def _about(column: ColumnFound) -> str:
    if column.is_useful:
        said = f"{column.about}."
    else:
        said = f"{column.about}: it says little, or who somebody is."
    return f"{said} Probably a code." if column.tree else said

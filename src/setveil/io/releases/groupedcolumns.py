"""The columns of a grouped release in its folder: what their cells mean, and their trees."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data.arrays import Int32s
from setveil.errors import FileFormatError, brief
from setveil.hierarchy.files import read_hierarchy, write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.form import Choices, Fact, ReleaseFolder
from setveil.io.releases.strict import check_lines
from setveil.io.releases.trees import RECIPE, read_origin, write_origin
from setveil.published.grouped.cells import GONE, Cell, Node, PublishedColumn, Span

_LONGEST_NAME = 40


def write_columns(
    columns: Sequence[PublishedColumn], stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the tree of each column of words; gives the files, and the recipes of the trees.

    Of a tree that was built from the words of the data only what the cells show is written."""
    files, listed = tree_names([column.to_dict() for column in columns]), list[object]()
    names = iter(files)
    for column in columns:
        if column.tree is not None:
            tree = column.tree if choices.public_items else published_tree(column)
            write_hierarchy(tree, stage / next(names))
            listed.append(write_origin(tree.origin))
    return files, {"column_trees": listed} if listed else {}


def published_tree(column: PublishedColumn) -> Hierarchy:
    """The part of the tree of a column that may be published; of one without groups of words only
    what its cells show, since its words are those of the data."""
    tree = column.tree
    assert tree is not None
    labels = [cell.label for cell in column.cells if isinstance(cell, Node) and cell != GONE]
    nodes = tree.nodes.encode(labels).tolist()
    return tree.pruned(nodes) if tree.height <= 1 else tree.published(nodes)


def tree_names(columns: Any) -> list[str]:
    """The file of the tree of each column of words: `hierarchy-` and its name in plain characters.

    Example:
        >>> tree_names([{"name": "postal code", "kind": "word"}])
        ['hierarchy-postal_code.csv']
    """
    found = list[str]()
    for column in columns:
        if column["kind"] == "word":
            plain = re.sub(r"[^A-Za-z0-9-]+", "_", column["name"])[:_LONGEST_NAME]
            name, number = f"hierarchy-{plain}.csv", 2
            while name in found:
                name, number = f"hierarchy-{plain}-{number}.csv", number + 1
            found.append(name)
    return found


def read_columns(
    folder: ReleaseFolder, texts: Sequence[tuple[str, ...]]
) -> tuple[list[PublishedColumn], Int32s]:
    """The columns, and the number of each cell of each group, given their texts."""
    about, recipes = folder.about["columns"], list(folder.about.get("column_trees", ()))
    files = tree_names(about)
    if len(recipes) != len(files):
        raise folder.fault("release.json does not have the recipe of the tree of each column")
    trees = iter(_read_tree(folder, *each) for each in zip(files, recipes, strict=True))
    columns, cells = [], np.zeros((len(texts), len(about)), dtype=np.int32)
    for place, said in enumerate(about):
        used = {row[place] for row in texts}
        tree = next(trees) if said["kind"] == "word" else None
        column = _column(said, used, tree)
        numbers = {text: number for number, text in enumerate(column.texts)}
        wrong = sorted(used - numbers.keys())
        if wrong:
            raise folder.fault(f"{brief(wrong[0])} is no cell of the column {brief(column.name)}")
        if len(numbers) > len(used):
            raise folder.fault(f"the column {brief(column.name)} has cells that nobody has")
        cells[:, place] = [numbers[row[place]] for row in texts]
        if column.to_dict() != said:
            raise folder.fault(f"the column {brief(column.name)} is not written as setveil does")
        if tree is not None and tree.origin.pruned and len(published_tree(column)) < len(tree):
            raise folder.fault(f"the tree of {brief(column.name)} has more than its cells show")
        columns.append(column)
    return columns, cells


def _column(said: Mapping[str, Any], used: set[str], tree: Hierarchy | None) -> PublishedColumn:
    cells: list[Cell] = [GONE] if "" in used else []
    if tree is not None:
        cells += [Node(text) for text in sorted(used) if text]
    else:
        cells += [Span(low, high, bool(more)) for low, high, *more in said["spans"]]
    whole = said.get("whole", True)
    return PublishedColumn(said["name"], said["kind"], tuple(cells), tree, whole)


def _read_tree(folder: ReleaseFolder, name: str, recipe: Mapping[str, Any]) -> Hierarchy:
    if not folder.has(name):
        raise folder.fault(f"release.json does not name {name}")
    origin = read_origin(recipe)
    tree = read_hierarchy(folder.place / name, layout="paths", delimiter=";", origin=origin)
    text = StringIO()
    write_hierarchy(tree, text)
    if not text.getvalue():
        raise FileFormatError(name, "the file is empty")
    check_lines(folder, name, [text.getvalue().removesuffix("\n")])
    return tree


def _is_column(value: Any) -> bool:
    if type(value) is not dict or type(value.get("name")) is not str:
        return False
    if value.get("kind") == "word":
        return value.keys() == {"name", "kind"}
    return (
        value.get("kind") in ("number", "date")
        and value.keys() == {"name", "kind", "whole", "spans"}
        and type(value["whole"]) is bool
        and type(value["spans"]) is list
        and all(map(_is_span, value["spans"]))
    )


def _is_span(value: Any) -> bool:
    ends = type(value) is list and len(value) in (2, 3) and value[:2]
    return (
        bool(ends)
        and value[2:] in ([], [True])
        and all(end is None or type(end) is str for end in value[:2])
    )


def _are_columns(value: Any) -> bool:
    is_list = type(value) is list and len(value) > 0 and all(map(_is_column, value))
    return is_list and len({column["name"] for column in value}) == len(value)


COLUMNS = Fact(_are_columns, "a list of columns with their kinds and intervals")
TREES = Fact(
    lambda value: type(value) is list and all(map(RECIPE.is_allowed, value)), "a list of recipes"
)

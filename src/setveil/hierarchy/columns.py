"""Hierarchies of columns beside the sets, and what is refused of such columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from setveil.data.columns import Column, Table
from setveil.data.tables.beside import GONE, as_words, is_of
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import (
    DataError,
    Note,
    ParameterError,
    UnknownItemError,
    brief,
    brief_list,
)
from setveil.hierarchy.recipes import MakeHierarchy, hierarchy_maker
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.unknown import lacking, rooted
from setveil.words import plural

Given = Hierarchy | Path | str
"""A tree of words, its file, a recipe such as `prefix`, or one of the words below."""
ANY, KEEP = "any", "keep"
"""A word is published as it is or as `any`; or always as it is, as an item of the person."""
_MANY, _NEARLY_ALL = 20, 0.9
"""Of so many rows and more, a column with so many different values per row names people."""


def fitted_columns(
    table: Table, trees: Mapping[str, Given], *, keep_unique: bool = False
) -> tuple[Table, list[str]]:
    """The table with the tree of each column that has one, which makes it a column of words, and
    with the values of columns to keep among the items; and what the user should know.

    Raises:
        DataError: if a column has numbers in some rows and words in others, or hardly any value
            twice.
        UnknownItemError: if a tree lacks values.
    """
    names = [column.name for column in table.columns]
    for name in trees:
        if name not in names:
            listed = brief_list(names) or "none is"
            allowed = f"it is not one of the columns that are named with {{columns}}: {listed}"
            raise ParameterError("column_hierarchies", name, allowed)
    columns, kept = list[Column](), list[Column]()
    for column in table.columns:
        given = trees.get(column.name)
        if given in (None, ANY, KEEP) and not keep_unique:
            _refuse_unique(column)
        if given is None:
            _refuse_mixed(column)
            columns.append(column)
        elif given == KEEP:
            kept.append(as_words(column))
        else:
            columns.append(_with_tree(as_words(column), given))
    notes = [*_notes(columns), *map(_about_kept, kept)]
    return Table.beside(_with_items(table, kept), columns), notes


def _with_items(table: Table, kept: Sequence[Column]) -> Transactions:
    """The sets with an item for the value of each of these columns, such as `job=nurse`."""
    if not kept:
        return table
    known = table.vocabulary.labels
    labels = [f"{column.name}={value}" for column in kept for value in column.values]
    taken = set(known) & set(labels)
    if taken:
        problem = f"{brief(min(taken))} is an item, and the same would stand for a kept column"
        raise DataError(problem, remedy="rename the column")
    starts = np.cumsum([len(known), *(len(column.values) for column in kept)])
    rows = [table.rows, *(np.arange(len(table)) for _ in kept)]
    items = [table.items, *(one.codes + at for one, at in zip(kept, starts, strict=False))]
    words, size = Vocabulary((*known, *labels)), len(table)
    pairs = np.concatenate(rows), np.concatenate(items).astype(np.int32)
    return Transactions.from_pairs(*pairs, words, size=size).without_rare(1)


def _about_kept(column: Column) -> str:
    text = f"The column {brief(column.name)} is kept as it is: its values are items, such as "
    shown = brief(f"{column.name}={column.values[0]}") if column.values else "none"
    return f"{text}{shown}, and each is one of the items that somebody may know of a person."


def _with_tree(column: Column, given: Given) -> Column:
    if given == ANY:
        return column
    known = [value for value in column.values if value != GONE]
    made = _maker(given, column.name)(Transactions.of([[value] for value in known]))
    assert made is not None
    missing = lacking(made, Transactions.of([known]).vocabulary)
    if missing:
        where = f"the hierarchy of the column {brief(column.name)} has no leaf for"
        raise UnknownItemError(missing, where, "add them to the file")
    if GONE in column.values and GONE not in made:
        made = rooted(made, [GONE])
    return replace(column, tree=made)


def _maker(given: Given, name: str) -> MakeHierarchy:
    """How to make the tree of a column; mistakes name its option."""
    try:
        return hierarchy_maker(given)
    except ParameterError as error:
        value, allowed = f"{name} {error.value}", f"{error.allowed}; or any, or keep"
        raise ParameterError("column_hierarchies", value, allowed) from None


def _refuse_unique(column: Column) -> None:
    """Refuse a column that looks like the name or the number of each person."""
    counts = column.counts
    rows, different = int(counts.sum()), int(np.count_nonzero(counts))
    numbers = column.numbers[~np.isnan(column.numbers)] if column.kind == "number" else np.zeros(0)
    is_measured = column.kind == "date" or bool((numbers % 1).any())
    if is_measured or rows < _MANY or different <= _NEARLY_ALL * rows:
        return
    problem = f"the column {brief(column.name)} has {different:,} different values in {rows:,} rows"
    remedy = (
        "drop it; or name its hierarchy with {column_hierarchies}, such as prefix:1,2; or take "
    )
    remedy += "it nevertheless with {keep_unique=True}"
    raise DataError(f"{problem}: nearly every row has one of its own", remedy=remedy)


def _refuse_mixed(column: Column) -> None:
    """Refuse words of which most are numbers, or dates: the others may be mistakes."""
    if column.kind != "word":
        return
    for kind in ("number", "date"):
        alike = np.array([is_of(value, kind) for value in column.values], dtype=bool)
        rows, others = int(column.counts[alike].sum()), int(column.counts[~alike].sum())
        if rows <= others:
            continue
        problem = f"the column {brief(column.name)} has {plural(rows, kind)} and {others:,} others"
        first = int(np.flatnonzero(~alike[column.codes])[0]) + 1
        remedy = "correct it, or take all as words with any in {column_hierarchies}"
        raise DataError(f"{problem}, such as in record {first:,}", remedy=remedy)


def _notes(columns: list[Column]) -> Iterator[str]:
    for column in columns:
        rows = int(column.counts[column.values.index(GONE)]) if GONE in column.values else 0
        rows = int(column.counts[-1]) if column.has_missing else rows
        if rows:
            text = f"The column {brief(column.name)} has no value in {plural(rows, 'row')}"
            yield f"{text}: {GONE} counts as a value of its own."
        if column.kind == "word" and column.tree is None and len(column.values) > _MANY:
            text = (
                f"The column {brief(column.name)} has words but no hierarchy: a word is published"
            )
            yield Note(f"{text} as it is or as `any`. {{column_hierarchies}} can name one.")

"""The folder of a grouped release: a table with a row for each person, or with a row for each group
beside the clusters of its sets.

If the sets of a group are whole, `data.csv` has a row for each person in random order: the columns,
and last the set, its items in the order of the release with a mark between them. If they are
disassociated, `groups.csv` has a row for each group (its number, its people, its columns), and each
line of `data.jsonl` is a cluster with the number of its group. Groups are numbered in the order of
their cells. `release.json` says what the cells mean, and which mark there is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data.transactions import Transactions
from setveil.errors import DataError, FileFormatError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.formats.csvlines import csv_cell
from setveil.io.formats.delimited import csv_rows
from setveil.io.releases.form import Choices, Fact, ReleaseFolder, ReleaseForm
from setveil.io.releases.groupedcolumns import (
    COLUMNS,
    TREES,
    read_columns,
    tree_names,
    write_columns,
)
from setveil.io.releases.strict import check_lines
from setveil.io.releases.trees import RECIPE, TREE, read_tree, write_tree
from setveil.io.writing import write_lines
from setveil.published.disassociated.clusters import Flattening
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.grouped.cells import PublishedColumn
from setveil.published.grouped.form import Grouped, inner_promise
from setveil.published.release import Release
from setveil.published.rows import relabeled
from setveil.published.suppressed import Suppressed

DATA, GROUPS, CLUSTERS = "data.csv", "groups.csv", "data.jsonl"
MARKS = ("|", ";", "/", "~", "^", "\t", "||", "::")
"""What may be between the items of a set: the first that no item contains."""
_GROUP = re.compile(r'\{"group":([1-9][0-9]{0,11}),(?=")')
_COUNT = re.compile("[1-9][0-9]{0,11}")


def fill_grouped(
    release: Grouped, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the table or the groups, the tree of the items, and those of the columns."""
    fitting = "jsonl" if release.within == Disassociated.form else "csv"
    if choices.format not in (None, fitting):
        allowed = f"the sets of its groups are {release.within}: choose {fitting}"
        raise ParameterError("format", choices.format, allowed)
    names, more = write_columns(release.columns, stage, choices)
    if fitting == "jsonl":
        write_lines(_group_lines(release), stage / GROUPS)
        write_lines(_cluster_lines(release), stage / CLUSTERS)
        return [GROUPS, CLUSTERS, *names], more
    sets, homes = release.rows(choices.seed)
    mark = _mark_for(release.shown)
    write_lines(_table_lines(release, sets, homes.tolist(), mark), stage / DATA)
    more |= {"set": {"name": release.set_name, "separator": mark}}
    flat: Any = release.flat
    if release.within == Generalized.form:
        more["hierarchy"] = write_tree(flat.hierarchy, flat.published_nodes(), stage, choices)
        names = [*names, TREE]
    return [DATA, *names], more


def read_grouped(folder: ReleaseFolder) -> Grouped:
    """The release in a folder."""
    about, within = folder.about, folder.about.get("within")
    if "columns" not in about or within is None:
        raise folder.fault("release.json does not say what its columns and its groups are")
    if (within == Disassociated.form) != (folder.names == (GROUPS, CLUSTERS)):
        raise folder.fault("its files are not those that release.json says it has")
    unfit = [key for key in _INNER if key in about and key not in _FACTS[within]]
    if unfit:
        raise folder.fault(f"in release.json, {unfit[0]} must be left out for {within} sets")
    return _read_clusters(folder) if within == Disassociated.form else _read_table(folder, within)


def _mark_for(labels: Iterable[str]) -> str:
    """A mark that no label contains."""
    text = "\n".join(labels)
    found = next((mark for mark in MARKS if mark not in text and mark[0] not in text), None)
    if found is None:
        problem = f"no mark can separate the items of a set: they contain all of {' '.join(MARKS)}"
        raise DataError(problem, remedy="rename items")
    return found


def _table_lines(
    release: Grouped, sets: Transactions, homes: Sequence[int], mark: str
) -> Iterator[str]:
    """A header, and a row for each person."""
    labels = sets.vocabulary.labels
    if "" in release.shown:
        raise DataError("an empty text as an item cannot be written to a table")
    yield ",".join(csv_cell(name) for name in (*_names(release.columns), release.set_name))
    starts = [",".join(map(csv_cell, texts)) + "," for texts in release.group_texts]
    bounds, items = sets.indptr.tolist(), sets.items.tolist()
    for row, home in enumerate(homes):
        held = (labels[item] for item in items[bounds[row] : bounds[row + 1]])
        yield starts[home] + csv_cell(mark.join(held))


def _names(columns: Sequence[PublishedColumn]) -> list[str]:
    return [column.name for column in columns]


def _group_header(names: Sequence[str]) -> list[str]:
    """The columns, after the number and the people of each group; no two have one name."""
    own = []
    for name in ("group", "people"):
        while name in names:
            name += "_"
        own.append(name)
    return [*own, *names]


def _group_lines(release: Grouped) -> Iterator[str]:
    yield ",".join(map(csv_cell, _group_header(_names(release.columns))))
    for number, place in enumerate(release.order.tolist(), start=1):
        texts = ",".join(map(csv_cell, release.group_texts[place]))
        yield f"{number},{len(release.groups[place])},{texts}"


def _cluster_lines(release: Grouped) -> Iterator[str]:
    for number, place in enumerate(release.order.tolist(), start=1):
        group: Any = release.groups[place]
        yield from (f'{{"group":{number},{line[1:]}' for line in group.lines())


def _rows(folder: ReleaseFolder, name: str, header: list[str]) -> Iterator[list[str]]:
    """The cells of each row below the header."""
    with (folder.place / name).open(encoding="utf-8", newline="") as stream:
        rows = csv_rows(stream, name)
        if next(rows, None) != header:
            raise FileFormatError(name, f"its first line must be {','.join(header)}")
        yield from rows


def _read_table(folder: ReleaseFolder, within: str) -> Grouped:
    about = folder.about.get("set", {})
    mark, set_name = about.get("separator", ""), about.get("name", "")
    if not mark:
        raise folder.fault("release.json does not say how the items of a set are separated")
    names = [each["name"] for each in folder.about["columns"]]
    texts, records = list[tuple[str, ...]](), list[list[str]]()
    for row in _rows(folder, DATA, [*names, set_name]):
        if len(row) != len(names) + 1:
            problem = f"a row has {len(row)} cells, but there are {len(names) + 1} columns"
            raise FileFormatError(DATA, problem, line=len(records) + 2)
        texts.append(tuple(row[:-1]))
        records.append(row[-1].split(mark) if row[-1] else [])
    if len(records) != folder.size:
        raise DataError(f"{DATA} has {len(records)} records, but release.json says {folder.size}")
    release = _grouped(folder, texts, Transactions.of(records), within)
    if release.set_name != set_name or _mark_for(release.shown) != mark:
        raise folder.fault("the set in release.json is not written as setveil does")
    return release


def _grouped(
    folder: ReleaseFolder, texts: list[tuple[str, ...]], sets: Transactions, within: str
) -> Grouped:
    """The groups of a table; rows stay apart, as they were read."""
    distinct = sorted(set(texts))
    columns, cells = read_columns(folder, distinct)
    place = {text: number for number, text in enumerate(distinct)}
    homes = np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))
    tree = read_tree(folder, sets.vocabulary.labels) if within == Generalized.form else None
    if tree is not None:
        sets = relabeled(sets, tree.nodes.encode(sets.vocabulary.labels), tree.nodes)
    order = np.argsort(homes, kind="stable")
    bounds = np.searchsorted(homes[order], np.arange(len(distinct) + 1))
    pieces = (order[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False))
    groups = [_inner(folder, sets.take(rows), tree) for rows in pieces]
    release = Grouped.of_groups(columns, cells, groups, folder.promise, folder.method)
    lines = _table_lines(release, sets, homes.tolist(), folder.about["set"]["separator"])
    check_lines(folder, DATA, lines)
    return release


def _inner(folder: ReleaseFolder, rows: Transactions, tree: Hierarchy | None) -> Release:
    """The sets of one group."""
    promise, about = inner_promise(folder.promise), folder.about
    if tree is None:
        least = about.get("min_support", 0.0)
        return Suppressed.of_rows(rows, promise, {}, as_read=True, min_support=least)
    is_global = "recoding" in about
    return Generalized.of_rows(rows, tree, promise, {}, as_read=True, is_global=is_global)


def _read_clusters(folder: ReleaseFolder) -> Grouped:
    names = [each["name"] for each in folder.about["columns"]]
    held = dict[int, Flattening]()
    with (folder.place / CLUSTERS).open(encoding="utf-8", newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            found = _GROUP.match(line)
            if found is None:
                raise FileFormatError(CLUSTERS, "this is no cluster of a group", line=number)
            try:
                held.setdefault(int(found[1]), Flattening()).add("{" + line[found.end() :])
            except (DataError, ValueError) as error:
                raise FileFormatError(CLUSTERS, str(error), line=number) from None
    texts = list[tuple[str, ...]]()
    people = list[int]()
    for number, row in enumerate(_rows(folder, GROUPS, _group_header(names)), start=1):
        good = len(row) == len(names) + 2 and _COUNT.fullmatch(row[1])
        if not good or row[0] != str(number):
            problem = "this is not the next number of a group, its people and its columns"
            raise FileFormatError(GROUPS, problem, line=number + 1)
        people.append(int(row[1]))
        texts.append(tuple(row[2:]))
    if held.keys() != set(range(1, len(texts) + 1)):
        raise folder.fault(f"{CLUSTERS} and {GROUPS} do not have the same groups")
    promise = inner_promise(folder.promise)
    groups = [
        Disassociated(*held[number].arrays(), promise, {}) for number in range(1, len(texts) + 1)
    ]
    if [len(group) for group in groups] != people or sum(people) != folder.size:
        raise folder.fault("its groups do not have as many people as they say")
    columns, cells = read_columns(folder, texts)
    release = Grouped.of_groups(columns, cells, groups, folder.promise, folder.method)
    check_lines(folder, GROUPS, _group_lines(release))
    check_lines(folder, CLUSTERS, _cluster_lines(release))
    return release


def _is_set(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"name", "separator"}
        and type(value["name"]) is str
        and value["separator"] in MARKS
    )


_INNER: dict[str, Fact] = {
    "set": Fact(_is_set, "the name of the sets and a mark between their items"),
    "hierarchy": RECIPE,
    "recoding": Fact(lambda value: value == "global", '"global"'),
    "min_support": Fact(
        lambda value: type(value) in (int, float) and 0 <= value < 1, "a share of the records"
    ),
}
_FACTS: Mapping[str, frozenset[str]] = {
    Generalized.form: frozenset({"set", "hierarchy", "recoding"}),
    Suppressed.form: frozenset({"set", "min_support"}),
    Disassociated.form: frozenset(),
}
"""By form of the sets: which keys `release.json` may have for them."""

GROUPED = ReleaseForm(
    name=Grouped.form,
    formats={"csv": (DATA,), "jsonl": (GROUPS, CLUSTERS)},
    fill=fill_grouped,
    read=read_grouped,
    promises=("columns", "l-diversity"),
    has_tree=True,
    beside=(TREE,),
    beside_of=lambda about: tree_names(about.get("columns", ())),
    facts={
        "within": Fact(lambda value: value in _FACTS, f"one of {', '.join(_FACTS)}"),
        "columns": COLUMNS,
        "column_trees": TREES,
        **_INNER,
    },
)

"""What columns beside the sets cost, for several weights: `python -m benchmarks.columns [--within
METHOD] [N ...] [foodmart] [categories]`; each N is a number of generated patients, by default
20000. `foodmart` are the people of a shop with their products, `categories` with the categories.

Way 1 publishes the smallest groups, those of Mondrian, with the sets of each; way 2 drops all
columns. Loss of columns: the mean over people and columns of how wide the published value is, from
0 (one value) to 1 (all values)."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.data import REAL_DATA
from setveil.data.columns import Column, Table, number_of
from setveil.data.generate.patients import SEXES, patients
from setveil.data.tables.beside import column_of
from setveil.data.tables.frames import joined
from setveil.data.transactions import Transactions
from setveil.hierarchy.columns import fitted_columns
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read
from setveil.methods import METHODS, Groups
from setveil.metrics import measure
from setveil.promises import Columns, KAnonymity, KmAnonymity
from setveil.published import Grouped, Node, PublishedColumn, Release

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
K, M = 5, 2
Data = tuple[str, Table, Hierarchy | None]


def main(words: Sequence[str]) -> None:
    """Print a table for each data set."""
    within, given = "disassociation", list(words)
    if "--within" in given:
        place = given.index("--within")
        within = given[place + 1]
        del given[place : place + 2]
    for name in given or ["20000"]:
        shop = {"foodmart": 0, "categories": 1}
        compare(foodmart(shop[name]) if name in shop else generated(int(name)), within)


def generated(count: int) -> Data:
    """Generated patients: birth year, sex, and the postal code below its first digits."""
    made = patients(count)
    sets = joined(made.stays, made.owners)
    columns = [
        column_of("birth_year", made.birth_years.tolist()),
        column_of("sex", [SEXES[sex] for sex in made.sexes.tolist()]),
        column_of("postal_code", [f"{code:05}" for code in made.postal_codes.tolist()]),
    ]
    table, _ = fitted_columns(Table.beside(sets, columns), {"postal_code": "prefix:1,2,3"})
    return f"{count:,} patients", table, Hierarchy.from_paths(made.paths())


def foodmart(level: int) -> Data:
    """The people of a shop, and the products that each bought, or the groups so many levels up."""
    names = ["birth_year", "gender", "postal_code"]
    trees = {"postal_code": "prefix:1,2,3"}
    file = REAL_DATA / "foodmart1997-people.csv.gz"
    table: Any = read(file, item="products", columns=names, column_hierarchies=trees)
    tree = Hierarchy.read(REAL_DATA / "foodmart1997.hierarchy.csv")
    if not level:
        return "foodmart people, products", table, tree
    above = [{tree.path(item)[level] for item in record} for record in table]
    sets, paths = Transactions.of(above), {tree.path(item)[level:] for item in table.vocabulary}
    table = Table.beside(sets, table.columns)
    return "foodmart people, categories", table, Hierarchy.from_paths(sorted(paths))


def compare(data: Data, within: str) -> None:
    """Both ways, and the method with each weight."""
    name, table, tree = data
    metric = "pair_error" if within == "disassociation" else "ncp"
    metric = "distortion" if within == "suppression" else metric
    print(f"\n{name}, k = {K}, m = {M}, {within} within groups\n")
    print(f"| way | groups | largest | loss of columns | {metric} | seconds |")
    print("|---|---|---|---|---|---|")
    kind = METHODS[within]
    Groups.warmup()
    kind.warmup()
    promise = KmAnonymity(k=K, m=M)
    asked = promise if isinstance(promise, kind.promises) else KAnonymity(k=K)
    start = time.perf_counter()
    dropped = kind().anonymize(table.sets(), asked, tree)
    _show("2: columns dropped", 1, len(table), 1.0, _error(dropped, table, tree, metric), start)
    for weight in WEIGHTS:
        start = time.perf_counter()
        groups: Any = Groups(within=within, columns_matter=weight)  # type: ignore[arg-type]
        release: Grouped = groups.anonymize(table, Columns(k=K, m=M), tree)
        way = "1: smallest groups" if weight == 1 else f"columns matter {weight:g}"
        sizes, seconds = release.group_sizes, start
        lost = float(np.mean(column_losses(release, table)))
        error = _error(release, table, tree, metric)
        _show(way, len(sizes), int(sizes.max()), lost, error, seconds)


def _error(release: Release, table: Table, tree: Hierarchy | None, metric: str) -> float:
    return float(measure(release, table, [metric], seed=0, hierarchy=tree)[metric])


def _show(way: str, groups: int, most: int, lost: float, error: float, start: float) -> None:
    seconds = time.perf_counter() - start
    print(
        f"| {way} | {groups:,} | {most:,} | {lost:.4f} | {error:.4f} | {seconds:.1f} |", flush=True
    )


def column_losses(release: Grouped, table: Table) -> list[float]:
    """For each column, the mean over people of how wide its published value is."""
    found = []
    for place, (published, column) in enumerate(zip(release.columns, table.columns, strict=True)):
        widths = np.array([width(published, cell, column) for cell in range(len(published.cells))])
        people = np.bincount(
            release.cells[:, place], release.group_sizes, minlength=len(published.cells)
        )
        found.append(float(widths @ people / len(table)))
    return found


def width(published: PublishedColumn, number: int, column: Column) -> float:
    """How wide a cell is: of words the share of the leaves below it, of numbers the distance of the
    outermost values that it covers, as a share of that of all values; 0 for one value."""
    cell = published.cells[number]
    if isinstance(cell, Node):
        tree: Any = column.tree
        if tree is None or cell.label not in tree:
            return float(len(column.values) > 1 and cell.label not in column.values)
        node = tree.nodes.number(cell.label)
        below = int(tree.widths[node])
        return below / tree.leaf_count if below > 1 else 0.0
    values = column.numbers[~np.isnan(column.numbers)]
    ends = [None if end is None else number_of(end, column.kind) for end in (cell.low, cell.high)]
    inside = values[
        (values >= (-np.inf if ends[0] is None else ends[0]))
        & (values < (np.inf if ends[1] is None else ends[1]))
    ]
    whole = float(np.ptp(values))
    return float(np.ptp(inside)) / whole if whole else 0.0


if __name__ == "__main__":
    main(sys.argv[1:])

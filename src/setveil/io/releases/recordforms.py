"""The folders of releases of records: `data.csv` (or `.dat`, `.parquet`), and what is beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import cast

from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, FileFormatError, brief
from setveil.hierarchy.tree import Hierarchy
from setveil.io.formats.csvlines import csv_cell, write_release_rows
from setveil.io.formats.delimited import csv_rows
from setveil.io.releases.alignment import RECORD_LINKS
from setveil.io.releases.form import (
    RECORD_FORMATS,
    TRUTH,
    Choices,
    Fact,
    PartFile,
    PartForm,
    ReleaseFolder,
    ReleaseForm,
)
from setveil.io.releases.recordfiles import read_records, write_records
from setveil.io.releases.strict import check_lines
from setveil.io.releases.trees import RECIPE, TREE, read_origin, read_tree, write_origin, write_tree
from setveil.io.writing import write_lines
from setveil.published.disassociated.clusters import MOST_RECORDS
from setveil.published.generalized import Generalized
from setveil.published.ledger import MOST_SCALE, Expense, is_ledger
from setveil.published.release import TableRelease
from setveil.published.rows import relabeled
from setveil.published.suppressed import Suppressed
from setveil.published.synthetic import NoisySupport, Synthetic
from setveil.published.typical_bags import TypicalBags


def fill_records(
    release: TableRelease, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the records in a shuffled order."""
    (name,) = RECORD_FORMATS[choices.format or next(iter(RECORD_FORMATS))]
    write_records(release.records(choices.seed), stage / name)
    return [name], {}


def fill_generalized(
    release: Generalized, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the records in a shuffled order, and the tree."""
    names, _ = fill_records(release, stage, choices)
    origin = write_tree(release.hierarchy, release.published_nodes(), stage, choices)
    bags = {"bags": True} if isinstance(release.classes, Bags) else {}
    return [*names, TREE], {**bags, "hierarchy": origin}


def read_generalized(folder: ReleaseFolder) -> Generalized:
    """The release in a folder."""
    about, bags = folder.about, bool(folder.about.get("bags"))
    if not folder.has(TREE):
        raise folder.fault(f"release.json does not name {TREE}")
    if bags and "recoding" in about:
        raise folder.fault("in release.json, recoding must be left out for bags")
    return _generalized(folder, None, bags=bags, is_global="recoding" in about)


def write_part(release: Generalized, part: PartFile, choices: Choices) -> None:
    """Write the records of one part in a shuffled order."""
    write_records(release.records(choices.seed), part.path, part.before)


def read_part(folder: ReleaseFolder, tree: Hierarchy | None) -> Generalized:
    """One part of a release, over the tree of all parts."""
    assert tree is not None
    return _generalized(folder, tree)


def _generalized(
    folder: ReleaseFolder, tree: Hierarchy | None, *, bags: bool = False, is_global: bool = False
) -> Generalized:
    data, weights = read_records(folder, bags=bags)
    tree = read_tree(folder, data.vocabulary.labels) if tree is None else tree
    rows = relabeled(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
    told = {"weights": weights, "as_read": True, "is_global": is_global}
    return Generalized.of_rows(rows, tree, folder.promise, folder.method, **told)


GENERALIZED = ReleaseForm(
    name=Generalized.form,
    formats=RECORD_FORMATS,
    fill=fill_generalized,
    read=read_generalized,
    in_parts=PartForm(write_part, read_part, tuple(RECORD_FORMATS)),
    links=RECORD_LINKS,
    has_tree=True,
    beside=(TREE,),
    facts={
        "bags": TRUTH,
        "hierarchy": RECIPE,
        "recoding": Fact(lambda value: value == "global", '"global"'),
    },
)


def read_suppressed(folder: ReleaseFolder) -> Suppressed:
    """The release in a folder."""
    rows, weights = read_records(folder, bags=False)
    least = folder.about.get("min_support", 0.0)
    return Suppressed.of_rows(
        rows, folder.promise, folder.method, weights=weights, as_read=True, min_support=least
    )


SUPPRESSED = ReleaseForm(
    name=Suppressed.form,
    formats=RECORD_FORMATS,
    fill=fill_records,
    read=read_suppressed,
    links=RECORD_LINKS,
    facts={
        "min_support": Fact(
            lambda value: type(value) in (int, float) and 0 <= value < 1,
            "a share of the records",
        )
    },
)


SLOTS = "slots.csv"
_SLOT_HEADER = ["slot", "item", "count"]
_SLOT_COUNT = "[1-9][0-9]{0,11}"


def fill_typical_bags(
    release: TypicalBags, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the bags in a shuffled order, and what their items represent."""
    names, facts = fill_records(release, stage, choices)
    facts["bags"] = True
    if release.slots is not None:
        write_lines(_slot_lines(release.slots), stage / SLOTS)
        names.append(SLOTS)
    if release.hierarchy is not None:
        nodes = release.published_nodes()
        facts["hierarchy"] = write_tree(release.hierarchy, nodes, stage, choices)
        names.append(TREE)
    if release.semantics is not None:
        facts["semantics"] = write_origin(release.semantics)
    return names, facts


def read_typical_bags(folder: ReleaseFolder) -> TypicalBags:
    """The release in a folder."""
    about = folder.about
    if folder.stated and "same_branch" not in about:
        raise folder.fault("release.json has no same_branch, without which nothing is compared")
    data, weights = read_records(folder, bags=True)
    rows = cast(Bags, data)
    tree = read_tree(folder, rows.vocabulary.labels) if folder.has(TREE) else None
    release = TypicalBags.of_rows(
        rows,
        folder.promise,
        folder.method,
        weights=weights,
        as_read=True,
        hierarchy=tree,
        slots=_read_slots(folder.place / SLOTS, rows.vocabulary) if folder.has(SLOTS) else None,
        semantics=read_origin(about["semantics"]) if about.get("semantics") else None,
        epsilon=about.get("epsilon"),
        omega=about.get("omega"),
        same_branch=about.get("same_branch"),
        complete="complete" in about,
        by_majority=bool(about.get("by_majority")),
    )
    if release.slots is not None:
        check_lines(folder, SLOTS, _slot_lines(release.slots))
    return release


TYPICAL_BAGS = ReleaseForm(
    name=TypicalBags.form,
    formats=RECORD_FORMATS,
    fill=fill_typical_bags,
    read=read_typical_bags,
    links=RECORD_LINKS,
    has_tree=True,
    beside=(SLOTS, TREE),
    facts={
        "bags": TRUTH,
        "hierarchy": RECIPE,
        "semantics": RECIPE,
        "same_branch": TRUTH,
        "complete": Fact(lambda value: value is True, "true"),
        "by_majority": Fact(lambda value: value is True, "true if it is there"),
        "epsilon": Fact(lambda value: type(value) is int and value >= 0, "a number of steps"),
        "omega": Fact(
            lambda value: type(value) in (int, float) and 0 < value < inf, "a number above 0"
        ),
    },
)


def _slot_lines(slots: Bags) -> Iterator[str]:
    """As `data.csv`, with slots instead of records; no slot is empty."""
    lines = write_release_rows(slots)
    next(lines)
    yield ",".join(_SLOT_HEADER)
    yield from lines


def _read_slots(path: Path, vocabulary: Vocabulary) -> Bags:
    """What each published item contains, in the order of the vocabulary; nothing else."""
    found: dict[str, dict[str, int]] = {}
    for line, row in enumerate(_rows_below(path, _SLOT_HEADER), start=2):
        if len(row) != len(_SLOT_HEADER) or not re.fullmatch(_SLOT_COUNT, row[2]):
            raise FileFormatError(path.name, "this is not a slot, an item and a count", line=line)
        slot = found.setdefault(row[0], {})
        if row[1] in slot:
            raise FileFormatError(path.name, "an item occurs twice in a slot", line=line)
        slot[row[1]] = int(row[2])
    missing = [label for label in vocabulary if label not in found]
    if missing:
        raise DataError(f"{path.name} does not say what slot {brief(missing[0])} contains")
    more = [label for label in found if label not in vocabulary]
    if more:
        raise DataError(f"{path.name} has a slot {brief(more[0])} that is in no bag")
    return Bags.of(found[label] for label in vocabulary)


def _rows_below(path: Path, header: list[str]) -> Iterator[list[str]]:
    """The rows of a CSV file that must begin with this header."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv_rows(stream, path.name)
        if next(rows, None) != header:
            raise DataError(f"{path.name} must begin with the line {','.join(header)}")
        yield from rows


SUPPORTS = "supports.csv"
_OLD_HEADER = ["item", "other", "support", "scale"]
"""Before version 9 of the format."""
_HEADER = [*_OLD_HEADER, "counted", "missed", "noises"]
_COUNTED = 9
"""The first version of the format that says what was counted."""
_COUNT = re.compile("0|[1-9][0-9]{0,17}")
_NOISY = re.compile("0|-?[1-9][0-9]{0,17}")
_NOISES = re.compile("[0-9]|1[0-6]")
"""Each range of ranks ends 4 times as far, so 16 are enough for all the items that can be held."""


def fill_synthetic(
    release: Synthetic, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the records in a random order, and the noisy supports."""
    names, facts = fill_records(release, stage, choices)
    if release.supports:
        write_lines(_support_lines(release.supports), stage / SUPPORTS)
        names.append(SUPPORTS)
    return names, facts


def read_synthetic(folder: ReleaseFolder) -> Synthetic:
    """The release in a folder."""
    for fact in ("ledger", "people"):
        if fact not in folder.about:
            raise folder.fault(f"release.json has no {fact}, without which noise cannot be judged")
    rows, weights = read_records(folder, bags=False)
    header = _HEADER if (folder.stated or 0) >= _COUNTED else _OLD_HEADER
    rows_below = _rows_below(folder.place / SUPPORTS, header) if folder.has(SUPPORTS) else ()
    supports = [_support(row, header, line) for line, row in enumerate(rows_below, start=2)]
    release = Synthetic.of_rows(
        rows,
        folder.promise,
        folder.method,
        weights=weights,
        as_read=True,
        people=folder.about.get("people", 0),
        ledger=[Expense.from_dict(entry) for entry in folder.about["ledger"]],
        supports=supports,
    )
    if folder.has(SUPPORTS):
        check_lines(folder, SUPPORTS, _support_lines(release.supports))
    return release


SYNTHETIC = ReleaseForm(
    name=Synthetic.form,
    formats=RECORD_FORMATS,
    fill=fill_synthetic,
    read=read_synthetic,
    promises=("differential-privacy",),
    has_public_items=True,
    beside=(SUPPORTS,),
    facts={
        "people": Fact(
            lambda value: type(value) is int and 0 <= value <= MOST_RECORDS, "a number of records"
        ),
        "ledger": Fact(is_ledger, "a list of what was counted, its noise and its share of epsilon"),
    },
)


def _support_lines(supports: Sequence[NoisySupport]) -> Iterator[str]:
    """One line for each itemset; the second item is empty for single items."""
    is_old = any(one.counted is None for one in supports)
    yield ",".join(_OLD_HEADER if is_old else _HEADER)
    for items, support, scale, *more in supports:
        first, second = (*items, "")[:2]
        line = f"{csv_cell(first)},{csv_cell(second) if second else ''},{support},{scale!r}"
        yield line if is_old else ",".join((line, *map(str, more)))


def _support(row: list[str], header: list[str], line: int) -> NoisySupport:
    try:
        first, second, support, scale, *more = row
        items = (first, second) if second else (first,)
        shapes = zip((_COUNT, _NOISY, _NOISY, _NOISES), (support, *more), strict=False)
        fits = (
            len(row) == len(header)
            and first
            and all(shape.fullmatch(cell) for shape, cell in shapes)
        )
        if fits and 0 < float(scale) <= MOST_SCALE:
            return NoisySupport(items, int(support), float(scale), *map(int, more))
    except ValueError:
        pass
    problem = "this is not one or two items and their noisy counts"
    raise FileFormatError(SUPPORTS, problem, line=line)

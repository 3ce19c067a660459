"""The folder of typical bags: `data.csv` (or `.dat`, `.parquet`), and slots or a hierarchy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import cast

from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, FileFormatError, brief
from setveil.io.formats.csvlines import write_release_rows
from setveil.io.formats.delimited import csv_rows
from setveil.io.releases.form import (
    RECORD_FORMATS,
    TRUTH,
    Choices,
    Fact,
    ReleaseFolder,
    ReleaseForm,
)
from setveil.io.releases.links import RECORD_LINKS
from setveil.io.releases.records import read_records, write_records
from setveil.io.releases.strict import check_lines
from setveil.io.releases.trees import (
    RECIPE,
    TREE,
    read_origin,
    read_tree,
    write_origin,
    write_tree,
)
from setveil.io.writing import write_lines
from setveil.published.typical_bags import TypicalBags

SLOTS = "slots.csv"
_HEADER = ["slot", "item", "count"]
_COUNT = "[1-9][0-9]{0,11}"


def fill_typical_bags(
    release: TypicalBags, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the bags in a shuffled order, and what their items represent."""
    (name,) = TYPICAL_BAGS.files(choices)
    write_records(release.records(choices.seed), stage / name)
    names, facts = [name], dict[str, object](bags=True)
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
    yield ",".join(_HEADER)
    yield from lines


def _read_slots(path: Path, vocabulary: Vocabulary) -> Bags:
    """What each published item contains, in the order of the vocabulary; nothing else."""
    found: dict[str, dict[str, int]] = {}
    for line, row in enumerate(_slot_rows(path), start=2):
        if len(row) != len(_HEADER) or not re.fullmatch(_COUNT, row[2]):
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


def _slot_rows(path: Path) -> Iterator[list[str]]:
    """The rows below the header."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv_rows(stream, path.name)
        if next(rows, None) != _HEADER:
            raise DataError(f"{path.name} must begin with the line {','.join(_HEADER)}")
        yield from rows

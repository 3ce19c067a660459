"""The release folder of vocabularies: `data.csv` (or `.dat`, `.parquet`); beside it `slots.csv` of slots, or `hierarchy.csv` of nodes."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, ReleaseError
from setveil.io.delimited import write_release_rows
from setveil.io.forms import Choices, ReleaseForm
from setveil.io.generalized import TREE, read_origin, read_rows, read_tree, with_empty_records, write_origin, write_rows, write_tree
from setveil.io.output import write_lines
from setveil.promises import Promise
from setveil.published.vocabularies import Vocabularies

SLOTS = "slots.csv"
_HEADER = ["slot", "item", "count"]


def fill_vocabularies(release: Vocabularies, stage: Path, choices: Choices) -> tuple[list[str], dict[str, object]]:
    """Write the bags in a shuffled order, and what their items stand for."""
    (name,) = VOCABULARIES.files(choices)
    write_rows(release.records(choices.seed), stage / name)
    names, facts = [name], dict[str, object](bags=True)
    if release.slots is not None:
        write_lines(_slot_lines(release.slots), stage / SLOTS, None)
        names.append(SLOTS)
    if release.hierarchy is not None:
        facts["hierarchy"] = write_tree(release.hierarchy, release.published_nodes(), stage, choices)
        names.append(TREE)
    if release.semantics is not None:
        facts["semantics"] = write_origin(release.semantics)
    return names, facts


def read_vocabularies(place: Path, about: dict[str, Any], promise: Promise) -> Vocabularies:
    """The release in a folder."""
    names = VOCABULARIES.written(about)
    if names is None:
        raise ReleaseError(place, "release.json names no data file")
    rows = with_empty_records(read_rows(place / names[0], bags=True), about["records"], names[0])
    assert isinstance(rows, Bags)
    tree = read_tree(place, about) if TREE in about["files"] else None
    if tree is not None:
        tree.nodes.encode(rows.vocabulary.labels)
    slots = _read_slots(place / SLOTS, rows.vocabulary) if SLOTS in about["files"] else None
    semantics = read_origin(about["semantics"]) if about.get("semantics") else None
    return Vocabularies.of_rows(rows, promise, about["method"], hierarchy=tree, slots=slots, semantics=semantics)


VOCABULARIES = ReleaseForm(
    Vocabularies.form,
    {"csv": ("data.csv",), "fimi": ("data.dat",), "dat": ("data.dat",), "parquet": ("data.parquet",)},
    True,
    fill_vocabularies,
    read_vocabularies,
)
"""`dat` is another word for `fimi`."""


def _slot_lines(slots: Bags) -> Iterator[str]:
    """As `data.csv`, with slots in the place of records: slot i is the i-th of them, and none is empty."""
    lines = write_release_rows(slots)
    next(lines)
    yield ",".join(_HEADER)
    yield from lines


def _read_slots(path: Path, vocabulary: Vocabulary) -> Bags:
    """What each published item stands for, in the order of the vocabulary."""
    found: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        if next(rows, None) != _HEADER:
            raise DataError(f"{path.name} must begin with the line {','.join(_HEADER)}")
        for row in rows:
            if len(row) != len(_HEADER) or not row[2].isdecimal():
                raise DataError(f"line {rows.line_num} of {path.name} is not a slot, an item and a count")
            slot = found.setdefault(row[0], {})
            slot[row[1]] = slot.get(row[1], 0) + int(row[2])
    missing = [label for label in vocabulary if label not in found]
    if missing:
        raise DataError(f"{path.name} does not say what slot {missing[0]} stands for")
    return Bags.of(found[label] for label in vocabulary)

"""The release folder of vocabularies: `data.csv` (or `.dat`, `.parquet`); beside it `slots.csv` of slots, or `hierarchy.csv` of nodes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setveil.data.transactions import Bags
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, FileFormatError
from setveil.io.formats.delimited import write_release_rows
from setveil.io.releases.form import Choices, ReleaseForm
from setveil.io.releases.generalized import TREE, read_origin, read_tree, write_origin, write_tree
from setveil.io.releases.rows import read_rows, write_rows
from setveil.io.source.database import not_utf8
from setveil.io.writing import write_lines
from setveil.promises import Promise
from setveil.published.typical_bags import TypicalBags

SLOTS = "slots.csv"
_HEADER = ["slot", "item", "count"]
_COUNT = "[1-9][0-9]{0,11}"


def fill_vocabularies(
    release: TypicalBags, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the bags in a shuffled order, and what their items stand for."""
    (name,) = TYPICAL_BAGS.files(choices)
    write_rows(release.records(choices.seed), stage / name)
    names, facts = [name], dict[str, object](bags=True)
    if release.slots is not None:
        write_lines(_slot_lines(release.slots), stage / SLOTS, None)
        names.append(SLOTS)
    if release.hierarchy is not None:
        facts["hierarchy"] = write_tree(
            release.hierarchy, release.published_nodes(), stage, choices
        )
        names.append(TREE)
    if release.semantics is not None:
        facts["semantics"] = write_origin(release.semantics)
    return names, facts


def read_vocabularies(place: Path, about: dict[str, Any], promise: Promise) -> TypicalBags:
    """The release in a folder."""
    names = TYPICAL_BAGS.written(place, about)
    rows, weights = read_rows(place / names[0], about["records"], bags=True)
    assert isinstance(rows, Bags)
    tree = read_tree(place, about) if TREE in about["files"] else None
    if tree is not None:
        tree.nodes.encode(rows.vocabulary.labels)
    slots = _read_slots(place / SLOTS, rows.vocabulary) if SLOTS in about["files"] else None
    semantics = read_origin(about["semantics"]) if about.get("semantics") else None
    return TypicalBags.of_rows(
        rows,
        promise,
        about["method"],
        weights=weights,
        hierarchy=tree,
        slots=slots,
        semantics=semantics,
        epsilon=about.get("epsilon"),
        omega=about.get("omega"),
    )


TYPICAL_BAGS = ReleaseForm(
    TypicalBags.form,
    {
        "csv": ("data.csv",),
        "fimi": ("data.dat",),
        "dat": ("data.dat",),
        "parquet": ("data.parquet",),
    },
    True,
    fill_vocabularies,
    read_vocabularies,
    beside=(SLOTS, TREE),
)
"""`dat` is another word for `fimi`."""


def _slot_lines(slots: Bags) -> Iterator[str]:
    """As `data.csv`, with slots in the place of records: slot i is the i-th of them, and none is empty."""
    lines = write_release_rows(slots)
    next(lines)
    yield ",".join(_HEADER)
    yield from lines


def _read_slots(path: Path, vocabulary: Vocabulary) -> Bags:
    """What each published item stands for, in the order of the vocabulary; no slot may be told of that is not published."""
    found: dict[str, dict[str, int]] = {}
    for line, row in enumerate(_slot_rows(path), start=2):
        if len(row) != len(_HEADER) or not re.fullmatch(_COUNT, row[2]):
            raise FileFormatError(path.name, "this is not a slot, an item and a count", line=line)
        slot = found.setdefault(row[0], {})
        if row[1] in slot:
            raise FileFormatError(path.name, "an item stands twice in a slot", line=line)
        slot[row[1]] = int(row[2])
    missing, more = (
        [label for label in vocabulary if label not in found],
        [label for label in found if label not in vocabulary],
    )
    if missing:
        raise DataError(f"{path.name} does not say what slot {missing[0]} stands for")
    if more:
        raise DataError(f"{path.name} tells of a slot {more[0]!r} that no bag holds")
    return Bags.of(found[label] for label in vocabulary)


def _slot_rows(path: Path) -> Iterator[list[str]]:
    """The rows below the header."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream, strict=True)
            if next(rows, None) != _HEADER:
                raise DataError(f"{path.name} must begin with the line {','.join(_HEADER)}")
            yield from rows
    except UnicodeDecodeError:
        raise not_utf8(path.name) from None
    except csv.Error as error:
        raise FileFormatError(
            path.name, f"this is no CSV line ({error})", line=rows.line_num
        ) from None

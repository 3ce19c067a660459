"""Release folders as docs/formats/release.md describes them. Plain, standard library only."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

Bag = dict[str, int]


def facts(folder: Path) -> dict[str, Any]:
    """What release.json says; the folder holds nothing but that file and those it names."""
    said: dict[str, Any] = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert {path.name for path in folder.iterdir()} == {"release.json", *said["files"]}
    return said


def records(folder: Path) -> list[Bag]:
    """The published records of `data.csv` or `data.dat`, as items with their counts."""
    said = facts(folder)
    if (folder / "data.dat").exists():
        lines = (folder / "data.dat").read_text(encoding="utf-8-sig").split("\n")
        assert lines.pop() == "" or not said["records"]
        found = [dict(Counter(line.split())) for line in lines]
        assert len(found) == said["records"]
        return found
    with (folder / "data.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == (["record", "item", "count"] if said.get("bags") else ["record", "item"])
    found = [{} for _ in range(said["records"])]
    for number, item, *count in rows:
        assert item not in found[int(number) - 1]
        found[int(number) - 1][item] = int(count[0]) if count else 1
    return found


def parents(folder: Path) -> dict[str, str | None]:
    """The tree of `hierarchy.csv`, as the parent of each node."""
    found: dict[str, str | None] = {}
    with (folder / "hierarchy.csv").open(encoding="utf-8", newline="") as stream:
        for path in csv.reader(stream, delimiter=";"):
            for child, parent in zip(path, [*path[1:], None], strict=True):
                assert found.setdefault(child, parent) == parent
    return found


def clusters(folder: Path) -> list[dict[str, Any]]:
    """The top-level clusters of `data.jsonl`."""
    lines = (folder / "data.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def alignment(path: Path) -> list[Bag]:
    """The private file of published records, one line for each original record."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [dict(Counter(filter(None, row))) for row in csv.reader(stream)]

"""The folder of a generalized release: `data.csv` (or `.dat`, `.parquet`) and `hierarchy.csv`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.data.arrays import Int32s
from setveil.data.transactions import Bags
from setveil.hierarchy.files import read_hierarchy, write_hierarchy
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.io.releases.form import (
    OBJECT,
    RECORD_FORMATS,
    RECORD_PROMISES,
    TRUTH,
    Choices,
    Fact,
    ReleaseFolder,
    ReleaseForm,
)
from setveil.io.releases.records import read_records, write_records
from setveil.published.generalized import Generalized
from setveil.published.rows import relabeled

TREE = "hierarchy.csv"


def fill_generalized(
    release: Generalized, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write the records in a shuffled order, and the tree."""
    (name,) = GENERALIZED.files(choices)
    write_records(release.records(choices.seed), stage / name)
    origin = write_tree(release.hierarchy, release.published_nodes(), stage, choices)
    bags = {"bags": True} if isinstance(release.classes, Bags) else {}
    return [name, TREE], {**bags, "hierarchy": origin}


def read_generalized(folder: ReleaseFolder) -> Generalized:
    """The release in a folder."""
    about, bags = folder.about, bool(folder.about.get("bags"))
    if not folder.has(TREE):
        raise folder.fault(f"release.json does not name {TREE}")
    if bags and "recoding" in about:
        raise folder.fault("in release.json, recoding must be left out for bags")
    tree = read_tree(folder)
    data, weights = read_records(folder, bags=bags)
    rows = relabeled(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
    return Generalized.of_rows(
        rows, tree, folder.promise, folder.method, weights=weights, is_global="recoding" in about
    )


GENERALIZED = ReleaseForm(
    name=Generalized.form,
    formats=RECORD_FORMATS,
    fill=fill_generalized,
    read=read_generalized,
    promises=RECORD_PROMISES,
    has_tree=True,
    beside=(TREE,),
    facts={
        "bags": TRUTH,
        "hierarchy": OBJECT,
        "recoding": Fact(lambda value: value == "global", '"global"'),
    },
)


def write_tree(tree: Hierarchy, nodes: Int32s, stage: Path, choices: Choices) -> dict[str, object]:
    """Write a tree; gives its recipe.

    Of a tree that was built from the items of the data, only the part that these nodes show is
    written.
    """
    if not (tree.origin.is_public or choices.public_items):
        tree = tree.pruned(nodes)
    write_hierarchy(tree, stage / TREE)
    return write_origin(tree.origin)


def read_tree(folder: ReleaseFolder) -> Hierarchy:
    """The tree that `write_tree` wrote."""
    origin = read_origin(folder.about.get("hierarchy") or {})
    return read_hierarchy(folder.place / TREE, layout="paths", delimiter=";", origin=origin)


def write_origin(origin: Origin) -> dict[str, object]:
    """Where a tree comes from, as in `release.json`."""
    return {"kind": origin.kind, **origin.parameters} | ({"pruned": True} if origin.pruned else {})


def read_origin(recipe: Mapping[str, Any]) -> Origin:
    """What `write_origin` gave."""
    parameters = {key: value for key, value in recipe.items() if key not in ("kind", "pruned")}
    return Origin(recipe.get("kind", "given"), parameters, pruned=bool(recipe.get("pruned")))

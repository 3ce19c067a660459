"""The release folder of generalized records: `data.csv` (or `.dat`, `.parquet`) and `hierarchy.csv`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.data.transactions import Bags
from setveil.errors import ReleaseError
from setveil.hierarchy.files import read_hierarchy, write_hierarchy
from setveil.hierarchy.tree import Hierarchy, Nodes, Origin
from setveil.io.releases.form import Choices, ReleaseForm
from setveil.io.releases.rows import read_rows, write_rows
from setveil.promises import Promise
from setveil.published.generalized import Generalized
from setveil.published.rows import relabeled

TREE = "hierarchy.csv"


def fill_generalized(
    release: Generalized, stage: Path, choices: Choices
) -> tuple[list[str], dict[str, object]]:
    """Write records in a shuffled order, and the tree; of one that was built from the data only what the records show."""
    (name,) = GENERALIZED.files(choices)
    write_rows(release.records(choices.seed), stage / name)
    origin = write_tree(release.hierarchy, release.published_nodes(), stage, choices)
    bags = {"bags": True} if isinstance(release.classes, Bags) else {}
    return [name, TREE], {**bags, "hierarchy": origin}


def read_generalized(place: Path, about: dict[str, Any], promise: Promise) -> Generalized:
    """The release in a folder."""
    names = GENERALIZED.written(place, about)
    if TREE not in about["files"]:
        raise ReleaseError(place, f"release.json names no {TREE}")
    tree = read_tree(place, about)
    data, weights = read_rows(place / names[0], about["records"], bags=bool(about.get("bags")))
    rows = relabeled(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
    is_global = about.get("recoding") == "global"
    if "recoding" in about and (not is_global or isinstance(rows, Bags)):
        raise ReleaseError(place, "release.json names a recoding that these records cannot have")
    return Generalized.of_rows(
        rows, tree, promise, about["method"], weights=weights, is_global=is_global
    )


GENERALIZED = ReleaseForm(
    Generalized.form,
    {
        "csv": ("data.csv",),
        "fimi": ("data.dat",),
        "dat": ("data.dat",),
        "parquet": ("data.parquet",),
    },
    True,
    fill_generalized,
    read_generalized,
    beside=(TREE,),
)
"""`dat` is another word for `fimi`."""


def write_tree(tree: Hierarchy, nodes: Nodes, stage: Path, choices: Choices) -> dict[str, object]:
    """Write the tree, of one that was built from the data only what these nodes show; gives its recipe."""
    if not (tree.origin.is_public or choices.public_items):
        tree = tree.pruned(nodes)
    write_hierarchy(tree, stage / TREE)
    return write_origin(tree.origin)


def read_tree(place: Path, about: dict[str, Any]) -> Hierarchy:
    """The tree that `write_tree` wrote."""
    return read_hierarchy(
        place / TREE,
        layout="paths",
        delimiter=";",
        origin=read_origin(about.get("hierarchy") or {}),
    )


def write_origin(origin: Origin) -> dict[str, object]:
    """Where a tree comes from, as it stands in `release.json`."""
    return {"kind": origin.kind, **origin.parameters} | ({"pruned": True} if origin.pruned else {})


def read_origin(recipe: dict[str, Any]) -> Origin:
    """What `write_origin` gave."""
    parameters = {key: value for key, value in recipe.items() if key not in ("kind", "pruned")}
    return Origin(recipe.get("kind", "given"), parameters, pruned=bool(recipe.get("pruned")))

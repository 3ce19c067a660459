"""The folder of a generalized release: `data.csv` (or `.dat`, `.parquet`) and `hierarchy.csv`."""

from __future__ import annotations

from pathlib import Path

from setveil.data.transactions import Bags
from setveil.hierarchy.tree import Hierarchy
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
from setveil.io.releases.links import RECORD_LINKS
from setveil.io.releases.records import read_records, write_records
from setveil.io.releases.trees import RECIPE, TREE, read_tree, write_tree
from setveil.published.generalized import Generalized
from setveil.published.rows import relabeled


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
    data, weights = read_records(folder, bags=bags)
    tree = read_tree(folder, data.vocabulary.labels)
    rows = relabeled(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
    return Generalized.of_rows(
        rows,
        tree,
        folder.promise,
        folder.method,
        weights=weights,
        as_read=True,
        is_global="recoding" in about,
    )


def write_part(release: Generalized, part: PartFile, choices: Choices) -> None:
    """Write the records of one part in a shuffled order."""
    write_records(release.records(choices.seed), part.path, part.before)


def read_part(folder: ReleaseFolder, tree: Hierarchy | None) -> Generalized:
    """One part of a release, over the tree of all parts."""
    assert tree is not None
    data, weights = read_records(folder, bags=False)
    rows = relabeled(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
    return Generalized.of_rows(
        rows, tree, folder.promise, folder.method, weights=weights, as_read=True
    )


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

"""Hierarchy: build a tree over the items of data, check and edit the file of one, and get one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from setveil.data.transactions import Transactions
from setveil.disk import read_text
from setveil.errors import DataError, FileFormatError, ParameterError
from setveil.hierarchy.check import Fault, find_faults, way_out
from setveil.hierarchy.editing import TreeDraft
from setveil.hierarchy.files import read_outline
from setveil.hierarchy.layouts import TreeOptions, Unknown
from setveil.hierarchy.recipes import hierarchy_maker, is_recipe
from setveil.hierarchy.tree import Hierarchy
from setveil.pipeline.inputs import fit, load


@dataclass(frozen=True, kw_only=True)
class HierarchyJob(TreeOptions):
    """A tree: a file, or a recipe and the data with its items."""

    tree: Path | str
    """A file, or a recipe such as `balanced:5`."""
    public_items: bool = False
    """The labels of a balanced tree name items, because its reader may see them all."""
    data: object = field(default=None, repr=False)
    reading: Mapping[str, Any] = field(default_factory=dict)


def build(job: HierarchyJob) -> Hierarchy:
    """The tree that a recipe builds over the items of the data; its labels may name items, because
    its leaves do."""
    if not is_recipe(job.tree):
        allowed = (
            "it is balanced[:FANOUT[:ORDER]], prefix[:LENGTH,...|atc|icd9|icd10] or "
            "wordnet[+unknown][:FOLDER]"
        )
        raise ParameterError("recipe", job.tree, allowed)
    return run(replace(job, public_items=True))


MOST_PATHS = 5  # how many paths show what a proposal means


class Checked(NamedTuple):
    """What is wrong with a hierarchy file."""

    faults: tuple[Fault, ...]  # errors before notes
    advice: str  # what helps against its errors, as a remedy; may be empty
    columns: tuple[str, ...]  # the level columns, from the items up, if it is a table of levels

    @property
    def is_usable(self) -> bool:
        """Whether the file is a tree for the data."""
        return not any(fault.severity == "error" for fault in self.faults)


def check(job: HierarchyJob) -> Checked:
    """Every fault of a hierarchy file; with data, also items without a leaf."""
    vocabulary = None if job.data is None else load(job.data, job.reading).vocabulary
    outline = read_outline(job.tree, job)
    faults = tuple(_judged(fault, job.unknown) for fault in find_faults(outline, vocabulary))
    faults = tuple(sorted(faults, key=lambda fault: fault.severity))
    is_tree = not any(fault.severity == "error" for fault in faults)
    return Checked(faults, "" if is_tree else way_out(outline), outline.columns)


class Proposal(NamedTuple):
    """Another way to read a hierarchy file, in which it is a tree."""

    levels: tuple[str, ...]
    """The level columns, from the items up; empty if the file is no table of levels."""
    qualify: bool
    paths: tuple[tuple[str, ...], ...]
    """How some of its items are grouped then, each from the item up."""


def propose(job: HierarchyJob, checked: Checked) -> Proposal | None:
    """Another order of the level columns, groups that are named with their parent, or both: the
    first of these that makes a tree of a file. Also of one that is usable only because groups are
    named so, if a level has fewer labels than the one above it: then the order is wrong."""
    order = _order(job) if checked.columns else ()
    is_ordered = order == checked.columns
    ways: list[dict[str, Any]] = [{"levels": order}] if not is_ordered else []
    ways += [{"qualify": True}] if is_ordered else [{"levels": order, "qualify": True}]
    for way in ways if not (checked.is_usable and is_ordered) else ():
        plain = replace(job, qualify=False, unknown="root")
        tried = replace(plain, **way)
        if check(tried).is_usable:
            tree = run(replace(tried, data=None))
            leaves = tree.labels[: tree.leaf_count][:: max(tree.leaf_count // MOST_PATHS, 1)]
            paths = tuple(tuple(tree.path(leaf)) for leaf in leaves[:MOST_PATHS])
            return Proposal(order, tried.qualify, paths)
    return None


def _order(job: HierarchyJob) -> tuple[str, ...]:
    """The level columns by how many labels each has, the most first; the items of the data before
    all others."""
    outline = read_outline(job.tree, replace(job, qualify=False))
    cells = [
        {chain[at] for chain in outline.chains if at < len(chain)}
        for at in range(len(outline.columns))
    ]
    known = set() if job.data is None else set(load(job.data, job.reading).vocabulary)
    held = [len(labels & known) for labels in cells]
    items = held.index(max(held)) if known else 0
    places = sorted(range(len(cells)), key=lambda at: (at != items, -len(cells[at])))
    return tuple(outline.columns[at] for at in places)


def _judged(fault: Fault, unknown: Unknown) -> Fault:
    """A fault, which is only a note if it is about items that need no leaf."""
    is_group = fault.kind == "item is an inner node"
    accepted = fault.kind == "item without a leaf" and unknown != "refuse"
    accepted |= is_group and unknown == "drop"
    if not accepted:
        return fault
    end = "left out" if unknown == "drop" else "placed below the root"
    return replace(fault, severity="note", sentence=f"{fault.sentence}: {end}")


@dataclass(frozen=True, kw_only=True)
class EditJob(HierarchyJob):
    """Edits of a tree, in their order."""

    log: Path | None = None
    """A file with the log of earlier edits of the same tree, which are made first."""
    edits: Sequence[Mapping[str, Any]] = ()
    """Edits such as `{"op": "rename", "node": ..., "name": ...}`; see `TreeDraft.apply`. An `add`
    without items adds all items of the data that the tree lacks to its root."""


def edit(job: EditJob) -> TreeDraft:
    """The tree with the edits made; its labels may name items, because its leaves do."""
    data = None if job.data is None else load(job.data, job.reading)
    tree = _made(replace(job, public_items=True), data)
    draft = TreeDraft(tree, data)
    if job.log is not None:
        draft = _replayed(tree, job.log, data)
    for each in job.edits:
        if each.get("op") == "add" and "items" not in each:
            _add_missing(draft)
        else:
            draft.apply(each)
    return draft


def _add_missing(draft: TreeDraft) -> None:
    if draft.data is None:
        allowed = "name the data whose items are added with {data}"
        raise ParameterError("data", None, allowed)
    missing = draft.coverage().missing
    if missing:
        draft.add(missing)


def _replayed(tree: Hierarchy, log: Path, data: Transactions | None) -> TreeDraft:
    edits = _read_log(log)
    try:
        return TreeDraft.replay(tree, edits, data)
    except DataError as error:
        raise FileFormatError(log, error.problem, remedy=error.remedy) from None


def _read_log(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except FileFormatError:
        raise
    except (ValueError, RecursionError):
        raise FileFormatError(path, "this is not a log of edits") from None


def run(job: HierarchyJob) -> Hierarchy:
    """The tree."""
    data = None if job.data is None else load(job.data, job.reading)
    tree = _made(job, data)
    if data is not None and job.unknown != "refuse":
        tree = fit(tree, data, job).tree or tree
    return tree


def _made(job: HierarchyJob, data: Transactions | None) -> Hierarchy:
    make = hierarchy_maker(job.tree, job, public_items=job.public_items)
    if data is None and is_recipe(job.tree):
        allowed = f"{job.tree} is built over the items of a data set: name one with {{data}}"
        raise ParameterError("data", None, allowed)
    tree = make(load([]) if data is None else data)
    assert tree is not None
    return tree

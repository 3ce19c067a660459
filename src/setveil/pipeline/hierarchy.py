"""Hierarchy: build a tree over the items of data, check and edit the file of one, and get one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, ParameterError
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


class Checked(NamedTuple):
    """What is wrong with a hierarchy file."""

    faults: tuple[Fault, ...]  # errors before notes
    advice: str  # what helps against its errors, as a remedy; may be empty
    columns: tuple[str, ...]  # the level columns, from the items up, if it is a table of levels


def check(job: HierarchyJob) -> Checked:
    """Every fault of a hierarchy file; with data, also items without a leaf."""
    vocabulary = None if job.data is None else load(job.data, job.reading).vocabulary
    outline = read_outline(job.tree, job)
    faults = tuple(_judged(fault, job.unknown) for fault in find_faults(outline, vocabulary))
    faults = tuple(sorted(faults, key=lambda fault: fault.severity))
    is_tree = not any(fault.severity == "error" for fault in faults)
    return Checked(faults, "" if is_tree else way_out(outline), outline.columns)


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
        draft = TreeDraft.replay(tree, _read_log(job.log), data)
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


def _read_log(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise FileFormatError(path, f"the file cannot be read ({error.strerror})") from None
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

"""Hierarchy: build a tree over the items of data, check the file of one, and get one to show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.errors import ParameterError
from setveil.hierarchy.check import Fault, find_faults
from setveil.hierarchy.files import Layout, read_outline
from setveil.hierarchy.recipes import hierarchy_maker, is_recipe
from setveil.hierarchy.tree import Hierarchy
from setveil.pipeline.inputs import load


@dataclass(frozen=True, kw_only=True)
class HierarchyJob:
    """A tree: a file, or a recipe and the data with its items."""

    tree: Path | str
    """A file, or a recipe such as `balanced:5`."""
    layout: Layout | None = None
    data: object = field(default=None, repr=False)
    reading: Mapping[str, Any] = field(default_factory=dict)


def build(job: HierarchyJob) -> Hierarchy:
    """The tree that a recipe builds over the items of the data."""
    if not is_recipe(job.tree):
        allowed = (
            "it is balanced[:FANOUT[:ORDER]], prefix[:LENGTH,...] or wordnet[+unknown][:FOLDER]"
        )
        raise ParameterError("recipe", job.tree, allowed)
    return run(job)


def check(job: HierarchyJob) -> list[Fault]:
    """Every fault of a hierarchy file; with data, also items without a leaf."""
    vocabulary = None if job.data is None else load(job.data, job.reading).vocabulary
    return list(find_faults(read_outline(job.tree, layout=job.layout), vocabulary))


def run(job: HierarchyJob) -> Hierarchy:
    """The tree."""
    make = hierarchy_maker(job.tree, job.layout)
    if job.data is None and is_recipe(job.tree):
        allowed = f"{job.tree} is built over the items of a data set: name one with {{data}}"
        raise ParameterError("data", None, allowed)
    tree = make(load([] if job.data is None else job.data, job.reading))
    assert tree is not None
    return tree

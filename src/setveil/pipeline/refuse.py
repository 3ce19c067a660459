"""What is refused before any work: what can be told from the job alone."""

from __future__ import annotations

from pathlib import Path

from setveil.disk import check_place
from setveil.errors import OutputError, ParameterError
from setveil.hierarchy.recipes import RECIPES
from setveil.hierarchy.tree import Hierarchy
from setveil.io.privateitems import PrivateItems
from setveil.io.releases.alignment import NO_RECORDS
from setveil.io.releases.folder import FORMS
from setveil.io.releases.form import Choices
from setveil.methods.method import Method
from setveil.methods.suppression import Suppression
from setveil.pipeline.job import Job
from setveil.published.disassociated.form import Disassociated

_ANY_TREE = Hierarchy.from_parents(["*"], [-1])
"""Stands for the tree of a file or recipe as long as it is not made."""


def check_job(job: Job) -> None:
    """Refuse what the method, the promise and the places of a job do not allow."""
    if not isinstance(job.method, Method):
        raise ParameterError(
            "method", job.method, "it must be a method with its parameters, such as Partition()"
        )
    FORMS[job.method.form].check(Choices(format=job.format, public_items=job.public_items))
    if job.alignment is not None and job.method.form == Disassociated.form:
        raise ParameterError("alignment", str(job.alignment), NO_RECORDS)
    if not isinstance(job.hierarchy, Hierarchy | Path | str | None):
        raise ParameterError(
            "hierarchy", job.hierarchy, f"it is a Hierarchy, or {RECIPES.removeprefix('it is ')}"
        )
    job.method.check(
        0, job.promise, _ANY_TREE if isinstance(job.hierarchy, Path | str) else job.hierarchy
    )
    if job.private:
        PrivateItems.parse(job.private)
    if job.explain and not isinstance(job.method, Suppression):
        raise ParameterError(
            "explain", True, f"the method {job.method.name} has nothing to explain; coherence has"
        )
    _check_places(job)


def _check_places(job: Job) -> None:
    inputs = [
        Path(given).resolve()
        for given in (job.data, job.hierarchy)
        if isinstance(given, str | Path)
    ]
    output = None if job.output is None else Path(job.output)
    if output is not None:
        if str(output) == "-":
            raise OutputError(output, "a release is a folder and cannot go to standard output")
        if any(output.resolve() in path.parents for path in inputs):
            raise OutputError(
                output, "what is read as input lies in this folder; choose another name"
            )
    if job.alignment is not None:
        _check_alignment(Path(job.alignment), output, inputs, job.force)


def _check_alignment(place: Path, output: Path | None, inputs: list[Path], force: bool) -> None:
    if str(place) == "-":
        raise OutputError(
            place,
            "the alignment is private and cannot go to standard output; give the name of a file",
        )
    if output is not None and place.resolve().is_relative_to(output.resolve()):
        raise OutputError(place, "the alignment is private and must not lie in the release folder")
    if place.resolve() in inputs:
        raise OutputError(place, "this file is read as input; choose another name")
    check_place(place, force=force)

"""Report: a page about a release, for the person who must defend it or the people who receive it.

With the original the page is private; without it, it shows nothing but what the release says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from setveil.alignment.merging import covered
from setveil.audit.verdict import Verdict
from setveil.audit.verify import verify
from setveil.disk import check_place, new_file, sync
from setveil.engines.base import Progress
from setveil.errors import OutputError
from setveil.metrics import measure
from setveil.metrics.usefulness import usefulness
from setveil.pipeline.commands import command_of
from setveil.pipeline.dossier import Dossier, dossier_of, private_part
from setveil.pipeline.inputs import fit, load_release, tree_maker
from setveil.pipeline.names import Words, fields_from
from setveil.pipeline.notes import release_notes
from setveil.pipeline.originals import OfRelease, Original, original_of
from setveil.pipeline.stages import Stages
from setveil.published import Release
from setveil.showing import page_of

PRIVATE_FILE = 0o600


@dataclass(frozen=True, kw_only=True)
class ReportJob(OfRelease):
    """Which release the page is about, and where it goes; without an original it is public."""

    output: Path | str | None = None
    """The HTML file; nothing is written if it is not given."""
    seed: int = 0
    force: bool = False


def write_report(
    release: object, output: Path | str | None = None, *, original: object = None, **words: Any
) -> Dossier:
    """Write a page about a release, and return what it shows.

    Args:
        release: A release, or its folder.
        output: The HTML file. Without it nothing is written.
        original: The data it was made from; then the page is private.
        words: The options of `setveil report`.

    Example:
        >>> from setveil import Hierarchy, KAnonymity, Partition
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> baskets = [["beer"], ["wine"]]
        >>> release = Partition().anonymize(baskets, KAnonymity(k=2), tree)
        >>> write_report(release, original=baskets).private.supports[0]
        Pair(name='beer', before=1.0, after=1.0)
    """
    return run(job_from(release, {**words, "original": original, "output": output}))


def job_from(release: object, words: Words) -> ReportJob:
    """The job that these words describe; None means not given."""
    return ReportJob(release=release, **fields_from("report", ReportJob, words))


def run(job: ReportJob, progress: Progress | None = None) -> Dossier:
    """Read the release and its original, verify, measure, and write the page."""
    stages = Stages(progress)
    folder = Path(job.release) if isinstance(job.release, str | Path) else None
    check_page(job.output, folder, force=job.force)
    found = examined(job, stages).dossier
    if job.output is not None:
        page = written_dossier(found, Path(job.output), force=job.force)
        with stages("writing the page"), page:
            pass
    return found


class Examined(NamedTuple):
    """What was found, and what it is about."""

    dossier: Dossier
    release: Release
    original: Original | None


def examined(job: ReportJob, stages: Stages) -> Examined:
    """Read the release and its original, verify and measure."""
    folder = Path(job.release) if isinstance(job.release, str | Path) else None
    with stages("reading"):
        release, whole, tree = load_release(job.release), None, None
        if job.original is not None:
            of = job.original, job.reading, job.alignment
            release, whole = original_of(release, *of)
            tree = tree_maker(job.hierarchy, job)(whole.data)
        original = None if whole is None else whole.data
        if original is not None and job.unknown != "refuse":
            tree, original, *_ = fit(tree, original, job)
    with stages("verifying"):
        verdict = verify(release, original, hierarchy=tree)
    found = dossier_of(release, verdict, folder=folder, command=command_of(release))
    if whole is None or original is None:
        return Examined(found, release, None)
    with stages("measuring", compiles=True):
        losses = measure(release, original, seed=job.seed, hierarchy=tree)
        part = private_part(
            release,
            original,
            losses=losses,
            usefulness=usefulness(release, covered(release, original)),
            source=job.original,
            seed=job.seed,
            notes=release_notes(release, original, whole.people),
            suppressed=len(release.suppressed_items(original)),
        )
    return Examined(replace(found, private=part), release, whole)


def public_dossier(folder: Path, verdict: Verdict) -> Dossier:
    """The public dossier of a release that was just verified: computed from what is on disk alone,
    with the checks that need no original."""
    release = load_release(folder)
    public = tuple(check for check in verdict.checks if not check.private)
    checked = Verdict(verdict.promise, public)
    return dossier_of(release, checked, folder=folder, command=command_of(release))


def check_page(place: Path | str | None, folder: Path | None, *, force: bool) -> None:
    """Refuse a place where the page of a release cannot be, before any work."""
    if place is None:
        return
    path = Path(place)
    if str(path) == "-":
        raise OutputError(path, "a page is a file", remedy="give the name of a file")
    if folder is not None and path.resolve().is_relative_to(folder.resolve()):
        problem = "the page is not part of the release and must not be in its folder"
        raise OutputError(path, problem, remedy="choose another place")
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(path, "a page is an HTML file", remedy=f"call it {path.name}.html")
    check_place(path, force=force)


@contextmanager
def written_dossier(found: Dossier, place: Path, *, force: bool = False) -> Iterator[None]:
    """The page is written at once, and gets its name if the block succeeds; a private one can be
    read by the user alone."""
    text = page_of(found)
    mode = None if found.private is None else PRIVATE_FILE
    with new_file(place, force=force, mode=mode) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        sync(temporary)
        yield

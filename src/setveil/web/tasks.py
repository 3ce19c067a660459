"""What the process of a job does for each verb: it calls the library, whose answer is kept.

A task works in a folder of its own and reads the files of the user where they are. What it returns,
writes or complains about shows the names that the user knows, and no path of the page."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from setveil.errors import DataError, OutputError, SetveilError, parameters_in
from setveil.io.namelists import typed
from setveil.pipeline import Progress
from setveil.pipeline.inputs import Known, known_name
from setveil.pipeline.register import new as begin
from setveil.pipeline.registering.book import Entry
from setveil.pipeline.registering.booking import AGAIN, BOOKED
from setveil.pipeline.registering.files import Files
from setveil.web.ownfiles import REGISTER, check_unchanged, digest_of
from setveil.web.wording import line_of

RELEASE, ZIP, JOB = "release", "release.zip", "job.toml"
ALIGNMENT, TREE, WORLDS = "private-alignment.csv", "hierarchy.csv", "reconstructions"
DOSSIER, TWIN = "dossier.html", "dossier.json"
BUILT, ITEMS = "built.hierarchy.csv", "items.json"
"""The tree that was checked or built, and the items of the data with their supports."""
SHOWN = 25
"""How many records are shown beside what was published for them."""
PREVIEWED, LARGE = 3, 20 << 20
"""How many records are shown for each answer about a file, and the bytes from which on none are."""


@dataclass(frozen=True)
class Task:
    """What to do, and where."""

    folder: Path
    words: Mapping[str, Any]
    """`verb`, `data` (a name), `options` (words of the verb), `files` (for each name that the user
    knows, where the file is and what it was like when it was loaded; see `web.ownfiles`), `release`
    (the folder of the release that is asked about)."""
    progress: Progress
    shown: dict[str, str] = field(default_factory=dict)
    """What errors and results show in place of paths."""

    def __post_init__(self) -> None:
        self.shown[f"{self.folder}{os.sep}"] = ""
        for name, about in self.words.get("files", {}).items():
            check_unchanged(name, about)
            self.shown[about["path"]] = name
        if "release" in self.words:
            self.shown[self.words["release"]] = RELEASE
        os.chdir(self.folder)

    @property
    def name(self) -> str:
        """The name of the data, as the user knows it."""
        return str(self.words["data"])

    @property
    def data(self) -> Known:
        return self.file(self.name)

    @property
    def release(self) -> Known:
        return Known(self.words["release"], RELEASE)

    @property
    def named(self) -> dict[str, Any]:
        """The words of the verb with the names of files. What was typed is never a file."""
        return typed(self.words.get("options", {}))

    @property
    def options(self) -> dict[str, Any]:
        """The words of the verb with the places of files."""
        words = self.named
        found: dict[str, Any] = {
            name: self.file(words[name]) for name in _HOLD_FILES if words.get(name) in self.files
        }
        trees = words.get("column_hierarchies") or {}
        held = {name: self.file(tree) for name, tree in trees.items() if tree in self.files}
        return words | found | ({"column_hierarchies": {**trees, **held}} if held else {})

    @property
    def files(self) -> Mapping[str, Mapping[str, Any]]:
        found: Mapping[str, Mapping[str, Any]] = self.words.get("files", {})
        return found

    def file(self, name: str) -> Known:
        """Where a file of the user is; a name that is none of them is in the folder of the task."""
        about = self.files.get(name)
        return Known(about["path"] if about else name, name)


def preview(task: Task) -> dict[str, Any]:
    """How the file begins."""
    from setveil.pipeline.names import reading_from
    from setveil.pipeline.preview import PreviewJob, run

    found = run(PreviewJob(data=task.data, reading=reading_from(task.options)))
    doubt = "" if found.doubt is None else line_of(found.doubt, task.shown)
    hashes = {name: digest_of(about["path"]) for name, about in task.files.items()}
    return {**found.to_dict(), "doubt": doubt or None, "hashes": hashes}


def sample(task: Task) -> dict[str, Any]:
    """Synthetic data to try things on."""
    from setveil.pipeline import generate

    kind, target = task.options["sample"], generate.Target(output=Path(task.data))
    task.progress(0, 0, "generating")
    if kind == "log":
        generate.querylog(target, topics="catalogue", users=600, seed=1, shape="topics")
    else:
        generate.shop(target, 2_000, 1, hierarchy=Path(TREE))
    return {"file": task.data}


def querylog(task: Task) -> object:
    """Bags of terms from a query log."""
    from setveil.pipeline.querylog import QuerylogJob, run

    job = QuerylogJob(log=task.data, **{"output": Path("terms.csv"), **task.options})
    return run(job, task.progress)


def inspect(task: Task) -> object:
    """What the data contains, and how exposed people are."""
    from setveil.pipeline.inspect import job_from, run

    try:
        return run(job_from(task.data, task.options), task.progress)
    except DataError as error:
        error.previews = _previews(task, error)
        raise


def tree(task: Task) -> object:
    """The faults of a hierarchy file, or the tree that a recipe builds."""
    from setveil.hierarchy.files import write_hierarchy
    from setveil.hierarchy.recipes import is_recipe
    from setveil.pipeline import hierarchy
    from setveil.pipeline.inputs import load
    from setveil.pipeline.names import reading_from
    from setveil.pipeline.stored import CheckedTree
    from setveil.report.inspection import report_tree

    words = task.options
    given, how = words.pop("tree"), {n: words[n] for n in _TREE if words.get(n) is not None}
    job = hierarchy.HierarchyJob(tree=given, data=task.data, reading=reading_from(words), **how)
    task.progress(0, 0, "reading")
    checked = None if is_recipe(given) else hierarchy.check(job)
    proposal = None if checked is None else hierarchy.propose(job, checked)
    found = CheckedTree(name=known_name(given), checked=checked, proposal=proposal, values={})
    if checked is not None and not checked.is_usable:
        return found
    made = hierarchy.build(job) if checked is None else hierarchy.run(job)
    write_hierarchy(made, Path(BUILT))
    data = load(task.data, job.reading)
    supports = zip(data.vocabulary, data.supports().tolist(), strict=True)
    Path(ITEMS).write_text(json.dumps(dict(supports)), encoding="utf-8")
    return replace(found, values=dict(report_tree(made, 2).values))


def advise(task: Task) -> object:
    """Which promise, method and parameters suit the data and its use."""
    from setveil.pipeline.advise import job_from, run

    return run(job_from(task.data, task.options), task.progress)


def anonymize(task: Task) -> object:
    """A release, the alignment, the job as a file, and what the reports about it show."""
    from setveil.pipeline.anonymize import job_from, run
    from setveil.pipeline.inputs import load
    from setveil.pipeline.jobfile import job_text
    from setveil.pipeline.notes import examples
    from setveil.pipeline.report import public_dossier
    from setveil.pipeline.stored import Released
    from setveil.web.ownfiles import with_files

    places = {"output": RELEASE, "alignment": _alignment(task.options)}
    job = job_from(task.data, {**task.options, **places, **_registered(task)})
    outcome = run(job, task.progress, with_dossier=True)
    found = Released(
        values=outcome.to_dict(),
        verdict=outcome.verdict,
        dossier=outcome.dossier,
        advice=outcome.advice,
        notes=(*_unbooked(outcome.notes), *outcome.remarks),
    )
    if not outcome.verdict.holds:
        return found
    _write_lists(task)
    plain = job_from(task.name, {**with_files(task.named), "output": RELEASE})
    Path(JOB).write_text(job_text(plain), encoding="utf-8")
    _zip(Path(RELEASE), Path(ZIP))
    data = load(job.data, job.reading, job.min_people).without_rare(job.min_people)
    return replace(
        found,
        examples=examples(outcome.release, data, SHOWN),
        public=public_dossier(Path(RELEASE), outcome.verdict),
    )


def _unbooked(notes: Sequence[str]) -> list[str]:
    """The notes but for what the register has booked, which the page shows itself, and for earlier
    releases that single nobody out together with this one."""
    quiet = (BOOKED, AGAIN, "What it reveals together")
    return [
        note for note in notes if not note.startswith(quiet) and "both leave at least" not in note
    ]


def booked(folder: Path) -> Sequence[Entry]:
    """The releases in the register of the page with this folder."""
    place = folder / REGISTER
    return Files(place).read().entries if place.exists() else ()


def _registered(task: Task) -> dict[str, str]:
    """The register of the page, begun if there is none, and whom the data is about: a file is a
    population of its own."""
    place = task.folder.resolve().parents[3] / REGISTER  # page, projects, project, jobs, job
    place.parent.mkdir(mode=0o700, exist_ok=True)
    if not place.exists():
        with suppress(OutputError):  # another run has just begun it
            begin(place)
    return {"register": str(place), "population": same_data(task.files.get(task.name, {}))}


def same_data(about: Mapping[str, Any] | str) -> str:
    """A name for the file that data came from, which is the population of its releases."""
    if isinstance(about, str):  # as older versions kept it
        return about
    return str(about.get("log") or (about.get("sha256") or "")[:16] or about.get("path"))


def attack(task: Task) -> object:
    """What an adversary with known items can do with a release."""
    from setveil.pipeline.attack import job_from, run

    words = {**task.options, "original": task.data}
    return run(job_from(task.release, words), task.progress)


def approval(task: Task) -> object:
    """A dossier for who has to approve a release, and its twin."""
    from setveil.pipeline.approval import job_from, run, summary

    words = {**task.options, "original": task.data, "output": DOSSIER}
    return summary(run(job_from(task.release, words), task.progress))


def support(task: Task) -> object:
    """How many records contain some items, computed from a release alone."""
    from setveil.pipeline.support import SupportJob, run

    return run(SupportJob(release=task.release, **task.options), task.progress)


def reconstruct(task: Task) -> object:
    """Possible originals of a release, as files."""
    from setveil.pipeline.reconstruct import ReconstructJob, run

    done = run(
        ReconstructJob(release=task.release, output=Path(WORLDS), **task.options),
        task.progress,
    )
    _zip(Path(WORLDS), Path(f"{WORLDS}.zip"))
    return done


def compare(task: Task) -> object:
    """Several methods and parameters on the same data."""
    from setveil.pipeline.compare import job_from, run

    job, sources = job_from(task.data, {**task.options, "output": "compared"})
    return run(job, sources, task.progress)


TASKS: dict[str, Callable[[Task], object]] = {
    "preview": preview,
    "sample": sample,
    "querylog": querylog,
    "inspect": inspect,
    "tree": tree,
    "advise": advise,
    "anonymize": anonymize,
    "attack": attack,
    "approval": approval,
    "support": support,
    "reconstruct": reconstruct,
    "compare": compare,
}
"""What each verb of the page does."""


def perform(task: Task) -> object:
    """Do what a task says.

    Raises:
        FileFormatError: also if the data has changed meanwhile.
    """
    found = TASKS[task.words["verb"]](task)
    if task.words.get("data") in task.files:
        check_unchanged(task.name, task.files[task.name])
    return found


_HOLD_FILES = ("hierarchy", "tree")  # the words that may be the name of a file
_TREE = ("layout", "levels", "qualify", "unknown")


def _previews(task: Task, error: DataError) -> dict[str, Sequence[Sequence[str]]]:
    """The first records for each answer to what an error asks; none if the file is large."""
    from setveil.pipeline.inspect import first_records
    from setveil.web.pages.questions import answered

    place, found = Path(task.data), dict[str, Sequence[Sequence[str]]]()
    if not place.is_file() or place.stat().st_size > LARGE:
        return found
    given = parameters_in(error.remedy)
    if ("sheet", None) in given:
        given += [("sheet", name) for name in preview(task)["sheets"]]
    for name, value in given:
        answer = f"{name}={value}"
        with suppress(SetveilError):  # an answer may lead to the next question
            if value is not None:
                words = answered({"answer": answer}, task.options)
                found[answer] = first_records(task.data, words)[:PREVIEWED]
    return found


def _write_lists(task: Task) -> None:
    """The lists that the job file and the command name, so that they can be downloaded."""
    from setveil.web.ownfiles import PUBLIC_LIST, texts_of

    for name, text in texts_of(task.named).items():
        Path(name).write_text(text, encoding="utf-8")
    if PUBLIC_LIST in task.files:
        shutil.copyfile(task.file(PUBLIC_LIST), PUBLIC_LIST)


def _alignment(options: Mapping[str, Any]) -> str | None:
    """Where the alignment goes; nowhere if the form of the release has none."""
    from setveil.io.releases.folder import FORMS
    from setveil.pipeline.names import method_from

    return ALIGNMENT if FORMS[method_from(options).form].links is not None else None


def _zip(folder: Path, target: Path) -> None:
    """All files of a folder, without times and owners."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.iterdir()):
            about = zipfile.ZipInfo(f"{folder.name}/{path.name}")
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with path.open("rb") as file, packed.open(about, "w", force_zip64=True) as inside:
                shutil.copyfileobj(file, inside, 1 << 20)

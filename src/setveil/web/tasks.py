"""What the process of a job does for each verb: it calls the library, and turns reports into HTML.

A task runs in a folder of its own, where the files of the user have the names that they know. So
commands, job files, reports and errors show these names and no path of the page."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.errors import ParameterError
from setveil.pipeline import Progress
from setveil.report import Report
from setveil.report.markup import table
from setveil.web.wording import as_field, line_of, notes_of

RELEASE, ZIP, PAGE, JOB = "release", "release.zip", "private-report.html", "job.toml"
ALIGNMENT, TREE, WORLDS = "private-alignment.csv", "hierarchy.csv", "reconstructions"
BUILT, ITEMS = "built.hierarchy.csv", "items.json"
"""The tree that was checked or built, and the items of the data with their supports."""
SHOWN = 25
"""How many records are shown beside what was published for them."""
Result = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """What to do, and where."""

    folder: Path
    words: Mapping[str, Any]
    """`verb`, `data` (a name in the folder), `options` (words of the verb), `files` (names and the
    files behind them)."""
    progress: Progress
    shown: dict[str, str] = field(default_factory=dict)
    """What errors show in place of paths."""

    def __post_init__(self) -> None:
        for name, path in self.words.get("files", {}).items():
            _link(Path(path), self.folder / name)
        self.shown[f"{self.folder}{os.sep}"] = ""
        os.chdir(self.folder)

    @property
    def data(self) -> str:
        return str(self.words["data"])

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.words.get("options", {}))


def preview(task: Task) -> Result:
    """How the file begins."""
    from setveil.pipeline.names import reading_from
    from setveil.pipeline.preview import PreviewJob, run

    found = run(PreviewJob(data=task.data, reading=reading_from(task.options)))
    doubt = "" if found.doubt is None else line_of(found.doubt, task.shown)
    return {"values": {**found.to_dict(), "doubt": doubt or None}}


def sample(task: Task) -> Result:
    """Synthetic data to try things on."""
    from setveil.pipeline import generate

    kind, target = task.options["sample"], generate.Target(output=Path(task.data))
    task.progress(0, 0, "generating")
    if kind == "log":
        generate.querylog(target, topics="catalogue", users=600, seed=1, shape="topics")
    else:
        generate.shop(target, 2_000, 1, hierarchy=Path(TREE))
    return {"values": {"file": task.data}}


def querylog(task: Task) -> Result:
    """Bags of terms from a query log."""
    from setveil.pipeline.querylog import QuerylogJob, run
    from setveil.report.querylog import report_log

    output = Path(task.options.pop("output", "terms.csv"))
    words = {name: value for name, value in task.options.items() if name != "output"}
    done = run(QuerylogJob(log=task.data, output=output, **words), task.progress)
    return _shown(report_log(done))


def inspect(task: Task) -> Result:
    """What the data contains, and how exposed people are."""
    from setveil.pipeline.inspect import job_from, run
    from setveil.report.fragments import exposure_figure, exposure_table, report_fragment
    from setveil.report.inspection import account_facts, report_inspection

    found = run(job_from(task.data, task.options), task.progress)
    report = report_inspection(found, spell=as_field)
    facts = () if found.account is None else account_facts(found.account, as_field)
    kept = [
        section
        for section in report.sections
        if not section.title.startswith(("Read", "Exposure", "Share of people", "Note"))
    ]
    return {
        "values": dict(report.values),
        "read": [[fact.name, fact.value, fact.remark] for fact in facts],
        "notes": notes_of(found.notes),
        "bags": found.summary.counts is not None,
        "records": found.summary.records,
        "items": found.summary.items,
        "sentences": list(found.exposures[0].sentences),
        "chart": exposure_figure(found.exposures),
        "table": exposure_table(found.exposures),
        "more": report_fragment(Report(tuple(kept))),
    }


def tree(task: Task) -> Result:
    """The faults of a hierarchy file, or the tree that a recipe builds; and its upper levels."""
    from setveil.hierarchy.files import write_hierarchy
    from setveil.hierarchy.recipes import is_recipe
    from setveil.pipeline import hierarchy
    from setveil.pipeline.inputs import load
    from setveil.pipeline.names import reading_from
    from setveil.report.fragments import report_fragment
    from setveil.report.trees import report_faults, report_tree

    words = task.options
    given, how = words.pop("tree"), {n: words[n] for n in _TREE if words.get(n) is not None}
    job = hierarchy.HierarchyJob(tree=given, data=task.data, reading=reading_from(words), **how)
    task.progress(0, 0, "reading")
    checks = ""
    if not is_recipe(given):
        faults = report_faults(given, hierarchy.check(job))
        checks = report_fragment(faults, 3)
        if not faults.values["usable"]:
            return {"values": dict(faults.values), "usable": False, "checks": checks, "outline": ""}
    found = hierarchy.build(job) if is_recipe(given) else hierarchy.run(job)
    write_hierarchy(found, Path(BUILT))
    data = load(task.data, job.reading)
    supports = zip(data.vocabulary, data.supports().tolist(), strict=True)
    Path(ITEMS).write_text(json.dumps(dict(supports)), encoding="utf-8")
    shown = report_tree(found, 2)
    return {
        "values": dict(shown.values),
        "usable": True,
        "checks": checks,
        "outline": report_fragment(shown, 3),
    }


def advise(task: Task) -> Result:
    """Which promise, method and parameters suit the data and its use."""
    from setveil.pipeline.advise import job_from, run
    from setveil.report.advice import report_advice
    from setveil.report.fragments import report_fragment

    found = run(job_from(task.data, task.options), task.progress)
    best = found.best.way
    report = report_advice(found, task.data)
    kept = Report(tuple(s for s in report.sections if s.title not in ("Run", "Next")))
    return {
        **_shown(report),
        "report": report_fragment(kept, 3),
        "command": found.command,
        "method": best.method.name,
        "model": best.promise.model,
        "tree": found.built,
    }


def anonymize(task: Task) -> Result:
    """A release, the private page about it, the alignment, and the job as a file."""
    from setveil.pipeline.anonymize import job_from, run
    from setveil.pipeline.examples import examples
    from setveil.pipeline.inputs import load
    from setveil.pipeline.jobfile import job_text
    from setveil.report.fragments import report_fragment
    from setveil.report.outcome import report_outcome
    from setveil.report.release_page import release_parts

    places = {"output": RELEASE, "report": PAGE, "alignment": _alignment(task.options)}
    job = job_from(task.data, {**task.options, **places})
    outcome = run(job, task.progress)
    report = report_outcome(outcome, as_field)
    values = dict(report.values)
    if not outcome.verdict.holds:
        return {"values": values, "holds": False, "sections": report_fragment(report)}
    plain = job_from(task.data, {**task.options, "output": RELEASE})
    Path(JOB).write_text(job_text(plain), encoding="utf-8")
    _zip(Path(RELEASE), Path(ZIP))
    task.progress(0, 0, "drawing charts")
    data = load(job.data, job.reading).without_rare(job.min_people)
    shown = examples(outcome.release, data, SHOWN)
    use = outcome.usefulness
    return {
        "values": values,
        "holds": True,
        "form": outcome.release.form,
        "title": outcome.release.promise.title,
        "records": len(outcome.release),
        "shows_records": outcome.release.shows_records,
        "poor": bool(use and use.is_poor),
        "use": [] if use is None else use.sentences,
        "advice": notes_of(outcome.advice),
        "notes": notes_of([*outcome.notes, *outcome.remarks]),
        "losses": dict(outcome.losses),
        "parts": release_parts(outcome.dossier),
        "examples": [[", ".join(one.original), one.published] for one in shown],
        "sections": report_fragment(report),
        "seconds": sum(outcome.seconds.values()),
    }


def attack(task: Task) -> Result:
    """What an adversary with known items can do with a release."""
    from setveil.pipeline.attack import job_from, run
    from setveil.report.attack import report_attack
    from setveil.report.fragments import attack_figure

    words = {**task.options, "original": task.data}
    found = run(job_from(RELEASE, words), task.progress)
    return {**_shown(report_attack(found)), "chart": attack_figure(found), "holds": found.holds}


def support(task: Task) -> Result:
    """How many records contain some items, computed from a release alone."""
    from setveil.pipeline.support import SupportJob, run
    from setveil.report.supports import report_supports

    job = SupportJob(release=RELEASE, **task.options)
    return _shown(report_supports(run(job, task.progress)))


def reconstruct(task: Task) -> Result:
    """Possible originals of a release, as files."""
    from setveil.pipeline.reconstruct import ReconstructJob, run
    from setveil.report.supports import report_reconstructions

    done = run(ReconstructJob(release=RELEASE, output=Path(WORLDS), **task.options), task.progress)
    _zip(Path(WORLDS), Path(f"{WORLDS}.zip"))
    return _shown(report_reconstructions(done))


def compare(task: Task) -> Result:
    """Several methods and parameters on the same data."""
    from setveil.pipeline.compare import job_from, run
    from setveil.report.comparison_page import common_table
    from setveil.report.fragments import comparison_figures

    job, sources = job_from(task.data, {**task.options, "output": "compared"})
    found = run(job, sources, task.progress)
    task.progress(0, 0, "drawing charts")
    missing = [[str(row["reason"])] for row in found.rows if row not in found.measured]
    return {
        "values": found.to_dict(),
        "table": common_table(found),
        "chart": comparison_figures(found),
        "missing": table(["Not measured, because"], missing) if missing else "",
    }


TASKS: dict[str, Callable[[Task], Result]] = {
    "preview": preview,
    "sample": sample,
    "querylog": querylog,
    "inspect": inspect,
    "tree": tree,
    "advise": advise,
    "anonymize": anonymize,
    "attack": attack,
    "support": support,
    "reconstruct": reconstruct,
    "compare": compare,
}
"""What each verb of the page does."""

_TREE = ("layout", "levels", "qualify", "unknown")


def _shown(report: Report) -> Result:
    from setveil.report.fragments import report_fragment

    return {"values": dict(report.values), "report": report_fragment(report, 3)}


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


def _link(path: Path, name: Path) -> None:
    """Give a file of the user a name in the folder of the task."""
    if not path.exists():
        raise ParameterError("data", path.name, "the file is gone; load it again")
    try:
        name.symlink_to(path)
    except OSError:
        shutil.copytree(path, name) if path.is_dir() else shutil.copyfile(path, name)

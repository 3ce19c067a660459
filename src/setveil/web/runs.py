"""The runs of a project: what they are called, which one is handed over, which are out of date, and
what private ones have spent together.

A budget that was promised counts as spent, even if some of it was not needed. Data is the same if
its file is, however it was read, in whichever project of the page."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from setveil.pipeline.names import READING
from setveil.promises import PROMISES
from setveil.web.ownfiles import About
from setveil.web.project import Project, adds_noise
from setveil.web.store import Store, StoredJob
from setveil.web.tasks import RELEASE, booked, same_data
from setveil.web.wording import label_of, phrase_of
from setveil.words import plural

NUMBERS = ("k", "m", "p", "h", "l", "epsilon", "delta")
FLAGS = ("public_items", "qualify", "tune", "explain", "keep_unique", "bags", "onehot", "no_header")
SHORT = {
    "min_people": "rare items left out",
    "public_items": "items of the data are public",
    "keep_unique": "identifiers published",
    "drop_record": "records left out",
    "drop_column": "position left out",
    "qualify": "groups named with their parent",
    "unknown": "items outside the hierarchy",
    "tune": "tuned",
    "explain": "explained",
}
"""What fields are called in the names of runs, where their labels are commands or sentences."""
MOST_SHOWN = 6
"""How many parts of a sum are shown."""


def run_values(project: Project, jobs: Sequence[StoredJob]) -> list[dict[str, Any]]:
    """All runs of a project as JSON shows them, with names that say in what they differ: without
    some of them, another screen would call the same run by another name."""
    names = run_names(project, jobs)
    return [
        {
            "id": job.id,
            "name": names[job.id],
            "status": job.status,
            "error": job.error or None,
            "words": job.task["options"],
            "seconds": None if job.ended is None else round(job.ended - job.created, 3),
            "is_older": is_older(project, job),
            "is_final": project.state.get("final") == job.id,
        }
        for job in jobs
    ]


def run_names(project: Project, jobs: Sequence[StoredJob]) -> dict[str, str]:
    """What runs are called: as the user says, or what was promised, how, in what they differ from
    others with the same numbers, and when."""
    given = project.state.get("names", {})
    files = _file_names(jobs)
    words = {job.id: _words(job, files) for job in jobs}
    heads = {job.id: _head(job) for job in jobs}
    names, twins = dict[str, str](), Counter[str]()
    for job in sorted(jobs, key=lambda job: job.number):
        alike = [words[other] for other, head in heads.items() if head == heads[job.id]]
        varied = [
            name for one in alike for name in one if len({str(w.get(name)) for w in alike}) > 1
        ]
        said = [
            _said(name, words[job.id].get(name), [one.get(name) for one in alike])
            for name in dict.fromkeys(varied)
        ]
        at = time.strftime("%d %b %H:%M:%S", time.localtime(job.created))
        name = given.get(job.id) or ", ".join([heads[job.id], *said, at])
        twins[name] += 1
        names[job.id] = f"{name} ({twins[name]})" if twins[name] > 1 else name
    return names


def is_older(project: Project, job: StoredJob) -> bool:
    """Whether the file, or how it is read, has changed since the run."""
    data, words = project.data, job.task["options"]
    if data is None:
        return True
    then = {name: words[name] for name in (*READING, "input_format") if name in words}
    return then != project.reading or _file(job.task["files"].get(data[0], {})) != _file(data[1])


def _head(job: StoredJob) -> str:
    words = job.task["options"]
    shown = {name: words[name] for name in NUMBERS if name in words}
    shown |= {name: f"{one:g}" for name, one in shown.items() if isinstance(one, float)}
    numbers = ", ".join(f"{name} = {one}" for name, one in shown.items())
    how = words.get("method") or words["promise"]
    return f"{how} ({numbers})" if numbers else str(how)


def _words(job: StoredJob, files: Mapping[tuple[str, Any], str]) -> dict[str, Any]:
    """What a run was asked for besides its promise, method and numbers."""
    words = job.task["options"]
    shown = {name: words[name] for name in words if name not in (*NUMBERS, "promise", "method")}
    kind = PROMISES.get(str(words.get("promise")))
    shown = {"promise": kind.model if kind else None, "data": job.task["data"], **shown}
    for name in ("data", "hierarchy"):
        about = job.task["files"].get(shown.get(name))
        shown |= {} if about is None else {name: files[shown[name], _content(about)]}
    return shown


def _file_names(jobs: Sequence[StoredJob]) -> dict[tuple[str, Any], str]:
    """What each file of these runs is called, by its name and content: several files with the same
    name are numbered."""
    found: dict[str, dict[Any, None]] = {}
    for job in sorted(jobs, key=lambda job: job.number):
        for name, about in job.task["files"].items():
            found.setdefault(name, {})[_content(about)] = None
    return {
        (name, content): f"{name} (file {at})" if len(contents) > 1 else name
        for name, contents in found.items()
        for at, content in enumerate(contents, start=1)
    }


def _said(name: str, value: Any, values: Sequence[Any]) -> str:
    """A word in which runs differ, of which these are all its values."""
    label = SHORT.get(name) or label_of(name).lower()
    if isinstance(value, bool) or (value is None and name in FLAGS):
        return f"{label}: {'yes' if value else 'no'}"
    if value in (None, [], ""):
        return f"{label}: none"
    if isinstance(value, list):
        own = [str(one) for one in value if any(one not in (other or ()) for other in values)]
        more = f" and {len(own) - 2:,} more" if len(own) > 2 else ""
        listed = f"{', '.join(own[:2])}{more}"
        few = f"{len(value):,}{f', with {listed}' if own else ''}"
        return f"{label}: {listed if len(own) == len(value) else few}"
    words = f"below {value}" if name == "min_people" else phrase_of(name, value) or value
    return f"{label}: {words}"


def _content(about: About | str) -> Any:
    """What tells files with the same name apart."""
    return (isinstance(about, dict) and about.get("sha256")) or _file(about)


def _file(about: About | str) -> tuple[Any, ...]:
    if isinstance(about, str):  # as older versions kept it
        about = {"path": about}
    return tuple(about.get(name) for name in ("path", "size", "modified"))


class Cost(NamedTuple):
    """What one release has spent."""

    project: str
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Spending:
    """The private releases of a page, by their data."""

    costs: Mapping[str, Sequence[Cost]]

    @classmethod
    def of(cls, store: Store) -> Spending:
        """What the register of the page says, and runs from before there was one, which come
        first."""
        costs, entries = dict[str, list[Cost]](), booked(store.folder)
        known = {entry.release for entry in entries}
        for job in reversed(store.jobs(None, "anonymize")):
            is_new = str((job.folder / RELEASE).resolve()) not in known
            if is_new and (cost := _cost(job)) is not None:
                about = job.task["files"].get(job.task["data"], {})
                costs.setdefault(same_data(about), []).append(cost)
        for entry in filter(lambda entry: entry.is_noisy, entries):
            job_of = store.job(Path(entry.release).parent.name)
            project = "" if job_of is None else job_of.project
            costs.setdefault(entry.population, []).append(Cost(project, *entry.spent))
        return cls(costs)

    def total(self, project: Project) -> str:
        """The sum for the data of a project, in a few words; empty if nothing was spent."""
        own = self._own(project)
        return _sums(own, short=True) if own else ""

    def lines(self, project: Project) -> list[str]:
        """What was spent on the data of a project, and apart from that on its other files."""
        data, own = project.data, self._own(project)
        found = [_spent(own, project)] if own else []
        for same, costs in self.costs.items():
            others = [cost for cost in costs if cost.project == project.id]
            if others and (data is None or same != same_data(data[1])):
                counted = f"Another file of this project was used by {_releases(others)}"
                apart = "This is a sum of its own; if the files share people, the sums add up."
                found.append(f"{counted}: {_sums(others)}. {apart}")
        return found

    def _own(self, project: Project) -> Sequence[Cost]:
        data = project.data
        return () if data is None else self.costs.get(same_data(data[1]), ())


def _spent(costs: Sequence[Cost], project: Project) -> str:
    away = sum(cost.project != project.id for cost in costs)
    gone = any(not cost.project for cost in costs)
    others = "in other projects or deleted" if gone else "in other projects"
    where = f" ({away} of them {others})" if away else ""
    more = "more than one adds up" if len(costs) > 1 else "another one adds to it"
    return (
        f"This data was used by {_releases(costs)}{where}: {_sums(costs)}. Handing over {more}. "
        "A run that ended without a release counts if it may have drawn noise. Releases that were "
        "made elsewhere are not counted."
    )


def _releases(costs: Sequence[Cost]) -> str:
    return f"{plural(len(costs), 'release')} with differential privacy"


def _sums(costs: Sequence[Cost], *, short: bool = False) -> str:
    """Such as `epsilon 0.5 + 1 = 1.5, delta 1e-06 in all`."""
    epsilon = _sum("epsilon", [cost.epsilon for cost in costs], short)
    delta = _sum("delta", [cost.delta for cost in costs if cost.delta], short)
    return f"{epsilon}{delta and f', {delta}'}{' in all' if len(costs) > 1 else ''}"


def _sum(name: str, values: Sequence[Fraction], short: bool) -> str:
    if not values:
        return ""
    total = f"{float(sum(values)):g}"
    if short or not 1 < len(values) <= MOST_SHOWN:
        return f"{name} {total}"
    return f"{name} {' + '.join(f'{float(value):g}' for value in values)} = {total}"


def _cost(job: StoredJob) -> Cost | None:
    """What a private release promises, or what its ledger adds up to if that is more; None for
    other runs."""
    kind = PROMISES.get(str(job.task["options"].get("promise")))
    place = job.folder / RELEASE / "release.json"
    if job.status != "done" or kind is None or not adds_noise(kind) or not place.is_file():
        return None
    about = json.loads(place.read_text(encoding="utf-8"))
    spent = (
        max(sum(_all(about["ledger"], name), Fraction()), *_all([about["promise"]], name))
        for name in ("epsilon", "delta")
    )
    return Cost(job.project, *spent)


def _all(values: Sequence[Mapping[str, Any]], name: str) -> list[Fraction]:
    return [Fraction(str(one.get(name, 0))) for one in values]

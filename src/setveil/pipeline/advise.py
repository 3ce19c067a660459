"""Advise: which promise, method and parameters suit some data and its use, by trials."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from setveil.audit.exposure import Exposure, exposure
from setveil.data.people import People, holders, without_rare
from setveil.data.summary import rare_words
from setveil.data.transactions import Bags, Transactions
from setveil.engines.base import Progress
from setveil.errors import InfeasibleError, ParameterError
from setveil.hierarchy.layouts import TreeOptions
from setveil.hierarchy.tree import Hierarchy
from setveil.pipeline.commands import method_options, options, promise_options, reading_options
from setveil.pipeline.inputs import (
    check_named,
    fit,
    for_people,
    known_name,
    load_to_publish,
    notes_on,
    people_of,
    tree_maker,
    with_items,
)
from setveil.pipeline.names import (
    USUAL,
    Words,
    check_words,
    promise_from,
    promise_words,
    reading_from,
    words_of,
)
from setveil.pipeline.notes import left_out_note, names_note
from setveil.pipeline.stages import Stages
from setveil.pipeline.trials import (
    STILL_GOOD,
    Search,
    Trial,
    Use,
    Way,
    is_near,
    judge_of,
    rank,
    sample_of,
    use_named,
    ways_for,
)
from setveil.promises import PROMISES
from setveil.promises.promise import Promise

BUILT = "balanced:5"
"""The tree if a promise cannot be kept without one and none is given."""
MOST_TUNED = 3  # how many methods are tuned
_SEEN = 20_000  # records in which exposure is counted


@dataclass(frozen=True, kw_only=True)
class AdviseJob(TreeOptions):
    """What is known about the data, its use, and what is feared."""

    data: object = field(repr=False)
    keep: str = "counts"
    """What the release is needed for: a name of `USES`."""
    promise: Promise | None = None
    """What to promise; None if the data decides."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """Numbers for the promise."""
    items: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hierarchy: Hierarchy | Path | str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to do, and the trials that speak for it. Private: they measure against the original."""

    promise: Promise
    use: Use
    exposed: Exposure
    trials: tuple[Trial, ...]
    """The best first; each with its loss on a sample."""
    command: str
    """What to run."""
    records: int
    usual: tuple[str, ...] = ()
    """The numbers that were not given."""
    built: str = ""
    """The tree that was built because none was given."""
    min_people: int = 0
    """Items that fewer people (or records) have are to be left out: they may be names."""
    notes: tuple[str, ...] = ()
    """What the user should check."""

    @property
    def best(self) -> Trial:
        return self.trials[0]

    def to_dict(self) -> dict[str, object]:
        """The advice as one JSON object."""
        return {
            "promise": self.promise.to_dict(),
            "keep": self.use.name,
            "measure": self.use.measure,
            "command": self.command,
            "notes": list(self.notes),
            "method": self.best.way.method.to_dict(),
            "exposure": self.exposed.to_dict(),
            "trials": [
                {
                    "method": trial.way.method.to_dict(),
                    "records": trial.records,
                    "loss": trial.loss,
                    "reason": trial.reason,
                    "seconds": round(trial.seconds, 3),
                }
                for trial in self.trials
            ],
        }


def advise(data: object, *, progress: Progress | None = None, **words: Any) -> Advice:
    """Which promise, method and parameters suit the data and its use.

    Args:
        data: A path, or any object that `as_transactions` takes.
        progress: Is called with how far the work is.
        words: The options of `setveil advise`: `keep`, `fear`, the numbers of the promise,
            `hierarchy`, and how to read the data.

    Example:
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"]] * 5
        >>> advice = advise(baskets, keep="items", k=2)
        >>> advice.command
        'setveil anonymize DATA -o release --method disassociation -k 2 -m 2'
    """
    return run(job_from(data, words), progress)


def job_from(data: object, words: Words) -> AdviseJob:
    """The job that these words describe; None means not given."""
    own = {each.name for each in fields(AdviseJob)} - {"data", "words", "items", "reading"}
    check_words("advise", words, {*own, "fear", *promise_words()})
    given = {name: value for name, value in words.items() if value is not None and value != ()}
    use_named(given.get("keep", "counts"))
    fear = given.pop("fear", None)
    numbers = {name: given[name] for name in promise_words() if name in given}
    if fear is not None:
        if fear not in fears():
            raise ParameterError("fear", fear, f"choose one of {', '.join(fears())}")
        numbers["promise"] = fears()[fear].model
    elif given.get("promise"):
        numbers["promise"] = given["promise"]
    same = {name: given[name] for name in own - {"promise"} if name in given}
    made = _promise(numbers) if "promise" in numbers else None
    return AdviseJob(
        data=data,
        promise=None if made is None else made[0],
        items={} if made is None else made[1],
        words=numbers,
        reading=reading_from(words),
        **same,
    )


def fears() -> dict[str, type[Promise]]:
    """What may be feared, and the promise against it."""
    return {kind.fear: kind for kind in PROMISES.values() if kind.fear}


def run(job: AdviseJob, progress: Progress | None = None) -> Advice:
    """Read the data, and try what may suit it."""
    stages = Stages(progress)
    with stages("reading"):
        everything, account, _ = load_to_publish(job.data, job.reading)
    promise, items = (job.promise, job.items) if job.promise else _promise(_chosen(job, everything))
    assert promise is not None
    promise, left_out = for_people(promise, job.reading, account)
    promise.check_feasible(len(everything))
    data, few, notes = _without_names(everything, people_of(account), promise)
    ways, tree, built = _candidates(job, data, promise, items)
    use = use_named(job.keep)
    with stages("counting who is exposed"):
        exposed = _exposed(everything, people_of(account), max(promise.crowd, 2), job.seed)
    fitting, data, *_ = fit(tree, data, job)
    if items:
        promise = with_items(promise, items, data.vocabulary, fitting)
        check_named(promise, data.vocabulary)
        ways = [Way(method=w.method, promise=promise, options=w.options) for w in ways]
    with stages("trying", compiles=True):
        kept = {name for way in ways for name in way.method.by_meaning} if few and built else set()
        trials = _trials(job, ways, data, fitting, use, stages, kept)
    best = trials[0]
    if best.loss is None:
        raise InfeasibleError(f"no method gives a release of a sample: {best.reason}")
    return Advice(
        promise=promise,
        use=use,
        exposed=exposed,
        trials=tuple(trials),
        command=_command(job, best.way, built, few),
        records=len(data),
        usual=tuple(n for n in USUAL if hasattr(promise, n) and n not in job.words),
        built=built,
        min_people=few,
        notes=(*left_out, *notes_on(everything, account), *notes),
    )


def _exposed(data: Transactions, people: People | None, k: int, seed: int) -> Exposure:
    """How exposed a sample of the records is, or of the people if they are known."""
    if people is None:
        return exposure(sample_of(data, _SEEN, seed), k=k)
    some = sample_of(people.joined(data), _SEEN, seed)
    return exposure(some, k=k, people=People.of(range(len(some))))


def _trials(
    job: AdviseJob,
    ways: list[Way],
    data: Transactions,
    tree: Hierarchy | None,
    use: Use,
    stages: Stages,
    kept: Collection[str],
) -> list[Trial]:
    """All methods first, then the parameters of those that are nearly the best: a method that is
    second with its defaults may be first with others. Last, the best on more records. Parameters
    in `kept` stay as they are."""

    def said(way: Way) -> None:
        if stages.progress:
            stages.progress(0, 0, f"trying: {way.method.name}")

    search = Search(
        data=data,
        tree=tree,
        judge=judge_of(use, job.seed),
        seed=job.seed,
        threads=job.threads,
        said=said,
    )
    found = search.rounds(ways)
    if found[0].loss is None:
        return found
    near = [trial for trial in found if is_near(trial, found[0], STILL_GOOD)][:MOST_TUNED]
    tuned = [each for trial in near for each in search.tune(trial.way, kept)]
    others = [trial for trial in found if trial not in near]
    return search.final(sorted([*tuned, *others], key=rank), ways)


def _without_names(
    data: Transactions, people: People | None, promise: Promise
) -> tuple[Transactions, int, tuple[str, ...]]:
    """The data without what few people have, how few, and notes, if most items may be names."""
    counts = holders(data, people)
    asked = promise if people is None else promise.of_people
    words, few = rare_words(data, counts), max(asked.crowd, 2)
    if not words:
        return data, 0, ()
    names = names_note(words, int((counts > 0).sum()), len(data), few, people)
    kept = without_rare(data, few, people)
    if not kept.occurrences or not promise.crowd:
        return data, 0, names
    return kept, few, (*names, *left_out_note(data, kept, few, people))


def _candidates(
    job: AdviseJob, data: Transactions, promise: Promise, items: Mapping[str, Sequence[str]]
) -> tuple[list[Way], Hierarchy | None, str]:
    """The ways to try, the tree, and its recipe if it was built because none was given."""
    ways = ways_for(promise, has_tree=job.hierarchy is not None)
    if ways:
        return ways, tree_maker(job.hierarchy, job)(data), ""
    built = tree_maker(BUILT, TreeOptions())(data)
    return ways_for(promise, has_tree=True), built, BUILT


def _chosen(job: AdviseJob, data: Transactions) -> dict[str, Any]:
    """The words of the promise if nothing is said to be feared: counts if the data has them."""
    known = fears()
    given = set(job.words) - {"promise"}
    named = [name for name, kind in known.items() if given <= words_of(kind).keys()]
    usual = "counts" if isinstance(data, Bags) and "m" not in job.words else "some"
    fear = usual if usual in named or not named else named[0]
    return {**job.words, "promise": known[fear].model}


def _promise(words: Mapping[str, Any]) -> tuple[Promise, Mapping[str, Sequence[str]]]:
    """The promise of these words; numbers that are not given are the usual ones."""
    kind = PROMISES.get(str(words.get("promise")))
    own = {} if kind is None else words_of(kind)
    usual = {name: value for name, value in USUAL.items() if name in own}
    asked = promise_from({**usual, **words})
    assert asked is not None
    return asked.promise, asked.items


def _command(job: AdviseJob, way: Way, built: str, few: int) -> str:
    has_name = isinstance(job.data, str | Path) and str(job.data) != "-"
    data = known_name(job.data) if has_name else "DATA"
    words = ["setveil", "anonymize", data, "-o", "release", *method_options(way.method.to_dict())]
    words += promise_options(way.promise, job.items)
    if way.method.needs_hierarchy:
        words += options({"hierarchy": built or job.hierarchy})
    words += options({"min_people": few or None})
    return shlex.join([*words, *reading_options(job.reading)])

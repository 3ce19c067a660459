"""What to try if a release is of little use, with what it gave on a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from setveil.data.transactions import Transactions
from setveil.errors import Note
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS
from setveil.metrics.usefulness import Usefulness
from setveil.pipeline.job import Job
from setveil.pipeline.names import keeps
from setveil.pipeline.trials import Way, sample_of, try_way
from setveil.promises.promise import Promise
from setveil.words import rough_share

SAMPLE = 2_000
"""How many records a trial uses."""
SAMPLE_OF_BAGS = 1_000
"""The same if bags are compared with each other, which takes longer."""
Answer = TypeVar("Answer")


def advise_on(job: Job, data: Transactions, tree: Hierarchy | None) -> tuple[str, ...]:
    """What else to try, each with how useful it was for a sample of the records.

    The sample is drawn at random; the settings of the job are tried on it too, for comparison. A
    way whose kernels are not compiled yet is only named: compiling takes longer than most runs.
    """
    if job.method.draws_noise:
        return ()  # a sample says little: noise weighs more there
    sample = sample_of(data, SAMPLE_OF_BAGS if job.promise.covers_counts else SAMPLE, job.seed or 0)
    own = Way(method=job.method, promise=job.promise, options=job.method.name)
    trial = partial(try_way, sample=sample, tree=tree, threads=1)  # others would compile unseen
    now, better, waiting = trial(own).useful, list[tuple[str, Usefulness]](), list[str]()
    for way in _ways(job):
        found = _if_compiled(partial(trial, way))
        waiting += [way.options] * (not found)
        uses = (each.useful for each in found if each.useful is not None)
        better += [(way.options, use) for use in uses if not now or use.score > now.score]
    better.sort(key=lambda each: -each[1].score)
    size = len(sample)
    lines = [Note(f"{way}: {_result(use)} in a trial with {size:,} records") for way, use in better]
    if lines and now is not None:
        lines.append(Note(f"the settings of this run: {_result(now)} in the same trial"))
    lines += [Note(f"{way}: not tried, as its first run takes longer") for way in waiting]
    # for a terminal, because it is no `Note`
    remedy = "`setveil warmup` compiles everything once, and the next run tries what is not tried"
    return (*lines, *[remedy] * bool(waiting))


def _if_compiled(work: Callable[[], Answer]) -> list[Answer]:
    """What `work` returns, or nothing if a kernel that it runs in this thread is not compiled."""
    from setveil.kernels.jit import NotCompiledError, compiled_only

    try:
        with compiled_only():
            return [work()]
    except NotCompiledError:
        return []


def _ways(job: Job) -> Iterator[Way]:
    """The methods that are meant for the same promise, then those for weaker promises."""
    for promise in (job.promise, *job.promise.weaker):
        for name, kind in METHODS.items():
            has_tree = job.hierarchy is not None or not kind.needs_hierarchy
            is_same = promise is job.promise and name == job.method.name
            meant_for = kind.promises if promise.covers_counts else kind.chosen_for
            fits = type(promise) in meant_for and keeps(kind, promise)
            if fits and has_tree and not is_same:
                options = f"{_options(promise, job)} {{method={name}}}"
                options += "" if promise is job.promise else " (a weaker promise)"
                yield Way(method=kind(), promise=promise, options=options)
    if job.promise.covers_counts:
        yield from _looser(job)


def _looser(job: Job) -> Iterator[Way]:
    """The same method with a smaller crowd, and if terms have a largest distance, a larger one."""
    people = job.promise.of_people
    epsilon, k = getattr(job.method, "term_epsilon", None), people.crowd
    if epsilon is not None:
        further = 2 * max(epsilon, 1)
        changed: Any = {"term_epsilon": further}
        if getattr(job.method, "omega", further + 1) <= further:  # it must stay above epsilon
            changed["omega"] = 2 * further
        options = " ".join(f"{{{name}={value}}}" for name, value in changed.items())
        text = f"{options} (items of less similar meaning may represent each other)"
        yield Way(method=replace(job.method, **changed), promise=job.promise, options=text)
    if k > 2:
        fewer: Any = {"k": max(k // 2, 2)}
        text = f"{{k={fewer['k']}}} (a weaker promise)"
        promise = replace(people, **fewer).for_people(job.promise.records_per_person)
        yield Way(method=job.method, promise=promise, options=text)


def _options(promise: Promise, job: Job) -> str:
    numbers = ((name, getattr(promise.of_people, name, None)) for name in ("k", "m"))
    said = [f"{{{name}={value}}}" for name, value in numbers if value is not None]
    is_named = promise.covers_counts or promise.model != job.promise.model
    return " ".join([*said, *[f"{{promise={promise.model}}}"] * is_named])


def _result(found: Usefulness) -> str:
    (items, tried), (pairs, tried_pairs) = found.top_items, found.top_pairs
    lost, silent = rough_share(found.unpublished), rough_share(found.silent)
    remarks = [
        f", {lost} of the occurrences lost" * (found.unpublished > 0.005),
        f", {silent} of the records say nothing" * (found.silent > 0.005),
        f", an item becomes a group of {found.group:,.0f}" * (found.group >= 1.5),
    ]
    both = f" and {pairs} of {tried_pairs} pairs" * (tried_pairs > 0)
    counted = f"{items} of {tried} frequent items{both} are estimated well"
    return f"{counted}{''.join(remarks)}"

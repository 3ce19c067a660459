"""What to try if a release is of little use, with what it gave on a sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from setveil.data.transactions import Transactions
from setveil.errors import Note
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS
from setveil.metrics.usefulness import Usefulness
from setveil.pipeline.job import Job
from setveil.pipeline.trials import Way, sample_of, try_way
from setveil.promises.promise import Promise

SAMPLE = 2_000
"""How many records a trial uses."""
SAMPLE_OF_BAGS = 1_000
"""The same if bags are compared with each other, which takes longer."""


def advise_on(job: Job, data: Transactions, tree: Hierarchy | None) -> tuple[str, ...]:
    """What else to try, each with how useful it was for a sample of the records.

    The sample is drawn at random; the other settings are tried on it too, for comparison.
    """
    sample = sample_of(data, SAMPLE_OF_BAGS if job.promise.covers_counts else SAMPLE, job.seed or 0)
    own = Way(method=job.method, promise=job.promise, options=job.method.name)
    now, *others = (try_way(way, sample, tree, threads=job.threads) for way in (own, *_ways(job)))
    better = [
        (trial.way.options, trial.useful)
        for trial in others
        if trial.useful and (not now.useful or trial.useful.score > now.useful.score)
    ]
    better.sort(key=lambda each: -each[1].score)
    size = len(sample)
    lines = [
        Note(f"{way}: {_result(found)} in a trial with {size:,} records") for way, found in better
    ]
    if lines and now.useful is not None:
        lines.append(Note(f"the settings of this run: {_result(now.useful)} in the same trial"))
    return tuple(lines)


def _ways(job: Job) -> Iterator[Way]:
    """The methods that are meant for the same promise, then those for weaker promises."""
    for promise in (job.promise, *job.promise.weaker):
        for name, kind in METHODS.items():
            has_tree = job.hierarchy is not None or not kind.needs_hierarchy
            is_same = promise is job.promise and name == job.method.name
            meant_for = kind.promises if promise.covers_counts else kind.chosen_for
            if type(promise) in meant_for and has_tree and not is_same:
                options = f"{_options(promise)} {{method={name}}}"
                yield Way(method=kind(), promise=promise, options=options)
    if job.promise.covers_counts:
        yield from _looser(job)


def _looser(job: Job) -> Iterator[Way]:
    """The same method with a smaller crowd, and if it has an epsilon, a larger one."""
    epsilon, k = getattr(job.method, "epsilon", None), job.promise.crowd
    if epsilon is not None:
        further = 2 * max(epsilon, 1)
        changed: Any = {"epsilon": further}
        if getattr(job.method, "omega", further + 1) <= further:  # it must stay above epsilon
            changed["omega"] = 2 * further
        options = " ".join(f"{{{name}={value}}}" for name, value in changed.items())
        text = f"{options} (items of less similar meaning may represent each other)"
        yield Way(method=replace(job.method, **changed), promise=job.promise, options=text)
    if k > 2:
        fewer: Any = {"k": max(k // 2, 2)}
        promise = replace(job.promise, **fewer)
        text = f"{{k={promise.crowd}}} (a weaker promise)"
        yield Way(method=job.method, promise=promise, options=text)


def _options(promise: Promise) -> str:
    numbers = ((name, getattr(promise, name, None)) for name in ("k", "m"))
    said = [f"{{{name}={value}}}" for name, value in numbers if value is not None]
    return " ".join([*said, *[f"{{promise={promise.model}}}"] * promise.covers_counts])


def _result(found: Usefulness) -> str:
    (items, tried), (pairs, tried_pairs) = found.top_items, found.top_pairs
    lost = f", {found.unpublished:.0%} of the occurrences lost" if found.unpublished > 0.005 else ""
    group = f", an item becomes a group of {found.group:,.0f}" if found.group >= 1.5 else ""
    silent = f", {found.silent:.0%} of the records say nothing" if found.silent > 0.005 else ""
    counted = f"{items} of {tried} frequent items and {pairs} of {tried_pairs} pairs counted"
    return f"{counted}{lost}{silent}{group}"

"""What to try if a release is of little use, with what it gave on a sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.errors import Note, SetveilError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS, Method
from setveil.metrics.usefulness import Usefulness, usefulness
from setveil.pipeline.job import Job
from setveil.promises.promise import Promise
from setveil.published import Release

SAMPLE = 2_000
"""How many records a trial uses."""
SAMPLE_OF_BAGS = 1_000
"""The same if bags are compared with each other, which takes longer."""

Way = tuple[str, Method[Release], Promise]
"""The parameters, in braces, and the method and promise that they mean."""


def advise(job: Job, data: Transactions, tree: Hierarchy | None) -> tuple[str, ...]:
    """What else to try, each with how useful it was for a sample of the records.

    The sample is drawn at random; the other settings are tried on it too, for comparison.
    """
    if job.method.draws_noise:
        return ()  # a sample says little: noise weighs more there
    most = SAMPLE_OF_BAGS if job.promise.covers_counts else SAMPLE
    size = min(most, len(data))
    chosen = np.random.default_rng(job.seed or 0).choice(len(data), size, replace=False)
    sample = data.take(np.sort(chosen))
    now = _tried(job, sample, tree, (job.method.name, job.method, job.promise))
    tried = [(way[0], _tried(job, sample, tree, way)) for way in _ways(job)]
    better = [
        (way, found) for way, found in tried if found and (not now or found.score > now.score)
    ]
    better.sort(key=lambda each: -each[1].score)
    lines = [
        Note(f"{way}: {_result(found)} in a trial with {size:,} records") for way, found in better
    ]
    if lines and now is not None:
        lines.append(Note(f"the settings of this run: {_result(now)} in the same trial"))
    return tuple(lines)


def _ways(job: Job) -> Iterator[Way]:
    """The methods that are meant for the same promise, then those for weaker promises."""
    for promise in (job.promise, *job.promise.weaker):
        for name, kind in METHODS.items():
            has_tree = job.hierarchy is not None or not kind.needs_hierarchy
            is_same = promise is job.promise and name == job.method.name
            meant_for = kind.promises if promise.covers_counts else kind.chosen_for
            if type(promise) in meant_for and has_tree and not is_same:
                yield f"{_options(promise)} {{method={name}}}", kind(), promise
    if job.promise.covers_counts:
        yield from _looser(job)


def _looser(job: Job) -> Iterator[Way]:
    """The same method with a smaller crowd, and if terms have a largest distance, a larger one."""
    epsilon, k = getattr(job.method, "term_epsilon", None), job.promise.crowd
    if epsilon is not None:
        further = 2 * max(epsilon, 1)
        changed: Any = {"term_epsilon": further}
        if getattr(job.method, "omega", further + 1) <= further:  # it must stay above epsilon
            changed["omega"] = 2 * further
        options = " ".join(f"{{{name}={value}}}" for name, value in changed.items())
        text = f"{options} (items of less similar meaning may represent each other)"
        yield text, replace(job.method, **changed), job.promise
    if k > 2:
        fewer: Any = {"k": max(k // 2, 2)}
        promise = replace(job.promise, **fewer)
        yield f"{{k={promise.crowd}}} (a weaker promise)", job.method, promise


def _options(promise: Promise) -> str:
    numbers = ((name, getattr(promise, name, None)) for name in ("k", "m"))
    said = [f"{{{name}={value}}}" for name, value in numbers if value is not None]
    return " ".join([*said, *[f"{{promise={promise.model}}}"] * promise.covers_counts])


def _tried(job: Job, sample: Transactions, tree: Hierarchy | None, way: Way) -> Usefulness | None:
    """How useful a release of the sample is; None if there is none."""
    _, method, promise = way
    try:
        release = method.anonymize(sample, promise, tree, engine=Local(job.threads))
    except SetveilError:
        return None
    return usefulness(release, sample)


def _result(found: Usefulness) -> str:
    (items, tried), (pairs, tried_pairs) = found.top_items, found.top_pairs
    lost = f", {found.unpublished:.0%} of the occurrences lost" if found.unpublished > 0.005 else ""
    group = f", an item becomes a group of {found.group:,.0f}" if found.group >= 1.5 else ""
    silent = f", {found.silent:.0%} of the records say nothing" if found.silent > 0.005 else ""
    counted = f"{items} of {tried} frequent items and {pairs} of {tried_pairs} pairs counted"
    return f"{counted}{lost}{silent}{group}"

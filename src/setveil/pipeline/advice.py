"""What to try if a release is of little use, with what it gave on a sample."""

from __future__ import annotations

from collections.abc import Iterator

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

Way = tuple[str, Method[Release], Promise]
"""The parameters, in braces, and the method and promise that they mean."""


def advise(job: Job, data: Transactions, tree: Hierarchy | None) -> tuple[str, ...]:
    """What else to try, each with how useful it was for a sample of the records.

    The sample is drawn at random; the other settings are tried on it too, for comparison.
    """
    size = min(SAMPLE, len(data))
    chosen = np.random.default_rng(job.seed or 0).choice(len(data), size, replace=False)
    sample = data.take(np.sort(chosen))
    now = _tried(job, sample, tree, (job.method.name, job.method, job.promise))
    lines = []
    for way in _ways(job):
        found = _tried(job, sample, tree, way)
        if found is not None and (now is None or _score(found) > _score(now)):
            lines.append(Note(f"{way[0]}: {_result(found)} in a trial with {size:,} records"))
    if lines and now is not None:
        lines.append(Note(f"the settings of this run: {_result(now)} in the same trial"))
    return tuple(lines)


def _ways(job: Job) -> Iterator[Way]:
    """The methods that are meant for the same promise, then those for weaker promises."""
    for promise in (job.promise, *job.promise.weaker):
        for name, kind in METHODS.items():
            has_tree = job.hierarchy is not None or not kind.needs_hierarchy
            is_same = promise is job.promise and name == job.method.name
            if type(promise) in kind.chosen_for and has_tree and not is_same:
                yield f"{_options(promise)} {{method={name}}}", kind(), promise


def _options(promise: Promise) -> str:
    numbers = ((name, getattr(promise, name, None)) for name in ("k", "m"))
    return " ".join(f"{{{name}={value}}}" for name, value in numbers if value is not None)


def _tried(job: Job, sample: Transactions, tree: Hierarchy | None, way: Way) -> Usefulness | None:
    """How useful a release of the sample is; None if there is none."""
    _, method, promise = way
    try:
        release = method.anonymize(sample, promise, tree, engine=Local(job.threads))
    except SetveilError:
        return None
    return usefulness(release, sample)


def _score(found: Usefulness) -> float:
    return found.top_items[0] + found.top_pairs[0] - 40 * found.silent


def _result(found: Usefulness) -> str:
    (items, tried), (pairs, tried_pairs) = found.top_items, found.top_pairs
    silent = f", {found.silent:.0%} of the records say nothing" if found.silent >= 0.005 else ""
    return f"{items} of {tried} frequent items and {pairs} of {tried_pairs} pairs counted{silent}"

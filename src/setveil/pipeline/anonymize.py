"""Anonymize: read, anonymize, write, read back, verify and measure; and leave nothing if one
fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setveil.audit import verify
from setveil.audit.verdict import Check, Verdict
from setveil.data.transactions import Transactions
from setveil.engines.base import Progress
from setveil.engines.local import Local
from setveil.errors import OutputError, ParameterError, SetveilError
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.alignment import write_alignment
from setveil.io.releases.folder import fill_release, read_release, staged_release
from setveil.metrics import measure
from setveil.metrics.usefulness import usefulness
from setveil.pipeline.advice import advise
from setveil.pipeline.inputs import check_named, load, tree_maker, with_items
from setveil.pipeline.job import Job, Outcome, check_job
from setveil.pipeline.names import (
    Words,
    check_words,
    chosen_method,
    method_from,
    method_words,
    promise_from,
    promise_words,
    reading_from,
)
from setveil.pipeline.stages import Stages
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.words import plural, rough_share


def anonymize(
    data: object,
    *,
    progress: Progress | None = None,
    save_job: Path | str | None = None,
    **words: Any,
) -> Outcome:
    """Anonymize, verify and measure, with the words of the command line.

    Args:
        data: A path (`-` is standard input), or any object that `as_transactions` takes.
        progress: Is called with how far the work is.
        save_job: Where to write the job as a file that `Job.read` reads, after the release.
        words: The options of `setveil anonymize`: what is promised (`k`, `m`, `promise` ...), the
            `method` and its parameters, `hierarchy`, `output` ... Without `output` nothing is
            written.

    Example:
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"]]
        >>> done = anonymize(baskets, k=2, hierarchy="balanced:2")
        >>> done.verdict.holds, round(done.losses["ncp"], 2), done.release
        (True, 0.71, Generalized(4 records in 2 classes, KAnonymity(k=2)))
    """
    from setveil.pipeline.jobfile import saver

    job = job_from(data, words)
    save = None if save_job is None else saver(job, save_job, force=job.force)
    outcome = run(job, progress)
    if save is not None and outcome.verdict.holds:
        save()
    return outcome


def job_words() -> list[str]:
    """The words that are fields of a job; the others describe its promise, method and reading."""
    made = {"data", "promise", "method", "reading", "items", "reason"}
    return [each.name for each in fields(Job) if each.name not in made]


def job_from(data: object, words: Words) -> Job:
    """The job that these words describe; None means not given."""
    own = job_words()
    known = {*own, *promise_words(), *method_words(), "promise", "method"}
    check_words("anonymize", words, known)
    method = method_from(words)
    asked = promise_from(words, method.promises)
    if asked is None:
        allowed = "say how many records each person is hidden among, such as {k=10}"
        raise ParameterError("k", None, allowed)
    same = {name: words[name] for name in own if words.get(name) is not None}
    return Job(
        data=data,
        promise=asked.promise,
        items=asked.items,
        method=method,
        reason="" if words.get("method") else chosen_method(words)[1],
        reading=reading_from(words),
        **same,
    )


def run(job: Job, progress: Progress | None = None) -> Outcome:
    """Anonymize, write, read back what was written, verify and measure it.

    The release appears under its name only after it was verified. A release that does not verify,
    an error or an interruption leaves nothing behind. What can be refused early (places that exist,
    numbers, faults of the tree) is refused before the work starts.

    Args:
        job: What to do.
        progress: Is called with the stage and how far it is; a total of 0 means unknown.

    Example:
        >>> from setveil import Disassociation, KmAnonymity
        >>> baskets = [["wine", "beer"], ["wine"], ["beer"]]
        >>> outcome = run(Job(data=baskets, promise=KmAnonymity(k=2, m=2), method=Disassociation()))
        >>> outcome.verdict.holds, outcome.release
        (True, Disassociated(3 records in 1 clusters, KmAnonymity(k=2, m=2)))
    """
    check_job(job)
    make_tree, stages = tree_maker(job.hierarchy, job.layout), Stages(progress)
    with suppress(_Rejected), _folder(job) as folder:
        outcome = _work(_loaded(job, make_tree, stages), folder, stages)
        if not outcome.verdict.holds:
            raise _Rejected
    return outcome


class _Rejected(Exception):
    """Removes the temporary folder without an error for the caller."""


class _Loaded(NamedTuple):
    """A job with its data and tree; its promise has the items that the user named."""

    job: Job
    data: Transactions
    tree: Hierarchy | None
    notes: tuple[str, ...]


def _folder(job: Job) -> AbstractContextManager[Path | None]:
    """The temporary folder that becomes the release, if one is asked for."""
    return nullcontext() if job.output is None else staged_release(job.output, force=job.force)


def _loaded(job: Job, make_tree: MakeHierarchy, stages: Stages) -> _Loaded:
    with stages("reading"):
        everything = load(job.data, job.reading)
        data = everything.without_rare(job.min_people)
    with stages("building the hierarchy"):
        tree = make_tree(data)
        job = replace(job, promise=with_items(job.promise, job.items, data.vocabulary, tree))
        job.method.check(len(data), job.promise, tree)
        if tree is not None:
            tree.leaf_numbers(data.vocabulary)
    notes = check_named(job.promise, data.vocabulary) if len(data) else ()
    left_out = _left_out_note(everything, data, job.min_people)
    return _Loaded(job, data, tree, (*left_out, *notes, *job.promise.doubts))


def _work(loaded: _Loaded, folder: Path | None, stages: Stages) -> Outcome:
    """Every step but the last, in which the temporary folder of the release gets its name."""
    job, data, tree, notes = loaded
    with stages("anonymizing", compiles=True):
        how: dict[str, Any] = {"engine": Local(job.threads), "progress": stages.progress}
        release = job.method.anonymize(data, job.promise, tree, **how)
        release = release.leaving_out(job.min_people)
    written = None if folder is None else _written(job, release, folder, stages)
    with stages("verifying"):
        verdict = _verdict(loaded, release, written)
    found = _after(loaded, release, stages) if verdict.holds else {"losses": {}, "notes": notes}
    return Outcome(
        records=len(data),
        items=len(data.vocabulary),
        occurrences=data.occurrences,
        release=release,
        reason=job.reason,
        verdict=verdict,
        seconds=stages.seconds,
        pruned=_is_pruned(written),
        **found,
    )


def _written(job: Job, release: Release, folder: Path, stages: Stages) -> Release:
    """The release as it is read back after it was written."""
    with stages("writing"), _naming(job.output):
        fill_release(
            release,
            folder,
            format=job.format,
            seed=job.seed,
            public_items=job.public_items,
            verified=True,
        )
    with stages("reading back"):
        return read_release(folder)


@contextmanager
def _naming(place: Path | str | None) -> Iterator[None]:
    """Say where it was if the system refuses to write (a full disk, a limit)."""
    try:
        yield
    except SetveilError:
        raise
    except OSError as error:
        raise OutputError(str(place), error.strerror or str(error)) from error


def _verdict(loaded: _Loaded, release: Release, written: Release | None) -> Verdict:
    """The promise on what is on disk, the original on the release in memory, and that both
    agree."""
    promise = loaded.job.promise
    verdict = verify(release, loaded.data, promise=promise, hierarchy=loaded.tree)
    if written is None:
        return verdict
    same = written.same_as(release)
    text = f"what was written and read back is {'' if same else 'NOT '}what was anonymized"
    on_disk = verify(written, promise=promise)
    done = {check.name for check in on_disk.checks}
    rest = tuple(check for check in verdict.checks if check.name not in done)
    return Verdict(promise, (*on_disk.checks, *rest, Check("written", same, text)))


def _after(loaded: _Loaded, release: Release, stages: Stages) -> dict[str, Any]:
    """What is done after a release has verified: measure, explain, and write the alignment."""
    job, data, tree, notes = loaded
    found: dict[str, Any] = {"suppressed": release.suppressed_items(data)}
    with stages("measuring", compiles=True):
        found["losses"] = measure(release, data, seed=job.seed or 0, hierarchy=tree)
        found["usefulness"] = usefulness(release, data)
    if found["usefulness"].is_poor:
        with stages("looking for something better", compiles=True):
            found["advice"] = advise(job, data, tree)
    if job.explain:
        with stages("explaining"):
            engine = Local(job.threads)
            found["explanation"] = job.method.explain(data, job.promise, engine=engine)
    if job.alignment is not None:
        with stages("writing the alignment"):
            write_alignment(release, data, job.alignment, force=job.force, folder=job.output)
        found["alignment"] = Path(job.alignment)
    more = (*_empty_note(release, data), *_sensitive_note(job.promise, data))
    found["notes"] = (*notes, *_rare_note(release, data), *more)
    return found | {"output": None if job.output is None else Path(job.output)}


def _left_out_note(before: Transactions, data: Transactions, people: int) -> tuple[str, ...]:
    """A note on the items that fewer than `people` people have, if some were left out."""
    items = len(before.vocabulary) - len(data.vocabulary)
    if not items:
        return ()
    lost = rough_share(1 - data.occurrences / before.occurrences)
    text = f"{plural(items, 'item')} that fewer than {people:,} people have"
    return (f"{text} were left out, {lost} of all occurrences; losses do not count them.",)


def _rare_note(release: Release, data: Transactions) -> tuple[str, ...]:
    """A note if the release shows items that hardly anybody has: they may be names."""
    k = max(part.crowd for part in release.promise.parts)
    rare = [label for label, n in zip(data.vocabulary, data.supports(), strict=True) if 0 < n < k]
    shown = len(release.shown.intersection(rare))
    if not shown:
        return ()
    text = f"{plural(shown, 'item')} that fewer than {k:,} people have "
    text += "is published as it is" if shown == 1 else "are published as they are"
    return (f"{text}. If items may be names or free text, leave such items out: --min-people {k}.",)


def _empty_note(release: Release, data: Transactions) -> tuple[str, ...]:
    """A note if people who have items are published with an empty record."""
    lost = release.empty - int((data.lengths == 0).sum())
    if lost <= 0:
        return ()
    people = "1 person is" if lost == 1 else f"{lost:,} people are"
    return (f"{people} published with an empty record: none of their items could be kept.",)


def _sensitive_note(promise: Promise, data: Transactions) -> tuple[str, ...]:
    """A note if some people have nothing but sensitive items, which no group can hide."""
    named = promise.named_items.get("sensitive", frozenset())
    public = np.array([label not in named for label in data.vocabulary], dtype=bool)
    shown = np.bincount(data.rows[public[data.items]], minlength=len(data))
    only = int(((shown == 0) & (data.lengths > 0)).sum()) if named else 0
    if not only:
        return ()
    have = "1 person has" if only == 1 else f"{only:,} people have"
    whoever = "whoever knows that they have none of the other items of their group"
    return (f"{have} only sensitive items: {whoever} knows that they have a sensitive one.",)


def _is_pruned(release: Release | None) -> bool:
    tree = None if release is None else release.tree
    return tree is not None and tree.origin.pruned

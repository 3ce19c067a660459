"""Anonymize: read, anonymize, write, read back, verify and measure; and leave nothing if one
fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from setveil.data.transactions import Transactions
from setveil.disk import private_folder, sync
from setveil.engines.base import Progress
from setveil.engines.local import Local
from setveil.errors import ParameterError
from setveil.hierarchy.recipes import MakeHierarchy, remarks
from setveil.io.releases.alignment import write_alignment
from setveil.io.releases.folder import staged_release
from setveil.methods.dividing import Divisible
from setveil.methods.method import Explaining
from setveil.pipeline.alternatives import advise_on
from setveil.pipeline.commands import command_of
from setveil.pipeline.dossier import dossier_of, private_part
from setveil.pipeline.inputs import tree_maker
from setveil.pipeline.job import Job, Outcome, Placed, check_job, is_frame
from setveil.pipeline.loading import Loaded, divided, load
from setveil.pipeline.names import (
    Words,
    check_words,
    chosen_method,
    method_from,
    method_words,
    promise_from,
    promise_words,
    reading_from,
    renewed,
)
from setveil.pipeline.registering.booking import Booked, booking
from setveil.pipeline.registering.together import revealed
from setveil.pipeline.report import check_page, written_dossier
from setveil.pipeline.share import Made, anonymized
from setveil.pipeline.stages import Stages
from setveil.pipeline.trials import Search, Way, judge_of, tuning_notes, use_named
from setveil.pipeline.warmup import first_run
from setveil.pipeline.whole import merged, outcome_of, publish_shares, spec_of
from setveil.threads import thread_limit


def anonymize(
    data: object,
    *,
    progress: Progress | None = None,
    save_job: Path | str | None = None,
    **words: Any,
) -> Outcome:
    """Anonymize, verify and measure, with the words of the command line.

    Args:
        data: A path (`-` is standard input), any object that `as_transactions` takes, or a Spark
            DataFrame, which is anonymized on its cluster; the `frame` of the release is one, too.
        progress: Is called with how far the work is.
        save_job: Where to write the job as a file that `Job.read` reads; it appears with the
            release.
        words: The options of `setveil anonymize`: what is promised (`k`, `m`, `promise` ...), the
            `method` and its parameters, `hierarchy`, `output` ... Without `output` nothing is
            written.

    Example:
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"]]
        >>> done = anonymize(baskets, k=2, hierarchy="balanced:2")
        >>> done.verdict.holds, round(done.losses["ncp"], 2), done.release
        (True, 0.71, Generalized(4 records in 2 classes, KAnonymity(k=2)))
    """
    from setveil.pipeline.apply import anonymize_after
    from setveil.pipeline.jobfile import saved

    if words.get("after") is not None:
        return anonymize_after(data, words | {"save_job": save_job}, progress)
    words.pop("after", None)
    job = job_from(data, words)
    if save_job is None:
        return run(job, progress)
    with suppress(Rejected), saved(job, save_job, force=job.force):
        outcome = run(job, progress)
        if not outcome.verdict.holds:
            raise Rejected
    return outcome


def job_words() -> list[str]:
    """The words that are fields of a job; the others describe its promise, method and reading."""
    made = {"data", "promise", "method", "reading", "items", "reason"}
    return [each.name for each in fields(Job) if each.name not in made]


def job_from(data: object, words: Words) -> Job:
    """The job that these words describe; None means not given."""
    own, words = job_words(), renewed(words)
    known = {*own, *promise_words(), *method_words(), "promise", "method"}
    check_words("anonymize", words, known)
    method = method_from(words)
    asked = promise_from(words, method.promises)
    if asked is None:
        allowed = "say how many records each person is hidden among, such as {k=10}"
        raise ParameterError("k", None, allowed)
    same = {name: words[name] for name in own if words.get(name) is not None}
    if is_frame(data):
        same.setdefault("engine", "spark")
    return Job(
        data=data,
        promise=asked.promise,
        items=asked.items,
        method=method,
        reason="" if words.get("method") else chosen_method(words)[1],
        reading=reading_from(words),
        **same,
    )


def run(job: Job, progress: Progress | None = None, *, with_dossier: bool = False) -> Outcome:
    """Anonymize, write, read back what was written, verify and measure it.

    The release appears under its name only after it was verified. A release that does not verify,
    an error or an interruption leaves nothing behind. What can be refused early (places that exist,
    numbers, faults of the tree) is refused before the work starts.

    Args:
        job: What to do.
        progress: Is called with the stage and how far it is; a total of 0 means unknown.
        with_dossier: Whether the outcome has a dossier even if no page is written.

    Example:
        >>> from setveil import Disassociation, KmAnonymity
        >>> baskets = [["wine", "beer"], ["wine"], ["beer"]]
        >>> outcome = run(Job(data=baskets, promise=KmAnonymity(k=2, m=2), method=Disassociation()))
        >>> outcome.verdict.holds, outcome.release
        (True, Disassociated(3 records in 1 clusters, KmAnonymity(k=2, m=2)))
    """
    make_tree, stages = _checked(job), Stages(progress)
    limits = thread_limit(job.threads), first_run(job.method)
    book, stack = booking(job, reads_names=job.engine != "spark"), ExitStack()
    with limits[0], limits[1], book as booked, stack, staged(job) as stage:
        loaded = load(job, make_tree, stack, stages, booked.reads)
        said = booked.enter(loaded.job.promise, job.method.name, loaded.account)
        loaded = _tuned(loaded, stages)
        shares = divided(loaded, stages)
        spec = spec_of(loaded, stages)
        pieces = publish_shares(loaded, spec, shares, stage.folder, stages)
        found = merged(loaded, spec, pieces, stage.folder, stages)
        stage.holds = found.verdict.holds
        outcome = outcome_of(loaded, found, stages)
        outcome = replace(outcome, notes=(*outcome.notes, *said))
        if stage.holds:
            outcome = _explained(loaded, outcome, stages)
            outcome = _together(loaded, outcome, booked.booked, stages)
            if with_dossier or job.report is not None:
                outcome = _reported(job, loaded, outcome, stage, stages)
            outcome = aligned(job, loaded.data, outcome, stages)
        booked.is_made = stage.holds
    return outcome


def make(job: Job, stages: Stages) -> Made:
    """A release as `run` makes it, and what it was made from; it is neither verified nor
    written."""
    with ExitStack() as stack:
        loaded = _tuned(load(job, _checked(job), stack, stages), stages)
        return anonymized(spec_of(loaded, stages))


def _checked(job: Job) -> MakeHierarchy:
    """How to make the tree, after all was refused that can be refused before the work."""
    check_job(job)
    check_page(job.report, None if job.output is None else Path(job.output), force=job.force)
    return tree_maker(job.hierarchy, job, public_items=job.public_items)


def _tuned(loaded: Loaded, stages: Stages) -> Loaded:
    """The job with the parameters that lose least, and a note on them, if that is asked for.

    A parameter that is not the default was given, and stays as it is."""
    job, data = loaded.job, loaded.data
    if job.tune is None:
        return loaded
    use, method = use_named(job.tune), job.method
    usual = type(method)()
    settled = {n for n in method.tunes if getattr(method, n) != getattr(usual, n)}
    with stages("tuning", compiles=True):
        way = Way(method=method, promise=job.promise)
        search = Search(
            data=data,
            tree=loaded.tree,
            judge=judge_of(use),
            seed=job.seed or 0,
            threads=job.threads,
        )
        trials = search.final(search.tune(way, settled), [way])
    notes = (*tuning_notes(trials, method, use), *loaded.notes)
    return loaded._replace(job=replace(job, method=trials[0].way.method), notes=notes)


def _explained(loaded: Loaded, outcome: Outcome, stages: Stages) -> Outcome:
    """The outcome with what to try if it is of little use, and why so much is lost."""
    job, data, tree = loaded.job, loaded.held, loaded.tree
    if data is None:
        return outcome
    found = dict[str, Any]()
    if tree is not None and job.method.uses_hierarchy:
        found["remarks"] = remarks(tree)
    if outcome.usefulness is not None and outcome.usefulness.is_poor:
        with stages("looking for something better", compiles=True):
            found["advice"] = advise_on(job, data, tree)
    if job.explain:
        with stages("explaining"):
            engine = Local(job.threads)
            assert isinstance(job.method, Explaining)
            found["explanation"] = job.method.explain(data, job.promise, engine=engine)
    return replace(outcome, **found)


def _together(loaded: Loaded, outcome: Outcome, booked: Booked | None, stages: Stages) -> Outcome:
    """The outcome with what it reveals together with earlier releases of the same people."""
    if booked is None or not booked.earlier or loaded.held is None:
        return outcome
    with stages("comparing with earlier releases"):
        said = revealed(outcome.release, loaded.held, booked)
    return replace(outcome, notes=(*outcome.notes, *said))


def _reported(job: Job, loaded: Loaded, outcome: Outcome, stage: Stage, stages: Stages) -> Outcome:
    """The outcome with its dossier, after the page was written if one is asked for; it appears with
    the release."""
    data, place = loaded.data, job.report
    with stages("writing the report"):
        release = outcome.release
        found = dossier_of(
            release,
            outcome.verdict,
            folder=stage.folder,
            command=command_of(release, job),
            countable=outcome.countable,
        )
        part = private_part(
            release,
            data,
            losses=outcome.losses,
            usefulness=outcome.usefulness,
            source=job.data,
            seed=job.seed or 0,
            notes=outcome.notes,
            suppressed=len(outcome.suppressed),
        )
        name = "" if outcome.output is None else outcome.output.name
        found = replace(found, private=part, name=name)
        if place is not None:
            stage.beside.enter_context(written_dossier(found, Path(place), force=job.force))
    return replace(outcome, report=Path(place) if place else None, dossier=found)


class Rejected(Exception):
    """Removes what was written for a release that does not hold, without an error."""


@dataclass
class Stage:
    """Where a release is while it has no name yet."""

    folder: Path | None
    """The temporary folder that becomes the release, if one is asked for."""
    beside: ExitStack
    """Of files that appear just before the release does."""
    holds: bool = False
    """Whether it may have its name."""


@contextmanager
def staged(job: Placed) -> Iterator[Stage]:
    """A stage for a release. After the block the release has its name if it holds; else, and after
    an error, nothing is left."""
    with suppress(Rejected), _folder(job) as folder, ExitStack() as beside:
        stage = Stage(folder, beside)
        yield stage
        if not stage.holds:
            raise Rejected
        if folder is not None:
            sync(folder)


def _folder(job: Placed) -> AbstractContextManager[Path | None]:
    """The temporary folder that becomes the release, if one is asked for; a DataFrame is made of
    the files of shares, which nobody keeps."""
    if job.output is not None:
        return staged_release(job.output, force=job.force)
    if isinstance(job, Job) and is_frame(job.data) and isinstance(job.method, Divisible):
        return private_folder()
    return nullcontext()


def aligned(job: Placed, data: Transactions, outcome: Outcome, stages: Stages) -> Outcome:
    """Write the alignment, if it is asked for."""
    if job.alignment is None:
        return outcome
    with stages("writing the alignment"):
        kept = None if outcome.account is None else outcome.account.kept
        how: dict[str, Any] = {"force": job.force, "folder": job.output, "kept": kept}
        write_alignment(outcome.release, data, job.alignment, **how)
    return replace(outcome, alignment=Path(job.alignment))

"""Verify: does a release, or any data, keep a promise, and does it come from its original?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from setveil.alignment.merging import Counted, recounted
from setveil.audit.people import check_consistent, check_people
from setveil.audit.series import check_after
from setveil.audit.verdict import Check, Verdict, Witness
from setveil.audit.verify import check_columns, check_promise
from setveil.audit.verify import verify as check
from setveil.data.account import Account
from setveil.data.tables.columns import COUNT_NAMES, plain_name
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.engines.base import Progress
from setveil.errors import MisfitError, Note, ParameterError, ReleaseError, brief
from setveil.hierarchy.tree import Hierarchy
from setveil.io.namelists import UNDER
from setveil.io.releases.disassociated import read_bare
from setveil.io.releases.folder import ABOUT, other_files, read_rows, stated_countable
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.inputs import check_items, check_named, fit, tree_maker, with_items
from setveil.pipeline.names import Words, fields_from, promise_from, promise_words
from setveil.pipeline.originals import OfRelease, Original, most_of, paired, whole_original
from setveil.pipeline.stages import Stages
from setveil.pipeline.verify_parts import (
    check_parts_job,
    count_file,
    countable_check,
    verify_in_parts,
)
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.published.countable import Countable


@dataclass(frozen=True, kw_only=True)
class VerifyJob(OfRelease):
    """What to verify, also a data file or data, and against what.

    The tree is that which typical bags were compared with, or that of `under:NODE`; `reading` is
    for the data file if there is no original."""

    promise: Promise | None = None
    """What to check; by default what the release itself promises."""
    items: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """More items for the promise, by parameter; see `Job.items`."""
    limit: int = 1
    """How many witnesses each check gives at most."""
    engine: str = "local"
    """Where to verify: `local` (in memory), or `blocks` or `spark`: a release part by part, a data
    file by its distinct records."""
    master: str | None = None
    """For the engine `spark`: the cluster."""
    after: object = field(default=None, repr=False)
    """The release before it, or its folder: also check the rule and what both differ in."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The verdict, and what the user should check."""

    verdict: Verdict
    release: Release | None = None
    """What was verified, if it is a release with a promise of its own."""
    countable: Countable | None = None
    """What can be counted from it, and how exactly."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The verification as one JSON object; private if an original was given."""
        said: dict[str, object] = {}
        if self.release is not None:
            said["not_promised"] = self.release.limits()
        if self.countable is not None:
            said["countable"] = self.countable.to_dict()
        return {**self.verdict.to_dict(), **said, "notes": list(self.notes)}


def verify(release: object, original: object = None, **words: Any) -> Verdict:
    """Whether a release or plain data keeps a promise, with a witness if it does not.

    Written independently of every method: it counts again from the published records.

    Args:
        release: A release, a release folder, a data file, or data that `as_transactions` takes.
        original: The data that a release was made from, as a path or an object; then it is also
            checked that the release comes from it.
        words: The options of `setveil verify`: what to check (`promise`, or `k`, `m` ...; by
            default what the release promises), `alignment`, `hierarchy` ...; and `limit`, how many
            witnesses each check gives at most.

    Example:
        >>> verdict = verify([["beer", "wine"], ["wine", "beer"], ["milk"]], k=2)
        >>> verdict.holds, verdict.witness.items, verdict.witness.count
        (False, ('milk',), 1)
    """
    return run(job_from(release, {**words, "original": original})).verdict


def job_from(release: object, words: Words) -> VerifyJob:
    """The job that these words describe; None means not given."""
    made = ("release", "promise", "items")
    given = fields_from("verify", VerifyJob, words, made, [*promise_words(), "promise"])
    asked = promise_from(words)
    if asked is not None:
        given |= {"promise": asked.promise, "items": asked.items}
    return VerifyJob(release=release, **given)


def run(job: VerifyJob, progress: Progress | None = None) -> Verification:
    """Read what is to be verified, and check it."""
    stages = Stages(progress)
    check_parts_job(job)
    if job.promise is not None:
        check_items(job.items, job.promise)
    if job.engine != "local":
        if job.after is not None:
            raise ParameterError("after", str(job.after), "it needs {engine=local}")
        return _elsewhere(job, stages)
    with stages("reading"):
        published, account = _published(job)
        few = published.min_people if isinstance(published, Release) else 0
        original, people = None, None
        if job.original is not None:
            found = whole_original(job.original, job.reading, published)
            kept = found.without_rare(few) if most_of(published) is None else found
            original, people = kept.data, kept.people
        tree = _tree(job, published, original)
        if original is not None and job.unknown != "refuse":
            tree, original, *_ = fit(tree, original, job)
    job = _for_people(job, published, account)
    job, notes = _with_named(job, published, original, tree)
    with stages("verifying"):
        given = None if original is None else Original(original, people)
        verdict = _with_columns(job, _verdict(job, published, given, tree), account)
        if isinstance(job.release, str | Path) and not isinstance(published, Release):
            verdict = _with_private_witnesses(verdict)
        if job.after is not None:
            verdict = _with_after(job, published, verdict)
        whole = recounted(published) if isinstance(published, Release) else None
        verdict, countable = _with_countable(job, whole, verdict)
    return Verification(
        verdict=verdict,
        release=whole if job.promise is None else None,
        countable=countable,
        notes=(*notes, *_notes(job, published)),
    )


def _with_after(job: VerifyJob, published: object, verdict: Verdict) -> Verdict:
    """The verdict, also on what a release and the one before it differ in."""
    if not isinstance(published, Release):
        raise ParameterError("after", str(job.after), "only a release can follow another one")
    before = read_rows(job.after) if isinstance(job.after, str | Path) else job.after
    if not isinstance(before, Release):
        raise ParameterError("after", type(before).__name__, "it must be a release or its folder")
    checks = check_after(published, before, job.limit)
    return replace(verdict, checks=(*verdict.checks, *checks))


def _elsewhere(job: VerifyJob, stages: Stages) -> Verification:
    """Verify on an engine that does not hold all records in memory."""
    if job.promise is None and Path(str(job.release)).is_file():
        raise _without_promise(job)
    if job.promise is None or (Path(str(job.release)) / ABOUT).exists():
        verdict, first, countable = verify_in_parts(job, stages)
        notes = _notes(job, first)
        return Verification(verdict=verdict, release=first, countable=countable, notes=notes)
    found = count_file(job, stages)
    job = _for_people(job, None, found.read.account)
    job, notes = _with_named(job, found.data, None, None)
    assert job.promise is not None
    with stages("verifying"):
        counted = Counted(found.data, found.sizes, np.arange(len(found.sizes)))
        checks = (check_promise(counted, job.promise, job.limit),)
    verdict = _with_columns(job, Verdict(job.promise, checks), found.read.account)
    notes = (*notes, *job.promise.doubts)
    return Verification(verdict=_with_private_witnesses(verdict), notes=notes)


def _with_named(
    job: VerifyJob, published: object, original: object, tree: Hierarchy | None
) -> tuple[VerifyJob, tuple[str, ...]]:
    """The job with the items that the user named, and what is odd about them."""
    if job.promise is None or not job.items:
        return job, ()
    data: Any = published if original is None else original
    vocabulary = data.items if isinstance(data, Release) else as_transactions(data).vocabulary
    promise = with_items(_as_published(job, published), job.items, vocabulary, tree)
    notes = check_named(promise, vocabulary) if any(job.items.values()) else ()
    return replace(job, promise=promise), notes


def _with_private_witnesses(verdict: Verdict) -> Verdict:
    """The verdict on a plain file, which may be original data: what it shows of people is
    private."""
    checks = (
        replace(each, witnesses=tuple(replace(one, private=True) for one in each.witnesses))
        for each in verdict.checks
    )
    return replace(verdict, checks=tuple(checks))


def _published(job: VerifyJob) -> tuple[object, Account | None]:
    if not isinstance(job.release, str | Path):
        return job.release, None
    if _is_folder(job.release):
        release = read_rows(job.release)
        _check_method(job.release, release.method)
        return release, None
    if job.promise is None:
        raise _without_promise(job)
    return read_bare(job.release, job.promise, **({} if job.original else job.reading))


def _without_promise(job: VerifyJob) -> ParameterError:
    problem = f"{job.release} is a data file without a promise: say what to check, such as {{k=10}}"
    return ParameterError("k", None, problem)


def _with_columns(job: VerifyJob, verdict: Verdict, account: Account | None) -> Verdict:
    """The verdict on a data file, also on its columns; counts that the user ignores are fine."""
    if account is None:
        return verdict
    if job.reading.get("bags") is False:
        kept = (name for name in account.ignored if plain_name(name) not in COUNT_NAMES)
        account = replace(account, ignored=tuple(kept))
    check = check_columns(account)
    return verdict if check is None else replace(verdict, checks=(*verdict.checks, check))


def _check_method(place: Path | str, method: Mapping[str, Any]) -> None:
    """Refuse a method or a parameter that we do not have: it could say anything."""
    if not method:
        return
    name = str(method.get("name"))
    if name not in METHODS:
        raise ReleaseError(place, f"this version does not know its method {name!r}")
    known = parameters(METHODS[name])
    for key, value in method.items():
        if any(value == each or type(value) is each for each in METHODS[name].former.get(key, ())):
            continue
        words = (*known[key].choices, "given") if key in known else ()
        if key != "name" and (key not in known or (isinstance(value, str) and value not in words)):
            said = f"{key} = {value!r}"[:80]
            raise ReleaseError(place, f"its method {name} cannot have {said}")


def _is_folder(release: object) -> bool:
    """Whether this names a release folder; what does not exist counts as one."""
    if not isinstance(release, str | Path):
        return False
    return Path(release).is_dir() or not (Path(release).exists() or str(release) == "-")


def _tree(job: VerifyJob, published: Any, original: Transactions | None) -> Hierarchy | None:
    """The tree that was given, if the check can use it."""
    make = tree_maker(job.hierarchy, job)
    if job.hierarchy is None:
        return None
    if any(word.startswith(UNDER) for words in job.items.values() for word in words):
        return make(getattr(published, "classes", published) if original is None else original)
    compares = getattr(published, "compares_by_tree", False) and original is not None
    compares = compares or not isinstance(published, Release)
    if not compares and not isinstance(job.hierarchy, Hierarchy):
        allowed = (
            "it is only used to compare typical bags with their {original}, for data files whose "
            "items are its nodes, and for items that are named by under:NODE"
        )
        raise ParameterError("hierarchy", job.hierarchy, allowed)
    return make(as_transactions([]) if original is None else original)


def _notes(job: VerifyJob, published: object) -> tuple[str, ...]:
    """What was not checked, and what an answer may not mean."""
    notes: list[str] = []
    others = other_files(str(job.release)) if _is_folder(job.release) else []
    if others and not getattr(published, "stands_alone", False):
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        notes.append(
            f"The folder also contains {', '.join(others[:3])}{more}, not part of the release and "
            "not checked. Remove it before you hand over the folder."
        )
    counted = isinstance(published, Bags) and isinstance(job.release, str | Path)
    ignored = job.promise is None or not job.promise.covers_counts
    if counted and ignored and not job.reading.keys() & {"bags", "count"}:
        text = "Repeats of an item in a record were counted, because a reader of the file sees them"
        notes.append(Note(f"{text}; {{bags=False}} ignores repeats."))
    return (*notes, *(() if job.promise is None else job.promise.doubts))


def _alone(job: VerifyJob, published: object) -> tuple[Check, ...]:
    """Whether nothing else is in the folder of a release whose promise covers the whole folder."""
    if not (isinstance(published, Release) and published.stands_alone and _is_folder(job.release)):
        return ()
    others = other_files(str(job.release))
    if not others:
        return (Check("folder", True, "nothing but the release is in its folder"),)
    named = ", ".join(map(brief, others[:3])) + (f" and {len(others) - 3} more" * (len(others) > 3))
    text = f"the folder also contains {named}, which the ledger does not cover: remove it"
    return (Check("folder", False, text),)


def _with_countable(
    job: VerifyJob, published: Release | None, verdict: Verdict
) -> tuple[Verdict, Countable | None]:
    """The verdict, also on what the folder of a release says can be counted (older ones do not),
    and what can be; not of a release that does not keep its promise."""
    if published is None or not (_is_folder(job.release) and verdict.keeps_promise):
        return verdict, None
    found, stated = Countable.of(published), stated_countable(str(job.release))
    checks = () if stated is None else (countable_check(stated, found),)
    return replace(verdict, checks=(*verdict.checks, *checks)), found


def _as_published(job: VerifyJob, published: object) -> Promise:
    """The promise with the items that the release names, where the user named none."""
    assert job.promise is not None
    promise, own = job.promise, published.promise if isinstance(published, Release) else job.promise
    for name, words in job.items.items():
        if not words and name in promise.named_items and name in own.named_items:
            promise = promise.with_items(name, own.named_items[name])
    return promise


def _for_people(job: VerifyJob, published: object, account: Account | None) -> VerifyJob:
    """The job with what records must keep, if people have several of them."""
    most = most_of(published) if account is None else max(account.holdings, default=1)
    if job.promise is None or most is None or (account is not None and most == 1):
        return job
    return replace(job, promise=job.promise.for_people(most))


def _verdict(
    job: VerifyJob, published: object, given: Original | None, tree: Hierarchy | None
) -> Verdict:
    how: dict[str, Any] = {"promise": job.promise, "limit": job.limit}
    original = None if given is None else given.data
    if job.alignment is None:
        if given is not None and isinstance(published, Release) and most_of(published) is not None:
            return _consistent(published, given, check(published, **how))
        verdict = check(published, original, hierarchy=tree, **how)
        return Verdict(verdict.promise, (*verdict.checks, *_alone(job, published)))
    if given is None or not isinstance(published, Release):
        allowed = (
            "it links each original to its published record: give a release and its {original}"
        )
        raise ParameterError("alignment", str(job.alignment), allowed)
    try:
        aligned, of = paired(published, given, job.alignment)
    except MisfitError as misfit:
        witness = Witness(misfit.problem, misfit.published or ())
        text = "the file does not belong to this release"
        fault = Check("alignment", False, text, (witness,), private=True)
        verdict = check(published, **how)
        return Verdict(verdict.promise, (*verdict.checks, fault))
    if most_of(published) is None or of.people is None:
        return check(aligned, original, hierarchy=tree, **how)
    verdict = check(aligned, of.without_rare(published.min_people).data, hierarchy=tree, **how)
    whose = check_people(aligned, of.people.owners, verdict.promise, job.limit)
    return Verdict(verdict.promise, (*verdict.checks, whose))


def _consistent(published: Release, original: Original, verdict: Verdict) -> Verdict:
    """The verdict on a release alone, and whether it may come from some records of each person."""
    data, people = original.data, original.people
    assert people is not None
    items = ((label, data.rows[data.items == at]) for at, label in enumerate(data.vocabulary))
    found = check_consistent(recounted(published), people.owners, items, verdict.promise)
    return Verdict(verdict.promise, (*verdict.checks, found))

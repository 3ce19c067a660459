"""The one place where the stages meet: a job, and the run that reads, anonymizes, writes, verifies and measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from setveil.audit import verify
from setveil.audit.verdict import Check, Verdict, Witness
from setveil.data.exchange import as_transactions
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.local import Local, Progress
from setveil.errors import MisfitError, OutputError, ParameterError, SetveilError, UnknownItemError
from setveil.hierarchy.build import balanced, prefix
from setveil.hierarchy.csvfile import Layout, read_hierarchy
from setveil.hierarchy.hierarchy import Hierarchy
from setveil.hierarchy.wordnet import Unknown, WordNet
from setveil.io import read
from setveil.io.alignment import NO_RECORDS, with_alignment, write_alignment
from setveil.io.forms import Choices
from setveil.io.output import check_place
from setveil.io.privateitems import PrivateItems
from setveil.io.releases import FORMS, fill_release, read_release, staged_release
from setveil.methods.compiling import announce_compiling
from setveil.methods.method import Method
from setveil.methods.suppression import Explanation, Suppression, explain
from setveil.metrics import measure
from setveil.promises import Coherence, KmAnonymity, LDiversity
from setveil.promises.promise import Promise
from setveil.published import Published
from setveil.published.disassociated import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.recoding import suppressed_items
from setveil.published.suppressed import Suppressed
from setveil.published.vocabularies import Vocabularies

RECIPES = (
    "it is a file, or balanced[:FANOUT[:numeric|alphabetical|frequency]], or prefix[:LENGTH,LENGTH,...], or wordnet[+unknown][:FOLDER]"
)

__all__ = [
    "RECIPES",
    "Job",
    "Outcome",
    "Progress",
    "check_release",
    "check_sensitive",
    "hierarchy_maker",
    "is_recipe",
    "load",
    "run",
    "with_private",
]

_ANY_TREE = Hierarchy.from_parents(["*"], [-1])
"""Stands for the tree of a file or recipe as long as it is not made."""

MakeHierarchy = Callable[[Transactions], Hierarchy | None]


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that one run needs to know.

    Example:
        >>> from setveil import KAnonymity, Partition
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"]]
        >>> outcome = run(Job(data=baskets, promise=KAnonymity(k=2), method=Partition(), hierarchy="balanced:2"))
        >>> outcome.verdict.holds, outcome.records
        (True, 4)
    """

    data: object = field(repr=False)
    """A path (`-` is standard input), transactions or bags, or any object that `as_transactions` takes."""
    promise: Promise
    method: Method
    hierarchy: Hierarchy | Path | str | None = None
    """A tree, the path of its file, or a recipe: `balanced:5`, `balanced:5:alphabetical`, `prefix`, `prefix:1,3,4`, `wordnet`,
    `wordnet:FOLDER`, `wordnet+unknown`. A method that does not generalize leaves it aside; then it serves the losses that need one."""
    layout: Layout | None = None
    """The layout of a hierarchy file: `paths`, `pairs` or `levels`; told from the content when not given."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options of `setveil.read` (for a path) or of `as_transactions` (for an object)."""
    output: Path | str | None = None
    """The release folder; nothing is written when it is not given."""
    format: str | None = None
    """The format of the data in the release folder; what there is depends on the published form."""
    alignment: Path | str | None = None
    """Where to write, privately, the published record of each original record, of forms that have one."""
    private: Sequence[str] = ()
    """Private items besides those that the promise names: files, patterns, or `under:NODE` of the hierarchy (coherence)."""
    explain: bool = False
    """Also tell, privately, why so much is lost (methods that suppress items for coherence)."""
    seed: int | None = None
    """Fixes what is random: the order of the published records and the queries of the measures."""
    force: bool = False
    """Replace a release or an alignment file that is there already."""
    public_items: bool = False
    """The list of items is public knowledge: publish a tree that was built over it whole."""
    threads: int | None = None
    """How many threads the method may use; by default all that this process may."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run has done. Private, except for the release itself."""

    records: int
    items: int
    occurrences: int
    release: Published
    verdict: Verdict
    losses: Mapping[str, Any]
    """What was lost, by the name of the metric; empty when the release does not hold."""
    seconds: Mapping[str, float]
    """The time that each stage took."""
    output: Path | None = None
    """The release folder; None when nothing was written."""
    alignment: Path | None = None
    pruned: bool = False
    """Whether the tree was built over the data's own items, so that only what the records show of it was written."""
    notes: tuple[str, ...] = ()
    """What the user should look at once more."""
    explanation: Explanation | None = None
    """Why so much was lost, where it was asked for."""
    suppressed: tuple[str, ...] = ()
    """The items that the method took out everywhere."""

    def to_dict(self) -> dict[str, object]:
        """The outcome as one JSON object; private, for it tells what was lost."""
        return {
            "data": {"records": self.records, "items": self.items, "occurrences": self.occurrences},
            "release": None if self.output is None else str(self.output),
            "alignment": None if self.alignment is None else str(self.alignment),
            "method": dict(self.release.method),
            "verdict": self.verdict.to_dict(),
            "losses": dict(self.losses),
            "suppressed": list(self.suppressed),
            "seconds": {stage: round(time, 4) for stage, time in self.seconds.items()},
            "notes": list(self.notes),
            **({} if self.explanation is None else {"explanation": self.explanation.to_dict()}),
        }


def run(job: Job, progress: Progress | None = None) -> Outcome:
    """Anonymize, write, read back what was written, verify and measure it.

    The release appears under its name only after it was verified; a release that does not verify, an error or an interruption leaves
    nothing behind. What can be refused (places that are taken, numbers, faults of the tree) is refused before the work starts.

    Args:
        job: What to do.
        progress: Is told the stage and how far it is; a total of 0 means that nobody knows.

    Example:
        >>> from setveil.methods import Disassociation
        >>> job = Job(data=[["wine", "beer"], ["wine"], ["beer"]], promise=KmAnonymity(k=2, m=2), method=Disassociation())
        >>> outcome = run(job)
        >>> outcome.verdict.holds, outcome.release
        (True, Disassociated(3 records in 1 clusters, KmAnonymity(k=2, m=2)))
    """
    clock = _Clock(progress)
    _check_job(job)
    with suppress(_Rejected), _stage(job) as stage:
        outcome = _work(job, stage, clock)
        if not outcome.verdict.holds:
            raise _Rejected
    return outcome


def _work(job: Job, stage: Path | None, clock: _Clock) -> Outcome:
    """Every step but the last, in which the temporary folder of the release takes its name."""
    make_hierarchy = hierarchy_maker(job.hierarchy, job.layout)
    with clock.stage("reading"):
        data = load(job.data, job.reading)
    with clock.stage("building the hierarchy"):
        tree = make_hierarchy(data)
        job = replace(job, promise=with_private(job.promise, job.private, data.vocabulary, tree))
        job.method.check(len(data), job.promise, tree)
        if tree is not None:
            tree.leaf_numbers(data.vocabulary)
    notes = check_sensitive(job.promise, data.vocabulary) if len(data) else ()
    with clock.stage("anonymizing"), announce_compiling(clock.progress, "anonymizing"):
        release = job.method.anonymize(data, job.promise, tree, engine=Local(job.threads), progress=clock.progress)
    written = None if stage is None else _write(job, release, stage, clock)
    with clock.stage("verifying"):
        verdict = _verdict(job.promise, release, written, data, tree)
    losses: Mapping[str, Any] = {}
    if verdict.holds:
        with clock.stage("measuring"), announce_compiling(clock.progress, "measuring"):
            treeless = isinstance(release, Disassociated | Vocabularies)
            losses = measure(release, data, seed=job.seed or 0, hierarchy=tree if treeless else None)
    if verdict.holds and job.alignment is not None:
        with clock.stage("writing the alignment"):
            write_alignment(release, data, job.alignment, force=job.force, folder=job.output)
    explanation = None
    if verdict.holds and job.explain and isinstance(job.method, Suppression):
        with clock.stage("explaining"):
            explanation = explain(data, job.promise, job.method, engine=Local(job.threads))
    return Outcome(
        records=len(data),
        items=len(data.vocabulary),
        occurrences=data.occurrences,
        release=release,
        verdict=verdict,
        losses=losses,
        seconds=clock.seconds,
        output=Path(job.output) if verdict.holds and job.output else None,
        alignment=Path(job.alignment) if verdict.holds and job.alignment else None,
        pruned=_is_pruned(written),
        notes=(*notes, *_empty_note(release, data)) if verdict.holds else notes,
        explanation=explanation,
        suppressed=_suppressed(release, data) if verdict.holds else (),
    )


def _is_pruned(release: Published | None) -> bool:
    tree = release.hierarchy if isinstance(release, Generalized | Vocabularies) else None
    return tree is not None and tree.origin.pruned


def _empty_note(release: Published, data: Transactions) -> tuple[str, ...]:
    """A note when people who have something are published as empty bags."""
    lost = release.empty - int((data.lengths == 0).sum()) if isinstance(release, Vocabularies) else 0
    if lost <= 0:
        return ()
    people = "1 person is" if lost == 1 else f"{lost:,} people are"
    return (f"{people} published as an empty bag, at full loss: the group has nothing in common that is near enough.",)


def _suppressed(release: Published, data: Transactions) -> tuple[str, ...]:
    """The items that a release shows nowhere, neither themselves nor by a node over them."""
    if isinstance(release, Suppressed):
        return release.suppressed_items(data)
    return suppressed_items(release, data) if isinstance(release, Generalized) and release.is_global else ()


def with_private(promise: Promise, named: Sequence[str], vocabulary: Vocabulary, tree: Hierarchy | None = None) -> Promise:
    """A promise of coherence with more private items, as `Job.private` names them.

    Raises:
        ParameterError: when nothing fits a name, or when the promise knows no private items.
    """
    if not named:
        return promise
    if not isinstance(promise, Coherence):
        raise ParameterError("private", list(named), f"{promise.model} has no private items; coherence does")
    return replace(promise, private=promise.private | PrivateItems.parse(named).among(vocabulary, tree))


def check_sensitive(promise: Promise, vocabulary: Vocabulary) -> tuple[str, ...]:
    """A note when some sensitive or private items stand nowhere: a list may cover more than the data, but may also be misspelt.

    Raises:
        UnknownItemError: when none of them stands anywhere, so that nothing would be protected.
    """
    diversity = promise.diversity if isinstance(promise, KmAnonymity) else promise
    if isinstance(diversity, LDiversity):
        kind, items = "sensitive", diversity.sensitive
    elif isinstance(promise, Coherence):
        kind, items = "private", promise.private
    else:
        return ()
    missing = sorted(item for item in items if item not in vocabulary)
    if not missing:
        return ()
    if len(missing) == len(items):
        raise UnknownItemError(missing, f"the data holds none of the {kind} items:")
    named = ", ".join(repr(item) for item in missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    return (f"{len(missing)} of {len(items)} {kind} items stand in no record: {named}. Are they spelt as in the data?",)


def check_release(
    release: Published | Transactions,
    original: Transactions | None,
    *,
    promise: Promise | None = None,
    alignment: Path | str | None = None,
    hierarchy: Hierarchy | None = None,
) -> Verdict:
    """As `setveil.verify`, but with the private alignment file of a release, by which each record is compared with its own original.

    Args:
        release: The release, or data as it is.
        original: The data that the release was made from.
        promise: What to check; by default what the release itself promises.
        alignment: A file that `write_alignment` made; when not given the records are matched with their originals.
        hierarchy: The tree by which vocabularies were made.
    """
    if alignment is None:
        return verify(release, original, promise=promise, hierarchy=hierarchy)
    if original is None or isinstance(release, Transactions):
        raise ParameterError("alignment", str(alignment), "it tells the published record of each original: give a release and its original")
    try:
        aligned = with_alignment(release, alignment)
    except MisfitError as misfit:
        verdict = verify(release, promise=promise)
        witness = Witness(misfit.problem, misfit.published or ())
        return Verdict(verdict.promise, (*verdict.checks, Check("alignment", False, "it is not that of this release", (witness,))))
    return verify(aligned, original, promise=promise, hierarchy=hierarchy)


def load(data: object, reading: Mapping[str, Any] | None = None) -> Transactions:
    """The records of a path or of an object."""
    if isinstance(data, str | Path):
        return read(data, **(reading or {}))
    return as_transactions(data, **(reading or {}))


def hierarchy_maker(given: Hierarchy | Path | str | None, layout: Layout | None = None) -> MakeHierarchy:
    """How to get the tree once the data is read; what can be refused before that is refused at once.

    Args:
        given: A tree, a path, or a recipe as in `Job.hierarchy`.
        layout: The layout of the file, when it is one.
    """
    if layout is not None and (is_recipe(given) or given is None or isinstance(given, Hierarchy)):
        raise ParameterError("layout", layout, "it says how a hierarchy file is laid out, but none is given")
    if isinstance(given, str) and is_recipe(given):
        kind, *parts = given.split(":")
        if kind == "balanced" and len(parts) <= 2:
            return _balanced_maker(given, *parts)
        if kind == "prefix" and len(parts) <= 1:
            return _prefix_maker(given, *parts)
        if kind.startswith("wordnet") and parts != [""]:
            return _wordnet_maker("keep" if kind == "wordnet+unknown" else "refuse", ":".join(parts))
        raise ParameterError("hierarchy", given, RECIPES)
    tree = given if isinstance(given, Hierarchy) or given is None else read_hierarchy(given, layout=layout)
    return lambda data: tree


def is_recipe(given: object) -> bool:
    """Whether this says how to build a tree over the items of a data set, and is not a tree or its file."""
    return isinstance(given, str) and given.split(":")[0] in ("balanced", "prefix", "wordnet", "wordnet+unknown")


def _balanced_maker(recipe: str, fanout: str = "5", order: str = "") -> MakeHierarchy:
    if not fanout.isdecimal() or order not in ("", "numeric", "alphabetical", "frequency"):
        raise ParameterError("hierarchy", recipe, RECIPES)
    if int(fanout) < 2:
        raise ParameterError("hierarchy", recipe, "the fan-out must be 2 or more")
    chosen: Any = order or None
    return lambda data: balanced(data.vocabulary, int(fanout), order=chosen, supports=data.supports())


def _prefix_maker(recipe: str, lengths: str = "") -> MakeHierarchy:
    parts = lengths.split(",") if lengths else []
    if not all(part.isdecimal() for part in parts):
        raise ParameterError("hierarchy", recipe, RECIPES)
    chosen = [int(part) for part in parts] or None
    return lambda data: prefix(data.vocabulary, lengths=chosen)


def _wordnet_maker(unknown: Unknown, folder: str) -> MakeHierarchy:
    wordnet = WordNet.read(folder or None)
    return lambda data: wordnet.tree(data.vocabulary, unknown)


class _Clock:
    """Tells the progress which stage begins, and notes how long each took."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        if self.progress:
            self.progress(0, 0, name)
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


class _Rejected(Exception):
    """Removes the temporary folder without an error for the caller."""


def _stage(job: Job) -> AbstractContextManager[Path | None]:
    """The temporary folder that becomes the release; None when none is asked for."""
    return nullcontext() if job.output is None else staged_release(job.output, force=job.force)


def _check_job(job: Job) -> None:
    """Refuse, before any work, what can be told from the job alone."""
    if not isinstance(job.method, Method):
        raise ParameterError("method", job.method, "it must be a method with its parameters, such as Partition()")
    FORMS[job.method.form].check(Choices(format=job.format, public_items=job.public_items))
    if job.alignment is not None and job.method.form == Disassociated.form:
        raise ParameterError("alignment", str(job.alignment), NO_RECORDS)
    if not isinstance(job.hierarchy, Hierarchy | Path | str | None):
        raise ParameterError("hierarchy", job.hierarchy, f"it is a Hierarchy, or {RECIPES.removeprefix('it is ')}")
    job.method.check(0, job.promise, _ANY_TREE if isinstance(job.hierarchy, Path | str) else job.hierarchy)
    if isinstance(job.promise, KmAnonymity) and job.promise.diversity and job.method.form != Disassociated.form:
        raise ParameterError("sensitive", sorted(job.promise.diversity.sensitive)[:3], "only disassociated data can keep l-diversity")
    if job.private:
        PrivateItems.parse(job.private)
    if job.explain and not isinstance(job.method, Suppression):
        raise ParameterError("explain", True, f"the method {job.method.name} has nothing to explain; coherence has")
    inputs = [Path(given).resolve() for given in (job.data, job.hierarchy) if isinstance(given, str | Path)]
    output = None if job.output is None else Path(job.output)
    if output is not None:
        if str(output) == "-":
            raise OutputError(output, "a release is a folder and cannot go to standard output")
        if any(output.resolve() in path.parents for path in inputs):
            raise OutputError(output, "what is read as input lies in this folder; choose another name")
    if job.alignment is not None:
        _check_alignment(Path(job.alignment), output, inputs, job.force)


def _check_alignment(place: Path, output: Path | None, inputs: list[Path], force: bool) -> None:
    if output is not None and place.resolve().is_relative_to(output.resolve()):
        raise OutputError(place, "the alignment is private and must not lie in the release folder")
    if place.resolve() in inputs:
        raise OutputError(place, "this file is read as input; choose another name")
    check_place(place, force=force)


def _write(job: Job, release: Published, stage: Path, clock: _Clock) -> Published:
    """The release as it was read back after it was written."""
    with clock.stage("writing"), _naming(job.output):
        fill_release(release, stage, format=job.format, seed=job.seed, public_items=job.public_items, verified=True)
    with clock.stage("reading back"):
        return read_release(stage)


@contextmanager
def _naming(place: Path | str | None) -> Iterator[None]:
    """Say where it was when the system refuses to write (a full disk, a limit)."""
    try:
        yield
    except SetveilError:
        raise
    except OSError as error:
        raise OutputError(str(place), error.strerror or str(error)) from error


def _verdict(promise: Promise, release: Published, written: Published | None, data: Transactions, tree: Hierarchy | None) -> Verdict:
    """The promise on what lies on the disk, containment on the release in memory, and that both are the same."""
    verdict = verify(release, data, promise=promise, hierarchy=tree)
    if written is None:
        return verdict
    same = written == release and written.promise == release.promise
    text = f"what was written and read back is {'' if same else 'NOT '}what was anonymized"
    on_disk = verify(written, promise=promise)
    done = {check.name for check in on_disk.checks}
    rest = tuple(check for check in verdict.checks if check.name not in done)
    return Verdict(promise, (*on_disk.checks, *rest, Check("written", same, text)))

"""Apply: the rule of a release on other data, verified again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from setveil.alignment.align import on_tree, over
from setveil.audit.series import NO_SERIES, check_after, no_rule
from setveil.audit.verdict import Check, Verdict
from setveil.data.people import PER_PERSON, without_rare
from setveil.data.transactions import Bags, Transactions
from setveil.engines.base import Progress
from setveil.errors import DataError, Note, ParameterError, UnknownItemError
from setveil.hierarchy.layouts import Layout, TreeOptions
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.io.releases.form import Choices
from setveil.methods import METHODS
from setveil.pipeline.anonymize import aligned, staged
from setveil.pipeline.inputs import (
    for_people,
    load_release,
    load_to_publish,
    people_of,
    tree_maker,
)
from setveil.pipeline.job import Outcome, check_places
from setveil.pipeline.names import OLD_WORDS, READING, Words, fields_from
from setveil.pipeline.notes import left_out_note
from setveil.pipeline.registering.book import Booking
from setveil.pipeline.registering.booking import Book, booking
from setveil.pipeline.series import following
from setveil.pipeline.share import Made, Writing, publish_whole
from setveil.pipeline.stages import Stages
from setveil.published import Release
from setveil.published.release import RecordRelease
from setveil.published.rows import relabeled
from setveil.words import plural, rough_share

Unknown = Literal["refuse", "drop"]
BOTH = (
    "Each of the two releases keeps the promise on its own. If people are in both, comparing the "
    "two may reveal more about them."
)
SERIES = (
    "It follows the release before: what both differ in keeps the promise, too. That says nothing "
    "about people whose items changed, nor about other releases of the same people."
)
_NOT_GIVEN = (None, False, "", (), "local")
MOST_COUNTED, MOST_SHOWN = 1_000, 3
"""How many violations are counted, and how many of them are shown."""


@dataclass(frozen=True, kw_only=True)
class ApplyJob(Booking):
    """The release whose rule is applied, and the data it is applied to."""

    release: object = field(repr=False)
    """A release, or its folder."""
    data: object = field(repr=False)
    """A path (`-` is standard input), or any object that `as_transactions` takes."""
    output: Path | str | None = None
    unknown: Unknown = "refuse"
    """What happens to items that the release does not cover: `refuse` the data, or `drop` them."""
    suppress: bool = False
    """Leave out more items if the promise does not hold otherwise."""
    hierarchy: Hierarchy | Path | str | None = None
    """The tree, if the release does not have all of it, or if there are new items."""
    layout: Layout | None = None
    levels: Sequence[str] | str | None = None
    qualify: bool = False
    format: str | None = None
    alignment: Path | str | None = None
    seed: int | None = None
    force: bool = False
    public_items: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AfterJob(ApplyJob):
    """The data of a release that follows another one, `release`: what both differ in keeps the
    promise, too."""


def apply(
    release: object, data: object, *, progress: Progress | None = None, **words: Any
) -> Outcome:
    """Publish other data by the rule of a release: the same cut of the hierarchy, or the same items
    suppressed; verified for the same promise.

    Args:
        release: A release, or its folder. It must have one rule for all records, as Apriori, HgHs,
            mHgHs and Suppression have.
        data: A path (`-` is standard input), or any object that `as_transactions` takes.
        progress: Is called with how far the work is.
        words: The options of `setveil apply`: `output`, `unknown` (`"refuse"` or `"drop"`),
            `suppress`, `hierarchy`, `alignment` ..., and how to read the data (`record` ...).

    Raises:
        DataError: if the release has no such rule.
        UnknownItemError: if it does not cover some items.

    Example:
        >>> from setveil import Hierarchy, KmAnonymity, MHgHs
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> tree, promise = Hierarchy.from_paths(paths), KmAnonymity(k=2, m=2)
        >>> may = MHgHs().anonymize([["beer"], ["wine"], ["milk"], ["milk"]], promise, tree)
        >>> june = apply(may, [["wine"], ["beer"], ["milk"]])
        >>> june.verdict.holds, june.verdict.witness.text
        (False, '{milk} occurs in 1 record, not 2')
        >>> apply(may, [["wine"], ["beer"], ["milk"]], suppress=True).verdict.holds
        True
    """
    return run(job_from(release, data, words), progress)


def job_from(release: object, data: object, words: Words) -> ApplyJob:
    """The job that these words describe; None means not given."""
    given = fields_from("apply", ApplyJob, words, made=("release", "data"))
    return ApplyJob(release=release, data=data, **given)


def anonymize_after(data: object, words: Words, progress: Progress | None = None) -> Outcome:
    """Publish data after a release, in the words of `setveil anonymize --after`."""
    given = {name: value for name, value in words.items() if value not in _NOT_GIVEN}
    release = given.pop("after")
    own = {each.name for each in fields(AfterJob)} - {"suppress"}
    others = sorted(given.keys() - own - {*READING, *OLD_WORDS, "input_format"})
    if others:
        allowed = "{after} takes promise, method and rule from the release before: leave it out"
        raise ParameterError(others[0], given[others[0]], allowed)
    how = fields_from("anonymize", AfterJob, given, made=("release", "data"))
    return run(AfterJob(release=release, data=data, **how), progress)


def run(job: ApplyJob, progress: Progress | None = None) -> Outcome:
    """Apply the rule, write, read back what was written, verify and measure it.

    As for `anonymize`, nothing is left if the promise does not hold or something goes wrong."""
    if job.unknown not in get_args(Unknown):
        raise ParameterError("unknown", job.unknown, "it must be refuse or drop")
    inputs = (job.release, job.data, job.hierarchy)
    check_places(job, inputs)
    stages, place = Stages(progress), None if job.output is None else Path(job.output)
    choices = Choices(format=job.format, seed=job.seed, public_items=job.public_items)
    with booking(job) as booked, staged(job) as stage:
        made = _made(job, stages, booked)
        found = publish_whole(made, Writing(choices, place, stages), stage.folder)
        if isinstance(job, AfterJob) and found.verdict.holds:
            with stages("comparing with the release before"):
                checks = check_after(found.release, load_release(job.release))
            verdict = Verdict(found.verdict.promise, (*found.verdict.checks, *checks))
            found = replace(found, verdict=verdict)
        stage.holds = found.verdict.holds
        outcome = Outcome(
            **vars(found),
            records=len(made.data),
            items=len(made.data.vocabulary),
            occurrences=made.data.occurrences,
            seconds=stages.seconds,
            output=place if stage.holds else None,
            like=str(job.release) if isinstance(job.release, str | Path) else "the given release",
        )
        if stage.holds:
            outcome = aligned(job, made.data, outcome, stages)
        booked.is_made = stage.holds
    return outcome if booked.is_made else _counted(outcome, job)


def _made(job: ApplyJob, stages: Stages, book: Book) -> Made:
    reading = {**job.reading, **book.reads}
    with stages("reading"):
        release = load_release(job.release)
        release.images(release.items)  # refuses a release without a rule before the data is read
        if isinstance(job, AfterJob) and (why := no_rule(release)):
            raise DataError(why, remedy=NO_SERIES)
        everything, account, meant = load_to_publish(job.data, reading, release.min_people)
        _, left_out = for_people(release.promise, job.reading, account)
        _check_most(release, job.reading.get(PER_PERSON))
        everything = everything.sets() if isinstance(everything, Bags) else everything
        people = people_of(account)
        data = without_rare(everything, release.min_people, people)
        release, tree_notes = _over_tree(job, release, data)
    release.promise.check_feasible(len(data))
    said = book.enter(release.promise, str(release.method.get("name", "")), account)
    both = SERIES if isinstance(job, AfterJob) else BOTH
    with stages("anonymizing", compiles=job.suppress or isinstance(job, AfterJob)):
        rows, unknown_note = _recoded(job, release, data)
        kept, more_note = _suppressed(release, rows) if job.suppress else (rows, ())
        if isinstance(job, AfterJob):
            follows = following(cast(RecordRelease, release), kept, release.promise)
            kept, data, more_note = follows.rows, data.take(follows.kept), follows.notes
            people = None if people is None else people.take(follows.kept)
        made = _stated(job, release).like(kept)
    left_out += left_out_note(everything, data, release.min_people, people)
    return Made(
        release=made,
        data=_known(data, made.tree),
        promise=release.promise,
        tree=made.tree,
        people=people,
        notes=(*meant, *said, *left_out, *tree_notes, *unknown_note, *more_note, both),
        witnesses=MOST_COUNTED,
    )


def _check_most(release: Release, most: int | None) -> None:
    """Refuse more, or fewer, records of each person than the promise of the release says."""
    promised = release.promise.records_per_person
    if most != promised:
        allowed = "each record of the release is protected on its own: leave it out"
        if promised is not None:
            allowed = f"the release has at most {promised:,} of each person: name the same number"
        raise ParameterError(PER_PERSON, most, allowed)


def _over_tree(
    job: ApplyJob, release: Release, data: Transactions
) -> tuple[Release, tuple[str, ...]]:
    """The release over the given tree, which must put every item that it knows in the same group.

    A balanced tree over other items has other groups under the same names."""
    old = release.tree
    if job.hierarchy is None:
        if old is not None and old.origin.pruned:
            problem = "the release contains only a part of its tree"
            raise DataError(problem, remedy="give the file of the whole tree with {hierarchy}")
        return release, ()
    if old is None:
        allowed = f"a {release.form} release has no hierarchy"
        raise ParameterError("hierarchy", job.hierarchy, allowed)
    how = TreeOptions(layout=job.layout, levels=job.levels, qualify=job.qualify)
    tree = tree_maker(job.hierarchy, how)(data)
    assert tree is not None
    if tree.origin.kind == "balanced":
        allowed = "a balanced tree over other items has other groups; give the file of the first"
        raise ParameterError("hierarchy", job.hierarchy, allowed)
    placed = on_tree(release, tree, "the given hierarchy")
    _check_groups(release, placed)
    note = "The release contains all of the given hierarchy; the first one showed only a part."
    return placed, (note,) if old.origin.pruned and tree.origin.is_public else ()


def _check_groups(release: Release, placed: Release) -> None:
    """Refuse a tree in which an item of the old one is published in another group."""
    old, new = release.tree, placed.tree
    assert old is not None
    assert new is not None
    items = type(old.nodes)(old.labels[: old.leaf_count])
    pairs = zip(items, release.images(items), placed.images(items), strict=True)
    names = ((item, _label(old, one), _label(new, other)) for item, one, other in pairs)
    moved = [item for item, one, other in names if item in new.nodes and one != other]
    if moved:
        where = "the given hierarchy puts items in other groups than the release:"
        raise UnknownItemError(moved, where, "give the hierarchy of the release")


def _label(tree: Hierarchy, node: int) -> str:
    return "" if node < 0 else tree.labels[node]


def _recoded(
    job: ApplyJob, release: Release, data: Transactions
) -> tuple[Transactions, tuple[str, ...]]:
    """The records in published labels, and a note on the items that the release does not cover."""
    images, supports = release.images(data.vocabulary), data.supports()
    missing = np.flatnonzero((images < 0) & (supports > 0))
    rows = relabeled(_only(data, images >= 0), images, release.items)
    if not len(missing):
        return rows, ()
    lost = rough_share(supports[missing].sum() / data.occurrences)
    number = f"{plural(len(missing), 'item')} of {len(data.vocabulary):,}"
    if job.unknown == "refuse":
        where = f"the release does not cover {number} ({lost} of all occurrences), such as"
        remedy = "they were suppressed or are new: leave them out with {unknown=drop}"
        items, tree = [data.vocabulary[item] for item in missing.tolist()], release.tree
        if tree is not None and not all(item in tree.nodes.numbers for item in items):
            remedy += ", or give a {hierarchy} that has the new ones"
        raise UnknownItemError(items, where, remedy)
    text = f"{number} that the release does not cover were left out, {lost} of all occurrences."
    return rows, (text,)


def _stated(job: ApplyJob, release: Release) -> Release:
    """The release with a tree that says that items which it lacks were left out, if they were and
    the whole tree is published; another one is built again from the items of the data."""
    if release.tree is None or job.unknown == "refuse" or not release.tree.origin.is_public:
        return release
    origin = Origin("given", {"unknown": "drop"})
    return over(release, replace(release.tree, origin=origin))


def _known(data: Transactions, tree: Hierarchy | None) -> Transactions:
    """The records without items that the tree does not have: nothing can be measured of them."""
    if tree is None:
        return data
    leaves = frozenset(tree.labels[: tree.leaf_count])
    return _only(data, np.array([item in leaves for item in data.vocabulary], dtype=bool))


def _only(data: Transactions, kept: Any) -> Transactions:
    """The same records with some of their items, as marks over the vocabulary."""
    chosen, size = kept[data.items], len(data)
    return Transactions.from_pairs(
        data.rows[chosen], data.items[chosen], data.vocabulary, size=size
    )


def _suppressed(release: Release, rows: Transactions) -> tuple[Transactions, tuple[str, ...]]:
    """The records without the labels that must go so that the promise holds, and a note on them."""
    found = METHODS["suppression"]().anonymize(rows, release.promise)
    used = {rows.vocabulary[item] for item in np.unique(rows.items).tolist()}
    gone = used - found.shown
    if not gone:
        return rows, ()
    kept = np.array([label not in gone for label in rows.vocabulary], dtype=bool)
    lost = rough_share(1 - kept[rows.items].mean())
    text = f"{plural(len(gone), 'published item')} of the release had to be left out as well"
    return _only(rows, kept), (f"{text} so that the promise holds, {lost} of all occurrences.",)


def _counted(outcome: Outcome, job: ApplyJob) -> Outcome:
    """The outcome with the number of violations, a few of them, and what to do."""
    checks = tuple(map(_brief, outcome.verdict.checks))
    ways = "anonymize this data on its own"
    more = "{suppress=True} leaves out more items until it does"
    ways = ways if job.suppress else f"{more}; or {ways}"
    note = Note(f"The rule of the release does not keep its promise on this data: {ways}.")
    verdict = Verdict(outcome.verdict.promise, checks)
    others = (each for each in outcome.notes if each != BOTH)
    return replace(outcome, verdict=verdict, notes=(*others, note))


def _brief(check: Check) -> Check:
    found = len(check.witnesses)
    if check.holds or not found:
        return check
    least = "at least " if found >= MOST_COUNTED else ""
    total = "" if check.violations else f"; {least}{plural(found, 'violation')} in all"
    return replace(check, text=check.text + total, witnesses=check.witnesses[:MOST_SHOWN])

"""What is done for one share of the records: anonymize, write, read back, verify, count.

A share is all records, if they are in memory, or those of some parts. What is the same for all
shares is in a `Spec`; a share of all records has more in it, see `Spec.data`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from setveil.audit.records import check_written
from setveil.audit.verdict import Check, Verdict
from setveil.audit.verify import verify
from setveil.data.arrays import Int64s, sums
from setveil.data.people import People
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.disk.output import writable
from setveil.engines.local import Local
from setveil.engines.parts import Block, joined
from setveil.errors import Note
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.folder import FORMS, about_release, fill_release, read_back, sha256
from setveil.io.releases.form import Choices, PartFile, ReleaseFolder, part_names
from setveil.methods.dividing import Divisible
from setveil.methods.method import Method, Request
from setveil.metrics import measure
from setveil.metrics.measure import Losses, measure_part
from setveil.metrics.state import Count, State
from setveil.metrics.table import METRICS
from setveil.metrics.usefulness import Seen, usefulness
from setveil.pipeline.job import Published
from setveil.pipeline.notes import Example, effect_note, examples, formula_note, release_notes
from setveil.pipeline.stages import Stages
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.published.countable import Countable
from setveil.threads import at_once

MOST_AT_ONCE = 5_000_000
"""Of more records, losses and usefulness are measured in turn, to save memory."""


class Writing(NamedTuple):
    """How a release is written."""

    choices: Choices
    place: Path | None
    """The folder that it becomes, if any."""
    stages: Stages
    """Silent, if shares are made elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What all shares have in common."""

    method: Method[Release]
    promise: Promise
    tree: Hierarchy | None
    writing: Writing
    min_people: int = 0
    threads: int | None = 1
    data: Transactions | None = None
    """All records, if they are in memory: then they are the one share, the release is written
    whole, and all metrics are measured."""
    people: People | None = None
    """The person of each of these records, if that is known."""
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary(()))
    """The items of the records, if these are not in memory."""
    supports: Int64s | None = None
    """How many records of the whole data have each item."""
    counts: Mapping[str, Count] = field(default_factory=dict)
    """What is counted of a share for each metric."""

    @property
    def file(self) -> str:
        """The name of the data file of a release that is not in parts."""
        return FORMS[self.method.form].files(self.writing.choices)[0]


@dataclass(frozen=True)
class Place:
    """Where a share comes in the release."""

    number: int = 0
    of: int = 1
    """How many there are."""
    before: int = 0
    """How many records come before it."""
    state: object = None


@dataclass(frozen=True, kw_only=True)
class Made:
    """A release that is not published yet, with what it was made from."""

    release: Release
    data: Transactions
    """The original, without items that were left out first."""
    promise: Promise
    tree: Hierarchy | None = None
    notes: tuple[str, ...] = ()
    people: People | None = None
    """The person of each record, if that is known."""
    witnesses: int = 1
    """How many places to show, at most, where the promise does not hold."""


@dataclass(frozen=True, eq=False)
class Counted(State):
    """What is counted of a share; all of it adds up."""

    useful: Seen
    states: dict[str, State]
    """By metric."""
    shown: frozenset[str]
    """The labels that occur."""
    often: Counter[str]
    """How often each label is published."""

    @classmethod
    def of(cls, release: Release, data: Transactions, spec: Spec) -> Counted:
        assert spec.supports is not None
        rows, sizes = release.certain_rows()
        often = sums(rows.items, sizes[rows.rows], len(rows.vocabulary)).tolist()
        return cls(
            useful=Seen.of(release, data, spec.supports),
            states=measure_part(release, data, spec.supports, spec.counts),
            shown=release.shown,
            often=Counter(dict(zip(rows.vocabulary, often, strict=True))),
        )

    @property
    def losses(self) -> Losses:
        """The figures of the metrics that add up."""
        return {name: METRICS[name].function.figure(state) for name, state in self.states.items()}


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What a share reports."""

    number: int
    checks: tuple[Check, ...]
    whole: Published | None = None
    """All that is known of the release, if the share has all records."""
    about: dict[str, object] = field(default_factory=dict)
    """What `release.json` says, otherwise."""
    name: str = ""
    digest: str = ""
    counted: Counted | None = None
    examples: tuple[Example, ...] = ()

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)


def publish_share(
    spec: Spec, places: Sequence[Place], number: int, blocks: list[Block], folder: Path | None
) -> Piece:
    """Anonymize a share, write it into the folder, read it back, verify what is on disk, and count
    what was lost."""
    if spec.data is not None:
        whole = publish_whole(anonymized(spec), spec.writing, folder)
        return Piece(number=number, checks=whole.verdict.checks, whole=whole)
    assert folder is not None
    place = places[number]
    made = _anonymized_part(spec, place, blocks)
    name = spec.file if place.of == 1 else part_names(spec.file, place.of)[number]
    file = PartFile(folder / name, place.before, len(made.data))
    written, digest = _part_written(spec, made.release, file, number)
    return Piece(
        number=number,
        checks=checked(made, written).checks,
        name=name,
        digest=digest,
        # not before: rare items were left out of all the data, and a share has other rare ones
        about=about_release(made.release.leaving_out(spec.min_people)),
        counted=Counted.of(made.release, made.data, spec),
        examples=examples(made.release, made.data) if number == 0 else (),
    )


def publish_whole(made: Made, writing: Writing, folder: Path | None) -> Published:
    """The same for a release of all records, which is made already; nothing is written if there is
    no folder."""
    written, countable = (None, None) if folder is None else _written(made, writing, folder)
    with writing.stages("verifying"):
        verdict = checked(made, written)
    tree = None if written is None else written.tree
    pruned, written = tree is not None and tree.origin.pruned, None  # it is as large as the release
    found = Published(
        release=made.release,
        verdict=verdict,
        countable=countable or Countable.of(made.release),
        pruned=pruned,
        notes=made.notes,
    )
    return _measured(made, writing, found) if verdict.holds else found


def anonymized(spec: Spec) -> Made:
    """The release of all records."""
    data, tree, method, stages = spec.data, spec.tree, spec.method, spec.writing.stages
    assert data is not None
    how: dict[str, Any] = {"engine": Local(spec.threads), "progress": stages.progress}
    if method.draws_noise and spec.writing.choices.public_items:  # the leaves of a tree are public
        how["domain"] = data.vocabulary.labels if tree is None else tree.labels[: tree.leaf_count]
    with stages("anonymizing", compiles=True):
        release = method.anonymize(data, spec.promise, tree, **how)
        remark, notes = method.remark(release), list[str]()
        if remark:
            notes.append(Note(remark))
        if method.plain is not None and len(data):
            usual = method.plain.anonymize(data, spec.promise, tree, **how)
            seed = spec.writing.choices.seed or 0
            notes.append(effect_note(release, usual, data, seed))
    return Made(
        release=release.leaving_out(spec.min_people),
        data=data,
        promise=spec.promise,
        tree=tree,
        notes=tuple(notes),
        people=spec.people,
    )


def _anonymized_part(spec: Spec, place: Place, blocks: list[Block]) -> Made:
    """The release of some parts of the records."""
    block = joined(blocks)
    data = Transactions(block.indptr, block.items, spec.vocabulary)
    request = Request(data, spec.promise, spec.tree, Local(spec.threads), None)
    assert isinstance(spec.method, Divisible)
    release = spec.method.anonymize_share(blocks, place.state, request)
    release = replace(release, method=spec.method.to_dict())
    return Made(release=release, data=data, promise=spec.promise, tree=spec.tree)


def _written(made: Made, writing: Writing, folder: Path) -> tuple[Release, Countable]:
    """The release as it is read back after it was written, and what can be counted from it."""
    with writing.stages("writing"), writable(str(writing.place)):
        fill_release(made.release, folder, verified=True, **vars(writing.choices))
    with writing.stages("reading back"):
        return read_back(folder)


def _part_written(spec: Spec, release: Release, file: PartFile, number: int) -> tuple[Release, str]:
    """The share as it is read back after it was written, and the hash of its file."""
    form = FORMS[release.form].in_parts
    assert form is not None
    choices = spec.writing.choices
    if choices.seed is not None:
        choices = replace(choices, seed=choices.seed + number)
    form.write(release, file, choices)
    digest = sha256(file.path)
    about: dict[str, Any] = {
        **about_release(release),
        "records": file.size,
        "files": {file.path.name: digest},
    }
    folder = ReleaseFolder(
        file.path.parent, about, (file.path.name,), spec.promise, before=file.before
    )
    return form.read(folder, spec.tree), digest


def checked(made: Made, written: Release | None = None) -> Verdict:
    """The promise on what is on disk, if something is, the original on it or on the release in
    memory, and that both agree. A release that stands alone is not compared with the original: to
    withhold it because of that would depend on the data, which no noise covers."""
    release = made.release
    original = None if release.stands_alone else made.data
    check = partial(verify, promise=made.promise, limit=made.witnesses)
    if written is None:
        return check(release, original, hierarchy=made.tree)
    last = check_written(written, release)
    paired = written.paired_as(release) if last.holds else None
    if paired is not None:
        verdict = check(paired, original, hierarchy=made.tree)
        return Verdict(made.promise, (*verdict.checks, last))
    verdict, on_disk = check(release, original, hierarchy=made.tree), check(written)
    done = {each.name for each in on_disk.checks}
    rest = tuple(each for each in verdict.checks if each.name not in done)
    return Verdict(made.promise, (*on_disk.checks, *rest, last))


def _measured(made: Made, writing: Writing, found: Published) -> Published:
    """What is measured of all records after their release has verified."""
    release, data = made.release, made.data
    seed = writing.choices.seed or 0
    with writing.stages("measuring", compiles=True):
        losses, (useful, shown, notes) = at_once(
            partial(measure, release, data, seed=seed, hierarchy=made.tree, verified=True),
            lambda: (
                usefulness(release, data, unpublished=0.0),
                examples(release, data),
                release_notes(release, data, made.people),
            ),
            width=None if len(data) <= MOST_AT_ONCE else 1,
        )
    files = () if writing.place is None else FORMS[release.form].files(writing.choices)
    return replace(
        found,
        losses=losses,
        usefulness=replace(useful, unpublished=losses.get("distortion", 0.0)),
        examples=shown,
        suppressed=tuple(release.suppressed_items(data)),
        notes=(*made.notes, *notes, *formula_note(release.shown, files)),
    )

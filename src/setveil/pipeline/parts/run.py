"""Anonymize on an engine that cannot hold all records: read, divide, and publish part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from setveil.audit.verdict import Check, Verdict
from setveil.data.account import Account
from setveil.data.tally import Tally
from setveil.disk import private_folder
from setveil.engines.blocks import Blocks, Shelf
from setveil.errors import EngineError, Note, ParameterError
from setveil.hierarchy.recipes import MakeHierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.folder import FORMS, read_release, staged_release, write_about
from setveil.io.releases.form import Choices
from setveil.io.releases.trees import TREE, write_tree
from setveil.methods.dividing import USUAL_PART, Coding, Share, Whole
from setveil.pipeline.inputs import check_named, fit, with_items
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.notes import left_out_note
from setveil.pipeline.parts.reading import read_to, renumber
from setveil.pipeline.parts.sums import Total
from setveil.pipeline.parts.task import Done, Place, Spec
from setveil.pipeline.parts.workers import Shares, run_apart, run_here
from setveil.pipeline.stages import Stages
from setveil.published.in_parts import InParts
from setveil.words import plural

WORKER = 250_000_000
"""The bytes that a worker process takes before it has any records."""
FEW = 100_000
"""So many records are not worth the start of processes."""


def run_in_parts(job: Job, engine: Blocks, make_tree: MakeHierarchy, stages: Stages) -> Outcome:
    """Anonymize, verify and measure part by part; the folder appears after all parts hold."""
    assert job.output is not None
    job = replace(job, method=job.method.in_parts())
    held: list[Outcome] = []
    try:
        with (
            staged_release(job.output, force=job.force) as stage,
            private_folder() as work,
        ):
            held.append(_Run(job, engine, stages, work, stage).run(make_tree))
            if not held[0].verdict.holds:
                raise _Rejected
    except _Rejected:
        pass
    return held[0]


class _Rejected(Exception):
    """Removes the temporary folder without an error for the caller."""


class Loaded(NamedTuple):
    """The data as the method will see it; the records are on the shelf."""

    job: Job
    tally: Tally
    """Of the items that are kept."""
    records: int
    tree: Hierarchy | None
    coding: Coding
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    account: Account | None
    occurrences: int


@dataclass
class _Run:
    """One run, with where it works."""

    job: Job
    engine: Blocks
    stages: Stages
    work: Path
    stage: Path

    def run(self, make_tree: MakeHierarchy) -> Outcome:
        (self.work / "shelf").mkdir(mode=0o700)
        shelf = Shelf(self.work / "shelf", self.engine)
        loaded = load(self.job, shelf, make_tree, self.stages)
        self.job = loaded.job
        choices = Choices(
            format=self.job.format, seed=self.job.seed, public_items=self.job.public_items
        )
        spec = spec_of(loaded, choices)
        with self.stages("dividing", compiles=True):
            most = self._most(loaded)
            shares = self._divided(shelf, loaded, most)
        with self.stages("anonymizing", compiles=True):
            sizes = [sum(shelf.sizes.get(part, 0) for part in each.parts) for each in shares]
            found = self._made(shelf, spec, shares, sizes)
        return finished(loaded, spec, found, self.stage, self.stages)

    def _most(self, loaded: Loaded) -> int:
        """The records of a task of a method whose release does not depend on it."""
        share = (self.engine.room - 2 * WORKER) / 2 / loaded.job.method.bytes_per_occurrence
        length = max(loaded.occurrences / max(loaded.records, 1), 1.0)
        return int(np.clip(share / length, 10_000, USUAL_PART))

    def _divided(self, shelf: Shelf, loaded: Loaded, most: int) -> list[Share]:
        job, items = loaded.job, len(loaded.coding.vocabulary)
        whole = Whole(job.promise, loaded.tree, items, most, self.stages.progress)
        return job.method.divide(shelf, whole)

    def _made(
        self, shelf: Shelf, spec: Spec, shares: Sequence[Share], sizes: Sequence[int]
    ) -> list[Done]:
        places = places_of(shares, sizes)
        all_shares = Shares(
            spec, places, [share.parts for share in shares], shelf.folder, self.stage
        )
        width = self._width(shelf, spec, shares)
        few = sum(sizes) <= FEW or len(shares) == 1
        answers = run_here(all_shares) if few else run_apart(all_shares, width, self.work)
        return collected(answers, sizes, self.stages)

    def _width(self, shelf: Shelf, spec: Spec, shares: Sequence[Share]) -> int:
        """How many shares fit in memory at once.

        Raises:
            EngineError: if not even one does.
        """
        cost = spec.method.bytes_per_occurrence
        largest = max(sum(shelf.occurrences.get(at, 0) for at in each.parts) for each in shares)
        need = WORKER + cost * largest
        if need + WORKER > self.engine.room:
            gigabytes = f"{(need + WORKER) / 1e9:,.1f} GB"
            problem = (
                f"the largest part has {plural(largest, 'occurrence')} and takes about {gigabytes}, "
                f"more than the memory of {self.engine.memory}"
            )
            raise EngineError(problem, remedy="allow more {memory} or a smaller {max_part}")
        return max(1, min(self.engine.width, int((self.engine.room - WORKER) // need)))


def load(job: Job, shelf: Shelf, make_tree: MakeHierarchy, stages: Stages) -> Loaded:
    """Read the data to a shelf, and number its items as the method wants."""
    with stages("reading"):
        everything, records, account = read_to(shelf, job.data, job.reading)
        kept = everything.without_rare(job.min_people)
        rare = left_out_note(everything, kept, job.min_people)
    with stages("building the hierarchy"):
        tree, data, dropped, unknown = fit(make_tree(kept), kept, job)
        job = replace(job, promise=with_items(job.promise, job.items, data.vocabulary, tree))
        job.method.check(records, job.promise, tree)
        coding = job.method.coding(data.vocabulary, tree)
        _recode(shelf, everything, data, coding)
    named = check_named(job.promise, data.vocabulary) if records else ()
    said = () if account is None else tuple(account.notes)
    notes = (*said, *rare, *unknown, *named, *job.promise.doubts)
    assert isinstance(data, Tally)
    occurrences = shelf.occurrences[0]
    return Loaded(job, data, records, tree, coding, dropped, notes, account, occurrences)


def _recode(shelf: Shelf, before: Tally, data: Tally, coding: Coding) -> None:
    """Number the items on the shelf by the coding, and leave out those that are not kept."""
    numbers = np.full(len(before.vocabulary), -1, dtype=np.int32)
    numbers[before.vocabulary.encode(data.vocabulary)] = coding.numbers
    if not np.array_equal(numbers, np.arange(len(numbers))):
        renumber(shelf, numbers, len(coding.vocabulary))


def spec_of(loaded: Loaded, choices: Choices) -> Spec:
    """What all shares have in common."""
    supports = np.zeros(len(loaded.coding.vocabulary), dtype=np.int64)
    supports[loaded.coding.numbers] = loaded.tally.supports()
    return Spec(
        method=loaded.job.method,
        promise=loaded.job.promise,
        tree=loaded.tree,
        vocabulary=loaded.coding.vocabulary,
        supports=supports,
        choices=choices,
        min_people=loaded.job.min_people,
    )


def places_of(shares: Sequence[Share], sizes: Sequence[int]) -> list[Place]:
    """Where each share comes in the release."""
    before = accumulate(sizes, initial=0)
    return [
        Place(number, len(shares), first, share.state)
        for number, (share, first) in enumerate(zip(shares, before, strict=False))
    ]


def collected(answers: Iterator[Done], sizes: Sequence[int], stages: Stages) -> list[Done]:
    """The answers in the order of the shares; stops at the first that does not hold."""
    found, records = list[Done](), 0
    for answer in answers:
        found.append(answer)
        records += sizes[answer.number]
        if stages.progress is not None:
            stages.progress(records, sum(sizes), "anonymizing and verifying parts")
        if not answer.holds:
            break
    return sorted(found, key=lambda done: done.number)


def finished(loaded: Loaded, spec: Spec, found: list[Done], stage: Path, stages: Stages) -> Outcome:
    """Put the parts together: verdicts, sums and `release.json`."""
    job, about = loaded.job, found[0].about
    total = Total([done.sums for done in found], spec.method.form, job.promise.crowd, loaded.tree)
    with stages("verifying"):
        verdict = _verdict(spec, loaded, found, total)
    held = verdict.holds
    losses = total.losses if held else {}
    if held:
        _write_about(spec, found, total, stage)
    said = about["promise"]
    assert isinstance(said, dict) and job.output is not None
    words = {name: str(said[name]) for name in ("meaning", "not_promised")}
    output = Path(job.output)
    release = InParts(
        spec.method.form,
        loaded.records,
        job.promise,
        spec.method.to_dict(),
        partial(read_release, output),
        words,
    )
    return Outcome(
        records=loaded.records,
        items=len(loaded.tally.vocabulary),
        occurrences=loaded.occurrences,
        release=release,
        verdict=verdict,
        losses=losses,
        seconds=stages.seconds,
        reason=job.reason,
        account=loaded.account,
        output=output if held else None,
        usefulness=total.usefulness(losses) if held else None,
        notes=(*loaded.notes, *_notes(loaded, total, len(found))) if held else loaded.notes,
        suppressed=loaded.dropped,
        examples=found[0].examples,
        pruned=loaded.tree is not None and _is_pruned(spec, loaded.tree),
    )


def _verdict(spec: Spec, loaded: Loaded, found: list[Done], total: Total) -> Verdict:
    """The verdict of all parts: each check must hold in each part, and nothing may be missing."""
    checks = []
    for name in dict.fromkeys(check.name for done in found for check in done.checks):
        same = [check for done in found for check in done.checks if check.name == name]
        failed = next((check for check in same if not check.holds), None)
        if failed is not None or len(found) == 1:
            checks.append(failed or same[0])
            continue
        checks.append(replace(same[0], text=f"in each of {len(found)} parts: {_brief(same)}"))
    if all(check.holds for check in checks):
        checks.append(_complete(spec, loaded, total))
    return Verdict(loaded.job.promise, tuple(checks))


def _brief(checks: Sequence[Check]) -> str:
    """The text of the first check, which may name numbers of its part."""
    return f"in the first, {checks[0].text}"


def _complete(spec: Spec, loaded: Loaded, total: Total) -> Check:
    """Whether the parts together were made from all records: as many, with the same items."""
    same = total.number("records") == loaded.records
    same = same and bool(np.array_equal(total.supports, spec.supports))
    text = f"the parts together have {'' if same else 'NOT '}all records and items that were read"
    return Check("complete", same, text, private=True)


def _write_about(spec: Spec, found: list[Done], total: Total, stage: Path) -> None:
    files = {done.name: done.digest for done in found}
    more: dict[str, object] = {}
    if len(found) > 1:
        more["parts"] = [done.sums.records for done in found]
    if spec.tree is not None and FORMS[spec.method.form].has_tree:
        from setveil.io.releases.folder import sha256

        nodes = np.unique(np.concatenate([done.sums.own["nodes"] for done in found]))
        more["hierarchy"] = write_tree(spec.tree, nodes, stage, spec.choices)
        files[TREE] = sha256(stage / TREE)
    write_about(stage, found[0].about, total.number("records"), files, verified=True, **more)


def _is_pruned(spec: Spec, tree: Hierarchy) -> bool:
    return (
        FORMS[spec.method.form].has_tree
        and not spec.choices.public_items
        and (tree.origin.kind != "given")
    )


def _notes(loaded: Loaded, total: Total, parts: int) -> tuple[str, ...]:
    """What to check before the release is handed over, and how it was measured."""
    k, notes = max(part.crowd for part in loaded.job.promise.parts), list[str]()
    supports = loaded.tally.supports()
    rare = [label for label, n in zip(loaded.tally.vocabulary, supports, strict=True) if n < k]
    shown = len(total.shown.intersection(rare))
    if shown:
        text = f"{plural(shown, 'item')} that fewer than {k:,} people have "
        text += "is published as it is" if shown == 1 else "are published as they are"
        remedy = f"leave such items out with {{min_people={k}}}"
        notes.append(Note(f"{text}. If items may be names or free text, {remedy}."))
    figures = ", ".join(total.losses)
    notes.append(
        f"Made in {plural(parts, 'part')}; measured are the figures that add up over parts "
        f"({figures}). `setveil measure` has the others, in memory."
    )
    return tuple(notes)


def check_engine_job(job: Job, name: str) -> None:
    """Refuse what an engine that works part by part does not do, before anything is read."""
    if job.output is None:
        raise ParameterError("output", None, f"the engine {name} writes a release: name its folder")
    for option in ("alignment", "report", "tune", "explain"):
        if getattr(job, option):
            allowed = f"the engine {name} does not have it; use {{engine=local}}"
            raise ParameterError(option, getattr(job, option), allowed)
    if job.reading.get("bags"):
        allowed = f"the engine {name} works on sets; use {{engine=local}}"
        raise ParameterError("bags", True, allowed)
    form = FORMS[job.method.form]
    if job.format is not None and form.in_parts is not None:
        if job.format not in form.in_parts.formats:
            allowed = f"a {form.name} release in parts is {' or '.join(form.in_parts.formats)}"
            raise ParameterError("format", job.format, allowed)

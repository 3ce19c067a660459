"""What is done for one share of the records: anonymize, write, read back, verify, count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from setveil.audit.verdict import Check
from setveil.data.arrays import Int64s, sums
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.local import Local
from setveil.engines.parts import Block, joined
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.folder import FORMS, about_release, sha256
from setveil.io.releases.form import Choices, PartFile, ReleaseFolder, part_names
from setveil.methods.dividing import Divisible, Share
from setveil.methods.method import Method, Request
from setveil.metrics.measure import Losses, measure_part
from setveil.metrics.state import Count, State
from setveil.metrics.table import METRICS
from setveil.metrics.usefulness import Seen
from setveil.pipeline.examples import Example, examples
from setveil.pipeline.publishing import Made, checked
from setveil.pipeline.stages import Stages
from setveil.promises.promise import Promise
from setveil.published import Release


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What all shares have in common."""

    method: Method[Release]
    promise: Promise
    tree: Hierarchy | None
    vocabulary: Vocabulary
    supports: Int64s
    """How many records of the whole data have each item."""
    choices: Choices
    counts: Mapping[str, Count]
    """What is counted of a share for each metric."""
    min_people: int = 0

    @property
    def file(self) -> str:
        """The name of the data file of a release that is not in parts."""
        return FORMS[self.method.form].files(self.choices)[0]


@dataclass(frozen=True)
class Place:
    """Where a share comes in the release."""

    number: int
    of: int
    """How many there are."""
    before: int
    """How many records come before it."""
    state: object


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


@dataclass(frozen=True)
class Done:
    """What a share reports: counts, hashes and verdicts."""

    number: int
    name: str
    digest: str
    about: dict[str, object]
    checks: tuple[Check, ...]
    counted: Counted
    examples: tuple[Example, ...]

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)


def publish_share(spec: Spec, place: Place, blocks: Sequence[Block], stage: Path) -> Done:
    """Anonymize a share, write its file into `stage`, and verify what is on disk."""
    block = joined(list(blocks))
    data = Transactions(block.indptr, block.items, spec.vocabulary)
    request = Request(data, spec.promise, spec.tree, Local(1), None)
    assert isinstance(spec.method, Divisible)
    release = spec.method.anonymize_share(blocks, place.state, request)
    release = replace(release, method=spec.method.to_dict())
    name = spec.file if place.of == 1 else part_names(spec.file, place.of)[place.number]
    file = PartFile(stage / name, place.before, len(data))
    written, digest = _written(spec, release, file, place)
    made = Made(release=release, data=data, promise=spec.promise, tree=spec.tree)
    verdict = checked(made, written)
    return Done(
        number=place.number,
        name=name,
        digest=digest,
        # not before: rare items were left out of all the data, and a share has other rare ones
        about=about_release(release.leaving_out(spec.min_people)),
        checks=verdict.checks,
        counted=Counted.of(release, data, spec),
        examples=examples(release, data) if place.number == 0 else (),
    )


def _written(spec: Spec, release: Release, file: PartFile, place: Place) -> tuple[Release, str]:
    """The share as it is read back after it was written, and the hash of its file."""
    form = FORMS[release.form].in_parts
    assert form is not None
    seed = spec.choices.seed
    choices = spec.choices if seed is None else replace(spec.choices, seed=seed + place.number)
    form.write(release, file, choices)
    digest = sha256(file.path)
    about: dict[str, Any] = {
        **about_release(release),
        "records": file.size,
        "files": {file.path.name: digest},
    }
    folder = ReleaseFolder(
        file.path.parent, about, (file.path.name,), spec.promise, before=place.before
    )
    return form.read(folder, spec.tree), digest


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

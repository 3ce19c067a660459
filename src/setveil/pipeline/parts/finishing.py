"""Put the parts of a release together: verdicts, sums, `release.json`, and the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from pathlib import Path

import numpy as np

from setveil.audit.verdict import Check, Verdict
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.folder import (
    FORMS,
    ReleaseParts,
    read_release,
    sha256,
    state_countable,
    write_about,
)
from setveil.io.releases.form import Choices
from setveil.io.releases.trees import TREE, write_tree
from setveil.metrics.measure import Losses
from setveil.metrics.state import plus
from setveil.metrics.usefulness import Seen
from setveil.pipeline.job import Outcome
from setveil.pipeline.notes import formula_note, rare_note
from setveil.pipeline.parts.loading import Loaded
from setveil.pipeline.parts.task import Counted, Done, Spec
from setveil.pipeline.stages import Stages
from setveil.published.countable import Countable, counted_in, most_frequent
from setveil.published.in_parts import InParts
from setveil.published.release import Release
from setveil.published.rows import with_equal_merged
from setveil.words import plural


def finished(loaded: Loaded, spec: Spec, found: list[Done], stage: Path, stages: Stages) -> Outcome:
    """Put the parts together: verdicts, sums and `release.json`."""
    job, about = loaded.job, found[0].about
    total = reduce(plus, (done.counted for done in found))
    with stages("verifying"):
        verdict = _verdict(spec, loaded, found, total.useful)
    held = verdict.holds
    losses = total.losses if held else {}
    countable = None
    if held:
        _write_about(spec, found, total, stage)
        with stages("counting"):
            countable = count_parts(ReleaseParts(stage), most_frequent(total.often))
            state_countable(stage, countable)
    said = about["promise"]
    assert isinstance(said, dict)
    words = {name: str(said[name]) for name in ("meaning", "not_promised")}
    output = None if job.output is None else Path(job.output)
    release = InParts(
        spec.method.form,
        loaded.records,
        job.promise,
        spec.method.to_dict(),
        partial(_read, output),
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
        countable=countable,
        usefulness=total.useful.figure(losses.get("distortion", 0.0)) if held else None,
        notes=(*loaded.notes, *(_notes(loaded, total, losses, len(found)) if held else ())),
        suppressed=loaded.dropped,
        examples=found[0].examples,
        pruned=loaded.tree is not None and _is_pruned(spec, loaded.tree),
    )


def count_parts(parts: ReleaseParts, frequent: Sequence[str]) -> Countable:
    """What can be counted from all parts together; one after the other is read."""
    first = with_equal_merged(parts.read(0))
    rest = (with_equal_merged(parts.read(number)) for number in range(1, len(parts)))
    found = [counted_in(each, frequent) for each in chain((first,), rest)]
    return Countable.of_parts(found, first)


def _read(output: Path | None) -> Release:
    if output is None:
        raise ParameterError("output", None, "the release was not written: name a folder")
    return read_release(output)


def _verdict(spec: Spec, loaded: Loaded, found: list[Done], total: Seen) -> Verdict:
    """The verdict of all parts: each check must hold in each part, and nothing may be missing."""
    checks = merged_checks([done.checks for done in found])
    if all(check.holds for check in checks):
        checks = (*checks, _complete(spec, loaded, total))
    return Verdict(loaded.job.promise, checks)


def merged_checks(found: Sequence[Sequence[Check]]) -> tuple[Check, ...]:
    """The checks of several parts: each holds if it holds in every part."""
    checks = []
    for name in dict.fromkeys(check.name for part in found for check in part):
        same = [check for part in found for check in part if check.name == name]
        failed = next((check for check in same if not check.holds), None)
        if failed is not None or len(found) == 1:
            checks.append(failed or same[0])
            continue
        text = f"in each of {len(found)} parts; in the first, {same[0].text}"
        full = next((check for check in same if not check.gap), same[0])
        exact = all(check.exact for check in same)
        checks.append(replace(same[0], text=text, gap=full.gap, exact=exact))
    return tuple(checks)


def _complete(spec: Spec, loaded: Loaded, total: Seen) -> Check:
    """Whether the parts together were made from all records: as many, with the same items."""
    same = total.records == loaded.records
    same = same and bool(np.array_equal(total.supports, spec.supports))
    text = f"the parts together have {'' if same else 'NOT '}all records and items that were read"
    return Check("complete", same, text, private=True)


def _write_about(spec: Spec, found: list[Done], total: Counted, stage: Path) -> None:
    files = {done.name: done.digest for done in found}
    more: dict[str, object] = {}
    if len(found) > 1:
        more["parts"] = [done.counted.useful.records for done in found]
    if spec.tree is not None and FORMS[spec.method.form].has_tree:
        nodes = np.sort(spec.tree.nodes.encode(total.shown))
        more["hierarchy"] = write_tree(spec.tree, nodes, stage, spec.choices)
        files[TREE] = sha256(stage / TREE)
    write_about(stage, found[0].about, total.useful.records, files, verified=True, **more)


def _is_pruned(spec: Spec, tree: Hierarchy) -> bool:
    return (
        FORMS[spec.method.form].has_tree
        and not spec.choices.public_items
        and (tree.origin.kind != "given")
    )


def _notes(loaded: Loaded, total: Counted, losses: Losses, parts: int) -> tuple[str, ...]:
    """What to check before the release is handed over, and how it was measured."""
    notes = [*rare_note(total.shown, loaded.tally, loaded.job.promise)]
    form = FORMS[loaded.job.method.form]
    notes += formula_note(total.shown, form.files(Choices(format=loaded.job.format)))
    notes.append(
        f"Made in {plural(parts, 'part')}; measured are the figures that add up over parts "
        f"({', '.join(losses)}). `setveil measure` has the others, in memory."
    )
    return tuple(notes)

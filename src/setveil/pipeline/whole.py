"""Put the shares of a release together: verdicts, sums, `release.json`, and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

from setveil.audit.verdict import Check, Verdict
from setveil.data.arrays import Int64s
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.engines.base import PartsSource, Shares
from setveil.errors import ParameterError
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
from setveil.methods.dividing import Share
from setveil.metrics.measure import Losses, adding_up
from setveil.metrics.state import plus
from setveil.metrics.usefulness import Seen as Useful
from setveil.pipeline.job import Outcome, Published, is_frame
from setveil.pipeline.loading import Loaded
from setveil.pipeline.notes import formula_note, rare_note
from setveil.pipeline.share import Counted, Piece, Place, Spec, Writing, publish_share
from setveil.pipeline.stages import Stages
from setveil.promises.promise import Promise
from setveil.published.countable import Countable, counted_in, most_frequent
from setveil.published.release import Release, Support
from setveil.published.rows import with_equal_merged
from setveil.words import plural


@dataclass(frozen=True, repr=False, eq=False)
class InParts(Release):
    """What was published in parts, as large as a disk; read into memory only if somebody asks."""

    form: str  # type: ignore[misc]
    records: int
    promise: Promise
    method: Mapping[str, object]
    read: Callable[[], Release]
    """Reads all of it into memory."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Its promise in words: `meaning` and `not_promised`."""
    frame: Any = None
    """The published lines or rows as a Spark DataFrame, if the data was one."""
    alignment: Int64s | None = None

    def __len__(self) -> int:
        return self.records

    def __repr__(self) -> str:
        return f"InParts({self.records} records, {self.form}, {self.promise})"

    def describe(self) -> str:
        return self.said["meaning"]

    def limits(self) -> str:
        return self.said["not_promised"]

    @cached_property
    def whole(self) -> Release:
        """The release in memory."""
        return self.read()

    @property
    def items(self) -> Vocabulary:
        return self.whole.items

    def certain_rows(self) -> tuple[Transactions, Int64s]:
        return self.whole.certain_rows()

    def support(self, itemset: Iterable[object]) -> Support:
        return self.whole.support(itemset)

    def reconstruct(self, seed: int | None = None) -> Transactions:
        return self.whole.reconstruct(seed)


def spec_of(loaded: Loaded, stages: Stages) -> Spec:
    """What all shares have in common."""
    job, coding = loaded.job, loaded.coding
    choices = Choices(format=job.format, seed=job.seed, public_items=job.public_items)
    place = None if job.output is None else Path(job.output)
    spec = Spec(
        method=job.method,
        promise=job.promise,
        tree=loaded.tree,
        writing=Writing(choices, place, Stages() if coding is not None else stages),
        min_people=job.min_people,
        threads=job.threads if coding is None else 1,
        data=loaded.held,
        people=loaded.people,
    )
    if coding is None:
        return spec
    supports = np.zeros(len(coding.vocabulary), dtype=np.int64)
    supports[coding.numbers] = loaded.data.supports()
    counts = adding_up(job.method.form)
    return replace(spec, vocabulary=coding.vocabulary, supports=supports, counts=counts)


def publish_shares(
    loaded: Loaded, spec: Spec, shares: Sequence[Share], folder: Path | None, stages: Stages
) -> list[Piece]:
    """What came of each share, in order; stops at the first that does not hold."""
    sizes, source = [loaded.records], loaded.source
    if isinstance(source, PartsSource):
        held = source.parts.sizes
        sizes = [sum(held.get(part, 0) for part in share.parts) for share in shares]
    places = [
        Place(number, len(shares), before, share.state)
        for number, (share, before) in enumerate(
            zip(shares, accumulate(sizes, initial=0), strict=False)
        )
    ]
    make, parts = partial(publish_share, spec, places), [share.parts for share in shares]
    pieces = source.publish(Shares(make, parts, spec.method.bytes_per_occurrence, folder))
    if spec.data is not None:
        return list(pieces)
    with stages("anonymizing", compiles=True):
        return sorted(_until_one_fails(pieces, sizes, stages), key=lambda piece: piece.number)


def _until_one_fails(
    pieces: Iterator[Piece], sizes: Sequence[int], stages: Stages
) -> Iterator[Piece]:
    records = 0
    for piece in pieces:
        records += sizes[piece.number]
        if stages.progress is not None:
            stages.progress(records, sum(sizes), "anonymizing and verifying parts")
        yield piece
        if not piece.holds:
            return


def merged(
    loaded: Loaded, spec: Spec, pieces: Sequence[Piece], folder: Path | None, stages: Stages
) -> Published:
    """What is known of the release as a whole: verdicts, sums and `release.json`."""
    if pieces[0].whole is not None:
        whole = pieces[0].whole
        if not is_frame(loaded.job.data):
            return whole
        return replace(whole, release=_as_frame(whole.release, loaded.job.data))
    assert folder is not None
    job, about = loaded.job, pieces[0].about
    total = reduce(plus, (piece.counted for piece in pieces if piece.counted is not None))
    with stages("verifying"):
        verdict = _verdict(spec, loaded, pieces, total.useful)
    said = about["promise"]
    assert isinstance(said, dict)
    words = {name: str(said[name]) for name in ("meaning", "not_promised")}
    method, read = spec.method, partial(_read, spec.writing.place)
    frame = loaded.source.frame(spec.file) if is_frame(job.data) else None
    release = InParts(
        method.form, loaded.records, job.promise, method.to_dict(), read, words, frame
    )
    found = Published(
        release=release,
        verdict=verdict,
        examples=pieces[0].examples,
        pruned=_is_pruned(spec),
    )
    if not verdict.holds:
        return found
    _write_about(spec, pieces, total, folder)
    with stages("counting"):
        countable = count_parts(ReleaseParts(folder), most_frequent(total.often))
        state_countable(folder, countable)
    losses = total.losses
    return replace(
        found,
        losses=losses,
        usefulness=total.useful.figure(losses.get("distortion", 0.0)),
        countable=countable,
        notes=_notes(loaded, total, losses, len(pieces)),
    )


def outcome_of(loaded: Loaded, found: Published, stages: Stages) -> Outcome:
    """What a run has done."""
    job = loaded.job
    more = vars(found) | {
        "suppressed": (*loaded.dropped, *found.suppressed) if found.verdict.holds else (),
        "notes": (*loaded.notes, *found.notes),
    }
    return Outcome(
        **more,
        records=loaded.records,
        items=len(loaded.data.vocabulary),
        occurrences=loaded.data.occurrences,
        seconds=stages.seconds,
        reason=job.reason,
        account=loaded.account,
        output=Path(job.output) if job.output is not None and found.verdict.holds else None,
    )


def count_parts(parts: ReleaseParts, frequent: Sequence[str]) -> Countable:
    """What can be counted from all parts together, which are read one at a time."""
    first = with_equal_merged(parts.read(0))
    rest = (with_equal_merged(parts.read(number)) for number in range(1, len(parts)))
    found = [counted_in(each, frequent) for each in chain((first,), rest)]
    return Countable.of_parts(found, first)


def _as_frame(release: Release, given: Any) -> InParts:
    """A release with its records and items as a DataFrame of Spark."""
    import pyarrow as pa

    rows, sizes = release.certain_rows()
    order = np.random.default_rng().permutation(np.repeat(np.arange(len(rows)), sizes))
    shown = rows.take(order)
    labels = pa.array(shown.vocabulary.labels, pa.string())
    table = pa.table({"record": shown.rows + 1, "item": labels.take(pa.array(shown.items))})
    return InParts(
        release.form,
        len(release),
        release.promise,
        release.method,
        lambda: release,
        {"meaning": release.describe(), "not_promised": release.limits()},
        given.sparkSession.createDataFrame(table),
    )


def _read(output: Path | None) -> Release:
    if output is None:
        raise ParameterError("output", None, "the release was not written: name a folder")
    return read_release(output)


def _verdict(spec: Spec, loaded: Loaded, found: Sequence[Piece], total: Useful) -> Verdict:
    """The verdict of all parts: each check must hold in each part, and nothing may be missing."""
    checks = merged_checks([piece.checks for piece in found])
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


def _complete(spec: Spec, loaded: Loaded, total: Useful) -> Check:
    """Whether the parts together were made from all records: as many, with the same items."""
    assert spec.supports is not None
    same = total.records == loaded.records
    same = same and bool(np.array_equal(total.supports, spec.supports))
    text = f"the parts together have {'' if same else 'NOT '}all records and items that were read"
    return Check("complete", same, text, private=True)


def _write_about(spec: Spec, found: Sequence[Piece], total: Counted, stage: Path) -> None:
    files = {piece.name: piece.digest for piece in found}
    more: dict[str, object] = {}
    if len(found) > 1:
        more["parts"] = [piece.counted.useful.records for piece in found if piece.counted]
    if spec.tree is not None and FORMS[spec.method.form].has_tree:
        nodes = np.sort(spec.tree.nodes.encode(total.shown))
        more["hierarchy"] = write_tree(spec.tree, nodes, stage, spec.writing.choices)
        files[TREE] = sha256(stage / TREE)
    write_about(stage, found[0].about, total.useful.records, files, verified=True, **more)


def _is_pruned(spec: Spec) -> bool:
    return (
        FORMS[spec.method.form].has_tree
        and not spec.writing.choices.public_items
        and spec.tree is not None
        and spec.tree.origin.kind != "given"
    )


def _notes(loaded: Loaded, total: Counted, losses: Losses, parts: int) -> tuple[str, ...]:
    """What to check before the release is handed over, and how it was measured."""
    notes = [*rare_note(total.shown, loaded.data, loaded.job.promise)]
    form = FORMS[loaded.job.method.form]
    notes += formula_note(total.shown, form.files(Choices(format=loaded.job.format)))
    notes.append(
        f"Made in {plural(parts, 'part')}; measured are the figures that add up over parts "
        f"({', '.join(losses)}). `setveil measure` has the others, in memory."
    )
    return tuple(notes)

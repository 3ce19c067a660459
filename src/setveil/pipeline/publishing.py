"""Publishing: write a release, read it back, verify it on disk, measure it; or leave nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from setveil.audit.records import check_written
from setveil.audit.verdict import Verdict
from setveil.audit.verify import verify
from setveil.data.account import Account
from setveil.data.people import People
from setveil.data.transactions import Transactions
from setveil.disk import sync
from setveil.errors import OutputError, SetveilError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.releases.alignment import write_alignment
from setveil.io.releases.folder import FORMS, fill_release, read_back, staged_release
from setveil.io.releases.form import Choices
from setveil.metrics import measure
from setveil.metrics.usefulness import Usefulness, usefulness
from setveil.pipeline.examples import examples
from setveil.pipeline.job import Outcome, Places
from setveil.pipeline.notes import formula_note, release_notes
from setveil.pipeline.stages import Stages
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.published.countable import Countable
from setveil.threads import at_once

MOST_AT_ONCE = 5_000_000
"""Of more records, losses and usefulness are measured one after the other, to save memory."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """A release that is not published yet, with what it was made from."""

    release: Release
    data: Transactions
    """The original, without items that were left out first."""
    promise: Promise
    tree: Hierarchy | None = None
    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Items that were left out because the tree lacks them."""
    reason: str = ""
    account: Account | None = None
    people: People | None = None
    """The person of each record, if that is known."""
    like: str = ""
    witnesses: int = 1
    """How many places to show, at most, where the promise does not hold."""


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
def staged(places: Places) -> Iterator[Stage]:
    """A stage for a release. After the block the release has its name if it holds; else, and after
    an error, nothing is left."""
    with suppress(Rejected), _folder(places) as folder, ExitStack() as beside:
        stage = Stage(folder, beside)
        yield stage
        if not stage.holds:
            raise Rejected


def _folder(places: Places) -> Any:
    """The temporary folder that becomes the release, if one is asked for."""
    if places.output is None:
        return nullcontext()
    return staged_release(places.output, force=places.force)


def publish(made: Made, places: Places, stage: Stage, stages: Stages) -> Outcome:
    """Write a release on its stage, read it back, verify what is on disk, and measure it."""
    release, data, folder = made.release, made.data, stage.folder
    written, countable = None, None
    if folder is not None:
        written, countable = _written(places, release, folder, stages)
    with stages("verifying"):
        verdict = checked(made, written)
    pruned, written = _is_pruned(written), None  # it takes as much memory as the release itself
    found: dict[str, Any] = {"losses": {}, "notes": made.notes}
    stage.holds = verdict.holds
    if stage.holds:
        found = _after(places, made, stages)
        if folder is not None:
            sync(folder)
    return Outcome(
        records=len(data),
        items=len(data.vocabulary),
        occurrences=data.occurrences,
        release=release,
        reason=made.reason,
        account=made.account,
        like=made.like,
        verdict=verdict,
        seconds=stages.seconds,
        pruned=pruned,
        countable=countable or Countable.of(release),
        **found,
    )


def _written(
    places: Places, release: Release, folder: Path, stages: Stages
) -> tuple[Release, Countable]:
    """The release as it is read back after it was written, and what can be counted from it."""
    with stages("writing"), _naming(places.output):
        fill_release(
            release,
            folder,
            format=places.format,
            seed=places.seed,
            public_items=places.public_items,
            verified=True,
        )
    with stages("reading back"):
        return read_back(folder)


@contextmanager
def _naming(place: Path | str | None) -> Iterator[None]:
    """Say where it was if the system refuses to write (a full disk, a limit)."""
    try:
        yield
    except SetveilError:
        raise
    except OSError as error:
        raise OutputError(str(place), error.strerror or str(error)) from error


def checked(made: Made, written: Release | None = None) -> Verdict:
    """The promise on what is on disk, if something is, the original on it or on the release in
    memory, and that both agree. A release that stands alone is not compared with the original: to
    withhold it because of that would depend on the data, which no noise covers."""
    release = made.release
    original = None if release.stands_alone else made.data
    how: dict[str, Any] = {"promise": made.promise, "limit": made.witnesses}
    if written is None:
        return verify(release, original, hierarchy=made.tree, **how)
    last = check_written(written, release)
    paired = written.paired_as(release) if last.holds else None
    if paired is not None:
        verdict = verify(paired, original, hierarchy=made.tree, **how)
        return Verdict(made.promise, (*verdict.checks, last))
    verdict, on_disk = (
        verify(release, original, hierarchy=made.tree, **how),
        verify(written, **how),
    )
    done = {check.name for check in on_disk.checks}
    rest = tuple(check for check in verdict.checks if check.name not in done)
    return Verdict(made.promise, (*on_disk.checks, *rest, last))


def _after(places: Places, made: Made, stages: Stages) -> dict[str, Any]:
    """What is measured after a release has verified."""
    release, data = made.release, made.data
    found: dict[str, Any] = {"suppressed": (*made.dropped, *release.suppressed_items(data))}
    how: dict[str, Any] = {"seed": places.seed or 0, "hierarchy": made.tree}
    with stages("measuring", compiles=True):
        losses, (useful, found["examples"], notes) = at_once(
            partial(measure, release, data, verified=True, **how),
            partial(_looked_at, made),
            width=None if len(data) <= MOST_AT_ONCE else 1,
        )
        lost = losses.get("distortion", 0.0)
        found |= {"losses": losses, "usefulness": replace(useful, unpublished=lost)}
    written = places.output is not None
    files = FORMS[release.form].files(Choices(format=places.format)) if written else ()
    found["notes"] = (*made.notes, *notes, *formula_note(release.shown, files))
    return found | {"output": None if places.output is None else Path(places.output)}


def _looked_at(made: Made) -> tuple[Usefulness, Any, tuple[str, ...]]:
    """How useful a release is, except for what is not published; examples; and notes."""
    release, data = made.release, made.data
    useful = usefulness(release, data, unpublished=0.0)
    return useful, examples(release, data), (*release_notes(release, data, made.people),)


def aligned(places: Places, made: Made, outcome: Outcome, stages: Stages) -> Outcome:
    """Write the alignment, if it is asked for."""
    if places.alignment is None:
        return outcome
    with stages("writing the alignment"):
        how: dict[str, Any] = {"force": places.force, "folder": places.output}
        write_alignment(made.release, made.data, places.alignment, **how)
    return replace(outcome, alignment=Path(places.alignment))


def _is_pruned(release: Release | None) -> bool:
    tree = None if release is None else release.tree
    return tree is not None and tree.origin.pruned

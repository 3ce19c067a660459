"""Measure: what a release has lost against its original."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.alignment.align import on_tree
from setveil.engines.base import Progress
from setveil.errors import ParameterError
from setveil.metrics import measure as losses_of
from setveil.metrics.table import need_a_tree
from setveil.pipeline.inputs import fit, load_release, tree_maker
from setveil.pipeline.names import Words, fields_from
from setveil.pipeline.originals import OfRelease, most_of, original_of
from setveil.pipeline.stages import Stages
from setveil.published import Release

Losses = dict[str, float | dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class MeasureJob(OfRelease):
    """What to measure."""

    metrics: Iterable[str] | str | None = None
    """Names of `METRICS`; by default all that apply."""
    reconstructions: int | None = None
    """Over how many reconstructions to average, for forms that do not show records."""
    seed: int | None = 0
    """For the queries of `are`, and for reconstructions."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What was lost. Private: it is computed from the original."""

    release: Release
    losses: Losses
    left_out: tuple[str, ...] = ()
    """Metrics of this form that were not measured because they need a hierarchy."""


def measure(
    release: object, original: object, names: Iterable[str] | str | None = None, **words: Any
) -> Losses:
    """What a release lost against its original, by the names of `METRICS`.

    A release right after `anonymize` knows who has which record, and the losses are exact.
    One that was read from disk is matched with the original first; if several assignments are
    possible, the losses of sets are those of one of them.

    Args:
        release: A release, or its folder.
        original: The data it was made from, as a path or an object.
        names: Which losses, or the name of one; by default all that apply to the form.
        words: The options of `setveil measure`: `seed`, `reconstructions`, `hierarchy`,
            `alignment`, and how to read the original (`record`, `item` ...).

    Raises:
        MisfitError: if the release cannot come from this original.

    Example:
        >>> from setveil import Hierarchy, KAnonymity, Partition
        >>> baskets = [["beer"], ["wine"], ["milk"], ["milk"]]
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> tree = Hierarchy.from_paths(paths)
        >>> release = Partition().anonymize(baskets, KAnonymity(k=2), tree)
        >>> measure(release, baskets, ["lm", "distortion"])
        {'lm': 0.25, 'distortion': 0.0}
    """
    return run(job_from(release, {**words, "original": original, "metrics": names})).losses


def job_from(release: object, words: Words) -> MeasureJob:
    """The job that these words describe; None means not given."""
    return MeasureJob(release=release, **fields_from("measure", MeasureJob, words))


def run(job: MeasureJob, progress: Progress | None = None) -> Measurement:
    """Read the release and its original, and measure."""
    stages = Stages(progress)
    with stages("reading"):
        release = load_release(job.release)
        _check(job, release)
        if job.alignment is not None and not release.shows_records and most_of(release) is None:
            allowed = "this release does not have one published record for each original record"
            raise ParameterError("alignment", str(job.alignment), allowed)
        of = job.original, job.reading, job.alignment
        release, (original, *_) = original_of(release, *of)
        tree = tree_maker(job.hierarchy, job)(original)
        if job.unknown != "refuse":
            tree, original, *_ = fit(tree, original, job)
        if tree is not None and _is_pruned(release):
            release = on_tree(release, tree, "the given hierarchy")
    with stages("measuring", compiles=True):
        how: dict[str, Any] = {"seed": job.seed, "hierarchy": tree}
        how["reconstructions"] = job.reconstructions or 1
        losses = losses_of(release, original, job.metrics, **how)
    left_out = need_a_tree(release) - losses.keys() if job.metrics is None else ()
    return Measurement(release=release, losses=losses, left_out=tuple(sorted(left_out)))


def _check(job: MeasureJob, release: Release) -> None:
    """Refuse, before the original is read, what this release has no use for."""
    if job.reconstructions is not None and release.shows_records:
        allowed = f"a {release.form} release shows its records, so nothing is reconstructed"
        raise ParameterError("reconstructions", job.reconstructions, allowed)
    if release.tree is not None and not _is_pruned(release):
        why = f"this {release.form} release contains the whole hierarchy it needs"
    elif release.tree is None and not need_a_tree(release):
        why = f"no metric of a {release.form} release needs a hierarchy"
    else:
        return
    for name in ("hierarchy", "layout", "levels", "qualify"):
        value = getattr(job, name)
        if isinstance(value, str | Path | list | tuple) or value is True:
            raise ParameterError(name, value, why)


def _is_pruned(release: Release) -> bool:
    return release.tree is not None and release.tree.origin.pruned

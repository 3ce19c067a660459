"""Measure: several losses of one release at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from setveil.alignment.align import align, over_whole_tree, semantic_tree
from setveil.data.seeds import random_from
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics.generalization import published_occurrences
from setveil.metrics.table import BY_HIERARCHY, BY_NODE, BY_WORLD, FITTING, METRICS, OF_BAGS, SEEDED
from setveil.published import Release
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstructions as reconstruct_several
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags

Losses = dict[str, float | dict[str, float]]


def measure(
    release: Release,
    original: object,
    names: Iterable[str] | str | None = None,
    *,
    seed: int = 0,
    reconstructions: int = 1,
    hierarchy: Hierarchy | None = None,
) -> Losses:
    """What the release lost against its original, by the names of `METRICS`.

    A release right after `anonymize` knows which record stands for whom, and the losses are exact. One that was read from disk does not;
    it is matched with the original first (`setveil.alignment.align.align`), and where several assignments are possible the losses
    of sets are those of one of them (class sizes, `are` and all losses of bags do not depend on it). The losses of a disassociated release
    and of a suppressed one need no such assignment, and of vocabularies `blm` alone may.

    Args:
        release: The release.
        original: The data it was made from; any object that `as_transactions` takes.
        names: Which losses, or the name of one; all that fit the form of the release when not given (of generalized sets without those
            for bags).
        seed: For the queries of `are`, and for reconstructing.
        reconstructions: How many possible worlds of a disassociated release the losses are averaged over.
        hierarchy: For `tkd_ml2` of a disassociated release, and for `blm` and `sdist` of vocabularies that have no tree and tell no
            recipe of one; without it, these are left out unless they are asked for.

    Raises:
        MisfitError: when the release cannot stem from this original.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")])
        >>> release = Generalized.of([["Alcohol"], ["Alcohol"], ["milk"], ["milk"]], tree, KAnonymity(k=2))
        >>> measure(release, [["beer"], ["wine"], ["milk"], ["milk"]], ["lm", "distortion"])
        {'lm': 0.25, 'distortion': 0.0}
    """
    original, chosen = _checked(release, original, hierarchy), _chosen(release, names, hierarchy)
    random_from(seed)
    if isinstance(release, Disassociated):
        return _of_disassociated(release, original, chosen, seed, reconstructions, hierarchy)
    if isinstance(release, TypicalBags):
        trees = BY_HIERARCHY[release.form]
        hierarchy = (
            semantic_tree(release, original, hierarchy) if trees.intersection(chosen) else None
        )
        return {
            name: METRICS[name](
                release, original, **({"hierarchy": hierarchy} if name in trees else {})
            )
            for name in chosen
        }
    if isinstance(release, Suppressed):
        return {
            name: METRICS[name](release, original, **({"seed": seed} if name in SEEDED else {}))
            for name in chosen
        }
    assert isinstance(release, Generalized)
    return _of_generalized(release, original, chosen, seed)


def _checked(release: object, original: object, hierarchy: object) -> Transactions:
    """The records of the original, when all that is given is what it should be."""
    if not isinstance(release, Release):
        kind = type(release).__name__
        raise ParameterError(
            "release",
            kind,
            "give a release (setveil.read_release reads one), and then the data it was made from",
        )
    if not isinstance(hierarchy, Hierarchy | None):
        raise ParameterError("hierarchy", hierarchy, "it must be a Hierarchy")
    return as_transactions(original)


def _chosen(
    release: Release, names: Iterable[str] | str | None, hierarchy: Hierarchy | None
) -> list[str]:
    """The names to measure, each checked."""
    fitting = FITTING[release.form]
    treeless = all(
        tree is None
        for tree in (
            hierarchy,
            getattr(release, "hierarchy", None),
            getattr(release, "semantics", None),
        )
    )
    without_tree = BY_HIERARCHY.get(release.form, frozenset()) if treeless else frozenset[str]()
    if names is None:
        asked = (
            OF_BAGS
            if isinstance(release, Generalized) and not isinstance(release.classes, Bags)
            else frozenset[str]()
        )
        return [name for name in fitting if name not in asked and name not in without_tree]
    if not isinstance(names, Iterable):
        raise ParameterError("names", names, "it must be a list of measures")
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if not isinstance(name, str) or name not in METRICS:
            raise ParameterError("metric", name, f"it must be one of {', '.join(METRICS)}")
        if name not in fitting:
            raise ParameterError(
                "metric", name, f"a {release.form} release has {', '.join(fitting)}"
            )
        if name in without_tree:
            raise ParameterError("metric", name, "it needs a hierarchy")
    return chosen


def _of_generalized(
    release: Generalized, original: Transactions, chosen: list[str], seed: int
) -> Losses:
    release = over_whole_tree(release, original)
    release = replace(release, alignment=align(release, original))
    published = published_occurrences(release, original) if BY_NODE.intersection(chosen) else None
    losses: Losses = {}
    for name in chosen:
        options = (
            {"seed": seed}
            if name in SEEDED
            else {"published": published}
            if name in BY_NODE
            else {}
        )
        losses[name] = METRICS[name](release, original, **options)
    return losses


def _of_disassociated(
    release: Disassociated,
    original: Transactions,
    chosen: list[str],
    seed: int,
    reconstructions: int,
    hierarchy: Hierarchy | None,
) -> Losses:
    if len(release) != len(original):
        raise MisfitError(f"it has {len(release)} records, the original {len(original)}")
    worlds = (
        reconstruct_several(release, reconstructions, seed)
        if BY_WORLD.intersection(chosen)
        else None
    )
    losses: Losses = {}
    for name in chosen:
        options: dict[str, Any] = {"worlds": worlds} if name in BY_WORLD else {}
        if name in BY_HIERARCHY[release.form]:
            options["hierarchy"] = hierarchy
        losses[name] = METRICS[name](release, original, **options)
    return losses

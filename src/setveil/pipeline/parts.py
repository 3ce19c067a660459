"""Steps of a run that commands also take by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.audit import verify
from setveil.audit.verdict import Check, Verdict, Witness
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import MisfitError, ParameterError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read
from setveil.io.privateitems import PrivateItems
from setveil.io.releases.alignment import with_alignment
from setveil.promises import Coherence, KmAnonymity, LDiversity
from setveil.promises.promise import Promise
from setveil.published import Release


def load(data: object, reading: Mapping[str, Any] | None = None) -> Transactions:
    """The records of a path or of an object."""
    if isinstance(data, str | Path):
        return read(data, **(reading or {}))
    return as_transactions(data, **(reading or {}))


def with_private(
    promise: Promise, named: Sequence[str], vocabulary: Vocabulary, tree: Hierarchy | None = None
) -> Promise:
    """A promise of coherence with more private items, as `Job.private` names them.

    Raises:
        ParameterError: when nothing fits a name, or when the promise knows no private items.
    """
    if not named:
        return promise
    if not isinstance(promise, Coherence):
        raise ParameterError(
            "private", list(named), f"{promise.model} has no private items; coherence does"
        )
    return replace(
        promise, private=promise.private | PrivateItems.parse(named).among(vocabulary, tree)
    )


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
    named = ", ".join(repr(item) for item in missing[:5]) + (
        f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    )
    return (
        f"{len(missing)} of {len(items)} {kind} items stand in no record: {named}. Are they spelt as in the data?",
    )


def check_release(
    release: Release | Transactions,
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
        raise ParameterError(
            "alignment",
            str(alignment),
            "it tells the published record of each original: give a release and its original",
        )
    try:
        aligned = with_alignment(release, alignment)
    except MisfitError as misfit:
        verdict = verify(release, promise=promise)
        witness = Witness(misfit.problem, misfit.published or ())
        return Verdict(
            verdict.promise,
            (
                *verdict.checks,
                Check("alignment", False, "it is not that of this release", (witness,)),
            ),
        )
    return verify(aligned, original, promise=promise, hierarchy=hierarchy)

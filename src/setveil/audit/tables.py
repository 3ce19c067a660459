"""The checks of each promise and of each published form: one line for a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.alignment.merging import Counted, recounted
from setveil.audit.anonymity import check_k_anonymity, check_km_anonymity
from setveil.audit.coherence import check_coherence
from setveil.audit.disassociated.check import check_disassociated
from setveil.audit.generalized import check_generalized
from setveil.audit.grouped.check import check_grouped
from setveil.audit.suppressed import check_suppressed
from setveil.audit.synthetic import PROCESS, check_synthetic
from setveil.audit.typical_bags.check import check_typical_bags
from setveil.audit.verdict import Check, Question
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.published.release import RecordRelease, Release

PROMISE_CHECKS: dict[str, Callable[[Counted, Any, int], Check]] = {
    "k-anonymity": check_k_anonymity,
    "vocabulary-k-anonymity": check_k_anonymity,
    "km-anonymity": check_km_anonymity,
    "coherence": check_coherence,
}
"""By model: whether distinct records and their counts keep a promise."""

OF_THE_PROCESS: dict[str, str] = {
    "differential-privacy": f"{PROCESS}; verify a release folder instead",
}
"""By model: why no records can be checked for a promise."""

FORM_CHECKS: dict[str, Callable[[Any, Question], Sequence[Check]]] = {
    "generalized": check_generalized,
    "suppressed": check_suppressed,
    "typical-bags": check_typical_bags,
    "disassociated": check_disassociated,
    "synthetic": check_synthetic,
    "grouped": check_grouped,
}
"""By form: whether a release is well formed and comes from its original, if one is given.
A form that does not show records also checks its promise."""

OF_THE_RELEASE = ("structure", "clusters", "chunks", "inference", "ledger", "groups")
"""Checks that need no original, besides those of promises."""


def check_promise(counted: Counted, promise: Promise, limit: int = 1) -> Check:
    """Whether these records keep a promise."""
    for part in promise.parts:
        if part.model in OF_THE_PROCESS:
            raise ParameterError("promise", part.title, OF_THE_PROCESS[part.model])
        if part.model not in PROMISE_CHECKS:
            allowed = f"records can be verified for {', '.join(PROMISE_CHECKS)}, not {part.model}"
            raise ParameterError("promise", part, allowed)
    return PROMISE_CHECKS[promise.model](counted, promise, limit)


def check_release(release: Release, question: Question) -> tuple[Check, ...]:
    """Every check of a release: its structure first, then its promise, then its original."""
    release = recounted(release)
    checks = list(FORM_CHECKS[release.form](release, question))
    # A promise about records whose numbers are not known cannot be checked.
    if isinstance(release, RecordRelease) and len(release.sizes) == len(release.classes):
        counted = Counted(release.classes, release.sizes, np.arange(len(release.sizes)))
        checks.insert(1, check_promise(counted, question.promise, question.limit))
    if checks[0].holds:
        checks[0] = with_gap(checks[0], release.shown, release.tree)
    if question.original is None:
        return tuple(checks)
    # Those that compare with the original are private; the others see the release alone.
    alone = {*OF_THE_RELEASE, *(part.model for part in question.promise.parts)}
    return tuple(replace(check, private=check.name not in alone) for check in checks)


def with_gap(check: Check, shown: Iterable[str], tree: Hierarchy | None) -> Check:
    """A check that also says so if nothing is published."""
    gap = gap_of(shown, tree)
    root = "nothing but the root of the hierarchy"
    said = f"{'no item' if tree is None else root} is published"
    return replace(check, text=f"{check.text}; {said}", gap=gap) if gap else check


def gap_of(shown: Iterable[str], tree: Hierarchy | None) -> str:
    """That a release contains nothing, if no label is shown, or only the root of the tree."""
    root = set() if tree is None else {tree.labels[tree.root]}
    return "the release contains nothing" if root.issuperset(shown) else ""

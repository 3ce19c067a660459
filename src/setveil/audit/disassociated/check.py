"""Every check of a disassociated release, in order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from setveil.audit.disassociated.chunks import check_chunks, check_clusters
from setveil.audit.disassociated.guarantee import check_guarantee
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.ldiversity import check_l_diversity
from setveil.audit.disassociated.original import check_original
from setveil.audit.disassociated.safe import check_safe
from setveil.audit.disassociated.structure import check_structure
from setveil.audit.question import Question
from setveil.audit.verdict import Check
from setveil.errors import ParameterError
from setveil.promises.kanonymity import KmAnonymity, LDiversity
from setveil.promises.promise import Promise
from setveil.published.disassociated.form import Disassociated
from setveil.threads import at_once


def check_disassociated(release: Disassociated, question: Question) -> list[Check]:
    """Whether disassociated data is well formed, keeps its promise and comes from its original.

    Raises:
        ParameterError: if this form cannot be verified for the promise.
    """
    promise, limit = question.promise, question.limit
    for part in promise.parts:
        if part.model not in PARTS:
            allowed = f"disassociated data can be verified for {' and '.join(PARTS)}"
            raise ParameterError("promise", part, allowed)
    layout = Layout(release)
    structure = check_structure(layout, limit)
    if not structure.holds:
        text = "not checked: the release is not well formed"
        return [structure, Check(promise.model, False, text)]
    against, kept = at_once(
        partial(_check_against, layout, question), partial(_check_promise, layout, promise, limit)
    )
    return [structure, *kept, *against]


def _check_against(layout: Layout, question: Question) -> list[Check]:
    """The checks against the original, if it is given."""
    if question.original is None:
        return []
    return check_original(layout, question.original, question.limit)


def _check_promise(layout: Layout, promise: Promise, limit: int) -> list[Check]:
    """The checks of all parts of the promise, and of what the release says besides."""
    kept = [check for part in promise.parts for check in PARTS[part.model](layout, part, limit)]
    return [*kept, check_safe(layout, limit)] if layout.release.is_safe else kept


def _check_km(layout: Layout, promise: KmAnonymity, limit: int) -> list[Check]:
    chunks = check_chunks(layout, promise, limit)
    guarantee = check_guarantee(layout, promise, limit, chunks_hold=chunks.holds)
    return [check_clusters(layout, promise, limit), chunks, guarantee]


def _check_l(layout: Layout, promise: LDiversity, limit: int) -> list[Check]:
    return [check_l_diversity(layout, promise, limit)]


PARTS: dict[str, Callable[[Layout, Any, int], list[Check]]] = {
    "km-anonymity": _check_km,
    "l-diversity": _check_l,
}
"""By model: the checks of a promise, or of a part of one."""

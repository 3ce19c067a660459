"""Every check of a disassociated release, in order."""

from __future__ import annotations

from setveil.audit.disassociated.chunks import check_chunks, check_clusters
from setveil.audit.disassociated.guarantee import check_guarantee
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.ldiversity import check_l_diversity
from setveil.audit.disassociated.original import check_original
from setveil.audit.disassociated.structure import check_structure
from setveil.audit.verdict import Check
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.promises.kanonymity import KmAnonymity
from setveil.promises.ldiversity import LDiversity
from setveil.promises.promise import Promise
from setveil.published.disassociated.form import Disassociated


def check_disassociated(
    release: Disassociated, original: Transactions | None, promise: Promise, limit: int = 1
) -> list[Check]:
    """Whether a disassociated release is well formed, keeps a promise, and stems from its original.

    Raises:
        ParameterError: when the promise is none that this form can be verified for.
    """
    if not isinstance(promise, KmAnonymity | LDiversity):
        raise ParameterError(
            "promise",
            promise,
            "disassociated data can be verified for km-anonymity and l-diversity",
        )
    layout = Layout(release)
    structure = check_structure(layout, limit)
    if not structure.holds:
        text = "not asked: a release that is not well formed has no meaning"
        return [structure, Check(promise.model, False, text)]
    checks = [structure, *_check_promise(layout, promise, limit)]
    if original is not None:
        checks.extend(check_original(layout, original, limit))
    return checks


def _check_promise(layout: Layout, promise: KmAnonymity | LDiversity, limit: int) -> list[Check]:
    if isinstance(promise, LDiversity):
        return [check_l_diversity(layout, promise, limit)]
    chunks = check_chunks(layout, promise, limit)
    checks = [
        check_clusters(layout, promise, limit),
        chunks,
        check_guarantee(layout, promise, limit, chunks_hold=chunks.holds),
    ]
    return (
        checks
        if promise.diversity is None
        else [*checks, check_l_diversity(layout, promise.diversity, limit)]
    )

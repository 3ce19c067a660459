"""Verify: does a release, or any data, keep a promise, and does the release stem from the original it claims to?"""

from __future__ import annotations

from setveil.audit.coherence import check_coherence
from setveil.audit.disassociated.check import check_disassociated
from setveil.audit.generalized import check_containment, check_record_count, check_structure
from setveil.audit.kanonymity import Counted, check_k_anonymity, count_records
from setveil.audit.km import check_km_anonymity
from setveil.audit.suppressed import check_suppressed_structure, check_suppression
from setveil.audit.typical_bags.check import check_vocabularies, check_vocabulary_structure
from setveil.audit.verdict import Check, Verdict
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError, check_count
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.coherence import Coherence
from setveil.promises.kanonymity import KAnonymity, KmAnonymity, VocabularyKAnonymity
from setveil.promises.promise import Promise
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags


def verify(
    thing: object,
    original: object = None,
    *,
    promise: Promise | None = None,
    limit: int = 1,
    hierarchy: Hierarchy | None = None,
) -> Verdict:
    """Whether a release or plain data keeps a promise, with a witness where it does not.

    Written independently of every method: it counts again from the published records.

    Args:
        thing: A release; or data as it is, as any object that `as_transactions` takes.
        original: The data a release was made from, as any object that `as_transactions` takes; then also whether no record is lost or
            invented, and each is the image of its original.
        promise: What to check; by default what the release itself promises.
        limit: How many witnesses to give for each check at most.
        hierarchy: The tree by which a release of vocabularies was made, so that its items can be compared with those of its original.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> verdict = verify(Transactions.of([["beer", "wine"], ["wine", "beer"], ["milk"]]), promise=KAnonymity(k=2))
        >>> verdict.holds, verdict.witness.items, verdict.witness.count
        (False, ('milk',), 1)
    """
    limit = check_count("limit", limit, 1)
    if not isinstance(hierarchy, Hierarchy | None):
        raise ParameterError("hierarchy", hierarchy, "it must be a Hierarchy")
    original = None if original is None else as_transactions(original)
    if isinstance(thing, Disassociated):
        asked = thing.promise if promise is None else promise
        return Verdict(asked, tuple(check_disassociated(thing, original, asked, limit)))
    if isinstance(thing, Generalized):
        asked = thing.promise if promise is None else promise
        return Verdict(asked, tuple(_check_release(thing, original, asked, limit)))
    if isinstance(thing, Suppressed):
        asked = thing.promise if promise is None else promise
        return Verdict(asked, tuple(_check_suppressed(thing, original, asked, limit)))
    if isinstance(thing, TypicalBags):
        asked = thing.promise if promise is None else promise
        return Verdict(asked, tuple(_check_vocabularies(thing, original, asked, hierarchy, limit)))
    data = as_transactions(thing)
    if promise is None:
        raise ParameterError(
            "promise", None, "plain data carries no promise; give one, such as KAnonymity(k=10)"
        )
    if original is not None:
        raise ParameterError(
            "original", original, "only a release can be compared with its original, not plain data"
        )
    return Verdict(promise, (check_promise(count_records(data), promise, limit),))


def check_promise(counted: Counted, promise: Promise, limit: int = 1) -> Check:
    """Whether these records keep a promise."""
    if isinstance(promise, KAnonymity | VocabularyKAnonymity):
        return check_k_anonymity(counted, promise, limit)
    if isinstance(promise, KmAnonymity) and promise.diversity is not None:
        raise ParameterError(
            "promise", promise, "l-diversity can be verified on disassociated data only"
        )
    if isinstance(promise, KmAnonymity):
        return check_km_anonymity(counted, promise, limit)
    if isinstance(promise, Coherence):
        return check_coherence(counted, promise, limit)
    raise ParameterError(
        "promise",
        promise,
        "records can be verified for k-anonymity, km-anonymity, coherence and vocabulary-k-anonymity",
    )


def _check_release(
    release: Generalized, original: Transactions | None, promise: Promise, limit: int
) -> list[Check]:
    structure = check_structure(release, limit)
    checks = [
        structure,
        check_promise(count_records(release.classes, release.sizes), promise, limit),
    ]
    if original is not None:
        checks.append(check_record_count(release, original))
        checks.append(check_containment(release, original) if structure.holds else _not_contained())
    return checks


def _check_suppressed(
    release: Suppressed, original: Transactions | None, promise: Promise, limit: int
) -> list[Check]:
    structure = check_suppressed_structure(release)
    if not structure.holds:
        return [structure]
    checks = [
        structure,
        check_promise(count_records(release.classes, release.sizes), promise, limit),
    ]
    return (
        checks
        if original is None
        else [*checks, *check_suppression(release, original, promise, limit)]
    )


def _check_vocabularies(
    release: TypicalBags,
    original: Transactions | None,
    promise: Promise,
    hierarchy: Hierarchy | None,
    limit: int,
) -> list[Check]:
    structure = check_vocabulary_structure(release, limit)
    checks = [
        structure,
        check_promise(count_records(release.classes, release.sizes), promise, limit),
    ]
    if original is None or not structure.holds:
        return checks
    return [*checks, *check_vocabularies(release, original, hierarchy, limit)]


def _not_contained() -> Check:
    return Check("containment", False, "a release that is not well formed is the image of nothing")

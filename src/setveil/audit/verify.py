"""Does a release or plain data keep a promise, and does the release come from its original?"""

from __future__ import annotations

from setveil.alignment.merging import covered
from setveil.audit.plain import check_plain
from setveil.audit.question import Question
from setveil.audit.tables import check_release
from setveil.audit.verdict import Verdict
from setveil.data.tables.exchange import as_transactions
from setveil.errors import ParameterError, check_count
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.published.release import Release


def verify(
    thing: object,
    original: object = None,
    *,
    promise: Promise | None = None,
    limit: int = 1,
    hierarchy: Hierarchy | None = None,
) -> Verdict:
    """Whether a release or plain data keeps a promise, with a witness if it does not.

    Written independently of every method: it counts again from the published records.

    Args:
        thing: A release, or data: anything that `as_transactions` takes.
        original: The data a release was made from. If given, the checks include that no record is
            lost or invented and that the release can come from it. Plain data is then taken as the
            original without some items, or with a hierarchy as a generalization of it.
        promise: What to check; by default what the release itself promises.
        limit: The most witnesses for each check.
        hierarchy: The tree that items were compared with, if the release does not have it; for
            plain data, the tree whose nodes its items are.

    Example:
        >>> from setveil import KAnonymity
        >>> data = [["beer", "wine"], ["wine", "beer"], ["milk"]]
        >>> verdict = verify(data, promise=KAnonymity(k=2))
        >>> verdict.holds, verdict.witness.items, verdict.witness.count
        (False, ('milk',), 1)
    """
    limit = check_count("limit", limit, 1)
    if not isinstance(hierarchy, Hierarchy | None):
        raise ParameterError("hierarchy", hierarchy, "it must be a Hierarchy")
    if not isinstance(promise, Promise | None):
        raise ParameterError("promise", promise, "it must be a promise, such as KAnonymity(k=10)")
    if not isinstance(thing, Release):
        return _verify_data(thing, original, promise, limit, hierarchy)
    asked = thing.promise if promise is None else promise
    data = None if original is None else covered(thing, as_transactions(original))
    question = Question(promise=asked, original=data, hierarchy=hierarchy, limit=limit)
    return Verdict(asked, check_release(thing, question))


def _verify_data(
    thing: object,
    original: object,
    promise: Promise | None,
    limit: int,
    hierarchy: Hierarchy | None,
) -> Verdict:
    data = as_transactions(thing)
    if promise is None:
        allowed = "plain data carries no promise; give one, such as KAnonymity(k=10)"
        raise ParameterError("promise", None, allowed)
    before = None if original is None else as_transactions(original)
    question = Question(promise=promise, original=before, hierarchy=hierarchy, limit=limit)
    return Verdict(promise, check_plain(data, question))

"""Does a release or plain data keep a promise, and does the release come from its original?

Plain files are somebody else's release: a reader of the file also sees its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.alignment.merging import Counted, count_records, covered, recounted, renamed
from setveil.audit.anonymity import check_k_anonymity, check_km_anonymity
from setveil.audit.coherence import check_coherence
from setveil.audit.disassociated.check import check_disassociated
from setveil.audit.generalized import check_generalized
from setveil.audit.grouped.check import check_grouped
from setveil.audit.suppressed import check_suppressed
from setveil.audit.synthetic import PROCESS, check_synthetic
from setveil.audit.typical_bags.check import check_typical_bags
from setveil.audit.verdict import Check, Question, Verdict, Witness, show_items
from setveil.data.account import Account
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError, check_count
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.published.generalized import Generalized
from setveil.published.release import RecordRelease, Release
from setveil.published.suppressed import Suppressed
from setveil.words import are, plural


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
    data = thing if isinstance(thing, Release) else as_transactions(thing)
    asked = data.promise if promise is None and isinstance(data, Release) else promise
    if asked is None:
        allowed = "plain data carries no promise; give one, such as KAnonymity(k=10)"
        raise ParameterError("promise", None, allowed)
    before = None if original is None else as_transactions(original)
    if isinstance(data, Release):
        before = None if before is None else covered(data, before)
        question = Question(promise=asked, original=before, hierarchy=hierarchy, limit=limit)
        return Verdict(asked, check_release(data, question))
    question = Question(promise=asked, original=before, hierarchy=hierarchy, limit=limit)
    return Verdict(asked, check_plain(data, question))


def check_plain(data: Transactions, question: Question) -> tuple[Check, ...]:
    """Every check of plain records: their promise, whether they consist of nodes of the tree, if
    one is given, and whether they come from the original, if one is given.

    With a tree the records are taken as generalized, without one as the original without some
    items."""
    tree, original = question.hierarchy, question.original
    counted = count_records(data)
    if tree is None and original is None:
        check = check_promise(counted, question.promise, question.limit)
        return (with_gap(check, data.vocabulary.labels if data.occurrences else (), tree),)
    if tree is not None:
        unknown = tuple(label for label in data.vocabulary if label not in tree.nodes)
        if unknown:
            witness = Witness(f"{show_items(unknown)} is not in the hierarchy", unknown)
            marks = data.vocabulary.marks(frozenset(unknown))[data.items]
            many = {"records": len(np.unique(data.rows[marks])), "items": len(unknown)}
            text = f"{are(len(unknown), 'published item')} not in the hierarchy"
            structure = Check("structure", False, text, (witness,), violations=many)
            return structure, check_promise(counted, question.promise, question.limit)
        rows = renamed(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
        sizes = np.ones(len(rows), dtype=np.int64)
        return check_release(Generalized(rows, sizes, tree, question.promise), question)
    if isinstance(data, Bags):
        allowed = "records in which items repeat can only be compared if their {hierarchy} is given"
        raise ParameterError("original", "given", allowed)
    used = np.unique(data.items)
    numbers = np.full(len(data.vocabulary), -1, dtype=np.int32)
    numbers[used] = np.arange(len(used))
    shown = Vocabulary([data.vocabulary[number] for number in used.tolist()])
    sizes = np.ones(len(data), dtype=np.int64)
    return check_release(
        Suppressed(renamed(data, numbers, shown), sizes, question.promise), question
    )


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


def check_columns(account: Account) -> Check | None:
    """Whether a file has nothing but records and items in its columns; None if it has no columns.

    Record identifiers are fine if they merely number the records."""
    if not account.columns:
        return None
    witnesses = []
    owner = account.columns.get("record")
    if account.identifiers:
        text = f"the column {owner} identifies {plural(account.identifiers, 'record')}"
        witnesses.append(Witness(text, (str(owner),), account.identifiers))
    for name in account.ignored:
        witnesses.append(Witness(f"the column {name} is neither a record nor an item", (name,)))
    if not witnesses:
        return Check("columns", True, "the file has no columns besides records and items")
    number = f"{plural(len(witnesses), 'column')} of the file"
    show = "shows" if len(witnesses) == 1 else "show"
    text = f"{number} {show} more about people than their items, whatever these promise"
    many = {"columns": len(witnesses), "records": account.identifiers}
    return Check("columns", False, text, tuple(witnesses), violations=many)

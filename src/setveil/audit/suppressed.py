"""Is a suppressed release its original without some items, but with every frequent private one?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.merging import item_supports
from setveil.audit.records import check_record_count, check_sizes, not_paired
from setveil.audit.verdict import Check, Question, Witness, show_items
from setveil.data.arrays import Int64s, sums
from setveil.data.transactions import Bags, Transactions
from setveil.published.suppressed import Suppressed
from setveil.words import are


def check_suppressed(release: Suppressed, question: Question) -> list[Check]:
    """Whether a suppressed release is well formed and comes from its original, if one is given.

    That is: no record is lost, no private item is missing, and every other item is published
    everywhere or nowhere.
    """
    text, original = "each published record is a set of items", question.original
    structure = check_sizes(release, question.limit) or Check("structure", True, text)
    if isinstance(release.classes, Bags):
        text = "a suppressed release consists of sets, not bags"
        structure = Check("structure", False, text)
    if original is None or not structure.holds:
        return [structure]
    data = original.sets() if isinstance(original, Bags) else original
    counts = check_record_count(len(release), len(data))
    private = _check_private(release, data, question)
    total = _check_total(release, data, question.limit)
    records = _check_records(release, data) if counts.holds else not_paired()
    return [structure, counts, private, total, records]


def _check_private(release: Suppressed, original: Transactions, question: Question) -> Check:
    """Whether each private item is published as often as it occurs, unless all rare ones went."""
    private, limit = question.promise.named_items.get("private", frozenset()), question.limit
    published, before = _published_supports(release, original)[0], item_supports(original)
    marks = original.vocabulary.marks(private)
    rare = f"in less than {100 * release.min_support:g} % of the records"
    below = (before > 0) & (before < release.min_support * len(original))
    kept = np.flatnonzero(below & (published > 0))
    if len(kept):
        text = f"the release says that items {rare} were left out, but publishes some of them"
        return Check("private", False, text, _witnesses(release, original, kept[:limit]))
    common = marks & ~below
    changed = np.flatnonzero(common & (published != before))
    if len(changed):
        text = f"{are(len(changed), 'private item')} not published as often as in the original"
        return Check("private", False, text, _witnesses(release, original, changed[:limit]))
    number = int((common & (before > 0)).sum())
    text = f"{are(number, 'private item')} published, each as often as in the original"
    if (marks & below).any():
        text += f"; those {rare} are left out, as the release says"
    return Check("private", True, text)


def _check_total(release: Suppressed, original: Transactions, limit: int) -> Check:
    """Whether every item is published as often as it occurs in the original, or not at all."""
    published, foreign = _published_supports(release, original)
    if foreign:
        witness = Witness(f"{show_items(foreign)} does not occur in the original", foreign)
        text = f"{are(len(foreign), 'published item')} not in the original"
        return Check("suppression", False, text, (witness,))
    partly = np.flatnonzero((published != item_supports(original)) & (published > 0))
    if len(partly):
        text = f"{are(len(partly), 'item')} published, but not as often as in the original"
        return Check("suppression", False, text, _witnesses(release, original, partly[:limit]))
    text = "every item is published as often as it occurs in the original, or not at all"
    return Check("suppression", True, text)


def _published_supports(
    release: Suppressed, original: Transactions
) -> tuple[Int64s, tuple[str, ...]]:
    """The published support of each item of the original; and the published items not in it."""
    numbers, found = original.vocabulary.numbers, np.zeros(len(original.vocabulary), dtype=np.int64)
    foreign, weights = [], release.sizes[release.classes.rows]
    supports = sums(release.classes.items, weights, len(release.items)).tolist()
    for item, support in zip(release.items, supports, strict=True):
        if item in numbers:
            found[numbers[item]] = support
        elif support:
            foreign.append(item)
    return found, tuple(foreign)


def _witnesses(release: Suppressed, original: Transactions, items: Int64s) -> tuple[Witness, ...]:
    """The support of each of these items in the original and in the release."""
    published, before = _published_supports(release, original)[0], item_supports(original)
    found = []
    for number in items.tolist():
        item, here = original.vocabulary[number], int(published[number])
        text = f"{item} occurs in {before[number]} original records and is published in {here}"
        found.append(Witness(text, (item,), here, private=True))
    return tuple(found)


def _check_records(release: Suppressed, original: Transactions) -> Check:
    """Whether the published records are the originals without the suppressed items."""
    pairs = zip(release.classes, release.sizes.tolist(), strict=True)
    left = {tuple(sorted(record)): size for record, size in pairs}
    items, remains = set(release.items), []
    for record in original:
        remain = tuple(sorted(item for item in record if item in items))
        remains.append(remain)
        left[remain] = left.get(remain, 0) - 1
        if left[remain] < 0:
            becomes = f"the original {show_items(record)} becomes {show_items(remain)}"
            witness = Witness(
                f"{becomes}, which is published less often than originals become it",
                remain,
                original=record,
                private=True,
            )
            text = "an original without its suppressed items is not published"
            return Check("containment", False, text, (witness,))
    if release.alignment is not None and not _is_aligned(release, remains):
        text = "the alignment of the release pairs an original with a record it cannot become"
        return Check("containment", False, text)
    text = "each published record is its original without the suppressed items"
    compared = "only items were removed"
    supports = "so all supports are unchanged"
    return Check("containment", True, f"{text}, {supports}", compared=compared, exact=True)


def _is_aligned(release: Suppressed, remains: list[tuple[str, ...]]) -> bool:
    assert release.alignment is not None
    classes = [tuple(sorted(record)) for record in release.classes]
    return len(release.alignment) == len(remains) and all(
        classes[number] == remain
        for number, remain in zip(release.alignment.tolist(), remains, strict=True)
    )

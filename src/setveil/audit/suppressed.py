"""Is a suppressed release what its original leaves when some items are taken out of it, everywhere, and no private one but rare ones?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from setveil.audit.generalized import check_record_count
from setveil.audit.question import Question
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.transactions import Bags, Transactions
from setveil.published.suppressed import Suppressed
from setveil.words import are

Numbers = npt.NDArray[np.int64]


def check_suppressed(release: Suppressed, question: Question) -> list[Check]:
    """Whether a suppressed release is well formed and comes from its original, if one is given.

    That is: no record is lost, no private item is missing, and every other item is published everywhere
    or nowhere.
    """
    structure, original = check_suppressed_structure(release), question.original
    if original is None or not structure.holds:
        return [structure]
    data = original.sets() if isinstance(original, Bags) else original
    counts = check_record_count(release, data)
    return [
        structure,
        counts,
        _check_private(release, data, question),
        _check_total(release, data, question.limit),
        _check_records(release, data, counts.holds),
    ]


def check_suppressed_structure(release: Suppressed) -> Check:
    """Whether the distinct records are sets, each with its number."""
    if isinstance(release.classes, Bags):
        return Check("structure", False, "a suppressed release has sets, not bags")
    if len(release.sizes) != len(release.classes) or release.sizes.min(initial=1) < 1:
        return Check("structure", False, "each distinct record needs a number of 1 or more")
    return Check("structure", True, "each published record is a set of items")


def _published_supports(release: Suppressed, original: Transactions) -> tuple[Numbers, list[str]]:
    """How many published records hold each item of the original, and the published items that it does not have."""
    classes = release.classes
    supports = np.bincount(
        classes.items, weights=release.sizes[classes.rows], minlength=len(classes.vocabulary)
    ).astype(np.int64)
    numbers, found = original.vocabulary.numbers, np.zeros(len(original.vocabulary), dtype=np.int64)
    foreign = []
    for item, support in zip(classes.vocabulary, supports.tolist(), strict=True):
        if item in numbers:
            found[numbers[item]] = support
        elif support:
            foreign.append(item)
    return found, foreign


def _check_private(release: Suppressed, original: Transactions, question: Question) -> Check:
    """Whether each private item is published as often as it occurs, unless it is rare and the release
    says that all rare items were left out."""
    private, limit = question.promise.named_items.get("private", frozenset()), question.limit
    published, before = _published_supports(release, original)[0], original.supports()
    marks = np.fromiter(
        (item in private for item in original.vocabulary),
        dtype=bool,
        count=len(original.vocabulary),
    )
    least = release.min_support
    below = (before > 0) & (before < least * len(original))
    kept = np.flatnonzero(below & (published > 0))
    if len(kept):
        text = f"the release says that items in less than {100 * least:g} % of the records were left out, but publishes some of them"
        found = [
            _support_witness(original.vocabulary[item], int(before[item]), int(published[item]))
            for item in kept[:limit].tolist()
        ]
        return Check("private", False, text, tuple(found))
    rare = marks & below
    touched = np.flatnonzero(marks & ~rare & (published != before))
    if not len(touched):
        text = f"{are(int((marks & ~rare & (before > 0)).sum()), 'private item')} published, each as often as it stood"
        if rare.any():
            text += f"; those in less than {100 * least:g} % of the records are left out, as the release says"
        return Check("private", True, text)
    witnesses = [
        _support_witness(original.vocabulary[item], int(before[item]), int(published[item]))
        for item in touched[:limit].tolist()
    ]
    return Check(
        "private",
        False,
        f"{len(touched)} private items are not published as often as they stood",
        tuple(witnesses),
    )


def _check_total(release: Suppressed, original: Transactions, limit: int) -> Check:
    """Whether every item is published as often as it stood, or not at all."""
    published, foreign = _published_supports(release, original)
    if foreign:
        witness = Witness(
            f"{show_items(tuple(foreign))} stands in no original record", tuple(foreign)
        )
        return Check(
            "suppression",
            False,
            f"{len(foreign)} published items do not stem from the original",
            (witness,),
        )
    before = original.supports()
    partly = np.flatnonzero((published != before) & (published > 0))
    if not len(partly):
        return Check(
            "suppression", True, "every item is published as often as it stood, or nowhere"
        )
    witnesses = [
        _support_witness(original.vocabulary[item], int(before[item]), int(published[item]))
        for item in partly[:limit].tolist()
    ]
    return Check(
        "suppression",
        False,
        f"{len(partly)} items are published, but not as often as they stood",
        tuple(witnesses),
    )


def _support_witness(item: str, before: int, now: int) -> Witness:
    return Witness(
        f"{item} stood in {before} records and is published in {now}", (item,), now, private=True
    )


def _check_records(release: Suppressed, original: Transactions, counted: bool) -> Check:
    """Whether the published records are the originals without the items that are gone, one for one; then all supports are unchanged."""
    if not counted:
        return Check(
            "containment",
            False,
            "the published records cannot be the originals one for one: their numbers differ",
        )
    published = {
        tuple(sorted(record)): size
        for record, size in zip(release.classes, release.sizes.tolist(), strict=True)
    }
    items = set(release.items)
    left, images = dict(published), []
    for record in original:
        image = tuple(sorted(item for item in record if item in items))
        images.append(image)
        left[image] = left.get(image, 0) - 1
        if left[image] < 0:
            witness = Witness(
                f"the original {show_items(record)} leaves {show_items(image)}, which is not published as often as originals leave it",
                image,
                original=record,
                private=True,
            )
            return Check(
                "containment",
                False,
                "an original record is not published as what suppression leaves of it",
                (witness,),
            )
    if release.alignment is not None and not _is_aligned(release, images):
        return Check(
            "containment",
            False,
            "the alignment of the release gives an original record to a record that is not its image",
        )
    return Check(
        "containment",
        True,
        "every published record is its original without the suppressed items, so all supports are unchanged",
    )


def _is_aligned(release: Suppressed, images: list[tuple[str, ...]]) -> bool:
    assert release.alignment is not None
    classes = [tuple(sorted(record)) for record in release.classes]
    return len(release.alignment) == len(images) and all(
        classes[number] == image
        for number, image in zip(release.alignment.tolist(), images, strict=True)
    )

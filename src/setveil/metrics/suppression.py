"""What suppressing items, or single occurrences of them, cost."""

from __future__ import annotations

import numpy as np

from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags


def suppressed_share(release: Suppressed, original: Transactions) -> float:
    """The share of the original occurrences whose item is not published; of bags an item that is published counts with all its counts."""
    check_fits(release, original)
    published = np.fromiter(
        (item in release.items for item in original.vocabulary),
        dtype=bool,
        count=len(original.vocabulary),
    )
    counts = (
        original.counts
        if isinstance(original, Bags)
        else np.ones(len(original.items), dtype=np.int64)
    )
    lost = int(counts[~published[original.items]].sum())
    return lost / original.occurrences if original.occurrences else 0.0


def unpublished_share(release: TypicalBags, original: Transactions) -> float:
    """The share of the original occurrences that no published occurrence represents."""
    return 1 - published_share(release, original)


def published_share(release: TypicalBags, original: Transactions) -> float:
    """The share of the original occurrences that published ones stand for; 1 when there are none."""
    published = int((release.classes.counts * release.sizes[release.classes.rows]).sum())
    if len(release) != len(original):
        raise MisfitError(f"it has {len(release)} records, the original {len(original)}")
    if published > original.occurrences:
        raise MisfitError(
            f"it shows {published} occurrences, the original has {original.occurrences}"
        )
    return published / original.occurrences if original.occurrences else 1.0


def check_fits(release: Suppressed, original: Transactions) -> None:
    """Refuse an original that has another number of records, or in which a published item does not stand as often as in the release."""
    if len(release) != len(original):
        raise MisfitError(f"it has {len(release)} records, the original {len(original)}")
    classes, numbers, before = release.classes, original.vocabulary.numbers, original.supports()
    published = np.bincount(
        classes.items, weights=release.sizes[classes.rows], minlength=len(classes.vocabulary)
    ).astype(np.int64)
    for item, support in zip(classes.vocabulary, published.tolist(), strict=True):
        if item not in numbers or before[numbers[item]] != support:
            raise MisfitError(
                "a published item stands in another number of records than in the original",
                published=(item,),
            )

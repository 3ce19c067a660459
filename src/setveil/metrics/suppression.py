"""What it cost to suppress items or single occurrences."""

from __future__ import annotations

import numpy as np

from setveil.alignment.align import check_size
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags


def suppressed_share(release: Suppressed, original: Transactions) -> float:
    """The share of the original occurrences whose item is not published."""
    check_fits(release, original)
    found = (item in release.items for item in original.vocabulary)
    published = np.fromiter(found, dtype=bool, count=len(original.vocabulary))
    lost = ~published[original.items]
    count = int(original.counts[lost].sum() if isinstance(original, Bags) else lost.sum())
    return count / original.occurrences if original.occurrences else 0.0


def unpublished_share(release: TypicalBags, original: Transactions) -> float:
    """The share of the original occurrences that no published occurrence represents."""
    return 1 - published_share(release, original)


def published_share(release: TypicalBags, original: Transactions) -> float:
    """The share of the original occurrences that are published; 1 if there are none."""
    published = int((release.classes.counts * release.sizes[release.classes.rows]).sum())
    check_size(release, original)
    if published > original.occurrences:
        raise MisfitError(
            f"it shows {published} occurrences, the original has {original.occurrences}"
        )
    return published / original.occurrences if original.occurrences else 1.0


def check_fits(release: Suppressed, original: Transactions) -> None:
    """Refuse an original with another number of records, or other supports of published items."""
    check_size(release, original)
    numbers, before = original.vocabulary.numbers, original.supports()
    for item, support in release.term_totals().items():
        if item not in numbers or before[numbers[item]] != support:
            raise MisfitError(
                "a published item occurs in another number of records than in the original",
                published=(item,),
            )

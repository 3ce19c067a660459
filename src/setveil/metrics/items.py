"""How wrong the supports of single items are, for every form."""

import numpy as np

from setveil.alignment.align import over_whole_tree
from setveil.data.arrays import Floats
from setveil.data.transactions import Transactions
from setveil.published.release import Release


def item_error(release: Release, original: Transactions) -> float:
    """Error of the supports of items: how many of the occurrences an analyst miscounts.

    Formula: sum of |so - se| over all items of the original, divided by the sum of so, where so is
    the number of original records with the item, and se the number that the release alone lets one
    expect (`release.estimates`).

    Range: 0 (the supports of all items are right) upward; 1 if nothing is published, at most 2 if
    as many occurrences are expected as there were. 0 if no record has items.

    Example:
        Of two people behind "Alcohol" one is expected to have bought beer, and one wine; both
        bought beer.

        >>> from setveil import Generalized, Hierarchy, KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> release = Generalized.of([["Alcohol"], ["Alcohol"]], tree, KAnonymity(k=2))
        >>> item_error(release, Transactions.of([["beer"], ["beer"]]))
        0.5
    """
    truth = original.supports()
    total = int(truth.sum())
    if not total:
        return 0.0
    return float(np.abs(expected_supports(release, original) - truth).sum() / total)


def expected_supports(release: Release, original: Transactions) -> Floats:
    """How many records an analyst expects to have each item of the original."""
    items = list(original.vocabulary.labels)
    queries = np.arange(len(items), dtype=np.int64)[:, None]
    return over_whole_tree(release, original).estimates(items, queries)

"""What a disassociated release tells for certain, as weighted rows, and its top itemsets with bounds."""

from __future__ import annotations

import numpy as np

from setveil.data.transactions import Counts, Transactions
from setveil.errors import ParameterError, check_count
from setveil.metrics.itemsets import top_itemsets
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstruct
from setveil.published.release import Support


def certain_rows(release: Disassociated) -> tuple[Transactions, Counts]:
    """Rows and how often each stands: the subrecords of all chunks, and each term once for each term chunk it stands in.

    The support of an itemset in them is its certain support inside chunks: no original has less.

    Example:
        >>> from setveil.promises import KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> rows, counts = certain_rows(Disassociated.of_clusters([SimpleCluster(3, [{("a", "b"): 2}], ["c"])], KmAnonymity(k=2, m=2)))
        >>> list(zip(rows, counts.tolist()))
        [(('a', 'b'), 2), (('c',), 1)]
    """
    loose = release.terms.supports()
    terms = np.flatnonzero(loose)
    inside = release.subrecords
    indptr = np.concatenate((inside.indptr, inside.indptr[-1] + np.arange(1, len(terms) + 1)))
    items = np.concatenate((inside.items, terms.astype(np.int32)))
    return Transactions(indptr, items, release.items), np.concatenate(
        (release.subrecord_counts, loose[terms])
    )


def top_itemsets_with_bounds(
    release: Disassociated, count: int = 100, *, least_size: int = 1, seed: int = 0
) -> list[tuple[tuple[str, ...], Support]]:
    """The itemsets that most records are expected to hold, each with its bounds, told from the release alone.

    Looked at are the top itemsets inside chunks and those of one reconstruction, twice as many as asked for of each; they are ordered by
    what is expected, then by the lower bound, then the shorter first. An itemset whose items stand apart everywhere may be missed if that
    one reconstruction happens to bring it together rarely.

    Example:
        >>> from setveil.promises import KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> release = Disassociated.of_clusters([SimpleCluster(4, [{("a", "b"): 3}, {("c",): 2}])], KmAnonymity(k=2, m=2))
        >>> top_itemsets_with_bounds(release, 2, least_size=2)
        [(('a', 'b'), Support(lower=3, upper=3, expected=3.0)), (('a', 'c'), Support(lower=1, upper=2, expected=1.5))]
    """
    if not isinstance(release, Disassociated):
        raise ParameterError(
            "release",
            release,
            "only a disassociated release needs bounds; top_itemsets takes any other",
        )
    check_count("count", count, 1)
    rows, counts = certain_rows(release)
    found = {
        itemset
        for itemset, _ in top_itemsets(rows, 2 * count, least_size=least_size, weights=counts)
    }
    found |= {
        itemset
        for itemset, _ in top_itemsets(reconstruct(release, seed), 2 * count, least_size=least_size)
    }
    bounded = [(itemset, release.support(itemset)) for itemset in found]
    bounded.sort(key=lambda entry: (-entry[1].expected, -entry[1].lower, len(entry[0]), entry[0]))
    return bounded[:count]

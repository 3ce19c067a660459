"""What generalizing and suppressing items cost: ncp, lm, blm, distortion; and class sizes."""

from collections.abc import Callable

import numpy as np

from setveil.alignment.align import aligned, check_size, representing_nodes
from setveil.data.arrays import Floats, Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError
from setveil.hierarchy.tree import Hierarchy
from setveil.published.generalized import Generalized
from setveil.published.release import RecordRelease
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags


def ncp(release: Generalized, original: Transactions, *, published: Int64s | None = None) -> float:
    """Normalized certainty penalty: how large a group replaces an item, as a share of all items.

    Formula: the average over all original occurrences of NCP(v), where v is the node that replaces
    the occurrence. NCP(v) = 0 if v has u = 1 leaf, else u / |I|, where |I| is the number of leaves
    of the hierarchy; a suppressed occurrence costs 1. [He2009] section 3.2

    Range: 0 (every item is published as it is) to 1 (every item became the root or was suppressed).
    0 if there are no occurrences.

    Departures from the paper: its formula sums over published items, its example over original
    occurrences; this follows the example.

    Example:
        Table 1 of the paper, where the loss is 1/3:

        >>> from setveil.promises import KAnonymity
        >>> alcohol = [(drink, "Alcohol", "ALL") for drink in ("Beer", "Wine")]
        >>> care = [(item, "Health Care", "ALL") for item in ("Diapers", "Pregnancy Test")]
        >>> original = Transactions.of([
        ...     ["Beer", "Diapers"], ["Wine", "Diapers", "Pregnancy Test"],
        ...     ["Beer", "Wine", "Pregnancy Test"], ["Beer", "Wine", "Diapers", "Pregnancy Test"]])
        >>> published = [["Alcohol", "Health Care"]] * 2 + [["Beer", "Wine", "Health Care"]] * 2
        >>> tree = Hierarchy.from_paths(alcohol + care)
        >>> round(ncp(Generalized.of(published, tree, KAnonymity(k=2)), original), 4)
        0.3333
    """
    return _average(release, original, ncp_of_nodes, published)


def lm(release: Generalized, original: Transactions, *, published: Int64s | None = None) -> float:
    """Loss metric: how many other items an item may be confused with, as a share of all others.

    Formula: the average over all original occurrences of LM(v) = (u - 1) / (|I| - 1), where v is
    the node over u of the |I| leaves that replaces the occurrence; a suppressed occurrence costs 1.

    Range: 0 to 1, as `ncp`; a tree of one leaf costs 0.

    Example:
        Two people bought alcohol, one of them is published as such, in a tree of three items:
        (1/2 + 0) / 2.

        >>> from setveil.promises import KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> rows, tree = [["Alcohol"], ["wine"]], Hierarchy.from_paths(paths)
        >>> lm(Generalized.of(rows, tree, KAnonymity(k=2)), Transactions.of([["beer"], ["wine"]]))
        0.25
    """
    return _average(release, original, lm_of_nodes, published)


def blm(release: Generalized, original: Transactions, *, published: Int64s | None = None) -> float:
    """Loss metric of bags: an occurrence costs the LM of its node, or 1 if it is not published.

    Formula: if a node v occurs c times in a published record whose original has o occurrences below
    v, then c of them cost LM(v) = (u - 1) / (|I| - 1) and o - c cost 1; the average over all
    original occurrences. In sets every covered occurrence is published, so `blm` equals `lm`. For
    typical bags see `setveil.metrics.typical_bags.loss_of_slots`. [Liu2010b] section V-A

    Range: 0 to 1.

    Example:
        Five occurrences, four of them published under a node of LM 1/2: (4 x 1/2 + 1) / 5.

        >>> from setveil.data.transactions import Bags
        >>> from setveil.promises import KAnonymity
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> original = Bags.of([{"beer": 2, "wine": 1}, {"beer": 1, "wine": 1}])
        >>> rows, tree = [{"Alcohol": 2}, {"Alcohol": 2}], Hierarchy.from_paths(paths)
        >>> blm(Generalized.of(rows, tree, KAnonymity(k=2), counted=True), original)
        0.6
    """
    return lm(release, original, published=published)


def distortion(
    release: Generalized, original: Transactions, *, published: Int64s | None = None
) -> float:
    """The share of the original occurrences that are not published at all.

    Formula: suppressed occurrences / all occurrences. If a node occurs c times for o > c
    occurrences in a bag, o - c are suppressed. A typical bag publishes one occurrence of each of
    its people per occurrence in it; all others are suppressed.

    Range: 0 to 1.

    Example:
        In the example of `blm`, one of five occurrences is not published: 0.2."""
    return _average(release, original, lambda tree: np.zeros(len(tree)), published)


def class_sizes(release: RecordRelease, original: Transactions) -> dict[str, float]:
    """How many records are published alike: minimum, median, mean and maximum.

    Formula: over the classes of equal published records (bags: with equal counts), their sizes.

    Range: 1 to the number of records; all 0 if nothing is published. k-anonymity means min >= k.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> release = Generalized.of([["Alcohol"], ["wine"], ["wine"]], tree, KAnonymity(k=2))
        >>> class_sizes(release, Transactions.of([["beer"], ["wine"], ["wine"]]))
        {'min': 1.0, 'median': 1.5, 'mean': 1.5, 'max': 2.0}
    """
    sizes = release.sizes if len(release.sizes) else np.zeros(1)
    ends = {"min": float(sizes.min()), "median": float(np.median(sizes))}
    return {**ends, "mean": float(sizes.mean()), "max": float(sizes.max())}


def ncp_of_nodes(tree: Hierarchy) -> Floats:
    """The NCP of each node: 0 over one leaf, else its share of the leaves."""
    return np.where(tree.widths > 1, tree.widths / max(tree.leaf_count, 1), 0.0)


def lm_of_nodes(tree: Hierarchy) -> Floats:
    """The LM of each node: its leaves but one over all leaves but one."""
    return (tree.widths - 1) / max(tree.leaf_count - 1, 1)


def _average(
    release: Generalized,
    original: Transactions,
    cost: Callable[[Hierarchy], Floats],
    published: Int64s | None,
) -> float:
    """The average cost of the original occurrences: of its node, or 1 if suppressed."""
    if not original.occurrences:
        return 0.0
    if published is None:
        release = aligned(release, original)
        published = published_occurrences(release, original)
    suppressed = original.occurrences - int(published.sum())
    return float((suppressed + (published * cost(release.hierarchy)).sum()) / original.occurrences)


def published_occurrences(release: Generalized, original: Transactions) -> Int64s:
    """How many original occurrences each node is published for: in sets all that it covers."""
    classes, size = release.classes, len(release.hierarchy)
    if isinstance(classes, Bags):
        return np.bincount(
            classes.items, weights=classes.counts * release.sizes[classes.rows], minlength=size
        ).astype(np.int64)
    nodes = representing_nodes(aligned(release, original), original)
    counts = original.counts if isinstance(original, Bags) else None
    found = np.bincount(nodes + 1, weights=counts, minlength=size + 1)  # first those without a node
    return found[1:].astype(np.int64)


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
            problem = "a published item occurs in another number of records than in the original"
            raise MisfitError(problem, published=(item,))

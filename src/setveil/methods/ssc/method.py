"""The method SSC: clusters of similar bags, and one typical bag published for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from setveil.data.arrays import Int32s
from setveil.data.transactions import Bags
from setveil.errors import DataError, ParameterError
from setveil.hierarchy.neighbours import Neighbours, common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method, Request
from setveil.methods.ssc.blocks import blocks, prepare
from setveil.parameters import with_default
from setveil.promises import Promise, VocabularyKAnonymity
from setveil.published.typical_bags import TypicalBags

if TYPE_CHECKING:
    from setveil.kernels.ssc.centre import NearTerms, Rule
    from setveil.methods.ssc.cluster import Clusters, Typical

BLOCK = 20_000  # how many bags are clustered together at most, unless `exact` is set
SCALE = 1_000  # costs are whole numbers of thousandths
LIGHT = 10
"""In the best variant the loss decides, and distance weighs this many times less than omega."""
MOST_OMEGA = 10_000
MOST_COST = 2.0**59
"""The largest distance of a bag to a cluster that can be handled, with room to add some."""
_PAIRS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class SSC(Method[TypicalBags]):
    """Clusters bags that are close in meaning and publishes one typical bag per cluster.

    Two bags are compared by matching their occurrences: terms at most `epsilon` apart may be
    matched, and an unmatched occurrence costs `omega`. A cluster begins with the bag farthest from
    all centres so far, and takes the bag nearest to its centre until it has k. The centre (the
    paper's hyper vocabulary) consists of slots that hold one term of each member, matched one
    member after the other; what finds no match is dropped. The fewer than k bags left at the end
    join the nearest centre. [Liu2010b] section IV

    Bags count repeats; sets are bags of single terms. The result depends only on the bags, not on
    their order or the number of threads; ties go to the first in a canonical order (by terms and
    counts). A cluster without slots is published as empty bags, at full loss.

    Departures from the paper (`docs/methods/ssc.md` has reasons and figures):
        - Clusters begin with the farthest bag: the paper's pseudocode says the first, its example
          does not. The paper does not give the cost of an unmatched slot: omega for each term in
          it. In both models an unmatched occurrence costs omega.
        - By default (`variant="best"`) matching also weighs how much is lost by publishing a pair,
          and k or more equal bags are a cluster of their own; then clusters exchange members if
          both together lose less (`exchanges`). `variant="paper"` has none of these.
        - More than 20,000 bags are first divided into blocks of similar ones, and each block is
          clustered on its own; with `exact=True` there is one block.
        - If there are 1 to k - 1 empty bags, the shortest others are published empty as well.

    Cost: In a block of n bags, n^2 / 2 quick comparisons and some tens of matchings per bag; with
        many blocks linear in the data. About 400 bytes per occurrence.

    Example:
        The running example of the paper:

        >>> alcohol, milk = ("Alcohol", "Edibles", "Goods"), ("Milk", "Edibles", "Goods")
        >>> clothes, shoes = ("Clothes", "Wearables", "Goods"), ("Footwear", "Wearables", "Goods")
        >>> above = {"Wine": alcohol, "Vino": alcohol, "Raw-milk": milk, "Homo-milk": milk}
        >>> above |= {"Jackets": clothes, "Pants": clothes, "Boots": shoes, "Shoes": shoes}
        >>> tree = Hierarchy.from_paths([(term, *path) for term, path in above.items()])
        >>> texts = ["Wine Wine Jackets Boots", "Vino Vino Jackets Shoes",
        ...     "Wine Vino Raw-milk Jackets Shoes", "Vino Raw-milk Raw-milk Homo-milk",
        ...     "Raw-milk Homo-milk Homo-milk Jackets Pants"]
        >>> data = Bags.of(text.split() for text in texts)
        >>> release = SSC(variant="paper").anonymize(data, VocabularyKAnonymity(k=2), tree)
        >>> bags = release.classes
        >>> counts = np.split(bags.counts, bags.indptr[1:-1])
        >>> for bag, times, size in zip(bags, counts, release.sizes):
        ...     print(size, dict(zip(bag, times.tolist())))
        2 {'Homo-milk': 1, 'Raw-milk': 2}
        3 {'Jackets': 1, 'Shoes': 1, 'Vino': 1, 'Wine': 1}
    """

    name: ClassVar[str] = "ssc"
    promises: ClassVar[tuple[type[Promise], ...]] = (VocabularyKAnonymity,)
    needs_hierarchy: ClassVar[bool] = True
    reads: ClassVar[Literal["bags"]] = "bags"
    trial: ClassVar[Promise] = VocabularyKAnonymity(k=2)
    form: ClassVar[str] = TypicalBags.form

    epsilon: int = with_default(
        4, "How many steps apart in the hierarchy matched terms may be.", least=0
    )
    omega: float = with_default(
        10.0, "The cost of an unmatched occurrence, in steps; more than epsilon."
    )
    model: Literal["nil", "maximum"] = with_default(
        "nil", "`nil` finds the cheapest matching; `maximum` matches as much as possible first."
    )
    seed_rule: Literal["farthest", "first"] = with_default(
        "farthest",
        "The bag that begins a cluster: the `farthest` from all clusters, or the `first`.",
    )
    typical: Literal["majority", "slots", "generalized"] = with_default(
        "majority",
        "What is published for matched terms: the one closest to the others (`majority`), all "
        "of them (`slots`), or the smallest group that contains them (`generalized`).",
    )
    exact: bool = with_default(
        False, f"Compare every bag with all others, even if there are more than {BLOCK:,}."
    )
    variant: Literal["best", "paper"] = with_default(
        "best", "`best` loses less; `paper` is the published algorithm, for comparison."
    )
    exchanges: int = with_default(
        2, "How many rounds of exchanging members between clusters; 0 is fastest.", least=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.epsilon < self.omega <= MOST_OMEGA:
            allowed = f"it must be above epsilon = {self.epsilon} and at most {MOST_OMEGA}"
            raise ParameterError("omega", self.omega, allowed)

    def _anonymize(self, request: Request[VocabularyKAnonymity]) -> TypicalBags:
        from setveil.methods.ssc.cluster import matches_of

        bags, hierarchy = request.records, request.tree
        assert isinstance(bags, Bags)
        self._check_size(bags, request.promise.k)
        near = self._near(bags, hierarchy)
        made = self._clusters(request, bags, near)
        alignment = np.full(len(bags), len(made), dtype=np.int64)
        alignment[made.members] = np.repeat(np.arange(len(made)), made.sizes)
        size = len(made) + bool((alignment == len(made)).any())  # bags in no cluster become empty
        typical = self._typical(bags, made, near, hierarchy, size)
        is_known = typical.hierarchy is not None or hierarchy.origin.kind == "given"
        return TypicalBags.of_rows(
            typical.bags,
            request.promise,
            self.to_dict(),
            alignment=alignment,
            slots=typical.slots,
            hierarchy=typical.hierarchy,
            semantics=None if is_known else hierarchy.origin,
            matches=matches_of(made),
            epsilon=self.epsilon,
            omega=self.omega,
        )

    def _clusters(
        self, request: Request[VocabularyKAnonymity], bags: Bags, near: NearTerms
    ) -> Clusters:
        from setveil.methods.ssc.cluster import cluster, joined_clusters, of_equal, space_of

        k, is_best = request.promise.k, self.variant == "best"
        rule = self._rule(k)
        prepared = prepare(bags, k, group_equal=is_best)
        most = 1 << 62 if self.exact else max(BLOCK, 2 * k)  # half of it is enough for a cluster
        parts = blocks(bags.take(prepared.rows), request.tree, most) if len(prepared.rows) else []
        rows = [prepared.rows[part] for part in parts]
        spaces = [space_of(bags.take(part), near, rule) for part in rows]
        rounds = self.exchanges if is_best else 0
        found = cluster(spaces, rounds, request.engine, request.progress)
        made = [clusters.of(part) for clusters, part in zip(found, rows, strict=True)]
        return joined_clusters([*made, of_equal(bags, prepared.groups)])

    def _typical(
        self, bags: Bags, made: Clusters, near: NearTerms, hierarchy: Hierarchy, size: int
    ) -> Typical:
        from setveil.methods.ssc.cluster import generalized, majority, slots

        if self.typical == "slots":
            return slots(bags, made, size)
        if self.typical == "generalized":
            return generalized(bags, made, hierarchy, size)
        return majority(bags, made, near, size)

    def _check_size(self, data: Bags, k: int) -> None:
        """Refuse bags whose costs do not fit in 64 bits; a cluster has fewer than 2 k members."""
        largest = int(data.totals.max(initial=0))
        outweighs = int(data.lengths.max(initial=0)) + 2 if self.model == "maximum" else 2
        if 2 * k * self.omega * SCALE * outweighs * largest > MOST_COST:
            problem = f"a bag of {largest:.3g} occurrences is too large for omega = {self.omega:g}"
            raise DataError(problem, remedy="make its counts or {omega} smaller")

    def _rule(self, k: int) -> Rule:
        from setveil.kernels.ssc.centre import Rule

        return Rule(
            k=np.int64(k),
            omega=np.int64(round(self.omega * SCALE)),
            unit=np.int64(SCALE if self.variant == "paper" else SCALE // LIGHT),
            maximum=np.int64(self.model == "maximum"),
            farthest=np.int64(self.seed_rule == "farthest"),
        )

    def _near(self, data: Bags, hierarchy: Hierarchy) -> NearTerms:
        """The relevant terms of each term, with the loss of publishing both as one."""
        from setveil.kernels.ssc.centre import NearTerms

        found = hierarchy.neighbours(data.vocabulary, self.epsilon)
        losses = np.zeros(len(found.items), dtype=np.int32)
        if self.variant == "best":
            self._fill_losses(losses, found, hierarchy.leaf_numbers(data.vocabulary), hierarchy)
        return NearTerms(found.indptr, found.items, found.distances, losses)

    def _fill_losses(
        self, losses: Int32s, found: Neighbours, leaves: Int32s, hierarchy: Hierarchy
    ) -> None:
        """Write for each pair of neighbours omega times the LM of the lowest node over both."""
        whole = max(hierarchy.leaf_count - 1, 1)
        costs = (hierarchy.widths - 1) * round(self.omega * SCALE) // whole
        for start in range(0, len(losses), _PAIRS):
            pairs = np.arange(start, min(start + _PAIRS, len(losses)))
            owners = np.searchsorted(found.indptr, pairs, side="right") - 1
            both = np.concatenate((leaves[owners], leaves[found.items[pairs]]))
            numbers = np.tile(np.arange(len(pairs)), 2)
            losses[pairs] = costs[common_ancestors(hierarchy, numbers, both, len(pairs))]

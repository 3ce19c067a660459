"""The method SSC: vocabularies in order, clusters around centres, a typical vocabulary for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from setveil.data.transactions import Bags
from setveil.errors import DataError, ParameterError
from setveil.hierarchy.ancestors import common_ancestors
from setveil.hierarchy.neighbours import Neighbours, check_epsilon
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method, Request
from setveil.methods.ssc.blocks import blocks
from setveil.methods.ssc.prepare import prepare
from setveil.promises import Promise, VocabularyKAnonymity
from setveil.published.typical_bags import TypicalBags

if TYPE_CHECKING:
    from setveil.kernels.ssc import centre as kernels

BLOCK = 20_000
"""TypicalBags that are clustered together at most, unless `exact` is asked for."""
SCALE = 1_000
"""Costs are whole numbers of thousandths."""
LIGHT = 10
"""In the best variant a step of distance weighs this many times less than omega says: the loss decides, distance tells equals apart."""
MOST_OMEGA = 10_000
MOST_COST = 2.0**59
"""What the distance of a vocabulary to a cluster may be at most, with room to add some."""
_PAIRS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class SSC(Method[TypicalBags]):
    """Clusters vocabularies that are close in meaning and publishes one typical vocabulary for each cluster.

    Two vocabularies are compared by matching their occurrences: terms at most `epsilon` apart may be matched, and what is not matched costs
    `omega`. A cluster begins with the vocabulary farthest from all centres made so far and takes the one nearest to its centre until it
    has k. The centre is a hyper vocabulary: slots that hold one term of each member, matched one member after the other; what finds no
    match is dropped. The fewer than k that are left over join the nearest centre. [Liu2010b] section IV

    Bags count repeats; sets are bags of single terms. The result depends on the vocabularies alone, not on their order nor on the number
    of threads; of equals the first in a canonical order (by terms and counts) is taken. A cluster without a slot is published as
    empty bags, at full loss.

    Departures from the paper (`docs/methods/ssc.md` has reasons and figures):
        - Clusters begin with the farthest vocabulary: the paper's pseudo code says the first, its example does not. The paper is also
          silent on the cost of an unmatched slot: omega for each term in it. In both models what is not matched costs omega.
        - By default (`variant="best"`) matching weighs what publishing a pair loses, not only how far apart it is, and k or more equal
          vocabularies are a cluster of their own; then clusters exchange members where both together lose less (`exchanges`).
          `variant="paper"` has none of these.
        - Above 20,000 vocabularies similar ones are put into blocks first, and each block is clustered by itself; `exact=True` has one.
        - Of 1 to k - 1 empty vocabularies and the shortest others k are published as empty.

    Cost:
        In a block of n vocabularies each step looks at each vocabulary that is left, so n^2 / 2 short looks and some tens of matchings for
        each vocabulary. Many blocks: linear. About 400 bytes for each occurrence.

    Example:
        The running example of the paper:

        >>> alcohol, milk = ("Alcohol", "Edibles", "Goods"), ("Milk", "Edibles", "Goods")
        >>> clothes, footwear = ("Clothes", "Wearables", "Goods"), ("Footwear", "Wearables", "Goods")
        >>> above = {"Wine": alcohol, "Vino": alcohol, "Raw-milk": milk, "Homo-milk": milk, "Jackets": clothes, "Pants": clothes,
        ...     "Boots": footwear, "Shoes": footwear}
        >>> tree = Hierarchy.from_paths([(term, *path) for term, path in above.items()])
        >>> data = Bags.of(text.split() for text in ["Wine Wine Jackets Boots", "Vino Vino Jackets Shoes",
        ...     "Wine Vino Raw-milk Jackets Shoes", "Vino Raw-milk Raw-milk Homo-milk", "Raw-milk Homo-milk Homo-milk Jackets Pants"])
        >>> release = SSC(variant="paper").anonymize(data, VocabularyKAnonymity(k=2), tree)
        >>> for bag, counts, size in zip(release.classes, np.split(release.classes.counts, release.classes.indptr[1:-1]), release.sizes):
        ...     print(size, dict(zip(bag, counts.tolist())))
        2 {'Homo-milk': 1, 'Raw-milk': 2}
        3 {'Jackets': 1, 'Shoes': 1, 'Vino': 1, 'Wine': 1}
    """

    name: ClassVar[str] = "ssc"
    promises: ClassVar[tuple[type[Promise], ...]] = (VocabularyKAnonymity,)
    needs_hierarchy: ClassVar[bool] = True
    reads: ClassVar[Literal["bags"]] = "bags"
    trial: ClassVar[Promise] = VocabularyKAnonymity(k=2)
    form: ClassVar[str] = TypicalBags.form

    epsilon: int = 4
    """Terms at most this many steps apart may be matched."""
    omega: float = 10.0
    """What each occurrence costs that is not matched, in steps; above epsilon."""
    model: Literal["nil", "maximum"] = "nil"
    """`nil` matches what costs least in all; `maximum` matches as many as possible first."""
    seed_rule: Literal["farthest", "first"] = "farthest"
    """A cluster begins with the vocabulary farthest from all centres, or with the first in canonical order."""
    typical: Literal["majority", "slots", "generalized"] = "majority"
    """What is published of a slot: its term closest to the others, all its terms, or the lowest node over them."""
    exact: bool = False
    """Whether each vocabulary is compared with all others, however many there are, not only with those of its block."""
    variant: Literal["best", "paper"] = "best"
    """`paper` weighs distances alone, for comparison."""
    exchanges: int = 2
    """In how many rounds each cluster may exchange a member for one of another; 0 is quickest."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_epsilon(self.epsilon)
        if not self.epsilon < self.omega <= MOST_OMEGA:
            raise ParameterError(
                "omega",
                self.omega,
                f"it must be above epsilon = {self.epsilon} and at most {MOST_OMEGA}",
            )
        if self.exchanges < 0:
            raise ParameterError(
                "exchanges", self.exchanges, "it must be a number of rounds, 0 or more"
            )

    def _anonymize(self, request: Request[VocabularyKAnonymity]) -> TypicalBags:
        from setveil.kernels.ssc.centre import Near
        from setveil.methods.ssc.cluster import cluster, joined_clusters, of_equal
        from setveil.methods.ssc.typical import publish

        bags, promise, hierarchy = request.records, request.promise, request.tree
        assert isinstance(bags, Bags)
        self._check_numbers(bags, promise.k)
        found = hierarchy.neighbours(bags.vocabulary, self.epsilon)
        near = Near(
            found.indptr, found.items, found.distances, self._losses(found, bags, hierarchy)
        )
        prepared = prepare(bags, promise.k, group_equal=self.variant == "best")
        parts = [
            prepared.rows[part]
            for part in blocks(bags.take(prepared.rows), hierarchy, self._most(promise.k))
        ]
        rounds = self.exchanges if self.variant == "best" else 0
        made = cluster(
            bags,
            parts if len(prepared.rows) else [],
            near,
            self._rule(promise.k),
            rounds,
            request.engine,
            request.progress,
        )
        made = joined_clusters([made, of_equal(bags, prepared.groups)])
        return publish(bags, made, near, hierarchy, promise, self.to_dict())

    def _check_numbers(self, data: Bags, k: int) -> None:
        """Refuse what would cost more than whole numbers of 64 bits can tell: a cluster has fewer than 2 k members."""
        largest = int(data.totals.max(initial=0))
        outweighs = int(data.lengths.max(initial=0)) + 2 if self.model == "maximum" else 2
        if 2 * k * self.omega * SCALE * outweighs * largest > MOST_COST:
            raise DataError(
                f"a vocabulary of {largest:.3g} occurrences is too large for omega = {self.omega:g}; make one of them smaller"
            )

    def _most(self, k: int) -> int:
        """How many vocabularies a block may hold; half of that is still enough for a cluster."""
        return 1 << 62 if self.exact else max(BLOCK, 2 * k)

    def _rule(self, k: int) -> kernels.Rule:
        from setveil.kernels.ssc import centre as kernels

        unit = SCALE if self.variant == "paper" else SCALE // LIGHT
        numbers = (
            k,
            round(self.omega * SCALE),
            unit,
            self.model == "maximum",
            self.seed_rule == "farthest",
        )
        return kernels.Rule(*(np.int64(number) for number in numbers))

    def _losses(self, found: Neighbours, data: Bags, hierarchy: Hierarchy) -> npt.NDArray[np.int32]:
        """For each pair of neighbours omega times the LM of the lowest node over both; nothing where distances alone count."""
        losses = np.zeros(len(found.items), dtype=np.int32)
        if self.variant == "paper":
            return losses
        leaves = hierarchy.leaf_numbers(data.vocabulary)
        costs = (
            (hierarchy.widths - 1) * round(self.omega * SCALE) // max(hierarchy.leaf_count - 1, 1)
        )
        for start in range(0, len(losses), _PAIRS):
            pairs = slice(start, start + _PAIRS)
            count = len(losses[pairs])
            owners = (
                np.searchsorted(found.indptr, np.arange(start, start + count), side="right") - 1
            )
            both = np.concatenate((leaves[owners], leaves[found.items[pairs]]))
            losses[pairs] = costs[
                common_ancestors(hierarchy, np.tile(np.arange(count), 2), both, count)
            ]
        return losses

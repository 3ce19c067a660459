"""The method SSC: clusters of similar bags, and one typical bag published for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags
from setveil.errors import DataError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method, Request
from setveil.methods.ssc.nearbags import blocks, prepare
from setveil.parameters import with_default
from setveil.promises import Promise, VocabularyKAnonymity
from setveil.published.typical_bags import TypicalBags

if TYPE_CHECKING:
    from setveil.kernels.ssc.centre import NearTerms, Rule
    from setveil.methods.ssc.clusters import Clusters, Typical

BLOCK = 30_000  # how many bags are clustered together at most, unless `exact` is set
SCALE = 1_000  # costs are whole numbers of thousandths
PAPER = {"term_epsilon": 4, "omega": 10.0, "model": "nil", "seed_rule": "farthest"}
"""The settings that only `variant="paper"` uses, and what they are if not given."""
MOST_OMEGA = 10_000
MOST_COST = 2.0**59
"""The largest distance of a bag to a cluster that can be handled, with room to add some."""


@dataclass(frozen=True, kw_only=True)
class SSC(Method[TypicalBags]):
    """Clusters bags that are close in meaning and publishes one typical bag per cluster.

    All members of a cluster are published as the same bag of *slots*, each of which holds one
    occurrence of each member. What a slot loses is the share of the hierarchy below the lowest node
    over its terms. A cluster begins with the longest bag left and takes the bag by which least is
    lost, until it has k; the fewer than k bags left at the end join where least is lost. On request
    clusters then exchange members if both together lose less (`exchanges`).

    No matching is needed to know what a cluster keeps. At or below a node it can have as many slots
    as each of its members has occurrences there, and all nodes reach that at once, from the lowest
    up. So a cluster keeps a weighted sum of its *common profile*: for each node the least number of
    occurrences that any member has below it. Nothing is too far apart to be matched, and only what
    has nothing but the root in common is dropped. A term that at least 2 k bags have counts twice
    if it is published as itself, so that frequent terms and itemsets survive.

    A slot shows the term that most members have in it and that is not yet published as often as it
    occurs in the data, so that supports stay near the true ones (`typical="majority"`); or all its
    terms (`slots`), the lowest node above them (`generalized`), or a term if at least half of the
    members have it, else the node (`mixed`).

    Bags count repeats; sets are bags of single terms. The result depends only on the bags, not on
    their order or the number of threads; ties go to the first in a canonical order (by length, then
    by terms and counts). A cluster without slots is published as empty bags, at full loss.

    Departures from the paper (`docs/methods/ssc.md` has reasons and figures):
        - `variant="paper"` is the paper's algorithm: terms at most `term_epsilon` apart are matched
          one member after the other, and what is unmatched costs `omega`. Clusters begin with the
          farthest bag: the paper's pseudocode says the first, its example does not. The cost of an
          unmatched slot, which the paper does not give, is omega for each term in it, in both
          models.
        - The default is as above, and k or more equal bags are a cluster of their own.
        - `typical="mixed"` with `variant="paper"` also publishes words without a partner within
          epsilon, below more general nodes.
        - More than 30,000 bags are first divided into blocks of similar ones, and each block is
          clustered on its own; with `exact=True` there is one block.
        - If there are 1 to k - 1 empty bags, the shortest others are published empty as well.

    Cost: In a block of n bags, n^2 / 2 quick comparisons; with many blocks linear in the data.

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
    former: ClassVar[Mapping[str, tuple[object, ...]]] = {"epsilon": (int, float, NoneType)}
    tunes: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "typical": ("majority", "mixed", "slots", "generalized"),
        "exchanges": (0, 2),
    }

    by_meaning: ClassVar[tuple[str, ...]] = ("typical",)

    typical: Literal["majority", "mixed", "slots", "generalized"] = with_default(
        "majority",
        "What is published for matched terms: one of them (`majority`), all of them (`slots`), the "
        "smallest group that contains them (`generalized`), or one that at least half of the "
        "people have, else the group (`mixed`).",
    )
    exact: bool = with_default(
        False, f"Compare every bag with all others, even if there are more than {BLOCK:,}."
    )
    exchanges: int = with_default(
        0, "How many rounds of exchanging members between clusters; 2 lose a little less.", least=0
    )
    variant: Literal["best", "paper"] = with_default(
        "best", "`best` loses less; `paper` is the published algorithm, for comparison."
    )
    term_epsilon: int | None = with_default(
        None,
        "Only with variant `paper`: how many steps apart in the hierarchy matched terms may be; "
        "4 if not given.",
        least=0,
    )
    omega: float | None = with_default(
        None,
        "Only with variant `paper`: the cost of an unmatched occurrence, in steps; more than "
        "term_epsilon, 10 if not given.",
    )
    model: Literal["nil", "maximum"] | None = with_default(
        None,
        "Only with variant `paper`: `nil` finds the cheapest matching and is used if not given; "
        "`maximum` matches as much as possible first.",
    )
    seed_rule: Literal["farthest", "first"] | None = with_default(
        None,
        "Only with variant `paper`: the bag that begins a cluster, the `farthest` from all "
        "clusters, which is used if not given, or the `first`.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "paper":
            self._settle_paper()
            return
        for name in PAPER:
            if getattr(self, name) is not None:
                allowed = "it is used only with {variant=paper}"
                raise ParameterError(name, getattr(self, name), allowed)

    def _settle_paper(self) -> None:
        """Fill in the settings of the paper that are not given, and check them."""
        for name, value in PAPER.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        assert self.term_epsilon is not None and self.omega is not None
        if not self.term_epsilon < self.omega <= MOST_OMEGA:
            allowed = (
                f"it must be above term_epsilon = {self.term_epsilon} and at most {MOST_OMEGA}"
            )
            raise ParameterError("omega", self.omega, allowed)
        if self.exchanges:
            allowed = "the algorithm of the paper makes none; leave out {variant=paper}"
            raise ParameterError("exchanges", self.exchanges, allowed)

    def _anonymize(self, request: Request[VocabularyKAnonymity]) -> TypicalBags:
        from setveil.methods.ssc.clusters import matches_of

        bags, hierarchy = request.records, request.tree
        assert isinstance(bags, Bags)
        hierarchy.leaf_numbers(bags.vocabulary)  # refuses items without a leaf
        self._check_size(bags, request.promise.k, hierarchy)
        near = self._near(bags, hierarchy) if self.variant == "paper" else None
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
            by_majority=typical.by_majority,
            epsilon=None if self.typical == "mixed" else self.term_epsilon,
            omega=self.omega,
            same_branch=near is None,
            complete=near is None,
        )

    def _clusters(
        self, request: Request[VocabularyKAnonymity], bags: Bags, near: NearTerms | None
    ) -> Clusters:
        from setveil.methods.ssc.clusters import joined_clusters, of_equal

        k = request.promise.k
        prepared = prepare(bags, k, group_equal=near is None)
        most = 1 << 62 if self.exact else max(BLOCK, 2 * k)  # half of it is enough for a cluster
        parts = blocks(bags.take(prepared.rows), request.tree, most) if len(prepared.rows) else []
        rows = [prepared.rows[part] for part in parts]
        found = self._best(request, bags, rows) if near is None else []
        if near is not None:
            found = self._paper(request, [bags.take(part) for part in rows], near)
            found = [clusters.of(part) for clusters, part in zip(found, rows, strict=True)]
        made = joined_clusters([*found, of_equal(bags, prepared.groups)])
        return made if near is None or self.typical != "mixed" else self._completed(request, made)

    def _completed(self, request: Request[VocabularyKAnonymity], made: Clusters) -> Clusters:
        """The paper's clusters with slots for words that found no partner within epsilon."""
        from setveil.methods.ssc.best import with_rest

        bags = request.records
        assert isinstance(bags, Bags)
        return with_rest(bags, made, request.tree)

    def _best(
        self, request: Request[VocabularyKAnonymity], bags: Bags, parts: list[Int64s]
    ) -> list[Clusters]:
        """Clusters by profiles; a cluster begins with the longest bag that is left."""
        from setveil.methods.ssc.best import block_of, cluster

        parts = [rows[np.argsort(-bags.totals[rows], kind="stable")] for rows in parts]
        k, tree = request.promise.k, request.tree
        made = [block_of(bags.take(rows), tree, k) for rows in parts]
        spaces = [block for block, _ in made]
        found = cluster(spaces, self.exchanges, request.engine, request.progress)
        return [
            replace(clusters.of(rows), terms=items[clusters.terms])
            for clusters, rows, (_, items) in zip(found, parts, made, strict=True)
        ]

    def _paper(
        self, request: Request[VocabularyKAnonymity], parts: list[Bags], near: NearTerms
    ) -> list[Clusters]:
        """Clusters by matching terms that are relevant to each other."""
        from setveil.methods.ssc.paper import cluster, space_of

        rule = self._rule(request.promise.k)
        spaces = [space_of(part, near, rule) for part in parts]
        return cluster(spaces, request.engine, request.progress)

    def _typical(
        self, bags: Bags, made: Clusters, near: NearTerms | None, hierarchy: Hierarchy, size: int
    ) -> Typical:
        from setveil.methods.ssc.clusters import closest, generalized, mixed, slots, voted

        if self.typical == "mixed":
            return mixed(bags, made, hierarchy, size)
        if self.typical == "slots":
            return slots(bags, made, size)
        if self.typical == "generalized":
            return generalized(bags, made, hierarchy, size)
        return voted(bags, made, size) if near is None else closest(bags, made, near, size)

    def _check_size(self, data: Bags, k: int, hierarchy: Hierarchy) -> None:
        """Refuse bags whose costs do not fit in 64 bits; a cluster has fewer than 2 k members."""
        largest = int(data.totals.max(initial=0))
        if self.omega is None:
            cost, remedy = 20.0 * hierarchy.leaf_count, "make its counts smaller"
        else:
            more = int(data.lengths.max(initial=0)) + 2 if self.model == "maximum" else 2
            cost, remedy = self.omega * SCALE * more, "make its counts or {omega} smaller"
        if 2 * k * cost * largest > MOST_COST:
            raise DataError(f"a bag of {largest:.3g} occurrences is too large", remedy=remedy)

    def _rule(self, k: int) -> Rule:
        from setveil.kernels.ssc.centre import Rule

        assert self.omega is not None
        return Rule(
            k=np.int64(k),
            omega=np.int64(round(self.omega * SCALE)),
            unit=np.int64(SCALE),
            maximum=np.int64(self.model == "maximum"),
            farthest=np.int64(self.seed_rule == "farthest"),
        )

    def _near(self, data: Bags, hierarchy: Hierarchy) -> NearTerms:
        """The relevant terms of each term."""
        from setveil.kernels.ssc.centre import NearTerms

        assert self.term_epsilon is not None
        found = hierarchy.neighbours(data.vocabulary, self.term_epsilon)
        return NearTerms(found.indptr, found.items, found.distances)

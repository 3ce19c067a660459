"""The table of the metrics: one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from setveil.data.transactions import Bags
from setveil.metrics.associations import tkd, tkd_2, tkd_a, tkd_a_2, tkd_ml2
from setveil.metrics.generalization import blm, class_sizes, distortion, lm, ncp
from setveil.metrics.pairs import re, re_a, re_a_top, re_top
from setveil.metrics.queries import are, are_of_suppressed
from setveil.metrics.retrieval import recall, sdist, term_counts
from setveil.metrics.suppression import suppressed_share, unpublished_share
from setveil.metrics.terms import chunked, tlost
from setveil.metrics.typical_bags import loss_of_slots
from setveil.published.release import Release

Figure = float | dict[str, float]
Function = Callable[..., Figure]
Need = Literal["seed", "worlds", "hierarchy", "published"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What can be measured of a release, given its original."""

    function: Function
    about: str
    """What the figure says, in a few words."""
    forms: tuple[str, ...]
    """The forms for which it is measured if no metric is named."""
    on_request: bool = False
    """Whether every other form can be measured as well, if it is named."""
    of_bags: bool = False
    """Whether sets are measured only if it is named."""
    needs: tuple[Need, ...] = ()
    """What it takes besides release and original; see `setveil.metrics.measure.Providers`."""
    unit: Literal["share", "steps", "people"] = "share"
    better: Literal["less", "more"] = "less"
    by_form: Mapping[str, Function] = field(default_factory=dict)
    """Functions for forms that are measured in another way."""

    def fits(self, form: str) -> bool:
        """Whether it can be measured for a form."""
        return self.on_request or form in self.forms

    def is_usual(self, release: Release) -> bool:
        """Whether it is measured if no metric is named."""
        counted = isinstance(getattr(release, "classes", None), Bags)
        return release.form in self.forms and (counted or not self.of_bags)

    def function_for(self, form: str) -> Function:
        return self.by_form.get(form, self.function)


GENERALIZED, SUPPRESSED = "generalized", "suppressed"
TYPICAL_BAGS, DISASSOCIATED = "typical-bags", "disassociated"

METRICS: dict[str, Metric] = {
    "ncp": Metric(
        function=ncp,
        about="how large a group replaces an item, as a share of all items",
        forms=(GENERALIZED,),
        needs=("published",),
    ),
    "lm": Metric(
        function=lm,
        about="how many other items an item may be confused with, as a share of them",
        forms=(GENERALIZED,),
        needs=("published",),
    ),
    "blm": Metric(
        function=blm,
        about="the same for bags; what is not published counts as lost",
        forms=(GENERALIZED, TYPICAL_BAGS),
        needs=("published", "hierarchy"),
        by_form={TYPICAL_BAGS: loss_of_slots},
    ),
    "distortion": Metric(
        function=distortion,
        about="share of the item occurrences that are not published",
        forms=(GENERALIZED, SUPPRESSED, TYPICAL_BAGS),
        needs=("published",),
        by_form={SUPPRESSED: suppressed_share, TYPICAL_BAGS: unpublished_share},
    ),
    "are": Metric(
        function=are,
        about="average error when counting the people who have 1 to 3 given items",
        forms=(GENERALIZED, SUPPRESSED),
        on_request=True,
        needs=("seed",),
        by_form={SUPPRESSED: are_of_suppressed},
    ),
    "class_sizes": Metric(
        function=class_sizes,
        about="how many people share one published record",
        forms=(GENERALIZED, SUPPRESSED, TYPICAL_BAGS),
        unit="people",
    ),
    "recall": Metric(
        function=recall,
        about="share of the most frequent closed itemsets that is still found",
        forms=(GENERALIZED, TYPICAL_BAGS),
        of_bags=True,
        better="more",
    ),
    "sdist": Metric(
        function=sdist,
        about="how far the most frequent closed itemsets moved in meaning, in steps per item",
        forms=(GENERALIZED, TYPICAL_BAGS),
        of_bags=True,
        needs=("hierarchy",),
        unit="steps",
    ),
    "term_counts": Metric(
        function=term_counts,
        about="share of the item occurrences that are published as the same item",
        forms=(GENERALIZED, TYPICAL_BAGS),
        of_bags=True,
        better="more",
    ),
    "tkd": Metric(
        function=tkd,
        about="share of the 1,000 most frequent itemsets that drop out of the top 1,000",
        forms=(DISASSOCIATED,),
        on_request=True,
        needs=("worlds",),
    ),
    "tkd_2": Metric(
        function=tkd_2,
        about="the same for itemsets of 2 or more items",
        forms=(DISASSOCIATED,),
        on_request=True,
        needs=("worlds",),
    ),
    "tkd_a": Metric(
        function=tkd_a,
        about="as tkd, if only what is certain counts",
        forms=(DISASSOCIATED,),
    ),
    "tkd_a_2": Metric(
        function=tkd_a_2,
        about="as tkd_2, if only what is certain counts",
        forms=(DISASSOCIATED,),
    ),
    "tkd_ml2": Metric(
        function=tkd_ml2,
        about="as tkd, for itemsets at every level of the hierarchy",
        forms=(DISASSOCIATED,),
        needs=("worlds", "hierarchy"),
    ),
    "re": Metric(
        function=re,
        about="error of the supports of pairs of items at ranks 200 to 219; at most 200 %",
        forms=(DISASSOCIATED,),
        on_request=True,
        needs=("worlds",),
    ),
    "re_top": Metric(
        function=re_top,
        about="the same for the 20 most frequent items",
        forms=(DISASSOCIATED,),
        on_request=True,
        needs=("worlds",),
    ),
    "re_a": Metric(
        function=re_a,
        about="as re, if only pairs inside a chunk count",
        forms=(DISASSOCIATED,),
    ),
    "re_a_top": Metric(
        function=re_a_top,
        about="as re_top, if only pairs inside a chunk count",
        forms=(DISASSOCIATED,),
    ),
    "tlost": Metric(
        function=tlost,
        about="share of the frequent items that are published without counts everywhere",
        forms=(DISASSOCIATED,),
    ),
    "chunked": Metric(
        function=chunked,
        about="share of the item occurrences that are published in chunks",
        forms=(DISASSOCIATED,),
        better="more",
    ),
}
"""Every metric by name. A new one is its function and a row here."""


def need_a_tree(release: Release) -> set[str]:
    """The usual metrics of a release without a tree that are measured only if one is given."""
    if release.tree is not None:
        return set()
    usual = (name for name, row in METRICS.items() if row.is_usual(release))
    return {name for name in usual if "hierarchy" in METRICS[name].needs}

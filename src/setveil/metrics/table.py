"""The table of the metrics: one row each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from setveil.data.transactions import Bags
from setveil.metrics.associations import (
    pair_error,
    pair_error_top,
    tkd,
    tkd_2,
    tkd_a,
    tkd_a_2,
    tkd_ml2,
    triple_error,
    triple_error_top,
)
from setveil.metrics.columns import are_columns, column_ncp, columns
from setveil.metrics.generalization import (
    blm,
    class_sizes,
    distortion,
    lm,
    ncp,
    of_groups,
    of_slots,
    of_suppressed,
    of_typical_bags,
)
from setveil.metrics.queries import answers_of_suppressed, are, item_error
from setveil.metrics.retrieval import recall, sdist, term_counts
from setveil.metrics.state import Count, Measure
from setveil.metrics.terms import chunked, re, re_a, re_a_top, re_top, tlost
from setveil.published.release import Release

Figure = float | dict[str, float]
Need = Literal["asked", "worlds", "hierarchy", "find"]
NEEDS = get_args(Need)


@dataclass(frozen=True)
class Metric:
    """What can be measured of a release, given its original."""

    function: Measure[Any]
    about: str  # what the figure says, in a few words
    forms: tuple[str, ...]  # the forms for which it is measured if no metric is named
    on_request: bool = False  # whether every other form can be measured as well, if it is named
    of_bags: bool = False  # whether sets are measured only if it is named
    needs: tuple[Need, ...] = ()
    """What it takes besides release and original; see `setveil.metrics.measure.Providers`. A metric
    that needs nothing is measured part by part too, on engines that work in parts."""
    unit: Literal["share", "steps", "records"] = "share"
    better: Literal["less", "more"] = "less"
    by_form: Mapping[str, Count] = field(default_factory=dict)
    """What counts the states of forms that are counted in another way."""

    def counts(self, form: str) -> Count:
        """What counts the state of a release of this form."""
        return self.by_form.get(form, self.function.state)

    def fits(self, form: str, within: str | None = None) -> bool:
        """Whether it can be measured for a form, or for groups with sets of a form."""
        return self.on_request or form in self.forms or within in self.forms

    def is_usual(self, release: Release) -> bool:
        """Whether it is measured if no metric is named."""
        counted = isinstance(getattr(release, "classes", None), Bags)
        forms = {release.form, within(release)}
        return not forms.isdisjoint(self.forms) and (counted or not self.of_bags)

    def is_of_sets(self, form: str) -> bool:
        """Whether of this form, which has columns, the sets alone are measured."""
        return form == GROUPED and form not in self.forms


def within(release: Release) -> str | None:
    """The form of the sets of each group of people, if it has such."""
    return getattr(release, "within", None)


def _found(function: Measure[Any], about: str, *forms: str) -> Metric:
    """A row of itemsets in possible originals: every form has these."""
    return Metric(function, about, forms, on_request=True, needs=("worlds", "find"))


GENERALIZED, SUPPRESSED = "generalized", "suppressed"
TYPICAL_BAGS, DISASSOCIATED, SYNTHETIC = "typical-bags", "disassociated", "synthetic"
GROUPED = "grouped"

METRICS: dict[str, Metric] = {
    "columns": Metric(
        columns, "how wide a published value of a column is, as a share of all values", (GROUPED,)
    ),
    "column_ncp": Metric(column_ncp, "the same for each column", (GROUPED,)),
    "are_columns": Metric(
        are_columns,
        "average error when counting the people with given values and up to 2 given items",
        (GROUPED,),
    ),
    "ncp": Metric(
        ncp, "how large a group replaces an item, as a share of all items", (GENERALIZED,)
    ),
    "lm": Metric(
        lm,
        "how many other items an item may be confused with, as a share of all others",
        (GENERALIZED,),
    ),
    "blm": Metric(
        blm,
        "how many other items an occurrence may be confused with; all if it is not published",
        (GENERALIZED, TYPICAL_BAGS),
        needs=("hierarchy",),
        by_form={TYPICAL_BAGS: of_slots},
    ),
    "distortion": Metric(
        distortion,
        "share of the item occurrences that are not published",
        (GENERALIZED, SUPPRESSED, TYPICAL_BAGS, GROUPED),
        by_form={
            SUPPRESSED: of_suppressed,
            TYPICAL_BAGS: of_typical_bags,
            GROUPED: of_groups,
        },
    ),
    "are": Metric(
        are,
        "average error when counting the records that have 1 to 3 given items",
        (GENERALIZED, SUPPRESSED, SYNTHETIC, GROUPED),
        on_request=True,
        needs=("asked",),
        by_form={SUPPRESSED: answers_of_suppressed},
    ),
    "item_error": Metric(
        item_error,
        "how many of the item occurrences an analyst miscounts, as a share of them",
        (),
        on_request=True,
    ),
    "class_sizes": Metric(
        class_sizes,
        "how many records are published alike",
        (GENERALIZED, SUPPRESSED, TYPICAL_BAGS),
        unit="records",
    ),
    "recall": Metric(
        recall,
        "share of the most frequent closed itemsets that is still found",
        (GENERALIZED, TYPICAL_BAGS),
        of_bags=True,
        better="more",
    ),
    "sdist": Metric(
        sdist,
        "how far the most frequent closed itemsets moved in meaning, in steps per item",
        (GENERALIZED, TYPICAL_BAGS),
        of_bags=True,
        needs=("hierarchy",),
        unit="steps",
    ),
    "term_counts": Metric(
        term_counts,
        "share of the item occurrences that are published as the same item",
        (GENERALIZED, TYPICAL_BAGS),
        of_bags=True,
        better="more",
    ),
    "tkd": _found(
        tkd,
        "share of the 1,000 most frequent itemsets that drop out of the top 1,000",
        DISASSOCIATED,
        SYNTHETIC,
    ),
    "tkd_2": _found(tkd_2, "the same for itemsets of 2 or more items", DISASSOCIATED, SYNTHETIC),
    "tkd_a": Metric(
        tkd_a, "as tkd, if only what is certain counts", (DISASSOCIATED,), needs=("find",)
    ),
    "tkd_a_2": Metric(
        tkd_a_2, "as tkd_2, if only what is certain counts", (DISASSOCIATED,), needs=("find",)
    ),
    "tkd_ml2": Metric(
        tkd_ml2,
        "as tkd, for itemsets at every level of the hierarchy",
        (DISASSOCIATED,),
        needs=("worlds", "hierarchy"),
    ),
    "re": Metric(
        re,
        "error for pairs of 20 rare items, 0 to 200 %; often high, as few records have such a pair",
        (DISASSOCIATED, SYNTHETIC),
        on_request=True,
        needs=("worlds",),
    ),
    "re_top": Metric(
        re_top,
        "the same for the 20 most frequent items",
        (DISASSOCIATED, SYNTHETIC),
        on_request=True,
        needs=("worlds",),
    ),
    "re_a": Metric(re_a, "as re, if only pairs inside a chunk count", (DISASSOCIATED,)),
    "re_a_top": Metric(re_a_top, "as re_top, if only pairs inside a chunk count", (DISASSOCIATED,)),
    "pair_error": _found(
        pair_error,
        "average error of the supports of the 1,000 most frequent pairs",
        DISASSOCIATED,
        SYNTHETIC,
    ),
    "pair_error_top": _found(
        pair_error_top, "the same for the 100 most frequent pairs", DISASSOCIATED, SYNTHETIC
    ),
    "triple_error": _found(
        triple_error,
        "average error of the supports of the 1,000 most frequent sets of 3 items",
        DISASSOCIATED,
    ),
    "triple_error_top": _found(
        triple_error_top, "the same for the 100 most frequent sets of 3 items", DISASSOCIATED
    ),
    "tlost": Metric(
        tlost,
        "share of the frequent items that no cluster publishes with a count",
        (DISASSOCIATED,),
    ),
    "chunked": Metric(
        chunked,
        "share of the item occurrences that are published in chunks",
        (DISASSOCIATED,),
        better="more",
    ),
}
"""Every metric by name. A new one is its state, its figure and a row here."""


def need_a_tree(release: Release) -> set[str]:
    """The usual metrics of a release without a tree that are measured only if one is given."""
    if release.tree is not None:
        return set()
    usual = (name for name, row in METRICS.items() if row.is_usual(release))
    return {name for name in usual if "hierarchy" in METRICS[name].needs}

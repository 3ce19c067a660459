"""Rules: which items occur together, computed from a release alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from setveil.data.tables.frames import make_table
from setveil.engines.base import Progress
from setveil.metrics.rules import Rule, Wanted, association_rules
from setveil.pipeline.inputs import load_release
from setveil.pipeline.stages import Stages

SIDES, FIGURES = ("antecedent", "consequent"), ("support", "confidence")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Association rules, those that are certainly most confident first."""

    records: int
    found: tuple[Rule, ...]
    bounds_are: str = "certain"

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def to_pandas(self) -> Any:
        """The rules as a pandas table: a row for each rule, with the bounds of its figures."""
        columns = {name: [getattr(rule, name) for rule in self] for name in SIDES}
        for figure in FIGURES:
            for name in ("lower", "expected", "upper", "accuracy"):
                cells = [getattr(getattr(rule, figure), name) for rule in self]
                columns[f"{figure}_{name}"] = cells
        return make_table("pandas", columns)


def rules(release: object, *, progress: Progress | None = None, **words: Any) -> Rules:
    """Association rules with bounds on support and confidence, from a release alone.

    Args:
        release: A release, or its folder.
        progress: Is called with how far the work is.
        words: `top` (how many rules; 20), `min_support` and `min_confidence` (shares that are
            certain, at least; 0), `most_size` (items in a rule; 3).

    Example:
        >>> from setveil import Disassociation, KmAnonymity, as_transactions
        >>> baskets = as_transactions([["wine", "beer"]] * 3 + [["wine"]])
        >>> release = Disassociation().anonymize(baskets, KmAnonymity(k=2, m=2))
        >>> for rule in rules(release).found:
        ...     print(rule.antecedent, rule.consequent, rule.confidence.lower)
        ('beer',) ('wine',) 1.0
        ('wine',) ('beer',) 0.75
    """
    wanted, stages = Wanted(**words), Stages(progress)
    with stages("reading"):
        loaded = load_release(release)
    with stages("finding rules", compiles=True):
        found = association_rules(loaded, wanted)
    return Rules(records=len(loaded), found=tuple(found), bounds_are=loaded.bounds_are)

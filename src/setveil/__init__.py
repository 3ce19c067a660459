"""Publish set-valued data so that nobody in it can be picked out, and say what that cost.

This is the front door. Its names are loaded when they are first used, so that `import setveil` and `setveil --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from setveil import errors
    from setveil.audit import Verdict, verify
    from setveil.audit.exposure import exposure
    from setveil.data.summary import summarize
    from setveil.data.tables.exchange import as_transactions, convert
    from setveil.data.transactions import Bags, Transactions
    from setveil.data.vocabulary import Vocabulary
    from setveil.errors import SetveilError
    from setveil.hierarchy.tree import Hierarchy
    from setveil.hierarchy.wordnet.network import WordNet
    from setveil.io import FORMATS, read, write
    from setveil.io.querylog.read import read_querylog
    from setveil.io.releases.folder import read_release
    from setveil.methods import (
        METHODS,
        SSC,
        Apriori,
        Disassociation,
        HgHs,
        MHgHs,
        Partition,
        Suppression,
    )
    from setveil.methods.suppression import explain
    from setveil.metrics import METRICS, measure
    from setveil.metrics.itemsets import top_itemsets, top_itemsets_with_bounds
    from setveil.pipeline import Job, Outcome, run
    from setveil.promises import (
        PROMISES,
        Coherence,
        KAnonymity,
        KmAnonymity,
        LDiversity,
        VocabularyKAnonymity,
    )
    from setveil.published.disassociated.form import Disassociated
    from setveil.published.disassociated.reconstruct import reconstruct
    from setveil.published.generalized import Generalized
    from setveil.published.suppressed import Suppressed
    from setveil.published.typical_bags import TypicalBags

__version__ = "0.1.0"

__all__ = [
    "FORMATS",
    "METHODS",
    "METRICS",
    "PROMISES",
    "SSC",
    "Apriori",
    "Bags",
    "Coherence",
    "Disassociated",
    "Disassociation",
    "Generalized",
    "HgHs",
    "Hierarchy",
    "Job",
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "MHgHs",
    "Outcome",
    "Partition",
    "SetveilError",
    "Suppressed",
    "Suppression",
    "Transactions",
    "TypicalBags",
    "Verdict",
    "Vocabulary",
    "VocabularyKAnonymity",
    "WordNet",
    "__version__",
    "as_transactions",
    "convert",
    "errors",
    "explain",
    "exposure",
    "measure",
    "read",
    "read_querylog",
    "read_release",
    "reconstruct",
    "run",
    "summarize",
    "top_itemsets",
    "top_itemsets_with_bounds",
    "verify",
    "write",
]

_HOMES = {
    "setveil.audit": ("Verdict", "verify"),
    "setveil.audit.exposure": ("exposure",),
    "setveil.data.tables.exchange": ("as_transactions", "convert"),
    "setveil.data.summary": ("summarize",),
    "setveil.data.transactions": ("Bags", "Transactions"),
    "setveil.data.vocabulary": ("Vocabulary",),
    "setveil.errors": ("SetveilError",),
    "setveil.hierarchy.tree": ("Hierarchy",),
    "setveil.hierarchy.wordnet.network": ("WordNet",),
    "setveil.io": ("FORMATS", "read", "write"),
    "setveil.io.querylog.read": ("read_querylog",),
    "setveil.io.releases.folder": ("read_release",),
    "setveil.methods": (
        "METHODS",
        "SSC",
        "Apriori",
        "Disassociation",
        "HgHs",
        "MHgHs",
        "Partition",
        "Suppression",
    ),
    "setveil.methods.suppression": ("explain",),
    "setveil.metrics": ("METRICS", "measure"),
    "setveil.metrics.itemsets": ("top_itemsets", "top_itemsets_with_bounds"),
    "setveil.pipeline": ("Job", "Outcome", "run"),
    "setveil.promises": (
        "PROMISES",
        "Coherence",
        "KAnonymity",
        "KmAnonymity",
        "LDiversity",
        "VocabularyKAnonymity",
    ),
    "setveil.published.disassociated.form": ("Disassociated",),
    "setveil.published.generalized": ("Generalized",),
    "setveil.published.disassociated.reconstruct": ("reconstruct",),
    "setveil.published.suppressed": ("Suppressed",),
    "setveil.published.typical_bags": ("TypicalBags",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A name of the front door, from the module it lives in."""
    if name == "errors":
        return import_module("setveil.errors")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'setveil' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

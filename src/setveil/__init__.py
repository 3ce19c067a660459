"""Publish set-valued data so that nobody in it can be re-identified, and report what it cost.

This is the front door. Its names are loaded when they are first used, so that `import setveil` and
`setveil --help` stay quick. `__init__.pyi` says the same to type checkers; a test keeps both equal.
"""

__version__ = "0.3.0"

_HOMES = {
    "FORMATS": "setveil.io",
    "METHODS": "setveil.methods",
    "METRICS": "setveil.metrics",
    "PROMISES": "setveil.promises",
    "SSC": "setveil.methods",
    "Apriori": "setveil.methods",
    "Bags": "setveil.data.transactions",
    "Coherence": "setveil.promises",
    "Column": "setveil.data.columns",
    "Columns": "setveil.promises",
    "DiffPart": "setveil.methods",
    "DifferentialPrivacy": "setveil.promises",
    "Comparison": "setveil.pipeline.compare",
    "Disassociated": "setveil.published",
    "Disassociation": "setveil.methods",
    "Frequent": "setveil.methods",
    "Generalized": "setveil.published",
    "Grouped": "setveil.published",
    "Groups": "setveil.methods",
    "HgHs": "setveil.methods",
    "Hierarchy": "setveil.hierarchy.tree",
    "Job": "setveil.pipeline",
    "KAnonymity": "setveil.promises",
    "KmAnonymity": "setveil.promises",
    "LDiversity": "setveil.promises",
    "MHgHs": "setveil.methods",
    "Node": "setveil.published",
    "Outcome": "setveil.pipeline",
    "Partition": "setveil.methods",
    "PublishedColumn": "setveil.published",
    "SetveilError": "setveil.errors",
    "Span": "setveil.published",
    "Suppressed": "setveil.published",
    "Suppression": "setveil.methods",
    "Synthetic": "setveil.published",
    "Table": "setveil.data.columns",
    "Transactions": "setveil.data.transactions",
    "TypicalBags": "setveil.published",
    "Verdict": "setveil.audit",
    "Vocabulary": "setveil.data.vocabulary",
    "VocabularyKAnonymity": "setveil.promises",
    "WordNet": "setveil.hierarchy.wordnet.network",
    "advise": "setveil.pipeline.advise",
    "anonymize": "setveil.pipeline.anonymize",
    "apply": "setveil.pipeline.apply",
    "as_transactions": "setveil.data.tables.exchange",
    "attack": "setveil.pipeline.attack",
    "compare": "setveil.pipeline.compare",
    "convert": "setveil.data.tables.exchange",
    "errors": "setveil",
    "explain": "setveil.methods.suppression",
    "exposure": "setveil.audit.exposure",
    "html": "setveil.report.notebook",
    "inspect": "setveil.pipeline.inspect",
    "measure": "setveil.pipeline.measure",
    "page": "setveil.report.notebook",
    "plot": "setveil.report.charts",
    "read": "setveil.io",
    "read_querylog": "setveil.io.querylog.read",
    "read_release": "setveil.io.releases.folder",
    "reconstruct": "setveil.pipeline.reconstruct",
    "rules": "setveil.pipeline.support",
    "run": "setveil.pipeline",
    "summarize": "setveil.data.summary",
    "top_itemsets": "setveil.metrics.itemsets",
    "top_itemsets_with_bounds": "setveil.metrics.itemsets",
    "values": "setveil.report.notebook",
    "verify": "setveil.pipeline.verify",
    "write": "setveil.io",
    "write_approval": "setveil.pipeline.approval",
    "write_report": "setveil.pipeline.report",
}
"""Each public name and the module it is in."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    """A public name, from its module."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'setveil' has no attribute {name!r}")
    from importlib import import_module  # not needed to start the command line

    is_module = home == __name__
    value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""What is promised: numbers, definitions and plain words; no data, no method."""

from setveil.promises.coherence import Coherence
from setveil.promises.columns import Columns
from setveil.promises.differential_privacy import DifferentialPrivacy
from setveil.promises.kanonymity import KAnonymity, KmAnonymity, LDiversity, VocabularyKAnonymity
from setveil.promises.promise import Promise

PROMISES: dict[str, type[Promise]] = {
    "k-anonymity": KAnonymity,
    "km-anonymity": KmAnonymity,
    "l-diversity": LDiversity,
    "coherence": Coherence,
    "columns": Columns,
    "vocabulary-k-anonymity": VocabularyKAnonymity,
    "differential-privacy": DifferentialPrivacy,
}

__all__ = [
    "PROMISES",
    "Coherence",
    "Columns",
    "DifferentialPrivacy",
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "Promise",
    "VocabularyKAnonymity",
]

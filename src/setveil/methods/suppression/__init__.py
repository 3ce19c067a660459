"""Suppression of public items, which keeps (h,k,p)-coherence. [Xu2008]"""

from setveil.methods.suppression.explain import LossExplanation, explain
from setveil.methods.suppression.method import Suppression

__all__ = ["LossExplanation", "Suppression", "explain"]
